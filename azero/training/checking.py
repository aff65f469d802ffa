"""The check of a run's folder: reads it back, says what is damaged and what that costs, and mends what can be mended.

A file that is not whole is replaced by what makes it again, exactly where that is possible: settings are also in the
state, best.safetensors is a copy of a checkpoint, an iteration can be done again from its beginning.
"""

import re
from pathlib import Path

from azero.config.schema import Config
from azero.errors import BadInput, Damaged
from azero.games import Game
from azero.mcts.rollouts.weights import load_rollout
from azero.nets.checkpoint import load_checkpoint
from azero.runs.folder import (
    BEGINNING,
    CHECKPOINTS,
    CONFIG,
    FOLDERS,
    METRICS,
    NET,
    REPLAY,
    ROLLOUT,
    SHARD,
    STATE,
    files_in,
    has_state,
    iteration_of,
    shards_from_elsewhere,
)
from azero.runs.metrics import good_lines, read_metrics
from azero.runs.settings import differences, find_settings, game_of_run, read_settings, write_settings
from azero.runs.shards import load_sized_shard
from azero.runs.state import STAGES, Progress, digest_of, is_of_run, read_state
from azero.system.files import LOCK, write_whole
from azero.training.damage import Findings, RunReport
from azero.training.fresh_games import task_in, task_of
from azero.training.learning.trainer import Trainer
from azero.training.run import Run, load_state, save_state

_LOST = "the run cannot continue"


def check_run(folder: Path, is_repairing: bool) -> RunReport:
    """Reads a run's folder back, and mends it if `is_repairing`. The caller holds the folder.

    Later parts are checked by what the earlier ones say.

    Raises BadInput if the run's game cannot be played here, or if a file that is not damaged cannot be used here, since
    it is of another version of azero or the game's file has changed.
    """
    findings = Findings(folder, is_repairing)
    for name in FOLDERS:
        if (folder / name).exists() and not (folder / name).is_dir():
            findings.note_and_put_aside(folder / name, "it is not a folder", "what was in it")
    if (folder / LOCK).is_dir():
        findings.note_and_put_aside(folder / LOCK, "it is a folder", "none")
    config = _check_settings(findings)
    if config is not None:
        game = game_of_run(folder, config.game)
        run, trainer = Run(folder, config, game), Trainer(config, game)
        progress, beginning = _check_states(findings, config, game, trainer)
        if progress is not None:
            progress = _check_shards(findings, run, trainer, progress, beginning)
            progress = _check_best(findings, run, trainer, progress, beginning)
            progress = _check_candidate(findings, run, trainer, progress)
        if progress is None and not has_state(folder):
            _check_beginning(findings, run)
        else:
            _check_others(findings, run, trainer, progress)
        _check_metrics(findings, run.metrics_path)
    return RunReport(str(folder), findings.files, findings.damaged)


def _check_metrics(findings: Findings, path: Path) -> None:
    fault = findings.fault_of(path, read_metrics) if path.exists() else ""
    if fault:
        data = good_lines(path) if path.is_file() else b""
        repair, cost = "broken lines are removed", "the figures in broken lines"
        findings.note(path, fault, cost, repair, lambda: write_whole(path, data))


def _check_settings(findings: Findings) -> Config | None:
    """Returns the run's settings: those in config.toml, or in a state if config.toml is damaged; None without both.

    A user's own game is named by the present place of its file.
    """
    folder, path = findings.folder, findings.folder / CONFIG
    origin, saved = _settings_in_states(folder)
    findings.files += path.exists()
    what = ""
    try:
        own = read_settings(folder)
        found = [differences(own, each) for each in saved]
        if origin == STATE and all(found):  # at the iteration's beginning settings may have been others
            what = ", ".join(
                f"{name} is {here!r} here and {there!r} in the run's state" for name, here, there in found[0]
            )
    except BadInput as error:
        what = str(error)
    if not what:
        return find_settings(folder)
    if not saved:
        findings.note(path, what, _LOST, "")
        return None
    cost = "none" if origin == STATE else "settings that were changed in this iteration"
    repair = f"the settings in {origin} are written to it"
    findings.note(path, what, cost, repair, lambda: write_settings(folder, saved[0]))
    return saved[0]


def _settings_in_states(folder: Path) -> tuple[str, list[Config]]:
    """Returns the first state that is whole and the run's own, and its settings; none if no state has them."""
    for name in (STATE, BEGINNING):
        try:
            if (folder / name).exists():
                state = read_state(folder / name)
                if is_of_run(folder, state.progress):
                    return name, state.settings
        except Damaged:  # `_check_states` notes it
            continue
    return "", []


