"""The law of pictures: each position has one that keeps the laws of `azero/games/pictures/checking.py`."""

import random

from azero.compiler.plain import plain_python
from azero.errors import BadInput
from azero.games.laws.findings import Notes, hold, walk_game
from azero.games.pictures.checking import check_picture, shared_clicks
from azero.games.pictures.picture import Picture
from azero.games.pictures.whole import own_picture
from azero.games.state import Game, State


def check_pictures(game: Game, actions: list[int], chooser: random.Random, notes: Notes) -> None:
    """Each position has a picture in which each legal action is there once. Clicks that fit several are noted."""
    for state, before, _ in walk_game(game, actions):
        if not notes.has_time():
            continue
        position = state.record.tobytes()
        try:
            picture = _own(state)
        except BadInput as error:
            hold(False, str(error), game, before)
        hold(state.record.tobytes() == position, "picture changes the state", game, before)
        if not notes.remark and (shared := shared_clicks(picture)):
            moves = " and ".join(picture.moves[action] for action in shared[0][:3])
            notes.remark = f"the same cells are several moves in some positions, e.g. {moves}"


def _own(state: State) -> Picture:
    """Returns the picture that the rules make; raises BadInput if it breaks a law."""
    legal = state.legal_actions()
    with plain_python():
        picture = own_picture(state.game.rules, state.record, legal, state.history())
    check_picture(picture, legal, f"{state.game}.picture")
    return picture
