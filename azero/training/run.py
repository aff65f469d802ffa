"""A run's folder and its files.

config.toml          all settings, resolved
state.safetensors    trainer, progress and settings, from which an interrupted run continues; saved after and in stages
state_beginning.safetensors  the state at the beginning of the current iteration, for repairs
checkpoints/         the first net and every promoted one, by iteration; also the final's winner
best.safetensors     the net promoted last; after the last iteration, the winner of the final
candidate.safetensors
replay/              self-play shards of the window and of the current iteration
metrics.jsonl        one line per iteration
tensorboard/
ratings.json         the games of `azero rate --run`, if there were any
.lock                exists while a process trains the run
"""

import re
import shlex
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from azero.config.schema import Config, GameConfig
from azero.config.text import config_to_toml
from azero.errors import BadInput
from azero.games import Game
from azero.games.names import SHORT_IDENTITY, source_digest_of
from azero.games.sizes import games_of
from azero.nets.architectures.contract import Net
from azero.nets.checkpoint import load_checkpoint, weights_of, write_checkpoint
from azero.nets.checkpoint_card import Card
from azero.nets.users_files import place_of
from azero.selfplay.data.canvas import Canvas
from azero.selfplay.data.lessons import Lessons
from azero.selfplay.data.records import SizedShard
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.samples import targets_of
from azero.selfplay.data.shard_files import load_sized_shard
from azero.system.files import LOCK, held, remove, write_whole
from azero.system.tensor_files import Tensors
from azero.training.heads.registry import heads_of
from azero.training.state import (
    BEGINNING,
    NUM_PROMOTED,
    SHARD,
    STAGES,
    STATE,
    Progress,
    digest_of,
    path_of,
    shards_at_beginning,
)

FOLDERS = "checkpoints", "replay", "tensorboard"
"""Names of the folders in a run's folder."""

FIRST_NET = 0
"""The iteration by which the first net is named. Games that come from another run are of iteration 0, too."""


