"""A run that is trained: its folder, with its game, its nets and its replay window."""

from functools import cached_property
from pathlib import Path

import torch

from azero.config.schema import Config, GameConfig
from azero.games import Game
from azero.games.names import SHORT_IDENTITY, identity_of, source_digest_of
from azero.games.sizes import games_of
from azero.mcts import selection_from_config
from azero.mcts.roots.strategies import root_from_config
from azero.nets.architectures.contract import Net
from azero.nets.checkpoint import load_checkpoint, weights_of, write_checkpoint
from azero.nets.checkpoint_file import Card
from azero.nets.origins import place_of
from azero.nets.quick_start import Known, known_of
from azero.runs.folder import STATE, RunFolder, check_is_new, nets_in, shards_in
from azero.runs.settings import write_settings
from azero.runs.shards import load_sized_shard
from azero.runs.state import (
    NUM_PROMOTED,
    STAGES,
    Progress,
    digest_of,
    path_of,
    read_state,
    shards_at_beginning,
    write_state,
)
from azero.selfplay.data.canvas import Canvas
from azero.selfplay.data.lessons import Lessons
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.samples import targets_of
from azero.selfplay.data.shard import SizedShard
from azero.system.files import remove, write_whole
from azero.system.tensor_files import Tensors
from azero.training.learning.learner import heads_of
from azero.training.learning.trainer import Trainer


class Run(RunFolder):
    """A run's folder, with its settings.

    Attributes:
      game: the game; of several sizes, the largest. Nets are saved for it.
    """

    def __init__(self, folder: Path, config: Config, game: Game):
        super().__init__(folder)
        self.config = config
        self.game = game

    @cached_property
    def games(self) -> tuple[Game, ...]:
        """The sizes of the game, the smallest first; usually one."""
        smaller = games_of(self.config.game)[:-1] if self.config.game.sizes else ()
        return *smaller, self.game

    @cached_property
    def identities_of_search(self) -> tuple[str, str]:
        """Identities of a user's own selection rule and root strategy when they were first used; empty for azero's."""
        return identity_of(selection_from_config(self.config.search)), identity_of(root_from_config(self.config))

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
        write_settings(folder, config)
        return cls(folder, config, game)

    def published_path(self, progress: Progress) -> Path:
        """Returns the path of the net that is published as best.safetensors."""
        return self.checkpoint_file(progress.final) if progress.final else self.checkpoint_path(progress.best)

    def all_promoted(self, progress: Progress) -> list[int]:
        """Returns the iterations of all nets promoted before this one, with the first net, by their files."""
        return [
            net.iteration
            for net in nets_in(self.folder)
            if net.iteration < progress.iteration and f"checkpoints/{net.path.stem}" in progress.digests
        ]

    def with_digests(self, progress: Progress) -> Progress:
        """Returns the progress with the digests of the files that belong to it. Those of new files are read."""
        nets = {f"{each:05d}" for each in (*self.all_promoted(progress), *progress.promoted, progress.best)}
        names = [f"checkpoints/{each}" for each in sorted({*nets, progress.final} - {""})]
        names += [f"replay/{each}" for each in progress.shards] + ["candidate"] * (progress.stage == STAGES[-1])
        known = progress.digests
        paths = {name: path_of(self.folder, name) for name in names}
        digests = {
            name: known[name] if name in known else digest_of(path)
            for name, path in paths.items()
            if name in known or path.exists()
        }
        return progress.changed(digests=digests)

    def promoted(self, progress: Progress) -> list[int]:
        """Returns the iterations of the last promoted nets, those of the final."""
        return self.all_promoted(progress)[-NUM_PROMOTED:]

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
            rule_digest=self.identities_of_search[0][:SHORT_IDENTITY],
            rule_file=place_of(self.config.search.selection, self.folder),
            root=self.config.selfplay.root if self.identities_of_search[1] else "",
            root_digest=self.identities_of_search[1][:SHORT_IDENTITY],
            root_file=place_of(self.config.selfplay.root, self.folder),
        )

    def save_net(self, path: Path, net: Net, progress: Progress) -> None:
        write_checkpoint(path, net, self.card(net, progress))

    def weights_at(self, iteration: int) -> Tensors:
        """Returns the weights of the net promoted in an iteration."""
        return weights_of(load_checkpoint(self.checkpoint_path(iteration), self.game).net)

    def known_of(self, iteration: int) -> list[Known | None]:
        """Returns what is known of the net promoted in an iteration, with each size of the game; see `quick_start`."""
        return [known_of(self.checkpoint_path(iteration), game, self.config.device) for game in self.games]

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
        own = [progress.iteration] + [progress.iteration + 1] * self.config.plays_ahead(progress.iteration)
        for shard in shards_in(self.folder):
            if shard.name not in kept and shard.iteration not in own:
                remove(shard.path)


def save_state(
    folder: Path, config: Config, trainer: Trainer, progress: Progress, before: Config | None = None
) -> None:
    """Writes the state from which the run in `folder` continues, as `write_state`."""
    tensors = {name: tensor.numpy() for name, tensor in trainer.tensors().items()}
    write_state(folder, config, tensors, progress, before)


def load_state(folder: Path, trainer: Trainer, name: str = STATE) -> Progress | None:
    """Restores the trainer from the state in `folder`, and returns the progress; None if there is no state.

    Raises BadInput as `read_state`, or if the state does not fit the trainer.
    """
    path = folder / name
    if not path.exists():
        return None
    progress, _, tensors = read_state(path)
    trainer.restore({name: torch.from_numpy(array) for name, array in tensors.items()}, progress.steps)
    return progress
