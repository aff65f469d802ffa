"""`azero balance`: what a game is like between players who have learned it, for those who design games.

Some runs with different seeds are trained. Their best nets then play many games against themselves, from the game's own
start, with few random choices among good moves. A pool of agents gives the levels of skill between random moves and the
best net. A solver gives the truth where it reaches.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from math import inf, log10
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np

from azero.arena.agents.checkpoints import identity_of_agent
from azero.arena.agents.specs import spec_of
from azero.arena.matches.statistics import score_interval
from azero.arena.ratings.rating_pool import RatingPool
from azero.compiler.rng import derive_seed
from azero.config.reading import check_config
from azero.errors import BadInput
from azero.exact.solver import solve
from azero.games import Game, make_game
from azero.nets.checkpoint import load_checkpoint
from azero.nets.evaluator import NetEvaluator
from azero.runs.folder import BEST, CONFIG, RunFolder
from azero.runs.settings import find_settings
from azero.selfplay.data.shard import Shard
from azero.selfplay.play import SelfPlay, play_games
from azero.system.console import say
from azero.training.resuming import check_same_game
from azero.training.suited import look_at
from azero.training.train import train
from azero.training.trial import LEAST_MINUTES

_SIMULATIONS = 200
_GAMES = 128  # of all seeds together
_TEMPERATURE, _LATER_TEMPERATURE = 0.5, 0.1
"""Temperatures of the first plies and of the others. Games differ, and moves with a fifth of the visits are rare."""

_OPENING = 1 / 4  # of a game
_LADDER = "random", "uct@30", "uct@300", "uct@3000"
_GAMES_OF_AGENT = 60
_LEVEL = 400 * log10(0.7 / 0.3)
"""Elo of a level of skill: who is one level above wins 70 of 100 points."""

_SOLVER_NODES = 20_000_000
_SLOWER_IN_PYTHON = 100  # times, if rules call Python
_OPENINGS_SHOWN, _MOVES_SHOWN = 3, 12


class Opening(NamedTuple):
    """A first move: the share of games that begin with it, and the first player's score in them."""

    move: str
    share: float
    score: float


class Balance(NamedTuple):
    """What is known of a game between good players. Scores are in [0, 1]: a win is 1, a draw 0.5.

    Attributes:
      score: the first player's, with its 95 % interval for games of these nets, as if only different games were
        independent.
      by_seed: the first player's score in the games of each seed's net.
      plies: length of a game: the 10 % shortest end by the first number; the median; the 10 % longest from the last on.
      levels: levels of skill between random moves and the best net; each wins 70 % against the one below.
      unplayed: moves that nobody played, of those that were legal in some position.
      value: of the start for the first player, in [0, 1], if a solver knows it.
    """

    game: str
    games: int
    score: float
    score_ci95: tuple[float, float]
    by_seed: list[float]
    draws: float
    plies: tuple[int, int, int]
    distinct_games: float
    levels: float
    elo: dict[str, float]
    openings: list[Opening]
    unplayed: list[str]
    num_moves: int
    value: float | None

    def to_json(self) -> dict:
        """Returns the object that `azero balance --json` prints."""
        return {**self._asdict(), "openings": [each._asdict() for each in self.openings]}


