"""Commands for records of games: `azero show`, `azero games-of`, `azero lessons`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azero.commands.makers import Maker, device_of_options
from azero.commands.options import SeedOption, ThreadsOption, as_path, named_game
from azero.errors import BadInput
from azero.system.console import say

if TYPE_CHECKING:
    from azero.games import Game
    from azero.records import Record
    from azero.selfplay.data.lessons import Lesson

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
    from azero.interfaces.terminal.screen import open_screen
    from azero.interfaces.terminal.show_record import show_record, step_through
    from azero.records import read_records

    if number < 1:
        raise BadInput(f"--game {number} should be 1 or more")
    if ply is not None and ply < 0:
        raise BadInput(f"--ply {ply} should be 0 or more")
    records = list(read_records(record, _game_of(rules)))
    if number > len(records):
        raise BadInput(f"--game {number}: {str(record)!r} has {len(records)} games")
    last = len(records[number - 1].line())
    if ply is not None and ply > last:
        raise BadInput(f"--ply {ply}: game {number} of {str(record)!r} has {last} moves")
    if sys.stdin.isatty() and sys.stdout.isatty():
        screen = open_screen()
        begin = 0 if ply is None else ply
        step_through(
            records, number, begin, lambda text: screen.ask(text, lambda _: []), screen.tell, screen.is_coloured
        )
    else:
        print(show_record(records[number - 1], ply))


@app.command(name="games-of", epilog="Example:  azero games-of runs/connect_four_quick --games 20 --record games.txt")
def games_of(
    run: Annotated[Path, typer.Argument(metavar="RUN", parser=as_path, help="A run's folder.")],
    record: Annotated[
        Path, typer.Option("--record", metavar="FILE", parser=as_path, help="Add the games to this file.")
    ],
    iteration: Annotated[
        int | None, typer.Option("--iteration", metavar="N", help="Only games of this iteration.")
    ] = None,
    games: Annotated[int, typer.Option("--games", metavar="N", help="Games to draw at random.")] = 10,
    rules: Annotated[
        str | None,
        typer.Option("--rules", metavar="GAME", help="The run's game, if its file was moved or has changed."),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Write self-play games of a run to a file, with the values of their searches.

    The games are those in the replay window. Moves of random openings have no values.
    """
    from azero.records.files import check_target, save_records
    from azero.runs.shards import load_games
    from azero.selfplay.data.games import records_of, sample_games

    if games < 1:
        raise BadInput(f"--games {games} should be 1 or more")
    found = load_games(run, iteration, _game_of(rules))
    check_target(record, found.game)
    numbers = sample_games(found, games, seed)
    save_records(record, records_of(found, numbers, str(run)))
    say(f"{len(numbers)} of {len(found.lengths)} games were added to {str(record)!r}")


@app.command(epilog="Example:  azero lessons games.txt --out lessons.txt --by connect_four@400")
def lessons(
    files: Annotated[list[str], typer.Argument(metavar="RECORD...", help="Files of games, text or SGF.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", parser=as_path, help="The file of lessons to write.")],
    by: Annotated[
        str | None, typer.Option("--by", metavar="AGENT", help="Learn this agent's judgement, not how games ended.")
    ] = None,
    per_game: Annotated[
        int | None, typer.Option("--per-game", metavar="N", help="Positions of each game, at random; all by default.")
    ] = None,
    rules: RulesOption = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
) -> None:
    """Turn games into lessons for training.

    A lesson is a position with a value and a policy: the game's result and the move played or, with --by, the value and
    the visits of a search. Train on them with `azero train ... --set training.lessons=FILE`.
    """
    from azero.records.files import read_records_of_one_game
    from azero.training.lessons.files import write_lessons
    from azero.training.lessons.from_games import lessons_of_results

    if per_game is not None and per_game < 1:
        raise BadInput(f"--per-game {per_game} should be 1 or more")
    if out.exists():
        raise BadInput(f"--out {str(out)!r} exists; name another file")
    records = read_records_of_one_game(files, _game_of(rules))
    game = records[0].game
    if by is None:
        made = list(lessons_of_results(records, per_game, seed))
    else:
        made = _lessons_by(by, game, records, per_game, seed, threads)
    if not made:
        raise BadInput(
            "there is nothing to learn: no game has a result and a move with a choice; --by needs no results"
        )
    if out.exists():  # since the agent began
        raise BadInput(f"--out {str(out)!r} exists now; name another file")
    number = write_lessons(out, game, made)
    say(f"{number} lessons of {len(records)} games were written to {str(out)!r}")


def _lessons_by(
    name: str, game: "Game", records: "list[Record]", per_game: int | None, seed: int, threads: int | None
) -> "list[Lesson]":
    """Returns the lessons of an agent."""
    from contextlib import closing

    from tqdm import tqdm

    from azero.training.lessons.from_games import lessons_by_agent

    maker = Maker(game, seed, threads, device_of_options([name], "auto", "auto", "auto"))
    with closing(maker.agent(name)) as agent, tqdm(unit=" positions", desc=name, leave=False, disable=None) as bar:
        return list(lessons_by_agent(records, agent, per_game, seed, lambda: bar.update(1)))


def _game_of(rules: str | None) -> "Game | None":
    from azero.games.make import make_trusted_game

    named = named_game(rules)
    return None if named is None else make_trusted_game(named)
