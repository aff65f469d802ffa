"""A budget of seconds as the settings of a run, by the game's facts and the machine's rates. Nothing here measures.

`seconds_of` is the only model of a run's time. `settings_of` chooses the largest run that fits by it. The formulas of
the other settings keep the proportions of `connect_four_quick`, whose runs were compared in matches
(notes/2026-11-make-train.md).
"""

from math import ceil
from typing import NamedTuple

from azero.config.schema import Config
from azero.errors import BadInput

FEWEST_ITERATIONS = 4
"""With fewer, the net hardly learns from games that it has played itself."""

FEWEST_GAMES = 24
"""Games of an iteration, and at least one of each size. With fewer, the iteration's other costs are most of it."""

_GAMES_FOR_ITERATIONS = 50
"""An iteration has at least this number of games for each iteration: in a longer run there is more of both."""

_SAMPLES = 4.0, 8.0
"""Least and most samples of a position: those of the included configs, except a few."""

_TRAINING_FOR_PLAY = 2.0
"""Seconds of training for each of self-play. In a run of minutes, the number of steps limits what the net learns."""

_WINDOW, _LARGEST_WINDOW = 0.7, 400_000
"""Share of the run's positions that the window holds at its end. The first ones, of a random net, have left it."""

_WARMUP, _LONGEST_WARMUP = 1 / 30, 100
"""Share of the run's steps in the warm-up, and in the memory of the average; and the most of them."""

_FINAL, _MOST_FINAL_GAMES, _FEWEST_FINAL_GAMES = 0.06, 20, 4
"""Share of the time for the final, and games of a pair of nets. Fewer than the fewest would choose a net by chance."""

_PAIRS_OF_NETS = 10  # in a final of five nets

_JUDGED, _JUDGING = 4096, 2 / 3
"""New positions that the net predicts before it learns from them; the time for one, if training on it takes 1."""


class Facts(NamedTuple):
    """What a game of self-play is on average, over all sizes of the game."""

    positions: float  # to learn from
    evaluations: float  # of the net


class Rates(NamedTuple):
    """What a machine does with a game and a net, in full lanes, and the seconds that the rest takes."""

    evaluations_per_s: float  # in self-play, of all workers together
    ending_s: float  # to solve the end of a game, if all workers do
    positions_per_s: float  # in training
    gate_s: float  # of a gate of one size with `gate_games`, which fill the lanes; fewer games take as long
    gate_games: int
    rows: int  # of a pass of the net in self-play; one with fewer positions takes as long. 0: no such number
    evaluation_s: float  # of an evaluation
    iteration_s: float  # of an iteration without games, steps and gate: nets are opened, and the state is saved
    num_workers: int


class TooShort(BadInput):
    """A budget is too small. `least_s` is the least that makes sense."""

    def __init__(self, least_s: float):
        super().__init__(f"a run takes {least_s:.0f} s or more")
        self.least_s = least_s


def settings_of(
    config: Config, facts: Facts, rates: Rates, seconds: float, held: frozenset[str] = frozenset(), first: int = 0
) -> Config:
    """Returns the settings of a run that takes `seconds`; raises TooShort.

    Args:
      config: has all settings that the budget does not set.
      held: names of settings that stay as they are, although the budget sets them.
      first: positions from elsewhere, from which the net learns in iteration 1.
    """

    def run_of(iterations: int, games: int, final_games: int) -> Config:
        return with_settings(config, held, _numbers_of(config, facts, rates, iterations, games, final_games, held))

    def longest(iterations: int) -> int:
        """Returns the most games of an iteration with which so many iterations fit; 0 if none fit."""
        low, high = 0, 1 << 20
        while high - low > 1:
            middle = (low + high) // 2
            fits = seconds_of(run_of(iterations, middle, final_games), facts, rates, first) <= seconds
            low, high = (middle, high) if fits else (low, middle)
        return low

    fewest = max(FEWEST_GAMES, len(config.game.sizes))
    least_s = seconds_of(run_of(FEWEST_ITERATIONS, fewest, 0), facts, rates, first)
    if seconds < least_s:
        raise TooShort(least_s)
    a_pair_s = rates.gate_s * _PAIRS_OF_NETS / 2
    final_games = min(_MOST_FINAL_GAMES, 2 * int(_FINAL * seconds / a_pair_s / 2))
    if final_games < max(_FEWEST_FINAL_GAMES, 2 * len(config.game.sizes)):
        final_games = 0
    iterations = FEWEST_ITERATIONS
    while longest(iterations + 1) >= _GAMES_FOR_ITERATIONS * (iterations + 1):
        iterations += 1
    return run_of(iterations, max(1, longest(iterations)), final_games)


