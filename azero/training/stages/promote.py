"""The stage of the gate: the candidate is promoted if it beats the best net, and the iteration ends."""

import time

from azero.runs.metrics import read_metrics, write_metrics
from azero.runs.state import NUM_PROMOTED, Progress, keep_beginning
from azero.system.pool import Pool
from azero.training.final import hold_final
from azero.training.gate import evaluate_best, hold_gate
from azero.training.learning.trainer import Trainer
from azero.training.rating import meet_older_nets, rated, with_gate
from azero.training.run import Run, save_state
from azero.training.watching.health import find_symptoms
from azero.training.watching.report import Report


def promote(run: Run, progress: Progress, trainer: Trainer, report: Report, pool: Pool) -> Progress:
    """Plays the candidate against the best net, promotes it if it is better, and ends the iteration."""
    begin = time.perf_counter()
    iteration, players = (
        progress.iteration,
        pool if pool.is_cluster else None,
    )  # one process plays all games side by side
    player = progress.best if run.plays_ahead(iteration) else None
    verdict = hold_gate(run, progress, report, players)
    progress = with_gate(progress, verdict.matches)
    if verdict.is_promoted:
        promoted = [*progress.promoted, iteration][-NUM_PROMOTED:]
        progress = progress.changed(best=iteration, promotions=progress.promotions + 1, promoted=promoted)
        progress = meet_older_nets(run, progress, report, players)
    progress = rated(progress)
    if verdict.is_promoted:
        run.save_net(run.checkpoint_path(iteration), trainer.candidate(), progress)
    notes = progress.notes | verdict.notes | {"time/gate_s": time.perf_counter() - begin}
    every, last = run.config.evaluation.every, run.config.training.iterations
    if iteration == last and run.config.gate.final_games:
        progress, of_final = hold_final(run, progress, report, players)
        notes |= of_final
    notes |= {"gate/rating": progress.rating, "gate/promotions": progress.promotions}
    if every and (iteration % every == 0 or iteration == last):
        begin = time.perf_counter()
        notes |= evaluate_best(run, progress, report, players)
        notes["time/evaluation_s"] = time.perf_counter() - begin
    stages = "play", "train", "gate", "evaluation"
    notes["time/iteration_s"] = sum(notes.get(f"time/{stage}_s", 0.0) for stage in stages)
    write_metrics(
        run.metrics_path, {"iteration": iteration, "positions": progress.positions, "steps": progress.steps, **notes}
    )
    report.iteration(iteration, progress, notes)
    report.health(iteration, find_symptoms(read_metrics(run.metrics_path)))
    done = run.with_digests(progress.changed(iteration=iteration + 1, stage="play", player=player, notes={}))
    save_state(run.folder, run.config, trainer, done)
    run.publish_best(done)
    keep_beginning(run.folder)  # last: until then, check-run knows by it which net was the best one before
    run.remove_old_shards(done)
    return done
