"""The check of a run's nets, and of its rollout policy."""

import re
from pathlib import Path

from azero.mcts.rollouts.weights import load_rollout
from azero.nets.checkpoint import load_checkpoint
from azero.runs.folder import CHECKPOINTS, NET, files_in
from azero.runs.state import STAGES, Progress, digest_of
from azero.system.files import write_whole
from azero.training.checking.findings import Findings
from azero.training.checking.states import LOST
from azero.training.learning.trainer import Trainer
from azero.training.run import Run, save_state


def check_best(
    findings: Findings, run: Run, trainer: Trainer, progress: Progress, beginning: Progress | None
) -> Progress:
    """Checks the published net and the checkpoint of which it is a copy; returns the progress, after a repair.

    Each can replace the other. Before the first step of training, the trainer can make both again.

    Args:
      beginning: the progress at the iteration's beginning, if it is known.
    """
    original, copy = run.published_path(progress), run.best_path
    fault, fault_of_copy = _fault(findings, run, original, progress), _fault(findings, run, copy)
    wanted = progress.digests.get(_name_of(run, original)) or (None if fault else digest_of(original))
    is_same, can_be_made = not fault_of_copy and digest_of(copy) == wanted, progress.steps == 0
    if not (fault_of_copy or is_same or _was_best(run, copy, beginning)):
        fault_of_copy = f"{str(copy)!r} is another net than {_name_of(run, original)}, the best one of the run's state"
    if not copy.exists() and progress.iteration == 1 and can_be_made:
        fault_of_copy = ""  # it is published when the run goes on
    if fault and can_be_made:
        progress = _make_again(findings, run, trainer, progress, original, fault, Progress(iteration=0))
    elif fault:
        _note_copy(findings, original, fault, copy if is_same else None)
    if fault_of_copy:
        _note_copy(findings, copy, fault_of_copy, None if fault and not can_be_made else original)
    return progress


def _was_best(run: Run, copy: Path, beginning: Progress | None) -> bool:
    """Returns whether best.safetensors is as before the last state, which is written a moment before it."""
    nets = [run.published_path(beginning), run.checkpoint_path(beginning.best)] if beginning else []
    return digest_of(copy) in [beginning.digests.get(_name_of(run, net)) for net in nets if beginning]


def _make_again(
    findings: Findings, run: Run, trainer: Trainer, progress: Progress, path: Path, fault: str, at: Progress
) -> Progress:
    """Notes a damaged net that the trainer can make again; returns the progress, with its digest.

    Args:
      at: the progress that the net's card gives.
    """
    repair = "it is made again from the state"
    findings.note(path, fault, "none", repair, lambda: run.save_net(path, trainer.candidate(), at))
    name = _name_of(run, path)
    if not findings.is_repairing or digest_of(path) == progress.digests.get(name, digest_of(path)):
        return progress
    progress = progress.changed(digests=progress.digests | {name: digest_of(path)})  # torch has another version now
    save_state(run.folder, run.config, trainer, progress)
    return progress


def _note_copy(findings: Findings, path: Path, fault: str, source: Path | None) -> None:
    """Notes a damaged net. It is copied from another file, if there is one."""
    if source is None:
        findings.note(path, fault, f"{LOST}: its best net is lost", "")
        return
    name = source.relative_to(findings.folder).as_posix()
    findings.note(path, fault, "none", f"it is copied from {name}", lambda: write_whole(path, source.read_bytes()))


def check_candidate(findings: Findings, run: Run, trainer: Trainer, progress: Progress) -> Progress:
    """Checks the candidate; returns the progress, after a repair.

    The trainer can make it again before the gate; at other times it is not needed.
    """
    path, is_needed = run.candidate_path, progress.stage == STAGES[-1]
    fault = _fault(findings, run, path, progress) if path.exists() or is_needed else ""
    if fault and is_needed:
        return _make_again(findings, run, trainer, progress, path, fault, progress)
    if fault:
        findings.note_and_put_aside(path, fault, "none: the next training writes another")
    return progress


def check_others(findings: Findings, run: Run, trainer: Trainer, progress: Progress | None) -> None:
    """Checks the other nets and a rollout policy. They are put aside; the state forgets those of the next final."""
    needed = [run.checkpoint_path(each) for each in progress.promoted] if progress else []
    lost = []
    for path in sorted({*files_in(run.folder, CHECKPOINTS), *needed}):
        fault = "" if progress and path == run.published_path(progress) else _fault(findings, run, path, progress)
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
        elif progress and _is_strange(run, path, progress):
            fault = f"{str(path)!r} is a net that the run's state does not name"
            findings.note_and_put_aside(path, fault, "none: the run does not use it")
    if lost and progress and findings.is_repairing:
        left = [each for each in progress.promoted if run.checkpoint_path(each) not in lost]
        player = progress.player if progress.player in left else None
        save_state(run.folder, run.config, trainer, progress.changed(promoted=left, player=player))
    policy = run.folder / "rollout.safetensors"
    fault = findings.fault_of(policy, lambda path: load_rollout(path, run.game)) if policy.exists() else ""
    if fault:
        findings.note_and_put_aside(policy, fault, "the policy is lost; azero train-rollout makes another")


def _is_strange(run: Run, path: Path, progress: Progress) -> bool:
    """Returns whether a net has the name of a promoted one, and is none. That of the current iteration may be early."""
    is_named = _name_of(run, path) in progress.digests or path == run.published_path(progress)
    return not is_named and re.fullmatch(NET, path.stem) is not None and int(path.stem) != progress.iteration


def _fault(findings: Findings, run: Run, path: Path, progress: Progress | None = None) -> str:
    digest = progress.digests.get(_name_of(run, path)) if progress else None
    return findings.fault_of(path, lambda path: load_checkpoint(path, run.game), digest)


def _name_of(run: Run, path: Path) -> str:
    """Returns the name of a net in `Progress.digests`."""
    return path.relative_to(run.folder).with_suffix("").as_posix()
