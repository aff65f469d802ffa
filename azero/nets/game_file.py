"""Where the file of a user's own game lies: by its path from the working folder, or by its place beside the run.

A card has both: the path as the game was named, and the way from the run's folder to the file. By the second the file
is found from any working folder, and after a folder that holds both has been moved.
"""

import os
from pathlib import Path

from azero.errors import BadInput
from azero.games.names import file_of
from azero.games.user.loading import digest_of_file
from azero.nets.checkpoint_card import Card


def place_of(game: str, run_folder: Path) -> str:
    """Returns the way from a run's folder to the file of a game of that name; empty for azero's own games."""
    file = file_of(game)
    if file is None:
        return ""
    try:
        return Path(os.path.relpath(Path(file).resolve(), run_folder.resolve())).as_posix()
    except ValueError:  # on another drive of Windows
        return str(Path(file).resolve())


def find_game(game: str, card: Card, path: Path) -> str:
    """Returns the name of a user's game, with the file that is the card's, as far as one is known; runs nothing.

    Of the file named and the one beside the run, the one with the digest on the card; where neither has it, the one
    beside the run. The name stays as it is where there is no better one, and of azero's own games.

    Args:
      path: of the checkpoint with that card, in a run's folder or in its checkpoints/.
    """
    file = file_of(game)
    if file is None or not card.game_file:
        return game
    folder = path.resolve().parent
    run_folder = folder.parent if folder.name == "checkpoints" else folder
    beside = os.path.normpath(run_folder / card.game_file)
    if not Path(beside).is_file() or (Path(file).is_file() and Path(file).samefile(beside)):
        return game
    if _has_digest(file, card.game_digest):
        return game
    return game.replace(file, beside, 1)


def _has_digest(file: str, digest: str) -> bool:
    try:
        return digest_of_file(file) == digest
    except BadInput:  # it is not there
        return False
