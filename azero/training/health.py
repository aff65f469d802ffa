"""The health of a run: recognises collapse, stalling and divergence in its metrics, and advises what to try.

A symptom is a function of the run's lines of metrics.jsonl, oldest first. It returns one line (the problem, the likely
cause, what to try) or None. Except for exploding losses, a symptom must last for several iterations.
"""

from collections.abc import Callable, Sequence
from math import log
from statistics import fmean
from typing import Any

from azero.system.formats import is_number

Line = dict[str, Any]
Symptom = Callable[[Sequence[Line]], str | None]

RATES = "learning rates (training.muon_learning_rate and training.learning_rate)"

LASTING = 3
"""Iterations that a symptom must last. In one iteration it is often an accident, and three cost little time."""

REPEATED_AFTER = 20
"""Iterations until a warning is repeated: enough to see whether a change of settings has helped."""

STALLED = 20
"""Iterations without a promotion. If gates pass one candidate in five, this happens in 1 run of 100 by chance."""

EARLY = 10
"""Iterations in which a certain search is suspicious. Later it may have learned the game."""

EVEN = 0.45
"""Mean gate score at which candidates count as equal to the best net. Chance moves this mean by up to 0.05."""

ALIKE = 0.1
"""Share of distinct games. In fully learned tic-tac-toe it is 0.7; below a tenth most of self-play is wasted."""

ONE_END = 0.99
"""Share of games with the same result. It allows for one or two exceptions in some hundred games, due to noise."""

SMALL_LOSS = 0.05
"""A value loss, in nats, with nothing left to learn: the predicted probability of the result is 95 %."""

CERTAIN = 0.05
"""Entropy of the search's policy, in nats, that is almost zero: 99 % of the visits are on one move."""

OVERCONFIDENT = 0.5
"""Entropy of the net's policy, as a share of the search's. Normally it is higher, since the net learns an average."""

EXPLODED = 1.5
"""A loss, as a multiple of the first net's. A new net's output is uniform, and noise stays below 1.1 times its loss."""

UNIFORM = log(3)
"""The value loss of a uniform output, in nats. A run may begin with a trained net, whose losses are lower."""

GAP = 0.1
"""Difference, in nats, of the losses on fresh positions and in training. A smaller one matters little."""

RISE = 1.2
"""Ratio of the loss on fresh positions to the loss before. With 200 games of Connect Four each it varies by 7 %."""

MISCALIBRATED = 0.3
"""Mean distance of values from results, both in [-1, 1]. New nets with few games reach 0.2."""


FIGURES = (
    *("fresh/calibration_error", "fresh/policy_loss", "fresh/value_loss", "gate/promotions", "gate/score"),
    *("selfplay/distinct_games", "selfplay/draws", "selfplay/first_player_score"),
    *("train/policy_entropy", "train/policy_loss", "train/target_entropy", "train/value_loss"),
)
"""The metrics that symptoms read."""


def find_symptoms(lines: Sequence[Line]) -> dict[str, str]:
    """Returns the symptoms after the last of a run's lines, by name; empty if there are none.

    Lines without all figures do not count.
    """
    trained = [line for line in lines if all(map(is_number, map(line.get, FIGURES)))]
    found = {symptom.__name__: symptom(trained) for symptom in SYMPTOMS if trained}
    return {name: text for name, text in found.items() if text}


def _lasts(lines: Sequence[Line], is_so: Callable[[Line], bool]) -> bool:
    """Returns whether `is_so` holds in each of the last iterations."""
    return len(lines) >= LASTING and all(map(is_so, lines[-LASTING:]))


def losses_explode(lines: Sequence[Line]) -> str | None:
    """The net is much worse than the run's first one."""
    for name in ("policy_loss", "value_loss"):
        first, loss = lines[0][f"fresh/{name}"], lines[-1][f"train/{name}"]
        if loss > EXPLODED * max(first, UNIFORM):
            return (
                f"losses explode: train/{name} is {loss:.3g}, but the first net's was {first:.3g}; the "
                f"learning rate is too high: resume with lower {RATES}, or a training.gradient_clip"
            )
    return None


def net_is_overconfident(lines: Sequence[Line]) -> str | None:
    """The net's policy is much more certain than the search's."""

    def is_so(line: Line) -> bool:
        entropy, target = line["train/policy_entropy"], line["train/target_entropy"]
        return target > CERTAIN and entropy < OVERCONFIDENT * target

    if not _lasts(lines, is_so):
        return None
    entropy, target = (lines[-1][f"train/{name}_entropy"] for name in ("policy", "target"))
    return (
        f"the policy collapses: its entropy is {entropy:.2g}, the search's is {target:.2g}; the net is more certain "
        f"than its targets: try lower {RATES}, or fewer training.samples_per_position"
    )