def _check_states(
    findings: Findings, config: Config, game: Game, trainer: Trainer
) -> tuple[Progress | None, Progress | None]:
    """Returns the run's progress, and that at the beginning of the iteration, after a repair.

    The progress is None if the run has not begun or cannot continue; the other one, if its state is not whole. The
    trainer gets the state's tensors.
    """
    folder = findings.folder
    beginning, fault_of_beginning = _read_progress(findings, BEGINNING, Trainer(config, game))
    progress, fault = _read_progress(findings, STATE, trainer)
    if progress is None and not fault and (beginning or (folder / METRICS).exists()):
        fault = "it is missing"
    if progress and beginning and beginning.iteration > progress.iteration:
        fault = f"it is of iteration {progress.iteration}, and {BEGINNING} of iteration {beginning.iteration}"
    elif progress and beginning and not _begins(beginning, progress):
        beginning, fault_of_beginning = None, f"it is not the beginning of iteration {progress.iteration}"
    if fault_of_beginning:
        cost = "the run cannot go back to it" if fault else "none, while the other state is whole"
        findings.note_and_put_aside(folder / BEGINNING, fault_of_beginning, cost, "; the next iteration writes another")
    if not fault:
        return progress, beginning
    if beginning is None:
        findings.note(folder / STATE, fault, f"{_LOST}; its nets can be used", "")
        return None, None
    repair = f"the run goes back to the beginning of iteration {beginning.iteration}"
    cost = "the time of the current iteration; the result is the same"
    saved = read_state(folder / BEGINNING).settings
    if changed := differences(config, saved[0]):
        cost += f", if --set has changed {', '.join(name for name, _, _ in changed)} in it"
    findings.note(folder / STATE, fault, cost, repair, lambda: _go_back(findings, config, trainer))
    load_state(folder, trainer, BEGINNING)
    return beginning, beginning


def _begins(beginning: Progress, progress: Progress) -> bool:
    """Returns whether a state may be that of the iteration's beginning. It is written a moment after the first one."""
    is_late = beginning.iteration == progress.iteration - 1 and progress.stage == STAGES[0]
    is_same = all(progress.digests.get(name, digest) == digest for name, digest in beginning.digests.items())
    return is_same and (is_late or beginning.iteration == progress.iteration)


def _go_back(findings: Findings, config: Config, trainer: Trainer) -> Progress:
    """Makes the state at the iteration's beginning, which is whole, the run's state; returns its progress.

    The settings stay as they are.
    """
    progress = load_state(findings.folder, trainer, BEGINNING)
    assert progress is not None, "it has been read before"
    save_state(findings.folder, config, trainer, progress)
    return progress


def _read_progress(findings: Findings, name: str, trainer: Trainer) -> tuple[Progress | None, str]:
    """Returns the progress in a state, and what is wrong with it. Without the file there is neither."""
    progress = None

    def read(path: Path) -> None:
        nonlocal progress
        if not is_of_run(findings.folder, read_state(path).progress):
            raise Damaged("it names other nets and shards than those that are here: it is another run's")
        progress = load_state(findings.folder, trainer, name)

    path = findings.folder / name
    fault = findings.fault_of(path, read) if path.exists() else ""
    return progress, fault


def _check_beginning(findings: Findings, run: Run) -> None:
    """Checks the first net and games that come from elsewhere. A run cannot make them again.

    A first net of random weights is not needed: it is made when the run goes on.
    """
    net = [run.first_path] if run.config.training.first_net != "none" else []
    faults = {path: findings.fault_of(path, lambda path: load_checkpoint(path, run.game)) for path in net}
    if run.config.replay.first_games != "none":
        games = [run.shard_path(name) for name in shards_from_elsewhere(run.folder)]
        faults |= {path: findings.fault_of(path, lambda path: load_sized_shard(path, run.games)) for path in games}
    for path, fault in faults.items():
        if fault:
            findings.note(path, fault, f"{_LOST}: it was copied when the run began; begin another", "")


def _check_shards(
    findings: Findings, run: Run, trainer: Trainer, progress: Progress, beginning: Progress | None
) -> Progress:
    """Returns the progress, after a repair.

    If all damaged shards of the window are of the current iteration, the repair goes back to the iteration's beginning,
    and the games are played again. Otherwise the damaged shards are left out of the window.

    Args:
      beginning: the progress at the iteration's beginning, if it is known.
    """
    on_disk = {path.stem for path in files_in(run.folder, REPLAY)}
    digests = (beginning.digests if beginning else {}) | progress.digests
    found = {
        name: _fault_of_shard(findings, run, progress, digests, name) for name in sorted(on_disk | {*progress.shards})
    }
    faults = {name: fault for name, fault in found.items() if fault}
    lost = [name for name in progress.shards if name in faults]
    kept = [name for name in progress.shards if name not in faults]
    earlier = beginning.shards if beginning else []
    are_fresh = bool(lost) and all(iteration_of(name) == progress.iteration for name in lost)
    goes_back = beginning is not None and are_fresh and all(name in found and name not in faults for name in earlier)
    for name, fault in faults.items():
        path = run.shard_path(name)
        if name not in lost:
            cost = "none, while the state is whole" if name in earlier else "none: its games are played again"
            findings.note_and_put_aside(path, fault, cost)
        elif goes_back:
            cost = "the time of the current iteration; the result is the same"
            then = f"; the run goes back to the beginning of iteration {progress.iteration}"
            findings.note_and_put_aside(path, fault, cost, then)
        elif kept:
            cost = "its games; the run goes on, but not as without the damage"
            findings.note_and_put_aside(path, fault, cost, ", and the run goes on without it")
        else:
            findings.note(path, fault, f"{_LOST}: no games are left; its nets can be used", "")
    if not lost or not findings.is_repairing:
        return progress
    if goes_back:
        return _go_back(findings, run.config, trainer)
    if kept:
        left = {name: each for name, each in progress.digests.items() if name.removeprefix("replay/") not in lost}
        progress = progress.changed(shards=kept, digests=left)
        save_state(run.folder, run.config, trainer, progress)
    return progress


