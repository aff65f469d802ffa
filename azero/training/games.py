"""The games of a run, read from its replay folder."""

from pathlib import Path

from azero.errors import BadInput
from azero.games import Game
from azero.selfplay.data.games import Games
from azero.selfplay.data.records import Shard
from azero.selfplay.data.shard_files import load_shard
from azero.training.resumed_settings import check_is_run, game_of_run, load_settings
from azero.training.run import iteration_of


def load_games(folder: str | Path, iteration: int | None = None, game: Game | None = None) -> Games:
    """Returns the self-play games in a run's folder: those in the replay window, and those of the current iteration.

    All games are replayed by the rules and compared with what was stored.

    Args:
      folder: the run's folder.
      iteration: only games of this iteration.
      game: the run's game. The file of a user's own game must be named, here or before
        (docs/decisions/0017-trust-in-code.md).

    Raises BadInput if there is no run, no such game, or a file is damaged, of another game, or not one of azero's.
    """
    folder = Path(folder)
    check_is_run(folder)
    return read_games(folder, game or game_of_run(folder, load_settings(folder).game.name), iteration)


def read_games(folder: Path, game: Game, iteration: int | None) -> Games:
    """Returns the games in a run's folder, as `load_games`."""
    shards: dict[int, list[Shard]] = {}
    for number, path in sorted((_iteration_of(path), path) for path in (folder / "replay").glob("*.safetensors")):
        if iteration in (None, number):
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
