"""The final: games among a run's last nets that decide which one is published.

A gate of a few dozen games sometimes fails a better candidate or passes a worse one by chance. The final repairs this
at the end of a run. The evaluation's opponent does not take part, since it serves as an independent measure.
"""

from contextlib import closing
from itertools import combinations
from pathlib import Path

import numpy as np
import torch

from azero.arena.agents.specs import OpenAgents
from azero.arena.matches.results import GameResult
from azero.arena.matches.specs import MatchSpec, play_matches
from azero.arena.ratings.model import Posterior, Scores, choose_pairings, estimate
from azero.compiler.rng import derive_seed
from azero.games import Game
from azero.nets.architectures.contract import Net
from azero.nets.checkpoint import load_checkpoint
from azero.runs.folder import CANDIDATE, MEAN
from azero.runs.state import Progress
from azero.system.files import remove, write_whole
from azero.system.worker_pool import Pool
from azero.training.gate import pairs_of_sizes, spec_of_net
from azero.training.rating import distinct_scores, rated, with_sums
from azero.training.report import Report
from azero.training.run import Run

_Pairing = tuple[int, int, Game]
"""The places of two nets in the final, and the size at which they play."""


def hold_final(run: Run, progress: Progress, report: Report, pool: Pool | None) -> tuple[Progress, dict]:
    """Lets the last promoted nets, the last candidate, and the mean of all their weights play for the highest rating.

    Only the games of the final decide: a candidate was promoted by its gate, so the gate's games favour it. If several
    have the same rating, the newest wins. In games that end in draws this happens often.

    Args:
      pool: the workers that play; None: this process.

    Returns:
      The progress with the winner's name in `checkpoints/` and its rating, and notes for the metrics.
    """
    nets = {run.checkpoint_path(iteration): iteration for iteration in progress.promoted}
    mean, last = run.checkpoint_file(MEAN), run.checkpoint_file(CANDIDATE)
    if progress.best != progress.iteration:
        write_whole(last, run.candidate_path.read_bytes())
        nets[last] = progress.iteration
    run.save_net(mean, mean_of([load_checkpoint(path, run.game).net for path in nets]), progress)
    paths = [*reversed(nets), mean]
    final = _play_final(run, progress, paths, report, pool)
    elo = estimate(final).mean.round(6)
    best = int(elo.argmax())  # of several with the same rating the first: the newest
    winner = paths[best]
    for path in {last, mean} - {winner}:
        remove(path)
    nets[mean] = progress.iteration + 1  # stands for the mean, which has no iteration, while it is rated
    rows = progress.pool
    for i, j in combinations(range(len(paths)), 2):
        rows = with_sums(rows, nets[paths[i]], nets[paths[j]], [float(each[i, j]) for each in final])
    rating = rated(progress.changed(pool=rows, best=nets[winner])).rating
    rows = [row for row in rows if nets[mean] not in row[:2]]
    score = float(final.points[best].sum() / final.pairs[best].sum())
    notes = {"final/score": score, "final/nets": len(paths), "final/games": int(final.pairs.sum())}
    return progress.changed(final=winner.stem, pool=rows, rating=rating), notes


def describe_final(final: str) -> str:
    """Returns which net won the final, as the end of a sentence; empty if there was no final."""
    if not final:
        return ""
    names = {MEAN: "the mean of the last nets' weights", CANDIDATE: "the last candidate"}
    winner = names.get(final) or f"the net of iteration {int(final)}"
    return f"; {winner} won the final"


def mean_of(nets: list[Net]) -> Net:
    """Returns a net with the mean weights and running statistics of `nets`. Overwrites the last of them.

    Source: Izmailov et al., Averaging weights leads to wider optima and better generalization (2018).
    """
    states = [net.state_dict() for net in nets]
    with torch.no_grad():
        for name, tensor in nets[-1].state_dict().items():
            if tensor.is_floating_point():
                tensor.copy_(torch.stack([state[name] for state in states]).mean(0))
    return nets[-1]


def _play_final(run: Run, progress: Progress, paths: list[Path], report: Report, pool: Pool | None) -> Scores:
    """Plays the games of the final with the gate's simulations, at most as many as a round robin would have.

    They go where the choice is open. A net no longer plays if it is weaker than the leader with a probability above
    95 %. The final is over if one net is left.
    """
    scores = Scores.none(len(paths))
    left = len(paths) * (len(paths) - 1) // 2 * run.config.gate.final_games // 2
    results: dict[_Pairing, list[GameResult]] = {}
    own = OpenAgents(len(paths) * len(run.games))
    with report.stage("final", 2 * left, "games") as bar, closing(own) as agents:
        while left > 0 and len(contenders := _contenders(estimate(scores))) > 1:
            among = list(combinations(contenders, 2))
            batch = min(left, max(len(paths), int(scores.pairs.sum()) // 8))
            chosen = choose_pairings(estimate(scores), batch, among)
            specs = _specs_of(run, progress, paths, results, chosen)
            matches = play_matches(list(specs.values()), pool, lambda num, _: bar.update(num), agents)
            for pairing, match in zip(specs, matches, strict=True):
                results[pairing] = results.get(pairing, []) + match.results
            left -= batch
            scores = _scores_of(len(paths), results)
    return scores


def _specs_of(
    run: Run,
    progress: Progress,
    paths: list[Path],
    results: dict[_Pairing, list[GameResult]],
    chosen: dict[tuple[int, int], int],
) -> dict[_Pairing, MatchSpec]:
    """Returns the specs of the next matches: the chosen numbers of pairs, after those that have been played."""
    specs = {}
    for (i, j), count in chosen.items():
        seed = derive_seed(run.config.seed, "final", progress.iteration, i, j)
        before = sum(len(played) // 2 for (*pair, _), played in results.items() if pair == [i, j])
        for game, num_pairs in pairs_of_sizes(run, before, count):
            one, other = (spec_of_net(run, paths[place], game) for place in (i, j))
            first_pair = len(results.get((i, j, game), [])) // 2
            specs[i, j, game] = MatchSpec(
                one, other, 2 * num_pairs, seed, run.config.gate.opening_plies, first_pair=first_pair
            )
    return specs


def _contenders(posterior: Posterior) -> list[int]:
    """Returns the places of the nets that are above the leader with a probability of at least 5 %, and its own."""
    return np.flatnonzero(posterior.chances_above(int(posterior.mean.argmax())) >= 0.05).tolist()


def _scores_of(num_nets: int, results: dict[_Pairing, list[GameResult]]) -> Scores:
    scores = Scores.none(num_nets)
    for (i, j, _), played in results.items():
        for score in distinct_scores(played):
            scores.add(i, j, score)
    return scores
