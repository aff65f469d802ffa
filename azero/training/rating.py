"""A run's own rating: a pool of its nets, by the games of gates and of the final.

The pool is part of the run's state: a list of rows [a, b, pairs, points, squares]. The nets a and b are named by their
iterations, and the others are the sums of `Scores`, from a's side. In a long run the oldest nets leave the pool.
"""

from collections.abc import Sequence
from pathlib import Path

from azero.arena.agents.names import split_program
from azero.arena.matches.results import GameResult
from azero.arena.matches.specs import MatchSpec, play_matches
from azero.arena.ratings.file import pairs_of
from azero.arena.ratings.model import Posterior, Scores, choose_pairings, estimate
from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.runs.folder import CHECKPOINTS, check_is_run, check_no_links, files_in
from azero.runs.settings import find_settings
from azero.runs.state import Progress
from azero.system.console import say
from azero.system.worker_pool import Pool
from azero.training.gate import pairs_of_sizes, spec_of_net
from azero.training.report import Report
from azero.training.run import Run

Row = list[float]

MOST_NETS = 400
"""Nets of a pool. The time of an estimate grows with their cube."""


def members_of(folder: Path) -> list[str]:
    """Returns the names of a run's agents: its checkpoints, the first one first, and the evaluation's opponent.

    The nets have the evaluation's simulations, and do not solve their roots, so that games measure them alone. An
    opponent that is a program is left out, since the run's file names it, not the user.

    Raises BadInput if there is no run, or it has no checkpoints.
    """
    check_is_run(folder)
    config = find_settings(folder).evaluation
    check_no_links(folder)
    paths = files_in(folder, CHECKPOINTS)
    if not paths:
        raise BadInput(f"run {str(folder)!r} has no checkpoints; its first one is there when its training has begun")
    nets = [f"{path.absolute()}(solve_nodes=0)@{config.num_simulations}" for path in paths]
    if split_program(config.opponent):
        say(f"the run's opponent is a program and is left out; name it to rate it: {config.opponent}")
        return nets
    return [*nets, config.opponent]


def distinct_scores(results: Sequence[GameResult]) -> list[float]:
    """Returns the first agent's scores of the whole pairs of a match. Pairs that repeat each other count once."""
    return [pair.score for pair in {pair.key: pair for pair in pairs_of(list(results))}.values()]


def with_games(pool: Sequence[Row], a: int, b: int, scores: Sequence[float]) -> list[Row]:
    """Returns the pool with a's scores of pairs against b."""
    return with_sums(pool, a, b, [float(len(scores)), sum(scores), sum(score**2 for score in scores)])


def with_sums(pool: Sequence[Row], a: int, b: int, sums: Sequence[float]) -> list[Row]:
    """Returns the pool with more of the sums [pairs, points, squares] of a against b."""
    rows = {(row[0], row[1]): row[2:] for row in pool}
    before = rows.get((a, b), [0.0, 0.0, 0.0])
    if sums[0]:
        rows[a, b] = [one + other for one, other in zip(before, sums, strict=True)]
    return [[*nets, *row] for nets, row in rows.items()]


def posterior_of(pool: Sequence[Row], *more: int) -> tuple[list[int], Posterior]:
    """Returns the nets of a pool and some more, by iteration in ascending order, and what is known of them."""
    nets = sorted({int(net) for row in pool for net in row[:2]} | {*more})
    places, scores = {net: place for place, net in enumerate(nets)}, Scores.none(len(nets))
    for a, b, pairs, points, squares in pool:
        i, j = places[int(a)], places[int(b)]
        scores.pairs[[i, j], [j, i]] += pairs
        scores.points[[i, j], [j, i]] += points, pairs - points
        scores.squares[[i, j], [j, i]] += squares, pairs - 2.0 * points + squares
    return nets, estimate(scores)


def with_gate(progress: Progress, matches: Sequence[Sequence[GameResult]]) -> Progress:
    """Returns the progress with the games of a gate, one match for each size of the game."""
    pool = progress.pool
    for results in matches:
        pool = with_games(pool, progress.iteration, progress.best, distinct_scores(results))
    return _shortened(progress.changed(pool=pool))


def _shortened(progress: Progress) -> Progress:
    """Returns the progress with at most `MOST_NETS` nets in its pool.

    If there are more, the older half leaves the pool. The net that was the best one then becomes the anchor, with its
    present rating.
    """
    nets = sorted({int(net) for row in progress.pool for net in row[:2]})
    if len(nets) <= MOST_NETS:
        return progress
    middle = nets[-MOST_NETS // 2]
    anchor = max(int(b) for _, b, *_ in progress.pool if b <= middle)
    elo = rated(progress.changed(best=anchor)).rating
    kept = [row for row in progress.pool if min(row[:2]) >= anchor and max(row[:2]) > middle]
    return progress.changed(pool=kept, anchor=anchor, anchor_rating=elo)


def rated(progress: Progress) -> Progress:
    """Returns the progress with the rating of its best net: Elo above the first net."""
    nets, posterior = posterior_of(progress.pool, progress.best, progress.anchor)
    elo = posterior.elo(nets.index(progress.anchor))[nets.index(progress.best)]
    return progress.changed(rating=progress.anchor_rating + float(elo))


def meet_older_nets(run: Run, progress: Progress, report: Report, pool: Pool | None) -> Progress:
    """Plays a candidate that is the best net now against older nets, those that tell most; returns it with these games.

    Gates alone compare each net with the one before, so that their errors add up.

    Args:
      pool: the workers that play; None: this process.
    """
    num_pairs = run.config.gate.rating_games // 2
    older = [net for net in run.all_promoted(progress) if net >= progress.anchor]
    if not num_pairs or not older:
        return progress
    nets, posterior = posterior_of(progress.pool, progress.best, *older)
    best = nets.index(progress.best)
    chosen = choose_pairings(posterior, num_pairs, [(nets.index(each), best) for each in older])
    met: list[int] = []  # the older net of each match
    specs = []
    for (i, _), count in chosen.items():
        seed = derive_seed(run.config.seed, "rating", progress.iteration, nets[i])
        for game, num in pairs_of_sizes(run, progress.iteration + i, count):
            candidate, other = (
                spec_of_net(run, path, game) for path in (run.candidate_path, run.checkpoint_path(nets[i]))
            )
            met.append(nets[i])
            specs.append(MatchSpec(candidate, other, 2 * num, seed, run.config.gate.opening_plies))
    with report.stage("rating", 2 * num_pairs, "games") as bar:
        matches = play_matches(specs, pool, lambda num, _: bar.update(num))
    rows = progress.pool
    for older_net, match in zip(met, matches, strict=True):
        rows = with_games(rows, progress.best, older_net, distinct_scores(match.results))
    return progress.changed(pool=rows)
