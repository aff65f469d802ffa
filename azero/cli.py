"""`azero`: all commands; bad input exits with 2, and a line on stderr."""

import os
import sys

import typer

from azero.commands import agents, games, lab, training
from azero.errors import BadInput, BrokenRules

app = typer.Typer(
    name="azero",
    help="AlphaZero for any two-player board game.\n\nTrain an agent by self-play, evaluate it, ask it for a move.",
    epilog="First steps:  azero suggest connect_four --moves 4453",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for part in (training.app, agents.app, games.app):
    app.add_typer(part)
app.add_typer(lab.app, name="lab")


@app.callback()
def prepare() -> None:
    """Looks, before any command, whether what is compiled can be kept."""
    from azero.jit import IS_COMPILED, cache_directory

    if IS_COMPILED:
        cache_directory()


@app.command(hidden=True)
def version() -> None:
    """Print the version."""
    import azero

    print(azero.__version__)


def main() -> None:
    """Runs the command line; bad input, broken rules and a full disk become a line on stderr and exit code 2."""
    try:
        sys.exit(app(sys.argv[1:] or ["--help"], standalone_mode=False) or 0)
    except BrokenRules as error:
        _fail(f"{error}; azero check-game finds what is wrong with rules")
    except BadInput as error:
        _fail(str(error))
    except typer.TyperException as error:
        _fail(error.format_message())
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:  # whoever read our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:  # a full disk, a folder that cannot be written
        what = f": {error.filename}" if error.filename else ""
        _fail(f"{error.strerror or error}{what}; what was saved before stays")


def _fail(message: str) -> None:
    print(f"azero: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
