"""The check of a run's nets, and of its rollout policy."""

from dataclasses import replace
from pathlib import Path

from azero.mcts.rollouts.weights import load_rollout
from azero.nets.checkpoint import load_checkpoint
from azero.nets.checkpoint_file import read_card
from azero.system.files import write_whole
from azero.training.checking.findings import Findings
from azero.training.checking.states import LOST
from azero.training.learning.trainer import Trainer
from azero.training.run import Run
from azero.training.state import CANDIDATE, MEAN, Progress, save_state


def check_best(findings: Findings, run: Run, trainer: Trainer, progress: Progress) -> None:
    """Checks the published net and the checkpoint of which it is a copy. Each can replace the other.

    Before the first step of training, the trainer can make both again.
    """
    original, copy = run.published_path(progress), run.best_path
    fault, fault_of_copy = _fault(findings, run, original), _fault(findings, run, copy)
    if not copy.exists() and progress.iteration == 1 and progress.steps == 0:
        fault_of_copy = ""  # it is published when the run goes on
    elif fault and not fault_of_copy and read_card(copy).iteration != _iteration_of_published(progress):
        fault_of_copy = "it is an older net"
    can_be_made = progress.steps == 0
    if fault and can_be_made:
        repair = "it is made again from the state"
        first = Progress(iteration=0)
        findings.note(original, fault, "none", repair, lambda: run.save_net(original, trainer.candidate(), first))
    elif fault:
        _note_copy(findings, original, fault, None if fault_of_copy else copy)
    if fault_of_copy:
        _note_copy(findings, copy, fault_of_copy, None if fault and not can_be_made else original)


def _note_copy(findings: Findings, path: Path, fault: str, source: Path | None) -> None:
    """Notes a damaged net. It is copied from another file, if there is one."""
    if source is None:
        findings.note(path, fault, f"{LOST}: its best net is lost", "")
        return
    name = source.relative_to(findings.folder).as_posix()
    findings.note(path, fault, "none", f"it is copied from {name}", lambda: write_whole(path, source.read_bytes()))


def check_candidate(findings: Findings, run: Run, trainer: Trainer, progress: Progress) -> None:
    """Checks the candidate. The trainer can make it again before the gate; at other times it is not needed."""
    path, is_needed = run.candidate_path, progress.stage == "gate"
    fault = _fault(findings, run, path) if path.exists() or is_needed else ""
    if fault and is_needed:
        repair = "it is made again from the state"
        findings.note(path, fault, "none", repair, lambda: run.save_net(path, trainer.candidate(), progress))
    elif fault:
        findings.note_and_put_aside(path, fault, "none: the next training writes another")


def check_others(findings: Findings, run: Run, trainer: Trainer, progress: Progress | None) -> None:
    """Checks the other nets and a rollout policy. They are put aside; the state forgets those of the next final."""
    needed = [run.checkpoint_path(each) for each in progress.promoted] if progress else []
    lost = []
    for path in sorted({*(run.folder / "checkpoints").glob("*.safetensors"), *needed}):
        fault = "" if progress and path == run.published_path(progress) else _fault(findings, run, path)
        if fault and progress and path == run.checkpoint_path(progress.best):
            findings.note(path, fault, f"{LOST}: its best net is lost", "")
        elif fault and path in needed:
            lost.append(path)
            cost = "this net is lost, and the next final is held without it"
            if progress and progress.player is not None and path == run.checkpoint_path(progress.player):
                cost += "; the best net plays this iteration's games in its place"
            findings.note_and_put_aside(path, fault, cost)
        elif fault:
            findings.note_and_put_aside(path, fault, "this net is lost")
    if lost and progress and findings.is_repairing:
        left = [each for each in progress.promoted if run.checkpoint_path(each) not in lost]
        player = progress.player if progress.player in left else None
        save_state(run.folder, run.config, trainer, replace(progress, promoted=left, player=player))
    policy = run.folder / "rollout.safetensors"
    fault = findings.fault_of(policy, lambda path: load_rollout(path, run.game)) if policy.exists() else ""
    if fault:
        findings.note_and_put_aside(policy, fault, "the policy is lost; azero train-rollout makes another")


def _fault(findings: Findings, run: Run, path: Path) -> str:
    return findings.fault_of(path, lambda path: load_checkpoint(path, run.game))


def _iteration_of_published(progress: Progress) -> int:
    """Returns the iteration in the card of the published net."""
    if progress.final in (MEAN, CANDIDATE):
        return progress.iteration - 1
    return int(progress.final) if progress.final else progress.best