def _fault_of_shard(findings: Findings, run: Run, progress: Progress, digests: dict[str, str], name: str) -> str:
    """Returns how a shard is damaged, or that it is another one than it should be; empty if it is whole."""
    task = _task_of_unnamed(run, progress, name)

    def read(path: Path) -> None:
        load_sized_shard(path, run.games)
        if task and task_in(path) != task:
            raise Damaged(f"{str(path)!r} has other games than those of iteration {iteration_of(name)}")

    return findings.fault_of(run.shard_path(name), read, digests.get(f"replay/{name}"))


def _task_of_unnamed(run: Run, progress: Progress, name: str) -> str:
    """Returns the task of a shard that the next state will name, if the run goes on with it; otherwise nothing."""
    iteration = iteration_of(name) if re.fullmatch(SHARD, name) else None
    player = None
    if name in progress.shards:
        pass
    elif iteration == progress.iteration and progress.stage == STAGES[0]:
        player = progress.best if progress.player is None else progress.player
    elif (
        iteration == progress.iteration + 1
        and progress.stage != STAGES[0]
        and run.config.plays_ahead(progress.iteration)
    ):
        player = progress.best
    return "" if player is None else task_of(name, player, progress)


def _check_best(
    findings: Findings, run: Run, trainer: Trainer, progress: Progress, beginning: Progress | None
) -> Progress:
    """Checks the published net and the checkpoint of which it is a copy; returns the progress, after a repair.

    Each can replace the other. Before the first step of training, the trainer can make both again.

    Args:
      beginning: the progress at the iteration's beginning, if it is known.
    """
    original, copy = run.published_path(progress), run.best_path
    fault, fault_of_copy = _fault_of_net(findings, run, original, progress), _fault_of_net(findings, run, copy)
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
        findings.note(path, fault, f"{_LOST}: its best net is lost", "")
        return
    name = source.relative_to(findings.folder).as_posix()
    findings.note(path, fault, "none", f"it is copied from {name}", lambda: write_whole(path, source.read_bytes()))


def _check_candidate(findings: Findings, run: Run, trainer: Trainer, progress: Progress) -> Progress:
    """Checks the candidate; returns the progress, after a repair.

    The trainer can make it again before the gate; at other times it is not needed.
    """
    path, is_needed = run.candidate_path, progress.stage == STAGES[-1]
    fault = _fault_of_net(findings, run, path, progress) if path.exists() or is_needed else ""
    if fault and is_needed:
        return _make_again(findings, run, trainer, progress, path, fault, progress)
    if fault:
        findings.note_and_put_aside(path, fault, "none: the next training writes another")
    return progress


def _check_others(findings: Findings, run: Run, trainer: Trainer, progress: Progress | None) -> None:
    """Checks the other nets and a rollout policy. They are put aside; the state forgets those of the next final."""
    needed = [run.checkpoint_path(each) for each in progress.promoted] if progress else []
    lost = []
    for path in sorted({*files_in(run.folder, CHECKPOINTS), *needed}):
        fault = (
            "" if progress and path == run.published_path(progress) else _fault_of_net(findings, run, path, progress)
        )
        if fault and progress and path == run.checkpoint_path(progress.best):
            findings.note(path, fault, f"{_LOST}: its best net is lost", "")
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
    policy = run.folder / ROLLOUT
    fault = findings.fault_of(policy, lambda path: load_rollout(path, run.game)) if policy.exists() else ""
    if fault:
        findings.note_and_put_aside(policy, fault, "the policy is lost; azero train-rollout makes another")


def _is_strange(run: Run, path: Path, progress: Progress) -> bool:
    """Returns whether a net has the name of a promoted one, and is none. That of the current iteration may be early."""
    is_named = _name_of(run, path) in progress.digests or path == run.published_path(progress)
    return not is_named and re.fullmatch(NET, path.stem) is not None and int(path.stem) != progress.iteration


def _fault_of_net(findings: Findings, run: Run, path: Path, progress: Progress | None = None) -> str:
    digest = progress.digests.get(_name_of(run, path)) if progress else None
    return findings.fault_of(path, lambda path: load_checkpoint(path, run.game), digest)


def _name_of(run: Run, path: Path) -> str:
    """Returns the name of a net in `Progress.digests`."""
    return path.relative_to(run.folder).with_suffix("").as_posix()
