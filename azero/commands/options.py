"""Options shared by several commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azero.errors import BadInput

if TYPE_CHECKING:
    from azero.arena.agents.clock import TimeControl
    from azero.games import Game, State
    from azero.selfplay.workers import MakePool


def as_path(text: str) -> Path:
    """Returns a path. An empty one, e.g. of a shell's variable that is not set, would mean the working folder."""
    if not text:
        raise typer.BadParameter("the path is empty; . is the working folder")
    return Path(text)


def as_new_file(text: str) -> Path:
    """Returns the path of a file that is to be written; its folder must exist, since a wrong one would be made."""
    path = as_path(text)
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {str(path.parent)!r}; make it first, or name another file")
    if path.is_dir():
        raise typer.BadParameter(f"{text!r} is a folder; name a file")
    return path


AGENT_HELP = (
    "A checkpoint file, a run's folder, an included checkpoint (e.g. connect_four), or uct, mc, mmmc, alphabeta, "
    "random, gtp:COMMAND, uci:COMMAND or gomocup:COMMAND. @800 sets simulations per move, @2s seconds. Options: "
    "'uct(c=2,table=64MiB)@800'."
)
GameOption = Annotated[
    str | None,
    typer.Option("--game", help="The game, for agents without a checkpoint, or another size of it; see `azero games`."),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of all random choices.")]
ThreadsOption = Annotated[
    int | None,
    typer.Option("--threads", help="Threads; one per core by default."),
]
PositionOption = Annotated[
    str | None,
    typer.Option(
        "--position",
        metavar="TEXT",
        help="The position to begin with, e.g. '7/7/7/7/7/3X3 O' in Connect Four; or a drawn board; or 'moves: 4'.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
DeviceOption = Annotated[str, typer.Option("--device", help="Device of nets: auto, cpu, cuda or mps.")]
PrecisionOption = Annotated[str, typer.Option("--precision", help="Arithmetic of nets: auto, fp32, bf16 or int8.")]
RuntimeOption = Annotated[
    str, typer.Option("--runtime", help="Library that runs nets: auto, torch, openvino or winograd.")
]
ClockOption = Annotated[
    str | None,
    typer.Option(
        "--clock",
        metavar="TIME",
        help="Time of each side for a game: 5m, 5m+3s with an increment, 10m+5x30s with byo-yomi.",
    ),
]
RecordOption = Annotated[
    Path | None,
    typer.Option(
        "--record", metavar="FILE", parser=as_path, help="Add the games to this file; SGF if it ends in .sgf."
    ),
]
NodesOption = Annotated[
    int | None, typer.Option("--max-nodes", help="Maximum nodes of a search tree. A full tree stops growing.")
]

ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="WHERE",
        help="Work on a Ray cluster: local starts one here, auto is this machine's, HOST:PORT is its head's.",
    ),
]


def start_of(game: "Game", position: str | None) -> "State":
    """Returns the position of --position, the initial one if it is not given; raises BadInput if the game is over."""
    state = game.new_initial_state() if position is None else game.state_from_text(position)
    if state.is_terminal():
        raise BadInput(f"--position {position!r}: the game is over there")
    return state


def time_control(clock: str | None, is_pondering: bool) -> "TimeControl | None":
    """Returns the time control of --clock; raises BadInput if it is wrong, or --ponder has no clock."""
    if clock is None:
        if is_pondering:
            raise BadInput("--ponder needs a clock, e.g. --clock 5m+3s")
        return None
    from azero.arena.agents.clock import TimeControl

    return TimeControl.parse(clock)


@contextmanager
def pools(cluster: str | None) -> "Iterator[MakePool]":
    """Yields what makes the workers of --cluster; those of this machine if it is not given. Raises BadInput."""
    from azero.selfplay.workers import local_pool

    if cluster is None:
        yield local_pool
        return
    from azero.cluster.connection import connected

    with connected(cluster, "a run's files are whole; continue with --resume") as connection:
        yield connection.pool


def named_game(game: str | None) -> str | None:
    """Trusts the file in a game's name, since it is on the command line, for later commands, too; returns the name."""
    if game is not None and ".py" in game:  # other games need not load anything yet
        from azero.games.user.trust import trust_name

        trust_name(game, is_kept=True)
    return game