def balance(game: str, minutes: float, num_seeds: int, folder: Path) -> Balance:
    """Trains runs of a game for some minutes in all, and returns what their nets show.

    What training prints goes to stderr.

    Args:
      folder: of the runs. Complete ones are not trained again, and interrupted ones go on.

    Raises BadInput if the game cannot be used, the minutes are too few, or the folder has runs of another game.
    """
    check(game, minutes, num_seeds)
    if num_seeds > 1:
        say(f"{game}: {num_seeds} runs of {minutes / num_seeds:.1f} minutes each")
    runs = [folder / f"seed_{seed}" for seed in range(1, num_seeds + 1)]
    with redirect_stdout(sys.stderr):
        for seed, run in enumerate(runs, start=1):
            asked = check_config({"seed": seed, "game": {"name": game}, "evaluation": {"every": 0}})
            if (run / CONFIG).exists():
                check_same_game(run, find_settings(run), asked)
                train(run=run, resume=True)
            elif seed == 1:
                train(asked, run, minutes=minutes / num_seeds)
            else:  # nothing needs to be measured again
                train(find_settings(runs[0]).model_copy(update={"seed": seed}), run)
    shards = [_play(run, -(-_GAMES // num_seeds)) for run in runs]
    played = load_checkpoint(runs[0] / BEST).game
    return _describe(played, shards, _ratings(played, runs))


def check(game: str, minutes: float, num_seeds: int) -> None:
    """Raises BadInput if there is no such game, or if there is no time for as many runs."""
    if not 1 <= num_seeds <= 99:
        raise BadInput(f"--seeds {num_seeds} should be from 1 to 99")
    least = num_seeds * LEAST_MINUTES
    if not least <= minutes < inf:
        raise BadInput(f"--minutes {minutes:g} should be {least:g} or more for {num_seeds} runs; --seeds says how many")
    make_game(game)


def _play(run: Path, num_games: int) -> Shard:
    """Returns games of a run's best net against itself, from the start, without noise and almost without chance."""
    config = find_settings(run)
    checkpoint = load_checkpoint(run / BEST)
    plies = max(1, round(_OPENING * look_at(checkpoint.game).plies))
    changes: dict[str, object] = {
        "num_simulations": _SIMULATIONS,
        "temperature": _TEMPERATURE,
        "temperature_plies": plies,
    }
    changes |= {"final_temperature": _LATER_TEMPERATURE, "full_search_share": 1.0, "random_opening_share": 0.0}
    changes |= {"root": "noise", "dirichlet_epsilon": 0.0}
    own = config.model_copy(update={"selfplay": config.selfplay.model_copy(update=changes)})
    selfplay = SelfPlay.from_config(own, checkpoint.game, NetEvaluator(checkpoint.net, config.device))
    return play_games(selfplay, [derive_seed(config.seed, "balance", number) for number in range(num_games)])


def _ratings(game: Game, runs: Sequence[Path]) -> dict[str, float]:
    """Returns the Elo of a ladder of agents above random moves: uct, a net that knows nothing, and the best nets."""
    nets = [
        f"{path}(solve_nodes=0)@{_SIMULATIONS}"
        for path in (RunFolder(runs[0]).first_path, *(run / BEST for run in runs))
    ]
    names = [*_LADDER, *{identity_of_agent(each): each for each in nets}.values()]  # the best may be the first one
    pool = RatingPool(game, names, lambda name, seed: spec_of(name, game, seed), 0, None)
    pool.play(_GAMES_OF_AGENT * len(names))
    return {each.name: round(each.elo, 1) for each in pool.ratings("random").agents}


def _describe(game: Game, shards: Sequence[Shard], elo: dict[str, float]) -> Balance:
    scores = [(shard.game_outcomes() + 1) / 2 for shard in shards]
    of_games, lengths = np.concatenate(scores), np.concatenate([shard.lengths for shard in shards])
    lines = [line for shard in shards for line in _lines_of(shard)]
    unplayed, num_moves = _unplayed(game, lines)
    node_limit = _SOLVER_NODES // (_SLOWER_IN_PYTHON if game.rules.calls_python else 1)
    value = solve(game.new_initial_state(), node_limit=node_limit).value
    distinct = len({*lines})
    as_distinct = np.sort(of_games)[np.linspace(0, len(of_games) - 1, distinct).round().astype(int)]
    return Balance(
        game=str(game),
        games=len(of_games),
        score=float(of_games.mean()),
        score_ci95=score_interval(as_distinct),
        by_seed=[float(each.mean()) for each in scores],
        draws=float((of_games == 0.5).mean()),
        plies=(int(np.quantile(lengths, 0.1)), int(np.median(lengths)), int(np.quantile(lengths, 0.9))),
        distinct_games=distinct / len(lines),
        levels=max(each for name, each in elo.items() if name not in _LADDER) / _LEVEL,
        elo=elo,
        openings=_openings(game, lines, of_games),
        unplayed=unplayed,
        num_moves=num_moves,
        value=None if value is None else (value + 1) / 2,
    )


def _lines_of(shard: Shard) -> Iterator[tuple[int, ...]]:
    """Yields the actions of each game."""
    for actions in np.split(shard.actions, np.cumsum(shard.lengths)[:-1]):
        yield tuple(actions.tolist())


def _openings(game: Game, lines: Sequence[tuple[int, ...]], scores: np.ndarray) -> list[Opening]:
    """Returns the first moves, the most frequent first. Those that a symmetry exchanges count as different ones."""
    start, firsts = game.new_initial_state(), [line[0] for line in lines]
    return [
        Opening(
            game.action_to_text(start, action),
            times / len(lines),
            fmean(score for first, score in zip(firsts, scores.tolist(), strict=True) if first == action),
        )
        for action, times in Counter(firsts).most_common(_OPENINGS_SHOWN)
    ]


def _unplayed(game: Game, lines: Sequence[tuple[int, ...]]) -> tuple[list[str], int]:
    """Returns the texts of legal moves that nobody played, in the order of actions, and how many there were to play."""
    texts: dict[int, str] = {}
    played = {action for line in lines for action in line}
    for line in lines:
        state = game.new_initial_state()
        for action in line:
            for legal in state.legal_actions():
                if legal not in texts:
                    texts[legal] = game.action_to_text(state, legal)
            state.apply_action(action)
    return [texts[action] for action in sorted(texts) if action not in played], len(texts)


def describe(found: Balance) -> list[str]:
    """Returns the lines that `azero balance` prints."""
    low, high = found.score_ci95
    seeds = ", ".join(f"{each:.0%}" for each in found.by_seed)
    openings = "; ".join(f"{each.move} {each.share:.0%} (scores {each.score:.0%})" for each in found.openings)
    shown = ", ".join(found.unplayed[:_MOVES_SHOWN]) + (", ..." if len(found.unplayed) > _MOVES_SHOWN else "")
    truth = {None: "not solved", 0.0: "lost for the first player", 0.5: "drawn", 1.0: "won for the first player"}
    short, median, long = found.plies
    return [
        f"{found.game}: {found.games} games, {found.distinct_games:.0%} of them distinct",
        f"  first player    {found.score:.1%} [{low:.1%}, {high:.1%}]; by seed {seeds}",
        f"  draws           {found.draws:.1%}",
        f"  plies           {median}; 80 % of games have {short} to {long}",
        f"  levels of skill {found.levels:.1f} from random moves to the best net; each wins 70 % against the one below",
        f"  first moves     {openings}",
        f"  never played    {len(found.unplayed)} of {found.num_moves} moves{': ' * bool(shown)}{shown}",
        f"  the start is    {truth[found.value]}",
    ]
