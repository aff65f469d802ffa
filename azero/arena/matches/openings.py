"""Openings: short lines, all different, so that the games of a match differ. They are random, or lines of a file.

azero has files of lines after which a strong agent thinks both sides equal: "balanced" openings. If a match has more
pairs than its file has lines, they come again.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.games import Game, State
from azero.games.position_files import read_position_texts
from azero.system.files import PACKAGE

OPENING_PLIES = 4
"""Random plies at the start of a pair of games; a turn of several actions counts as one."""

BALANCED = "balanced"
"""The name of the included file of the game."""

_FOLDER = PACKAGE / "data" / "openings"
_TRIES = 50


def read_openings(name: str, game: Game) -> tuple[str, ...]:
    """Returns the lines of a file, each once: moves from the initial position. "# " begins a comment.

    Args:
      name: the file, or `BALANCED`.

    Raises BadInput, with the line, if the moves cannot be played, or end the game.
    """
    path = _FOLDER / f"{game}.txt" if name == BALANCED else Path(name)
    if name == BALANCED and not path.exists():
        raise BadInput(f"there are no balanced openings for {game}; name a file with lines of moves")
    first = game.new_initial_state()
    example = game.action_to_text(first, first.legal_actions()[0])
    texts = read_position_texts(f"openings {str(path)!r}", path, game.state_from_moves, example)
    return tuple(dict.fromkeys(texts))


def draw_openings(game: Game, plies: int, seed: int, lines: Sequence[str] = ()) -> Iterator[State]:
    """Yields positions after `plies` random turns or one fewer, without end. They differ if possible, and none is over.

    With two lengths, either player may be to move after the opening. If there are too few positions at that depth, the
    lines become longer, and then positions repeat.

    Args:
      lines: moves, to yield the positions after these instead, in a random order, again and again.
    """
    rng = np.random.default_rng(derive_seed(seed, "openings"))
    while lines:
        for each in rng.permutation(len(lines)):
            yield game.state_from_moves(lines[each])
    seen: set[int] = set()
    while True:
        for attempt in range(_TRIES):
            longer = attempt // (_TRIES // 3)
            opening = _random_line(game, max(0, plies - int(rng.integers(0, 2))) + longer if plies else 0, rng)
            if opening is not None and (opening.hash_key() not in seen or plies == 0):
                break
        drawn = opening if opening is not None else game.new_initial_state()
        seen.add(drawn.hash_key())
        yield drawn


def _random_line(game: Game, turns: int, rng: np.random.Generator) -> State | None:
    """Returns the position after random turns, or None if the game ended before. Players pass only if they must.

    A turn is all that a player does until the other one is to move, so it may have several actions.
    """
    state = game.new_initial_state()
    while turns > 0:
        player = state.current_player()
        action = int(rng.choice(state.legal_actions()))
        if game.action_to_text(state, action) == "pass":  # in Go the opponent could end the game at once
            action = int(rng.choice([each for each in state.legal_actions() if each != action] or [action]))
        state.apply_action(action)
        if state.is_terminal():
            return None
        turns -= state.current_player() != player
    return state


def check_numbers(num_games: int, opening_plies: int) -> None:
    """Raises BadInput if the numbers of games or of random plies are too small."""
    if num_games < 1:
        raise BadInput(f"games = {num_games} should be 1 or more")
    if opening_plies < 0:
        raise BadInput(f"opening plies = {opening_plies} should be 0 or more")
