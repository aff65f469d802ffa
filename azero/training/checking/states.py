"""The check of a run's settings and of its two states. Each can replace a part of the others."""

from pathlib import Path

from azero.config.schema import Config
from azero.errors import BadInput, Damaged
from azero.games import Game
from azero.runs.folder import BEGINNING, CONFIG, METRICS, STATE
from azero.runs.settings import differences, find_settings, read_settings, write_settings
from azero.runs.state import STAGES, Progress, is_of_run, read_state
from azero.training.checking.findings import Findings
from azero.training.learning.trainer import Trainer
from azero.training.run import load_state, save_state

LOST = "the run cannot continue"


def check_settings(findings: Findings) -> Config | None:
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
        findings.note(path, what, LOST, "")
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
                if state.settings and is_of_run(folder, state.progress):
                    return name, state.settings
        except Damaged:  # `check_states` notes it
            continue
    return "", []


def check_states(
    findings: Findings, config: Config, game: Game, trainer: Trainer
) -> tuple[Progress | None, Progress | None]:
    """Returns the run's progress, and that at the beginning of the iteration, after a repair.

    The progress is None if the run has not begun or cannot continue; the other one, if its state is not whole. The
    trainer gets the state's tensors.
    """
    folder = findings.folder
    beginning, fault_of_beginning = _read(findings, BEGINNING, Trainer(config, game))
    progress, fault = _read(findings, STATE, trainer)
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
        findings.note(folder / STATE, fault, f"{LOST}; its nets can be used", "")
        return None, None
    repair = f"the run goes back to the beginning of iteration {beginning.iteration}"
    cost = "the time of the current iteration; the result is the same"
    saved = read_state(folder / BEGINNING).settings
    if changed := differences(config, saved[0]) if saved else []:
        cost += f", if --set has changed {', '.join(name for name, _, _ in changed)} in it"
    findings.note(folder / STATE, fault, cost, repair, lambda: go_back(findings, config, trainer))
    load_state(folder, trainer, BEGINNING)
    return beginning, beginning


def _begins(beginning: Progress, progress: Progress) -> bool:
    """Returns whether a state may be that of the iteration's beginning. It is written a moment after the first one."""
    is_late = beginning.iteration == progress.iteration - 1 and progress.stage == STAGES[0]
    is_same = all(progress.digests.get(name, digest) == digest for name, digest in beginning.digests.items())
    return is_same and (is_late or beginning.iteration == progress.iteration)


def go_back(findings: Findings, config: Config, trainer: Trainer) -> Progress:
    """Makes the state at the iteration's beginning, which is whole, the run's state; returns its progress.

    The settings stay as they are.
    """
    progress = load_state(findings.folder, trainer, BEGINNING)
    assert progress is not None, "it has been read before"
    save_state(findings.folder, config, trainer, progress)
    return progress


def _read(findings: Findings, name: str, trainer: Trainer) -> tuple[Progress | None, str]:
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