def search_is_certain_early(lines: Sequence[Line]) -> str | None:
    """The search puts almost all visits on one move in early iterations."""
    last = lines[-1]
    if last["iteration"] > EARLY or not _lasts(lines, lambda line: line["train/target_entropy"] < CERTAIN):
        return None
    return (
        f"the search hardly explores: the entropy of its policy is {last['train/target_entropy']:.2g} in "
        f"iteration {last['iteration']} already; try more selfplay.num_simulations, a higher search.c_puct or more "
        "noise, selfplay.dirichlet_epsilon; with root = gumbel a lower selfplay.gumbel_scale"
    )


def games_are_alike(lines: Sequence[Line]) -> str | None:
    """Self-play repeats the same few games."""
    if not _lasts(lines, lambda line: line["selfplay/distinct_games"] < ALIKE):
        return None
    return (
        f"games are alike: only {lines[-1]['selfplay/distinct_games']:.0%} of self-play's differ from each other; try "
        "a higher selfplay.temperature, more selfplay.temperature_plies or a higher selfplay.dirichlet_epsilon"
    )


def games_end_alike(lines: Sequence[Line]) -> str | None:
    """All games have the same result, and the net predicts it: the value has nothing left to learn."""
    ends = {
        "in a draw": lambda line: line["selfplay/draws"],
        "with the first player's win": lambda line: line["selfplay/first_player_score"],
        "with the second player's win": lambda line: 1 - line["selfplay/first_player_score"],
    }
    for end, share in ends.items():

        def is_so(line: Line, share: Callable[[Line], float] = share) -> bool:
            return share(line) >= ONE_END and line["train/value_loss"] < SMALL_LOSS

        if _lasts(lines, is_so):
            return (
                f"all games end {end}, and the value has nothing left to learn; if the game is not solved by now, try "
                "more selfplay.temperature_plies or a higher selfplay.dirichlet_epsilon"
            )
    return None


def no_candidate_is_promoted(lines: Sequence[Line]) -> str | None:
    """No candidate has been promoted for long."""
    if len(lines) <= STALLED or lines[-1]["gate/promotions"] != lines[-1 - STALLED]["gate/promotions"]:
        return None
    score = fmean(line["gate/score"] for line in lines[-STALLED:])
    worse = f"candidates are worse: try lower {RATES}, or fewer training.samples_per_position"
    equal = (
        "candidates are as good as the best, so this net may have learned what it can: try more "
        "selfplay.num_simulations, more gate.games, a lower gate.win_rate_threshold, or a run with a larger net"
    )
    likely = worse if score < EVEN else equal
    return f"no promotion for {STALLED} iterations, at a mean gate score of {score:.0%}; {likely}"


def net_overfits(lines: Sequence[Line]) -> str | None:
    """Losses rise on fresh positions while they fall in training."""
    if len(lines) < 2 * LASTING:
        return None
    for name in ("policy_loss", "value_loss"):
        (fresh_before, fresh), (train_before, train) = (
            [
                fmean(line[f"{part}/{name}"] for line in half)
                for half in (lines[-2 * LASTING : -LASTING], lines[-LASTING:])
            ]
            for part in ("fresh", "train")
        )
        if train < train_before and fresh > RISE * fresh_before and fresh - train > GAP:
            return (
                f"the net overfits: {name} rises on fresh positions ({fresh_before:.3g} to {fresh:.3g}) and falls in "
                f"training ({train_before:.3g} to {train:.3g}); try fewer training.samples_per_position, a larger "
                "replay.window or a higher training.weight_decay"
            )
    return None


def values_are_miscalibrated(lines: Sequence[Line]) -> str | None:
    """The net's values are far from the results of games."""
    if not _lasts(lines, lambda line: line["fresh/calibration_error"] > MISCALIBRATED):
        return None
    return (
        f"values are far from results: fresh/calibration_error is {lines[-1]['fresh/calibration_error']:.2g}; try more "
        "selfplay.games_per_iteration, fewer training.samples_per_position or a lower training.value_loss_weight"
    )


SYMPTOMS: tuple[Symptom, ...] = (
    losses_explode,
    net_is_overconfident,
    search_is_certain_early,
    games_are_alike,
    games_end_alike,
    no_candidate_is_promoted,
    net_overfits,
    values_are_miscalibrated,
)
