"""The tasks of self-play's workers: playing games. Each task returns a shard.

A plan, which all tasks of an iteration share, is plain data with the net's weights. A task is a size and seeds; a
shard is plain arrays. The files that the settings name travel with the plan.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from azero.config.schema import Config, named_files, with_names
from azero.errors import BadInput
from azero.games import Game
from azero.games.make import make_sent_game
from azero.games.names import identity_of
from azero.games.user.sources import name_here, pack_code
from azero.games.user.trust import Untrusted, trust_identity
from azero.mcts import Evaluator
from azero.nets.architectures.contract import Net
from azero.nets.checkpoint import net_from_weights
from azero.nets.evaluator import NetEvaluator
from azero.nets.quick_start import Known, open_known
from azero.nets.runtimes.session import ROWS
from azero.selfplay.data.shard import Shard
from azero.selfplay.data.surprise import weigh_by_surprise
from azero.selfplay.play import SelfPlay, play_games
from azero.selfplay.solving import solve_endings
from azero.selfplay.workers import share_of_cores
from azero.system.packed_files import PackedFiles, pack, unpack
from azero.system.tensor_files import Tensors


class Identities(NamedTuple):
    """Identities of the sources of a user's own game, net and search, 64 hex digits; empty for azero's own."""

    game: str = ""
    net: str = ""
    rule: str = ""
    root: str = ""


@dataclass(frozen=True)
class PlayPlan:
    """What the games of an iteration have in common."""

    weights: Tensors  # of the net, as in a checkpoint
    configs: tuple[Config, ...]  # the settings for each size of the game, the smallest first
    identities: Identities
    starts: Sequence[str] = ()  # texts of positions, at one of which each game begins; see `play_games`
    files: PackedFiles = ()  # from `pack_files`
    known: Sequence[Known | None] = ()  # of the net with each size, so that workers need not measure it


def pack_files(config: Config) -> PackedFiles:
    """Returns the files that the settings of self-play name: a user's game, net and search, and a rollout policy."""
    rollout = config.search.rollout
    is_file = config.search.rollout_weight > 0 and rollout not in ("own", "uniform")
    policy = pack({rollout: f"rollout/{Path(rollout).name}"}) if is_file else ()
    return sum((pack_code(name, kind) for kind, name in named_files(config).items()), ()) + policy


def new_plan(
    config: Config,
    configs: Sequence[Config],
    weights: Tensors,
    identities: Identities,
    starts: Sequence[str],
    known: Sequence[Known | None] = (),
) -> PlayPlan:
    """Returns the plan of an iteration's games, with the files that the settings name.

    Args:
      config: the run's settings.
      configs: the workers' settings for each size of the game, the smallest first.
      known: what is known of the net with each size, if workers run it as this machine does.
    """
    return PlayPlan(weights, tuple(configs), identities, starts, pack_files(config), known)


def with_files_here(config: Config, files: PackedFiles) -> Config:
    """Returns the settings with the names of their files on this machine; raises Damaged if a file has changed."""
    if not files:
        return config
    found = unpack(files)
    config = with_names(config, {kind: name_here(name, found, kind) for kind, name in named_files(config).items()})
    rollout = config.search.rollout
    search = config.search.model_copy(update={"rollout": str(found.get(rollout, rollout))})
    return config.model_copy(update={"search": search})


class SizedSeeds(NamedTuple):
    """A task: the seeds of a shard's games, and the place of their size among all sizes."""

    size: int
    seeds: tuple[int, ...]


def split_seeds(seeds: list[int], num_sizes: int, games_per_shard: int) -> list[SizedSeeds]:
    """Returns the seeds of each shard. All sizes have as many games, the first ones one more if necessary.

    The sizes take turns, so that a replay window that keeps only a part of the shards has games of each.
    """
    own = [tuple(seeds[size::num_sizes]) for size in range(num_sizes)]
    return [
        SizedSeeds(size, each[at : at + games_per_shard])
        for at in range(0, len(own[0]), games_per_shard)
        for size, each in enumerate(own)
        if at < len(each)
    ]


def play_task(plan: PlayPlan, task: SizedSeeds, on_games: Callable[[int], None]) -> Shard:
    """Plays a task's games, and solves their ends; calls `on_games` with the number of games that have just ended."""
    config = with_files_here(plan.configs[task.size], plan.files)
    selfplay = open_selfplay(plan, config, task.size)
    shard = play_games(selfplay, task.seeds, on_games, plan.starts)
    num_threads = share_of_cores(config) if selfplay.evaluator.is_on_device else 1
    shard = solve_endings(selfplay.game, shard, config.selfplay.ending_nodes, num_threads)
    return weigh_by_surprise(selfplay.game, selfplay.evaluator, shard, config.selfplay.policy_surprise_share)


def open_selfplay(plan: PlayPlan, config: Config, size: int) -> SelfPlay:
    """Returns self-play with the plan's net and the settings of one size, whose place among all is given.

    Raises BadInput if the code of a user's own game, net or search has changed since the plan was made.
    """
    game = trusted_game(config, plan.identities)
    known = plan.known[size] if plan.known else None
    evaluator = open_known(known, config.net.name, plan.weights, game, ROWS, 1) if known else None
    evaluator = evaluator or NetEvaluator(_net_of(plan, config, game), config.device)
    return _selfplay_of(plan, config, game, evaluator)


def _selfplay_of(plan: PlayPlan, config: Config, game: Game, evaluator: Evaluator) -> SelfPlay:
    """Returns self-play with the search that the parent process trusts; raises BadInput for other code."""
    wanted = plan.identities.rule, plan.identities.root
    for identity in filter(None, wanted):
        trust_identity(identity)
    with suppress(Untrusted):
        selfplay = SelfPlay.from_config(config, game, evaluator)
        if (identity_of(selfplay.selection), identity_of(selfplay.settings.root)) == wanted:
            return selfplay
    files = [name for name, known in zip((config.search.selection, config.selfplay.root), wanted, strict=True) if known]
    raise BadInput(f"{' or '.join(files)} has changed while it was used; undo that, and continue with --resume")


def trusted_game(config: Config, identities: Identities) -> Game:
    """Returns the settings' game, made by the code that the parent process trusts; raises BadInput for any other."""
    game = make_sent_game(config.game.name, identities.game)
    if game is None:
        raise BadInput(
            f"{config.game.name} has changed while it was being played; continue with --resume, or begin another run "
            "if its rules are others now"
        )
    return game


def _net_of(plan: PlayPlan, config: Config, game: Game) -> Net:
    """Returns the plan's net. The code that the parent process trusted may run here; raises BadInput for any other."""
    if plan.identities.net:
        trust_identity(plan.identities.net)
    try:
        net = net_from_weights(config.net, game, plan.weights)
        if net.identity == plan.identities.net:
            return net
    except Untrusted:
        pass
    raise BadInput(f"{config.net.name} has changed while it was used; undo that, and continue with --resume")
