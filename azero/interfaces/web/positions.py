"""Positions from moves, and what the page shows of them. The server keeps no game."""

from typing import Any, NamedTuple

from azero.errors import BadInput
from azero.games import State
from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.models import PositionAsked
from azero.interfaces.web.offered.games import OfferedGame


class Position(NamedTuple):
    """A position, and how it came about."""

    offered: OfferedGame
    state: State
    moves: list[str]  # in the game's notation
    before_last: State | None  # the position before the last move


def position_of(offered: OfferedGame, asked: PositionAsked, most_plies: int) -> Position:
    """Returns the position that a request names; raises ApiError."""
    game = offered.game
    try:
        state = game.state_from_text(asked.position) if asked.position else game.new_initial_state()
    except BadInput as error:
        raise ApiError(422, "bad_position", str(error), value=asked.position) from None
    texts = game.rules.split_moves(asked.moves) if isinstance(asked.moves, str) else asked.moves
    if len(texts) > most_plies:
        raise ApiError(422, "too_long", f"the game has {len(texts)} moves; at most {most_plies} are possible")
    played, before_last = list[str](), None
    for at, text in enumerate(texts):
        before_last = state.clone()
        try:
            action = game.text_to_action(state, text)
            played.append(game.action_to_text(state, action))
            state.apply_action(action)
        except BadInput as error:
            raise ApiError(422, "illegal_move", f"move {at + 1}: {error}", at=at, value=text) from None
    return Position(offered, state, played, before_last)


def describe(position: Position) -> dict[str, Any]:
    """Returns a position as the interface gives it."""
    state, offered = position.state, position.offered
    is_over = state.is_terminal()
    return {
        "game": offered.id,
        "moves": position.moves,
        "text": " ".join(position.moves),
        "ply": len(position.moves),
        "to_move": None if is_over else state.current_player(),
        "result": _result(position) if is_over else None,
        "position": state.to_text(),
    }


def _result(position: Position) -> dict[str, Any]:
    first = position.state.returns()[0]
    if first == 0:
        return {"winner": None, "text": "Draw"}
    winner = 0 if first > 0 else 1
    return {"winner": winner, "text": f"{'XO'[winner]} wins"}


def initial_picture(offered: OfferedGame) -> dict[str, Any] | None:
    """Returns the picture of the initial position."""
    return picture_of(offered, offered.game.new_initial_state())


def picture_of(offered: OfferedGame, state: State) -> dict[str, Any] | None:
    """Returns what the page draws of a position."""
    if not hasattr(offered.game, "picture"):
        return None
    return offered.game.picture(state).to_json()


def players_of(offered: OfferedGame) -> list[dict[str, str]]:
    """Returns names and colours of the players."""
    picture = initial_picture(offered)
    return picture["players"] if picture else [{"name": "X", "colour": "black"}, {"name": "O", "colour": "white"}]
