"""The games of a run, read from its replay folder."""

from pathlib import Path

from azero.config.schema import GameConfig
from azero.errors import BadInput
from azero.games import Game
from azero.selfplay.data.games import Games
from azero.selfplay.data.records import Shard
from azero.selfplay.data.shard_files import is_shard_of, load_shard
from azero.training.resumed_settings import check_is_run, game_of_run, load_settings
from azero.training.run import iteration_of


def load_games(folder: str | Path, iteration: int | None = None, game: Game | None = None) -> Games:
    """Returns the self-play games in a run's folder: those in the replay window, and those of the current iteration.

    All games are replayed by the rules and compared with what was stored.

    Args:
      folder: the run's folder.
      iteration: only games of this iteration.
      game: the run's game; in a run of several sizes, the one whose games are wanted. The file of a user's own game
        must be named, here or before (docs/decisions/0017-trust-in-code.md).

    Raises BadInput if there is no run, no such game, or a file is damaged, of another game, or not one of azero's.
    """
    folder = Path(folder)
    check_is_run(folder)
    config = load_settings(folder).game
    if game is None and not config.sizes:
        game = game_of_run(folder, config)
    return read_games(folder, config, game, iteration)


def read_games(folder: Path, config: GameConfig, game: Game | None, iteration: int | None) -> Games:
    """Returns the games in a run's folder, as `load_games`; raises BadInput if no game is given."""
    if game is None:
        raise BadInput(f"run {str(folder)!r} has games of sizes {list(config.sizes)}; say which with game=...")
    shards: dict[int, list[Shard]] = {}
    for number, path in sorted((_iteration_of(path), path) for path in (folder / "replay").glob("*.safetensors")):
        if iteration in (None, number) and (not config.sizes or is_shard_of(path, game)):
            shards.setdefault(number, []).append(load_shard(path, game))
    if not shards:
        of_which = "" if iteration is None else f" of iteration {iteration}"
        raise BadInput(f"run {str(folder)!r} has no games{of_which} in its replay folder")
    return Games.from_shards(game, shards)


def _iteration_of(path: Path) -> int:
    try:
        return iteration_of(path.stem)
    except ValueError:
        raise BadInput(f"{str(path)!r} is not a replay file of azero; their names are like 00001-0000") from None
