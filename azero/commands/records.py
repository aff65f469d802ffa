"""Commands for records of games: `azero show`, `azero games-of`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azero.commands.options import SeedOption, as_path, named_game
from azero.errors import BadInput
from azero.system.console import say

if TYPE_CHECKING:
    from azero.games import Game

app = typer.Typer()

RulesOption = Annotated[
    str | None, typer.Option("--rules", metavar="GAME", help="The game of the records, e.g. my_game.py:MyGame.")
]


@app.command(epilog="Example:  azero show games.txt --game 2 --ply 10")
def show(
    record: Annotated[Path, typer.Argument(metavar="RECORD", parser=as_path, help="A file of games, text or SGF.")],
    number: Annotated[int, typer.Option("--game", metavar="N", help="Number of the game in the file.")] = 1,
    ply: Annotated[int | None, typer.Option("--ply", metavar="P", help="Show the position after P moves.")] = None,
    rules: RulesOption = None,
) -> None:
    """Show a game: who played, the board, the moves.

    In a terminal you step through the game. Otherwise the position after P moves is printed, by default the last one.
    """
    from azero.interfaces.terminal.step import show_record, step_through
    from azero.records import read_records

    if number < 1 or (ply is not None and ply < 0):
        raise BadInput(f"--game {number} should be 1 or more, and --ply {ply or 0} 0 or more")
    records = list(read_records(record, _game_of(rules)))
    if number > len(records):
        raise BadInput(f"--game {number}: {str(record)!r} has {len(records)} games")
    last = len(records[number - 1].line())
    if ply is not None and ply > last:
        raise BadInput(f"--ply {ply}: game {number} of {str(record)!r} has {last} moves")
    if sys.stdin.isatty() and sys.stdout.isatty():
        step_through(records, number, last if ply is None else ply, input, print)
    else:
        print(show_record(records[number - 1], ply))


@app.command(name="games-of", epilog="Example:  azero games-of runs/connect_four_quick --games 20 --record games.txt")
def games_of(
    run: Annotated[Path, typer.Argument(metavar="RUN", parser=as_path, help="A run's folder.")],
    record: Annotated[
        Path, typer.Option("--record", metavar="FILE", parser=as_path, help="Add the games to this file.")
    ],
    iteration: Annotated[int | None, typer.Option("--iteration", metavar="N", help="Of this iteration alone.")] = None,
    games: Annotated[int, typer.Option("--games", metavar="N", help="Games to draw at random.")] = 10,
    rules: RulesOption = None,
    seed: SeedOption = 0,
) -> None:
    """Write self-play games of a run to a file, with the values of their searches.

    The games are those in the replay window. Moves of random openings have no values.
    """
    from azero.records.files import check_target, save_records
    from azero.selfplay.data.recording import records_of, sample_games
    from azero.training.games import load_games

    if games < 1:
        raise BadInput(f"--games {games} should be 1 or more")
    found = load_games(run, iteration, _game_of(rules))
    check_target(record, found.game)
    numbers = sample_games(found, games, seed)
    save_records(record, records_of(found, numbers, str(run)))
    say(f"{len(numbers)} of {len(found.lengths)} games were added to {str(record)!r}")


def _game_of(rules: str | None) -> "Game | None":
    from azero.games.make import make_trusted_game

    named = named_game(rules)
    return None if named is None else make_trusted_game(named)
