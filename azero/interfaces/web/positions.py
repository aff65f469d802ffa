"""Positions from moves, and what the page shows of them. The server keeps no game."""

import functools
from typing import Any, NamedTuple

from azero.errors import BadInput
from azero.games import State, without_compiling
from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.models import PositionAsked
from azero.interfaces.web.offered.games import OfferedGame

_KEPT = 3
"""Positions before the last that a search may have trees of: of a move, the reply, and a turn of three actions."""


class Position(NamedTuple):
    """A position, and how it came about."""

    game: OfferedGame
    state: State
    start: State  # before the moves
    moves: list[str]  # in the game's notation
    movers: list[int]  # the player of each move
    counts: list[int]  # how many moves each word of the request was
    earlier: list[State]  # up to `_KEPT` positions before it, the last one last


def position_of(game: OfferedGame, asked: PositionAsked, most_plies: int) -> Position:
    """Returns the position that a request names, without waiting for the compiler; raises ApiError."""
    with without_compiling(game.game.rules):
        return _position_of(game, asked, most_plies)


def _position_of(offered_game: OfferedGame, asked: PositionAsked, most_plies: int) -> Position:
    game = offered_game.game
    try:
        start = game.state_from_text(asked.position) if asked.position else game.new_initial_state()
    except BadInput as error:
        raise ApiError(422, "bad_position", str(error), value=asked.position) from None
    state = start.clone()
    words = game.rules.split_moves(asked.moves) if isinstance(asked.moves, str) else asked.moves
    played, movers, counts, earlier = list[str](), list[int](), list[int](), list[State]()

    def play(move: str) -> None:
        nonlocal earlier
        if len(played) == most_plies:
            raise ApiError(422, "too_long", f"the game has more than {most_plies} moves")
        action = game.text_to_action(state, move)
        earlier = [*earlier[1 - _KEPT :], state.clone()]
        played.append(game.action_to_text(state, action))
        movers.append(state.current_player())
        state.apply_action(action)

    for at, word in enumerate(words):
        num_before = len(played)
        try:
            try:
                play(word)
            except BadInput:
                moves = game.rules.split_moves(word)
                if len(moves) < 2:
                    raise
                for move in moves:  # several moves together, such as j4-e4/e2 in Amazons
                    play(move)
        except BadInput as error:
            raise ApiError(422, "illegal_move", f"move {at + 1}: {error}", at=at, value=word) from None
        counts.append(len(played) - num_before)
    return Position(offered_game, state, start, played, movers, counts, earlier)


def describe(position: Position) -> dict[str, Any]:
    """Returns a position as the interface gives it, without waiting for the compiler."""
    with without_compiling(position.state.game.rules):
        return _describe(position)


def _describe(position: Position) -> dict[str, Any]:
    state = position.state
    picture = state.game.picture(state).to_json()
    is_over = state.is_terminal()
    return {
        "game": position.game.id,
        "moves": position.moves,
        "movers": position.movers,
        "counts": position.counts,
        "text": " ".join(position.moves),
        "ply": len(position.moves),
        "to_move": None if is_over else state.current_player(),
        "result": _result(position, picture) if is_over else None,
        "picture": picture,
        "last": _last_cells(position),
        "position": state.to_text(),
    }


@functools.lru_cache(maxsize=64)
def initial_picture(game: OfferedGame) -> dict[str, Any]:
    """Returns the picture of the initial position."""
    with without_compiling(game.game.rules):
        return game.game.picture(game.game.new_initial_state()).to_json()


def _last_cells(position: Position) -> list[int]:
    """Returns the cells of the last move."""
    if not position.earlier:
        return []
    before, action = position.earlier[-1], position.state.history()[-1]
    # a game may have them as NumPy's numbers
    return [int(cell) for cell in before.game.picture(before).clicks.get(action, ())]


def _result(position: Position, picture: dict[str, Any]) -> dict[str, Any]:
    """Returns who has won, and by how much if the rules tell."""
    first = position.state.returns()[0]
    if first == 0:
        return {"winner": None, "text": "Draw"}
    winner = 0 if first > 0 else 1
    text = f"{picture['players'][winner]['name']} wins"
    if position.game.has_score:
        text += f" by {abs(position.state.final_score()):g}"
    return {"winner": winner, "text": text}
