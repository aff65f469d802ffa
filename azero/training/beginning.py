"""The beginning of a run: its first net, games of another run that it learns from before it plays its own, and starts.

Starts are the positions at which games of self-play begin, from a file of texts.

What comes from elsewhere is copied into the run's folder before config.toml, which makes the folder a run. From then on
the run needs no file of others.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from azero.arena.agents.checkpoints import find_checkpoint
from azero.config.schema import Config
from azero.errors import BadInput
from azero.games import Game
from azero.games.position_files import read_position_texts
from azero.nets.architectures.contract import Net
from azero.nets.checkpoint import load_checkpoint
from azero.nets.growth import net_grown_from
from azero.runs.folder import FIRST_NET, check_is_new, hold_to_read, shard_name, shards_from_elsewhere, shards_in
from azero.runs.shards import load_sized_shard, save_shard
from azero.runs.state import Progress, keep_beginning
from azero.selfplay.data.shard import SizedShard
from azero.system.files import remove
from azero.training.learning.trainer import Trainer
from azero.training.measure import describe_games, describe_speed, judge_fresh_positions
from azero.training.run import Run, save_state


@dataclass(frozen=True)
class Beginning:
    """What a new run takes from elsewhere."""

    net: Net | None  # the first net; None for random weights
    shards: list[SizedShard]  # oldest first


def read_beginning(config: Config, games: Sequence[Game]) -> Beginning:
    """Reads what the settings name for the beginning of a run of these sizes; raises BadInput. Writes nothing."""
    net, shards = None, []
    if config.training.first_net != "none":
        net = net_grown_from(_checkpoint(config.training.first_net), config.net, games[-1], config.seed)
    if config.replay.first_games != "none":
        shards = _newest_games(Path(config.replay.first_games), games, config.replay.window)
    return Beginning(net, shards)


def _checkpoint(name: str) -> Path:
    """Returns the file of a checkpoint; raises BadInput."""
    try:
        return find_checkpoint(name)
    except BadInput as error:
        if Path(name).is_dir():
            raise
        known = "its file, a run's folder, or an included one"
        raise BadInput(f"there is no checkpoint {name!r} to begin with; name {known}, e.g. connect_four") from error


def _newest_games(folder: Path, games: Sequence[Game], window: int) -> list[SizedShard]:
    """Returns the newest shards of a run with `window` positions or more, oldest first; fewer if it has no more."""
    shards: list[SizedShard] = []
    with hold_to_read(folder, may_write=False):
        for file in reversed(shards_in(folder)):
            shards.append(load_sized_shard(file.path, games))
            if sum(each.num_learnt for _, each in shards) >= window:
                break
    if not any(shard.num_learnt for _, shard in shards):
        raise BadInput(f"replay.first_games = {str(folder)!r}: the run has no games to learn from")
    return shards[::-1]


def read_starts(file: str, game: Game) -> list[str]:
    """Returns the texts of the positions in a file, in their order; none if `file` is "none".

    Raises BadInput, with the line, if a text is not a position of the game, or the game is over there.
    """
    if file == "none":
        return []
    what = f"selfplay.starts = {file!r}"
    return read_position_texts(what, Path(file), game.state_from_text, game.new_initial_state().to_text())


def create_run(folder: Path, config: Config, game: Game, beginning: Beginning) -> Run:
    """Begins a new run in a folder that is held, with what it takes from elsewhere; raises BadInput if it holds one."""
    check_is_new(folder)
    run = Run(folder, config, game)
    for name in shards_from_elsewhere(folder):  # of a process that was killed here
        remove(run.shard_path(name))
    if beginning.net is not None:
        run.save_net(run.first_path, beginning.net, Progress(iteration=FIRST_NET))
    for number, (size, shard) in enumerate(beginning.shards):
        save_shard(run.shard_path(shard_name(FIRST_NET, number)), shard, run.games[size])
    return Run.create(folder, config, game)


def begin(run: Run, trainer: Trainer, starts: list[str]) -> Progress:
    """Saves the first state of a run, and returns its progress. Games from elsewhere are those of iteration 1."""
    progress = Progress(promoted=[FIRST_NET], starts=starts)
    if run.config.training.first_net == "none":
        run.save_net(run.first_path, trainer.candidate(), Progress(iteration=FIRST_NET))
    else:
        trainer.begin_with(load_checkpoint(run.first_path, run.game).net)
    if run.config.replay.first_games != "none":
        progress = _learn_from_elsewhere(run, trainer, progress)
    progress = run.with_digests(progress)
    save_state(run.folder, run.config, trainer, progress)
    keep_beginning(run.folder)
    return progress


def _learn_from_elsewhere(run: Run, trainer: Trainer, progress: Progress) -> Progress:
    """Returns the progress of iteration 1 before training, with the run's games from elsewhere."""
    start, names = time.perf_counter(), shards_from_elsewhere(run.folder)
    shards = [run.load_shard(name) for name in names]
    if not shards:
        raise BadInput(f"run {str(run.folder)!r} has lost the games it was to begin with; begin another with --run")
    positions = sum(shard.num_learnt for _, shard in shards)
    notes = describe_games(shards) | judge_fresh_positions(trainer, run.games, shards)
    notes |= describe_speed([], time.perf_counter() - start)
    notes |= {"replay/positions": positions, "replay/age_iterations": 1.0, "selfplay/worker_deaths": 0}
    return progress.changed(stage="train", positions=positions, shards=names, notes=notes)
