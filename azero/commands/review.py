"""`azero review`: what each move of a game lost."""

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azero.commands.makers import Maker, device_of_options
from azero.commands.options import (
    AGENT_HELP,
    DeviceOption,
    GameOption,
    JsonOption,
    PrecisionOption,
    RecordOption,
    RuntimeOption,
    SeedOption,
    ThreadsOption,
    as_path,
    named_game,
)
from azero.errors import BadInput, Stopped
from azero.system.console import printable

if TYPE_CHECKING:
    from azero.arena.agents.agent import Agent
    from azero.arena.reviews.review import GameReview, Reviewer
    from azero.records import Record

app = typer.Typer()


@app.command(epilog="Example:  azero review games.txt connect_four --simulations 400")
def review(
    files: Annotated[list[str], typer.Argument(metavar="RECORD... AGENT", help=f"Files of games; then: {AGENT_HELP}")],
    game: GameOption = None,
    simulations: Annotated[
        int | None, typer.Option("--simulations", help="Simulations for each position; the agent's own by default.")
    ] = None,
    record: RecordOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE.html", parser=as_path, help="Write the review of one game as a page."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the page of --out if it exists.")] = False,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
    runtime: RuntimeOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Review games: what each move lost by an agent's judgement.

    The positions after the best and after the played move are searched with equal simulations. Moves that lose 5, 10 or
    15 points of 100 are marked ?!, ? and ??. With --record, the games are written with marks and better lines.
    With --out, the review becomes one file that anyone opens in a browser.
    """
    from azero.arena.reviews.review import Reviewer

    *paths, name = files
    if not paths:
        raise BadInput(f"review needs a file of games and an agent, e.g. azero review {name} connect_four")
    device_config = device_of_options([name], device, precision, runtime)
    maker = Maker(named_game(game), seed, threads, device_config)
    records, agent = _read(paths, maker, name)
    _check_targets(record, out, force, records, name)
    reviewer = Reviewer(agent, simulations)
    begin, reviews = time.perf_counter(), list["GameReview"]()
    early_end: BadInput | KeyboardInterrupt | None = None
    try:
        _review_all(reviewer, name, records, reviews)
    except (BadInput, KeyboardInterrupt) as error:
        if not reviews and isinstance(error, BadInput):
            raise
        early_end = error
    finally:
        agent.close()
    if as_json:
        elapsed_s = time.perf_counter() - begin
        print(json.dumps(_to_json(name, simulations, reviews, reviewer.num_searched, elapsed_s)))
    else:
        _show(name, simulations, reviews)
    if reviews:
        _write(record, out, reviews, name, simulations)
    if isinstance(early_end, BadInput):
        raise early_end
    if early_end:
        raise Stopped(f"stopped after {len(reviews)} of {len(records)} games")


def _check_targets(record: Path | None, out: Path | None, is_forced: bool, records: "list[Record]", agent: str) -> None:
    """Raises BadInput if the games cannot be written where they should be."""
    if record is not None:
        from azero.records.files import check_target

        check_target(record, records[0].game)
    if out is not None:
        from azero.publishing.files import check_target as check_page
        from azero.publishing.files import is_page
        from azero.publishing.page import about_agent

        if not is_page(out):
            raise BadInput(f"--out {str(out)!r} is a page; its name ends in .html")
        if len(records) > 1:
            raise BadInput(f"--out {str(out)!r} is for one game; the files have {len(records)}")
        check_page(out, is_forced)
        about_agent(agent, records[0].game, set())


def _write(
    record: Path | None, out: Path | None, reviews: "list[GameReview]", name: str, simulations: int | None
) -> None:
    """Writes the annotated games to a file of records, and a review to a page."""
    try:
        if out is not None:
            from azero.publishing.review import html_of_review
            from azero.system.files import write_whole

            write_whole(out, html_of_review(reviews[0], name, simulations).encode())
    finally:
        if record is not None:
            from azero.arena.reviews.review import annotate
            from azero.records.files import save_records

            for each in reviews:
                annotate(each)
            save_records(record, [each.record for each in reviews])


def _show(name: str, simulations: int | None, reviews: "list[GameReview]") -> None:
    from azero.interfaces.terminal.results import show_review, show_summary

    limit = f" with {simulations} simulations a position" if simulations else ""
    parts = [f"reviewed by {name}{limit}"]
    if len(reviews) == 1:
        parts.append(show_review(reviews[0]))
    else:
        parts += [*(show_review(each, k) for k, each in enumerate(reviews, 1)), show_summary(reviews)]
    print("\n\n".join(parts))


def _read(paths: list[str], maker: Maker, name: str) -> "tuple[list[Record], Agent]":
    """Returns the records, all of one game, and the agent that plays it."""
    from azero.arena.agents.checkpoints import game_of
    from azero.games.make import make_trusted_game
    from azero.records.files import read_records_of_one_game

    told = make_trusted_game(maker.game) if isinstance(maker.game, str) else game_of(name)
    records = read_records_of_one_game(paths, told, keeps_komi=maker.game is None)
    if not any(each.line() for each in records):
        raise BadInput("there is nothing to review: the games have no moves")
    return [each for each in records if each.line()], maker._replace(game=records[0].game).agent(name)


def _review_all(reviewer: "Reviewer", name: str, records: "list[Record]", reviews: "list[GameReview]") -> None:
    """Adds the reviews of all games, one after another."""
    from tqdm import tqdm

    num_moves = sum(len(record.line()) for record in records)
    with tqdm(total=num_moves, unit=" moves", desc=printable(name), leave=False, disable=None, file=sys.stderr) as bar:
        for each in records:
            reviews.append(reviewer.review(each, lambda move: bar.update(1)))


def _to_json(
    agent: str, simulations: int | None, reviews: "list[GameReview]", num_searched: int, elapsed_s: float
) -> dict:
    found = {"agent": agent, "simulations": simulations, "games": [each.to_json() for each in reviews]}
    return found | {"searched": num_searched, "elapsed_s": elapsed_s}
