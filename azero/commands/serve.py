"""`azero serve`: the browser and the HTTP interface."""

from pathlib import Path
from typing import Annotated

import typer

from azero.commands.options import AGENT_HELP, ThreadsOption, as_path, named_game

app = typer.Typer()


@app.command(epilog="Example:  azero serve --open")
def serve(
    agents: Annotated[list[str] | None, typer.Argument(metavar="[AGENT]...", help=AGENT_HELP)] = None,
    games: Annotated[
        list[str] | None,
        typer.Option("--game", metavar="FILE.py:NAME", help="Offer your own game, too; repeatable."),
    ] = None,
    runs: Annotated[
        list[Path] | None,
        typer.Option("--runs", metavar="FOLDER", parser=as_path, help="A run, or a folder of runs; repeatable."),
    ] = None,
    host: Annotated[str, typer.Option("--host", metavar="H", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="P", min=0, max=65535, help="The port; 0: a free one.")] = 8777,
    opens: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    allow_hosts: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Another name of this server, e.g. behind a proxy."),
    ] = None,
    allow_origins: Annotated[
        list[str] | None,
        typer.Option("--allow-origin", metavar="URL", help="Another server whose pages may use this one."),
    ] = None,
    threads: ThreadsOption = None,
    memory: Annotated[
        int, typer.Option("--memory", metavar="MIB", min=64, help="Maximum MiB of an agent's trees.")
    ] = 1024,
    searches: Annotated[
        int,
        typer.Option("--searches", metavar="N", min=1, max=10_000, help="Maximum number of searches at the same time."),
    ] = 128,
) -> None:
    """Play, analyse and review in the browser, and offer the same by HTTP.

    Offers the included checkpoints and searches without a net, or the agents that you name; a run's folder offers its
    nets. Prints the address. Only programs of this machine can use it, unless --host says otherwise.
    """
    from azero.games.make import make_game
    from azero.interfaces.web.offered.catalogue import Catalogue
    from azero.interfaces.web.offered.runs import runs_in
    from azero.interfaces.web.server import serve as run
    from azero.interfaces.web.settings import ServeSettings
    from azero.system.machine import count_cores

    own = [make_game(str(named_game(game)), compiles=False) for game in games or ()]
    folders = [folder for folder in runs or () if runs_in(folder)]  # raises BadInput if there is none
    settings = ServeSettings(
        host=host,
        port=port,
        allow_hosts=tuple(allow_hosts or ()),
        allow_origins=tuple(allow_origins or ()),
        threads=count_cores() if threads is None else threads,
        memory_mib=memory,
        most_searches=searches,
    )
    run(Catalogue(agents or (), own, folders), settings, opens)