class Run:
    """A run's folder.

    Attributes:
      game: the game; of several sizes, the largest. Nets are saved for it.
    """

    def __init__(self, folder: Path, config: Config, game: Game):
        self.folder = folder
        self.config = config
        self.game = game

    @cached_property
    def games(self) -> tuple[Game, ...]:
        """The sizes of the game, the smallest first; usually one."""
        smaller = games_of(self.config.game)[:-1] if self.config.game.sizes else ()
        return *smaller, self.game

    @cached_property
    def canvas(self) -> Canvas | None:
        """The canvas on which positions of several sizes are learned; None for one size."""
        return Canvas(self.games) if len(self.games) > 1 else None

    def config_of(self, game: Game) -> Config:
        """Returns the settings for one of the sizes alone, with which workers play it."""
        if len(self.games) == 1:
            return self.config
        return self.config.model_copy(update={"game": GameConfig(name=game.name)})

    @classmethod
    def create(cls, folder: Path, config: Config, game: Game) -> "Run":
        """Begins a new run in a folder that is held; raises BadInput if it holds a run already."""
        check_is_new(folder)
        write_whole(folder / "config.toml", config_to_toml(config).encode())
        return cls(folder, config, game)

    @property
    def best_path(self) -> Path:
        return self.folder / "best.safetensors"

    @property
    def candidate_path(self) -> Path:
        return self.folder / "candidate.safetensors"

    @property
    def metrics_path(self) -> Path:
        return self.folder / "metrics.jsonl"

    def checkpoint_path(self, iteration: int) -> Path:
        """Returns the path of the net promoted in an iteration; FIRST_NET is the run's first one."""
        return self.checkpoint_file(f"{iteration:05d}")

    def checkpoint_file(self, name: str) -> Path:
        """Returns the path of the net with that name."""
        return self.folder / "checkpoints" / f"{name}.safetensors"

    def published_path(self, progress: Progress) -> Path:
        """Returns the path of the net that is published as best.safetensors."""
        return self.checkpoint_file(progress.final) if progress.final else self.checkpoint_path(progress.best)

    def all_promoted(self, progress: Progress) -> list[int]:
        """Returns the iterations of all nets promoted before this one, with the first net, by their files.

        A state of azero 0.1.0 has no digests; then all files with names of nets count.
        """
        names = (path.stem for path in self.checkpoint_path(0).parent.glob("*.safetensors"))
        own = [name for name in names if not progress.digests or f"checkpoints/{name}" in progress.digests]
        numbers = sorted(int(name) for name in own if re.fullmatch("[0-9]{5,9}", name))
        return [number for number in numbers if number < progress.iteration]

    def with_digests(self, progress: Progress) -> Progress:
        """Returns the progress with the digests of the files that belong to it. Those of new files are read."""
        nets = {f"{each:05d}" for each in (*self.all_promoted(progress), *progress.promoted, progress.best)}
        names = [f"checkpoints/{each}" for each in sorted({*nets, progress.final} - {""})]
        names += [f"replay/{each}" for each in progress.shards] + ["candidate"] * (progress.stage == STAGES[-1])
        known = progress.digests
        paths = {name: path_of(self.folder, name) for name in names}
        digests = {
            name: known.get(name) or digest_of(path) for name, path in paths.items() if name in known or path.exists()
        }
        return replace(progress, digests=digests)

    def promoted(self, progress: Progress) -> list[int]:
        """Returns the iterations of the last promoted nets, those of the final."""
        return self.all_promoted(progress)[-NUM_PROMOTED:]

    @property
    def first_path(self) -> Path:
        """Path of the first net."""
        return self.checkpoint_path(FIRST_NET)

    def shard_path(self, name: str) -> Path:
        return self.folder / "replay" / f"{name}.safetensors"

    def load_shard(self, name: str) -> SizedShard:
        """Reads a shard of one of the run's sizes; raises BadInput as the function of this name."""
        return load_sized_shard(self.shard_path(name), self.games)

    def card(self, net: Net, progress: Progress) -> Card:
        """Returns the card of a net at this point."""
        return Card(
            game=str(self.game),
            net=self.config.net.model_dump(mode="json"),
            search=self.config.search.model_dump(),
            step=progress.steps,
            iteration=progress.iteration,
            positions=progress.positions,
            rating=round(progress.rating, 1),
            seed=self.config.seed,
            game_digest=source_digest_of(self.game.rules),
            game_file=place_of(self.game.name, self.folder),
            net_digest=net.identity[:SHORT_IDENTITY],
            net_file=place_of(self.config.net.name, self.folder),
        )

    def save_net(self, path: Path, net: Net, progress: Progress) -> None:
        write_checkpoint(path, net, self.card(net, progress))

    def weights_at(self, iteration: int) -> Tensors:
        """Returns the weights of the net promoted in an iteration."""
        return weights_of(load_checkpoint(self.checkpoint_path(iteration), self.game).net)

    def plays_ahead(self, iteration: int) -> bool:
        """Returns whether the next iteration's games are of the net that was best before this iteration's gate."""
        return self.config.plays_ahead(iteration)

    def publish_best(self, progress: Progress) -> None:
        """Copies the published net to best.safetensors, if it is not there already."""
        data = self.published_path(progress).read_bytes()
        if not self.best_path.is_file() or self.best_path.read_bytes() != data:
            write_whole(self.best_path, data)

    def load_replay(self, progress: Progress, lessons: Lessons | None = None) -> Replay:
        """Returns the replay window of the saved progress, and adds the lessons."""
        shards = [self.load_shard(name) for name in progress.shards]
        window = Window(self.config.replay.window, self.config.replay.window_growth)
        num_before = progress.positions - sum(shard.num_learnt for _, shard in shards)
        targets = targets_of(self.config.training, heads_of(self.config.training, self.game))
        replay = Replay(self.games, window, targets, num_before, lessons)
        for name, (size, shard) in zip(progress.shards, shards, strict=True):
            replay.add(name, shard, size)
        return replay

    def remove_old_shards(self, progress: Progress) -> None:
        """Removes shards that have left the window, now and at the beginning of the iteration; not those played ahead.

        Call it only after the state on disk no longer names them.
        """
        kept = {*progress.shards, *shards_at_beginning(self.folder)}
        own = [progress.iteration] + [progress.iteration + 1] * self.plays_ahead(progress.iteration)
        for path in (self.folder / "replay").glob("*.safetensors"):
            if re.fullmatch(SHARD, path.stem) and path.stem not in kept and iteration_of(path.stem) not in own:
                remove(path)


