"""`azero rate`: ratings of many agents in one pool."""

import json
import re
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from azero.commands.clusters import check_cluster, workers_of
from azero.commands.makers import Maker, device_of_options
from azero.commands.options import (
    AGENT_HELP,
    ClusterOption,
    DeviceOption,
    GameOption,
    JsonOption,
    NodesOption,
    PrecisionOption,
    RuntimeOption,
    SeedOption,
    ThreadsOption,
    as_path,
    named_game,
)
from azero.errors import BadInput, EngineFailed, Stopped
from azero.system.console import printable, say

if TYPE_CHECKING:
    from azero.arena.agents.specs import AgentSpec
    from azero.arena.ratings.rating_pool import RatingPool, Ratings
    from azero.games import Game

app = typer.Typer()

RunOption = Annotated[
    Path | None,
    typer.Option("--run", parser=as_path, metavar="RUN", help="Also rate a run's checkpoints and its opponent."),
]
GamesOption = Annotated[
    int | None,
    typer.Option("--games", help="Games of the whole pool, in pairs with colours swapped; 100 per agent by default."),
]
AnchorOption = Annotated[
    str | None,
    typer.Option("--anchor", metavar="AGENT=ELO", help="The agent whose rating is given; the first one = 0."),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        parser=as_path,
        metavar="FILE",
        help="File that keeps the games; by default RUN/ratings.json or results/ratings-GAME.json.",
    ),
]
PlotOption = Annotated[
    Path | None, typer.Option("--plot", parser=as_path, metavar="FILE", help="Draw the ratings into a PNG file.")
]


@app.command(epilog="Example:  azero rate uct@50 uct@100 uct@200 --game tic_tac_toe --games 200")
def rate(
    agents: Annotated[list[str] | None, typer.Argument(metavar="AGENT...", help=AGENT_HELP)] = None,
    run: RunOption = None,
    games: GamesOption = None,
    anchor: AnchorOption = None,
    game: GameOption = None,
    out: OutOption = None,
    plot: PlotOption = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
    runtime: RuntimeOption = "auto",
    max_nodes: NodesOption = None,
    cluster: ClusterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rate many agents in one pool.

    Prints the Elo of each agent with a 95 % interval, best first. The next games are those that narrow the ratings
    most. All finished games are kept in a file, RUN/ratings.json or results/ratings-GAME.json. The same command goes on
    from there: with a larger --games it plays the additional ones.
    If an engine fails, the ratings so far are printed, and the exit code is 1. Ctrl-C prints them, too.
    With --cluster, the workers of a Ray cluster play the same games.
    """
    from azero.arena.ratings.rating_pool import GAMES_PER_AGENT, RatingPool, game_of_pool

    names = [*(agents or []), *(_members(run) if run else [])]
    if games is not None and games < 1:
        raise BadInput(f"--games {games} should be 1 or more")
    anchor_name, elo = _anchor(anchor, names)
    if cluster is not None:
        check_cluster(names, threads)
    device_config = device_of_options(names, device, precision, runtime)
    maker = Maker(named_game(game), seed, threads, device_config, max_nodes)
    played = game_of_pool(names, maker.game)
    maker = maker._replace(game=played)
    path = out or (run / "ratings.json" if run else _default_path(str(played)))
    with workers_of(cluster, maker.device_for(names)) as workers:
        pool = RatingPool(played, names, _specs(maker, played, workers is not None), seed, path, workers)
        failure = _play(pool, GAMES_PER_AGENT * len(names) if games is None else games)
    if pool.num_games:
        _show(pool.ratings(anchor_name, elo), as_json, plot)
    if isinstance(failure, KeyboardInterrupt):
        raise Stopped(f"stopped after {pool.num_games} games; the same command goes on from {path}")
    if failure:
        say(f"{failure}; the same command goes on from {path}")
        raise typer.Exit(1)


def _specs(maker: Maker, game: "Game", is_for_workers: bool) -> "Callable[[str, int], AgentSpec]":
    """Returns a function that returns the spec of the agent with a name and a seed."""
    from azero.arena.agents.checkpoints import trust_search
    from azero.arena.agents.names import parse_name
    from azero.arena.agents.specs import spec_of

    @cache
    def spec(name: str) -> "AgentSpec":
        if not is_for_workers:
            trust_search(parse_name(name), is_kept=True)
            return spec_of(name, game, maker.seed, maker.num_threads, maker.device, maker.max_nodes)
        with closing(maker.agent(name)) as agent:
            return maker.spec(name, agent)

    return lambda name, seed: replace(spec(name), seed=seed)


def _members(run: Path) -> list[str]:
    from azero.training.rating import members_of

    return members_of(run)


def _anchor(anchor: str | None, names: list[str]) -> tuple[str, float]:
    """Returns the anchor's name and Elo; raises BadInput. A name may contain `=`."""
    if len(names) < 2:
        raise BadInput(f"a pool needs two agents or more, and this one has {', '.join(names) or 'none'}")
    if anchor is None or anchor in names:
        return anchor or names[0], 0.0
    name, _, text = anchor.rpartition("=")
    if name not in names:
        raise BadInput(f"--anchor {anchor!r} should be AGENT=ELO with an agent of the pool: {', '.join(names)}")
    if not re.fullmatch(r"[+-]?\d{1,6}(\.\d{1,6})?", text, re.ASCII):
        raise BadInput(f"--anchor {anchor!r}: {text!r} should be a number, e.g. {name}=0")
    return name, float(text)


def _default_path(game: str) -> Path:
    return Path("results") / f"ratings-{re.sub(r'[^A-Za-z0-9.]+', '_', game).strip('_.')[:100]}.json"


def _play(pool: "RatingPool", games: int) -> EngineFailed | KeyboardInterrupt | None:
    """Plays games; returns what ended them early."""
    from tqdm import tqdm

    done = pool.num_games
    if games % 2 and games > done:
        say(f"--games {games} is odd: the last pair has both its games, {games + 1} in all")
    with tqdm(
        total=max(games, done), initial=done, unit=" games", desc="rating", leave=False, disable=None, file=sys.stderr
    ) as bar:

        def show(num: int, tally: Any) -> None:
            bar.update(num)

        try:
            pool.play(games, show)
        except (EngineFailed, KeyboardInterrupt) as error:
            return error
    return None


def _show(ratings: "Ratings", as_json: bool, plot: Path | None) -> None:
    from azero.interfaces.terminal.results import show_ratings

    print(json.dumps(ratings.to_json()) if as_json else show_ratings(ratings), flush=True)
    if plot:
        from azero.plots import draw_intervals

        names = [printable(each.name) for each in ratings.agents]
        values = [each.elo for each in ratings.agents]
        halves = [each.elo - each.elo_ci95[0] for each in ratings.agents]
        draw_intervals(f"{ratings.game}, {ratings.games} games", "Elo, 95 % intervals", names, values, halves, plot)
