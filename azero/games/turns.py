"""Turns: one or several actions of a player in a row, written as one move."""

from collections.abc import Sequence

from azero.games.state import Game


def turn_to_text(game: Game, actions: Sequence[str]) -> str:
    """Returns a turn, given its actions in the game's notation, as the text that `azero play` and `--moves` accept.

    E.g. `d1-d7/g7` in Amazons. If the joined text would be read as other actions, commas separate them: `3,5`.
    """
    actions = list(actions)
    written = (separator.join(actions) for separator in ("", ",", " "))
    return next((text for text in written if game.rules.split_moves(text) == actions), " ".join(actions))
