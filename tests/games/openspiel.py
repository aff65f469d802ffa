"""Games recorded with OpenSpiel (tests/data/openspiel_games), to which ours are held move by move."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

from azero.games import Game

_FOLDER = Path(__file__).parents[1] / "data" / "openspiel_games"


def check_recorded_games(game: Game, name: str, action_of: Callable[[str], int]) -> None:
    """Asserts the recorded legal moves and player at every ply, the returns and, where recorded, the last board.

    Args:
      name: the file's stem.
      action_of: gives our action for OpenSpiel's text of a move.
    """
    with gzip.open(_FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        games = [json.loads(line) for line in file]
    assert games
    for recorded in games:
        state = game.new_initial_state()
        for move, player, legal in zip(recorded["moves"], recorded["player"], recorded["legal"], strict=True):
            assert state.current_player() == player
            assert state.legal_actions() == sorted(map(action_of, legal))
            state.apply_action(action_of(move))
        assert state.is_terminal() and state.returns() == recorded["returns"]
        if "final" in recorded:
            assert stones(str(state)) == recorded["final"].split()


def stones(drawing: str) -> list[str]:
    """Returns the rows of a drawn board as OpenSpiel writes them, without the names of rows and columns."""
    rows = (line.lower().lstrip(" 0123456789").replace(" ", "") for line in drawing.splitlines()[:-1])
    return list(rows)
