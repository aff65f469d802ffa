"""Checks a run's folder: reads all of it back, says what is damaged and what that costs, and mends what can be mended.

A file that is not whole is replaced by what makes it again, exactly where that is possible: settings are also in the
state, best.safetensors is a copy of a checkpoint, an iteration can be done again from its beginning. A shard of older
games is left out.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from azero.config.reading import check_config, load_config
from azero.config.schema import Config
from azero.config.text import config_to_toml
from azero.errors import BadInput
from azero.games import Game
from azero.games.make import make_trusted_game
from azero.mcts.rollouts.weights import load_rollout
from azero.nets.checkpoint import load_checkpoint, read_card
from azero.selfplay.data.shard_files import load_shard
from azero.system.files import remove, write_whole
from azero.training.checking.report import Damage, RunReport
from azero.training.learning.trainer import Trainer
from azero.training.resumed_settings import differences
from azero.training.run import Run, iteration_of
from azero.training.state import (
    BEGINNING,
    CANDIDATE,
    MEAN,
    STATE,
    Progress,
    load_state,
    read_settings,
    save_state,
)
from azero.training.watching.metrics import good_lines, read_metrics


def check_run(folder: Path, is_repairing: bool) -> RunReport:
    """Reads a run's folder back, and mends it if `is_repairing`. The caller holds the folder.

    Raises BadInput if there is no run, or if its game cannot be played here.
    """
    checker = _Checker(folder, is_repairing)
    checker.check()
    return RunReport(str(folder), checker.files, checker.damaged)


class _Checker:
    """Checks one part of a run after the other. Later parts are checked by what the earlier ones say."""

    def __init__(self, folder: Path, is_repairing: bool):
        self.folder = folder
        self.is_repairing = is_repairing
        self.files = 0
        self.damaged: list[Damage] = []

    def check(self) -> None:
        """Checks settings, states, shards, nets and metrics."""
        config = self._check_settings()
        if config is None:
            return
        game = make_trusted_game(config.game.name)
        run, trainer = Run(self.folder, config, game), Trainer(config, game)
        progress = self._check_states(config, game, trainer)
        if progress is not None:
            progress = self._check_shards(run, trainer, progress)
            self._check_best(run, progress)
            self._check_candidate(run, trainer, progress)
        self._check_others(run, progress)
        self._check_metrics(run)

    # --- settings ---

    def _check_settings(self) -> Config | None:
        """Returns the run's settings: those in the state, or those in config.toml if no state is whole."""
        saved = self._settings_in_states()
        path = self.folder / "config.toml"
        self.files += path.exists()
        try:
            own = load_config(path, is_of_run=True)
            found = [differences(own.model_dump(mode="json"), each) for each in saved]
            if not found or not all(found):
                return own
            what = ", ".join(f"{name} = {here!r} was {there!r}" for name, here, there in found[0])
        except BadInput as error:
            what = str(error)
        if not saved:
            self._note("config.toml", what, "the run cannot continue", "")
            return None
        config = check_config(saved[0])

        def restore() -> None:
            write_whole(path, config_to_toml(config).encode())

        self._note("config.toml", what, "none", "the settings in the state are written to it", restore)
        return config

    def _settings_in_states(self) -> list[dict]:
        for name in (STATE, BEGINNING):
            try:
                if saved := read_settings(self.folder, name):
                    check_config(saved[0])
                    return saved
            except BadInput:  # `_check_states` says so
                continue
        return []

    # --- states ---

    def _check_states(self, config: Config, game: Game, trainer: Trainer) -> Progress | None:
        """Returns the run's progress, after repairs; None if it has not begun or cannot continue."""
        beginning, why_not = self._read_state(BEGINNING, Trainer(config, game))
        if why_not:
            repair = "it is removed; the next iteration writes another"
            self._note(BEGINNING, why_not, "none, while the other state is whole", repair, self._removal(BEGINNING))
        progress, why = self._read_state(STATE, trainer)
        if progress is None and not why and ((self.folder / "metrics.jsonl").exists() or beginning):
            why = "it is missing"
        if not why:
            return progress
        if beginning is None:
            self._note(STATE, why, "the run cannot continue; its nets can be used", "")
            return None

        def go_back() -> None:
            write_whole(self.folder / STATE, (self.folder / BEGINNING).read_bytes())

        repair = f"the run goes back to the beginning of iteration {beginning.iteration}"
        self._note(STATE, why, "the time of the current iteration; the result is the same", repair, go_back)
        load_state(self.folder, trainer, BEGINNING)
        return beginning

    def _read_state(self, name: str, trainer: Trainer) -> tuple[Progress | None, str]:
        """Returns the progress in a state, and what is wrong with it."""
        try:
            progress = load_state(self.folder, trainer, name)
        except BadInput as error:
            self.files += 1
            return None, str(error)
        self.files += progress is not None
        return progress, ""

    # --- shards ---

    def _check_shards(self, run: Run, trainer: Trainer, progress: Progress) -> Progress:
        """Returns the progress, without shards that were dropped."""
        on_disk = {path.stem for path in (self.folder / "replay").glob("*.safetensors")}
        bad = {name: why for name in sorted(on_disk | {*progress.shards}) if (why := self._fault_of(run, name))}
        lost = [name for name in bad if name in progress.shards]
        is_of_now = bool(lost) and all(iteration_of(name) == progress.iteration for name in lost)
        beginning = self._beginning_without(run, bad) if lost else None
        kept = [name for name in progress.shards if name not in bad]
        for name, why in bad.items():
            file, removal = f"replay/{name}.safetensors", self._removal(f"replay/{name}.safetensors")
            if name not in lost:
                self._note(file, why, "none: its games are played again, or not needed", "it is removed", removal)
            elif is_of_now and beginning:
                what = "the time of the current iteration; the result is the same"
                repair = f"it is removed; the run goes back to the beginning of iteration {beginning.iteration}"
                self._note(file, why, what, repair, removal)
            elif kept:
                what = "its games; the run goes on, but not as without the damage"
                self._note(file, why, what, "it is removed, and the run goes on without it", removal)
            else:
                self._note(file, why, "the run cannot continue: no games are left", "")
        if not lost or not self.is_repairing:
            return progress
        if is_of_now and beginning:
            write_whole(self.folder / STATE, (self.folder / BEGINNING).read_bytes())
            load_state(self.folder, trainer, BEGINNING)
            return beginning
        if kept:
            progress = replace(progress, shards=kept)
            save_state(self.folder, run.config, trainer, progress)
        return progress

    def _beginning_without(self, run: Run, bad: dict[str, str]) -> Progress | None:
        """Returns the progress at the iteration's beginning, if its state is whole and names no bad shard."""
        try:
            beginning = load_state(self.folder, Trainer(run.config, run.game), BEGINNING)
        except BadInput:
            return None
        return beginning if beginning and not bad.keys() & {*beginning.shards} else None

    def _fault_of(self, run: Run, shard: str) -> str:
        return self._fault(run.shard_path(shard), lambda path: load_shard(path, run.game))

    # --- nets ---

    def _check_best(self, run: Run, progress: Progress) -> None:
        """Checks the published net and the checkpoint of which it is a copy. Each can replace the other."""
        original, copy = run.published_path(progress), run.best_path
        faults = {path: self._net_fault(path, run.game) for path in (original, copy)}
        if faults[original] and not faults[copy]:
            is_copy = read_card(copy).iteration == _iteration_of_published(progress)
            faults[copy] = "" if is_copy else "it is an older net"
        for path, other in ((original, copy), (copy, original)):
            if faults[path] and not faults[other]:
                self._note(self._place(path), faults[path], "none", f"it is copied from {self._place(other)}",
                           partial(write_whole, path, other.read_bytes()))  # fmt: skip
            elif faults[path] and path == original:
                self._note(self._place(path), faults[path], "the run cannot continue: its best net is lost", "")

    def _check_candidate(self, run: Run, trainer: Trainer, progress: Progress) -> None:
        """Checks the candidate. The state can make it again before the gate; at other times it is not needed."""
        path, is_needed = run.candidate_path, progress.stage == "gate"
        fault = self._net_fault(path, run.game) if path.exists() or is_needed else ""
        if fault and is_needed:
            self._note("candidate.safetensors", fault, "none", "it is made again from the state",
                       lambda: run.save_net(path, trainer.candidate(), progress))  # fmt: skip
        elif fault:
            self._note("candidate.safetensors", fault, "none: the next training writes another", "it is removed",
                       self._removal("candidate.safetensors"))  # fmt: skip

    def _check_others(self, run: Run, progress: Progress | None) -> None:
        """Checks the other nets and a rollout policy. They can only be removed."""
        known = {run.published_path(progress)} if progress else set()
        for path in sorted((self.folder / "checkpoints").glob("*.safetensors")):
            fault = "" if path in known else self._net_fault(path, run.game)
            if fault:
                needed = progress is not None and path == run.checkpoint_path(progress.best)
                cost = "the run cannot continue: its best net is lost" if needed else "this net is lost"
                removal = None if needed else self._removal(self._place(path))
                self._note(self._place(path), fault, cost, "" if needed else "it is removed", removal)
        policy = self.folder / "rollout.safetensors"
        fault = self._fault(policy, lambda path: load_rollout(path, run.game)) if policy.exists() else ""
        if fault:
            removal = self._removal(policy.name)
            self._note(policy.name, fault, "the policy is lost; azero train-rollout makes another", "removed", removal)

    def _net_fault(self, path: Path, game: Game) -> str:
        return self._fault(path, lambda path: load_checkpoint(path, game))

    # --- metrics ---

    def _check_metrics(self, run: Run) -> None:
        path = run.metrics_path
        fault = self._fault(path, read_metrics) if path.exists() else ""
        if fault:
            data = good_lines(path)
            self._note("metrics.jsonl", fault, "the figures in broken lines", "broken lines are removed",
                       lambda: write_whole(path, data))  # fmt: skip

    # --- what is common to all ---

    def _fault(self, path: Path, read: Callable[[Path], object]) -> str:
        """Returns what is wrong with a file; empty if it is whole."""
        if not path.exists():
            return "it is missing"
        self.files += 1
        try:
            read(path)
        except BadInput as error:
            return str(error)
        return ""

    def _note(self, file: str, what: str, cost: str, repair: str, mend: Callable[[], object] | None = None) -> None:
        """Notes a damage, and mends it if that is wanted and possible."""
        damage = Damage(file, what, cost, repair)
        self.damaged.append(damage)
        if self.is_repairing and mend is not None:
            mend()
            damage.is_repaired = True

    def _removal(self, file: str) -> Callable[[], object]:
        return lambda: remove(self.folder / file)

    def _place(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()


def _iteration_of_published(progress: Progress) -> int:
    """Returns the iteration in the card of the published net."""
    if progress.final in (MEAN, CANDIDATE):
        return progress.iteration - 1
    return int(progress.final) if progress.final else progress.best
