"""The final: a round robin among a run's last nets that decides which one is published.

A gate of a few dozen games sometimes fails a better candidate or passes a worse one by chance. The final repairs this
at the end of a run. The evaluation's opponent does not take part, since it serves as an independent measure.
"""

import contextlib
from itertools import combinations
from pathlib import Path

import torch

from azero.arena.matches.match import play_match
from azero.compiler.rng import derive_seed
from azero.nets.architectures.contract import Net
from azero.nets.checkpoint import load_checkpoint
from azero.system.files import remove, write_whole
from azero.training.gate import agent_of, shares_of
from azero.training.run import Run
from azero.training.state import CANDIDATE, MEAN, Progress
from azero.training.watching.report import Report


def hold_final(run: Run, progress: Progress, report: Report) -> tuple[str, dict]:
    """Plays a round robin of the last promoted nets, the last candidate, and the mean of all their weights.

    If several have most points, the newest wins. In games that end in draws this happens often.

    Returns:
      The winner's name in `checkpoints/`, and notes for the metrics.
    """
    promoted = [run.checkpoint_path(iteration) for iteration in progress.promoted]
    mean, last = run.checkpoint_file(MEAN), run.checkpoint_file(CANDIDATE)
    if progress.best != progress.iteration:
        write_whole(last, run.candidate_path.read_bytes())
        promoted.append(last)
    run.save_net(mean, mean_of([load_checkpoint(path, run.game).net for path in promoted]), progress)
    points = round_robin(run, progress, [*reversed(promoted), mean], report)
    winner = max(points, key=lambda path: points[path])  # of several with as many points the first: the newest
    for path in {last, mean} - {winner}:
        remove(path)
    score = points[winner] / (len(promoted) * run.config.gate.final_games)
    return winner.stem, {"final/score": score, "final/nets": len(points)}


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


def round_robin(run: Run, progress: Progress, paths: list[Path], report: Report) -> dict[Path, float]:
    """Plays matches of all pairs with the gate's simulations; returns the points of each net."""
    config = run.config.gate
    points = dict.fromkeys(paths, 0.0)
    pairs = list(combinations(paths, 2))
    with contextlib.ExitStack() as stack:
        agents = {
            (path, game): stack.enter_context(contextlib.closing(agent_of(run, path, game)))
            for game in run.games
            for path in paths
        }
        bar = stack.enter_context(report.stage("final", len(pairs) * config.final_games, "games"))
        for number, (a, b) in enumerate(pairs):
            seed = derive_seed(run.config.seed, "final", progress.iteration, number)
            for game, share in shares_of(run, config.final_games):
                match = play_match(
                    agents[a, game], agents[b, game], game, share, seed, config.opening_plies,
                    on_games=lambda num, _: bar.update(num),
                )  # fmt: skip
                score = match.tally.score
                points[a] += score * share
                points[b] += (1.0 - score) * share
    return points
