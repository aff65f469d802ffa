"""`azero publish`: agents as one file, or as a folder, that anyone opens in a browser."""

import json
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from azero.commands.options import GameOption, JsonOption, as_path, named_game
from azero.errors import BadInput

_AGENT_HELP = (
    "A checkpoint file, a run's folder, an included checkpoint (e.g. connect_four), or uct. @800 sets simulations per "
    "move. Repeatable."
)

app = typer.Typer()


@app.command(epilog="Example:  azero publish connect_four uct@1000 --game connect_four --out connect_four.html")
def publish(
    agents: Annotated[list[str], typer.Argument(metavar="AGENT...", help=_AGENT_HELP)],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE.html|FOLDER", parser=as_path, help="The page, or a folder of pages.")
    ],
    game: GameOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace pages of the same names that azero wrote.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a page that plays, analyses and explains without azero.

    One file has the agents of one game; a folder has a page for each game. The page is that of `azero serve`, with the
    rules, the search and the net as WebAssembly. It needs no server and asks nothing of the network. An agent is a net
    or uct; each takes about a minute.
    """
    from azero.publishing.build import Published, build_all
    from azero.publishing.files import check_target, games_of, is_page, write_page, write_site
    from azero.publishing.tables.make import tables_of

    named = named_game(game)
    check_target(out, force)
    begin, checked = time.perf_counter(), games_of(agents, named)
    if is_page(out) and len(checked) > 1:
        raise BadInput(f"--out {str(out)!r} is one file, for one game; name a folder for {', '.join(checked)}")
    games = dict[str, list[Published]]()
    for stem, (own, names) in checked.items():
        print(f"{', '.join(names)}: compiling", file=sys.stderr, flush=True)
        games[stem] = build_all(names, own)
    sizes = write_page(out, *games.values()) if is_page(out) else write_site(out, games)
    found = [
        {
            "game": str(of_game[0].game),
            "agents": [each.name for each in of_game],
            "bytes": sizes[stem],
            "replaced": list(tables_of(of_game[0].game)[1]),
        }
        for stem, of_game in games.items()
    ]
    done = {
        "out": str(out),
        "bytes": sum(sizes.values()),
        "elapsed_s": round(time.perf_counter() - begin, 1),
        "games": found,
    }
    if as_json:
        print(json.dumps(done))
        return
    print(f"{out}: {done['bytes']:,} bytes, {done['elapsed_s']} s")
    for each in found:
        print(f"  {each['game']}: {', '.join(each['agents'])}, {each['bytes']:,} bytes")  # type: ignore[arg-type]
        for what in each["replaced"]:  # type: ignore[attr-defined]
            print(f"    {what}")