def seconds_of(config: Config, facts: Facts, rates: Rates, first: int = 0) -> float:
    """Returns how long a run takes, from its first iteration to its end."""
    play, training, gate, every = config.selfplay, config.training, config.gate, config.evaluation.every
    iterations, num_sizes = training.iterations, max(1, len(config.game.sizes))
    of_own_games = iterations - (first > 0)
    num_shards = num_sizes * ceil(play.games_per_iteration / num_sizes / play.games_per_shard)
    games_of_shard = play.games_per_iteration / num_shards
    turns = ceil(num_shards / rates.num_workers) * rates.num_workers
    games = turns * (max(games_of_shard, rates.rows) + rates.rows / 2)  # at a shard's end, passes are half empty
    positions = play.games_per_iteration * facts.positions
    learnt = (of_own_games * positions + first) * training.samples_per_position
    judged = of_own_games * min(_JUDGED, positions) * _JUDGING
    gates = num_sizes * ceil(gate.games / num_sizes / rates.gate_games) * iterations
    final = gate.final_games * _PAIRS_OF_NETS / 2
    evaluations = ceil(iterations / every) if every else 0
    return (
        of_own_games * games * _play_s(facts, rates)
        + (learnt + judged) / rates.positions_per_s
        + (gates + final) * rates.gate_s
        + evaluations * rates.evaluation_s
        + iterations * rates.iteration_s
    )


def _play_s(facts: Facts, rates: Rates) -> float:
    """Returns the seconds of a game of self-play, if all workers play."""
    return facts.evaluations / rates.evaluations_per_s + rates.ending_s


def _numbers_of(
    config: Config, facts: Facts, rates: Rates, iterations: int, games: int, final_games: int, held: frozenset[str]
) -> dict[str, object]:
    """Returns what the budget sets, by name, for a run of these numbers."""
    num_sizes, training = max(1, len(config.game.sizes)), config.training
    if is_held("selfplay.games_per_iteration", held):
        games = config.selfplay.games_per_iteration
    balanced = _TRAINING_FOR_PLAY * _play_s(facts, rates) / facts.positions * rates.positions_per_s
    samples = min(max(_SAMPLES[0], round(balanced, 1)), _SAMPLES[1])
    if is_held("training.samples_per_position", held):
        samples = training.samples_per_position
    positions = iterations * games * facts.positions
    memory = min(_LONGEST_WARMUP, max(1, round(positions * samples / training.batch_size * _WARMUP)))
    return {
        "selfplay.games_per_iteration": games,
        "selfplay.games_per_shard": ceil(games / num_sizes / rates.num_workers),
        "replay.window": min(_LARGEST_WINDOW, max(1, round(_WINDOW * positions))),
        "replay.window_growth": 0.0,  # since the run's length is known
        "training.iterations": iterations,
        "training.samples_per_position": samples,
        "training.warmup_steps": memory,
        "training.ema_decay": round(1.0 - 1.0 / (1 + memory), 4),
        "gate.games": num_sizes * max(2, min(rates.gate_games, 2 * ceil(64 / num_sizes / 2))),
        "gate.win_rate_threshold": 0.5,  # what is equally good has learned from more
        "gate.rating_games": 0,  # they decide nothing
        "gate.final_games": final_games,
    }


def is_held(name: str, held: frozenset[str]) -> bool:
    """Returns whether a setting, or its whole section, is among the held ones."""
    return name in held or name.partition(".")[0] in held


def with_settings(config: Config, held: frozenset[str], numbers: dict[str, object]) -> Config:
    """Returns the settings with these numbers, by name, except those that are held."""
    changes: dict[str, dict[str, object]] = {}
    for name, value in numbers.items():
        section, _, key = name.partition(".")
        if not is_held(name, held):
            changes.setdefault(section, {})[key] = value
    return config.model_copy(
        update={name: getattr(config, name).model_copy(update=values) for name, values in changes.items()}
    )