def hold(folder: Path) -> AbstractContextManager[None]:
    """Locks a run's folder within the block. Nothing in the folder is changed without the lock.

    Raises BadInput if another process trains the run, or if a part of the run is a link, through which files elsewhere
    could be changed.
    """
    for path in (folder / name for name in FOLDERS):
        if path.is_symlink():
            what = f"{path.name} is a link, and azero changes no files elsewhere"
            raise BadInput(f"run {str(folder)!r} cannot be used: {what}")
    return held(folder, f"run {str(folder)!r} is being trained by another process", may_nest=True)


@contextmanager
def hold_to_read(folder: Path, may_write: bool) -> Iterator[None]:
    """Locks a run's folder within the block, as `hold`. Without `may_write`, a folder on a read-only disk will do.

    Raises BadInput if there is no run, or if another process trains it.
    """
    if not (folder / "config.toml").exists() and not has_state(folder):
        raise BadInput(f"there is no run in {str(folder)!r}: it has neither config.toml nor {STATE}")
    with ExitStack() as stack:
        try:
            stack.enter_context(hold(folder))
        except OSError:
            if may_write and not (folder / LOCK).is_dir():
                raise
        yield


def check_is_new(folder: Path) -> None:
    """Raises BadInput if no run can begin in `folder`.

    A process that was killed before a run began leaves a lock, half a config.toml, and copies of what the run was to
    begin with. Such a folder counts as new.
    """
    is_new = not folder.exists() or (folder.is_dir() and all(_is_before_a_run(path) for path in folder.iterdir()))
    if not is_new:
        raise BadInput(_why_not_new(folder))


def _why_not_new(folder: Path) -> str:
    """Returns an error message: why no run can begin in `folder`, and what to do."""
    if not folder.is_dir():
        return f"--run {str(folder)!r} is a file; a run is a folder that azero makes"
    if has_state(folder) and not (folder / "config.toml").is_file():
        return f"run {str(folder)!r} exists already, and has no config.toml; {repair_of(folder)} may mend it"
    if not (folder / "config.toml").is_file():
        return f"folder {str(folder)!r} exists already, and holds no run; name a new one with --run"
    return f"run {str(folder)!r} exists already; continue it with --resume, or name another with --run"


def _is_before_a_run(path: Path) -> bool:
    """Returns whether a file or folder in a run's place is only what is written before config.toml."""
    if path.name in ("checkpoints", "replay") and path.is_dir() and not path.is_symlink():
        first = rf"{FIRST_NET:05d}" if path.name == "checkpoints" else rf"{shard_name(FIRST_NET, None)}\d{{4,9}}"
        names = rf"{first}\.safetensors|\.{first}\.safetensors\.\w+\.tmp"
        return all(re.fullmatch(names, each.name, re.ASCII) for each in path.iterdir())
    return path.name == LOCK or (path.name.startswith(".config.toml.") and path.name.endswith(".tmp"))


def has_state(folder: Path) -> bool:
    """Returns whether a folder has a run's state."""
    return any((folder / name).exists() for name in (STATE, BEGINNING))


def repair_of(folder: Path) -> str:
    """Returns the command that mends a run."""
    return f"azero check-run {shlex.quote(str(folder))} --repair"


def shards_from_elsewhere(folder: Path) -> list[str]:
    """Returns the names of the shards that a run took from another when it began, oldest first."""
    names = (path.stem for path in (folder / "replay").glob(f"{shard_name(FIRST_NET, None)}*.safetensors"))
    return sorted(names, key=lambda name: int(name.split("-")[1]))


def shard_name(iteration: int, number: int | None) -> str:
    """Returns the name of an iteration's shard; without a number, the prefix of all its shards' names."""
    return f"{iteration:05d}-" + ("" if number is None else f"{number:04d}")


def iteration_of(name: str) -> int:
    """Returns the iteration in which the games of a shard were played; 0 if they are from another run."""
    return int(name.split("-")[0])
