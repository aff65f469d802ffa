"""Checks a run's folder: reads all of it back, says what is damaged and what that costs, and mends what can be mended.

A file that is not whole is replaced by what makes it again, exactly where that is possible: settings are also in the
state, best.safetensors is a copy of a checkpoint, an iteration can be done again from its beginning.
"""

from pathlib import Path

from azero.runs.folder import FOLDERS, has_state
from azero.runs.metrics import good_lines, read_metrics
from azero.runs.settings import game_of_run
from azero.system.files import LOCK, write_whole
from azero.training.checking.beginning import check_beginning
from azero.training.checking.findings import Findings
from azero.training.checking.nets import check_best, check_candidate, check_others
from azero.training.checking.report import RunReport
from azero.training.checking.shards import check_shards
from azero.training.checking.states import check_settings, check_states
from azero.training.learning.trainer import Trainer
from azero.training.run import Run


def check_run(folder: Path, is_repairing: bool) -> RunReport:
    """Reads a run's folder back, and mends it if `is_repairing`. The caller holds the folder.

    Later parts are checked by what the earlier ones say.

    Raises BadInput if the run's game cannot be played here, or if a file that is not damaged cannot be used here, since
    it has a later format or the game's file has changed.
    """
    findings = Findings(folder, is_repairing)
    for name in FOLDERS:
        if (folder / name).exists() and not (folder / name).is_dir():
            findings.note_and_put_aside(folder / name, "it is not a folder", "what was in it")
    if (folder / LOCK).is_dir():
        findings.note_and_put_aside(folder / LOCK, "it is a folder", "none")
    config = check_settings(findings)
    if config is not None:
        game = game_of_run(folder, config.game)
        run, trainer = Run(folder, config, game), Trainer(config, game)
        progress, beginning = check_states(findings, config, game, trainer)
        if progress is not None:
            progress = check_shards(findings, run, trainer, progress, beginning)
            progress = check_best(findings, run, trainer, progress, beginning)
            progress = check_candidate(findings, run, trainer, progress)
        if progress is None and not has_state(folder):
            check_beginning(findings, run)
        else:
            check_others(findings, run, trainer, progress)
        _check_metrics(findings, run.metrics_path)
    return RunReport(str(folder), findings.files, findings.damaged)


def _check_metrics(findings: Findings, path: Path) -> None:
    fault = findings.fault_of(path, read_metrics) if path.exists() else ""
    if fault:
        data = good_lines(path) if path.is_file() else b""
        repair, cost = "broken lines are removed", "the figures in broken lines"
        findings.note(path, fault, cost, repair, lambda: write_whole(path, data))
