"""The command line `azero`, with all its commands."""

import os
from typing import Annotated

import typer

from azero.commands import (
    advice,
    agents,
    compare,
    engines,
    evaluate,
    explain,
    export,
    games,
    lab,
    publish,
    rate,
    records,
    review,
    serve,
    training,
)
from azero.system.data_only import DATA_ONLY

app = typer.Typer(
    name="azero",
    help="AlphaZero for any two-player board game.\n\nTrain an agent by self-play, evaluate it, ask it for a move.",
    epilog="First steps:  azero suggest connect_four --moves 4453",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for each in (
    training,
    advice,
    compare,
    evaluate,
    rate,
    agents,
    explain,
    records,
    review,
    export,
    games,
    serve,
    publish,
    engines,
):  # as `--help` lists them
    app.add_typer(each.app)
app.add_typer(lab.app, name="lab")


def _print_version(is_asked: bool) -> None:
    if is_asked:
        import azero

        print(azero.__version__)
        raise typer.Exit


@app.callback()
def prepare(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    data_only: Annotated[
        bool,
        typer.Option(
            "--data-only", help="Run no code from outside: no user's game or net, no gtp:, uci: or gomocup: program."
        ),
    ] = False,
) -> None:
    """Says, before any command, if the cache of compiled code cannot be written."""
    if data_only:
        os.environ[DATA_ONLY] = "1"  # the environment, so that worker processes see it
    from azero.compiler.cache import cache_directory
    from azero.compiler.jit import IS_COMPILED

    if IS_COMPILED:
        cache_directory()


@app.command(hidden=True)
def version() -> None:
    """Print the version."""
    _print_version(True)
