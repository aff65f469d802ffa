"""A game with turns of different numbers of actions."""

import hashlib
from pathlib import Path

from azero.games import State
from azero.games.p_game.rules import PGame


class TurnsPGame(PGame):
    """A P-game in which random numbers decide who moves. A turn lasts as long as they name the same player."""

    file_name = "turns_p_game"
    source_digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]

    def current_player(game, state):
        return (state.path >> 7) & 1


def turns_of(state: State) -> list[tuple[list[int], State]]:
    """Returns each turn of a position, in order of actions, with the position after it."""
    turns = []
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        if after.current_player() != state.current_player():
            turns.append(([action], after))
        else:
            turns += [([action, *rest], end) for rest, end in turns_of(after)]
    return turns
