"""Prototypes: slow, plain versions of games, with which `azero check-game --against` compares compiled rules.

A prototype is written in the obvious way, with lists, sets and strings. It uses moves in the game's notation. It does
not use actions, records or Numba. So its author is unlikely to repeat a mistake of the compiled rules.
"""

import math
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from azero.errors import BadInput
from azero.games.laws.findings import Broken, hold
from azero.games.reasons import fails_with, listed, place_of, short
from azero.games.registry import parameters_of
from azero.games.state import Game, State
from azero.games.user.loading import load_class
from azero.games.user.timeouts import TimedOut, time_limit
from azero.games.user.trust import trust_file

_FAMILIAR = 1000
"""Games in a row without a new position after which a comparison ends: small games have few positions."""


class Prototype(ABC):
    """A single game in progress. Its constructor takes the game's parameters, e.g. `SlowNim(heap=21)`."""

    @abstractmethod
    def to_move(self) -> int:
        """Returns the player to move, 0 or 1."""

    @abstractmethod
    def legal_moves(self) -> list[str]:
        """Returns all legal moves in the game's notation, in any order. There are none if the game is over."""

    @abstractmethod
    def play(self, move: str) -> None:
        """Plays a legal move."""

    @abstractmethod
    def result(self) -> int | None:
        """Returns the first player's result, 1, 0 or -1, or None if the game is not over."""

    def score(self) -> float | None:
        """Returns the margin by which the first player has won, or None if the game has no score."""
        return None


def load_prototype(name: str) -> type[Prototype]:
    """Returns the prototype with the name `file.py:Name`. Its file is trusted and run. Raises BadInput."""
    file, colon, class_name = name.rpartition(":")
    if not colon or not file.endswith(".py"):
        raise BadInput(f"prototype {name!r} is not of the form FILE.py:NAME")
    trust_file(file)
    found, _ = load_class(file, class_name)
    if not (isinstance(found, type) and issubclass(found, Prototype)):
        raise BadInput(f"{name} is not a prototype: it should be a class {class_name}(Prototype)")
    if found.__abstractmethods__:
        raise BadInput(f"{name} lacks {', '.join(sorted(found.__abstractmethods__))}")
    return found


def compare_with(
    game: Game,
    prototype: type[Prototype],
    name: str,
    seed: int,
    seconds: float = math.inf,
    note_seconds: Callable[[int], object] = lambda seconds: None,
) -> tuple[int, int]:
    """Plays the same random games with both, and compares them in each position.

    Ends after `seconds`, or as soon as `_FAMILIAR` games in a row have had no position that was not compared before.

    Args:
      name: of the prototype, `slow.py:SlowGame`.
      note_seconds: is called with each number of seconds that have passed.

    Returns:
      The numbers of games, and of different positions.

    Raises:
      BadInput: at the first difference, with the moves that lead there.
    """
    chooser, begin, noted = random.Random(seed), time.monotonic(), 0
    seen: set[int] = set()
    num_games = num_familiar = 0
    while num_familiar < _FAMILIAR:
        passed = time.monotonic() - begin
        if num_games and passed >= seconds:
            break
        note_seconds(int(passed) - noted)
        noted = int(passed)
        num_before = len(seen)
        _play_both(game, prototype, name, chooser, seen)
        num_games += 1
        num_familiar = 0 if len(seen) > num_before else num_familiar + 1
    return num_games, len(seen)


def _play_both(game: Game, prototype: type[Prototype], name: str, chooser: random.Random, seen: set[int]) -> None:
    """Plays a random game with both, and adds the keys of its positions to `seen`. Raises BadInput."""
    state = game.new_initial_state()
    try:
        slow = prototype(**{key: getattr(game.rules, key) for key in parameters_of(type(game.rules))})
        is_over = False
        while not is_over:
            with time_limit():
                is_over = _compare(state, slow)
                seen.add(state.hash_key())
                if not is_over:
                    action = chooser.choice(state.legal_actions())
                    slow.play(game.action_to_text(state, action))
                    state.apply_action(action)
    except BadInput:
        raise
    except TimedOut as error:
        raise Broken(f"{name} {error}", game, state.history()) from None
    except (Exception, SystemExit) as error:
        place = place_of(error, name.rpartition(":")[0])
        raise Broken(f"{name} {fails_with(error, place)}", game, state.history()) from None


def _compare(state: State, slow: Prototype) -> bool:
    """Returns whether the game is over. Raises Broken if the two differ in a position."""
    game, actions = state.game, state.history()
    ours = int(state.returns()[0]) if state.is_terminal() else None
    theirs = slow.result()
    hold(ours == theirs, f"the result is {ours} by the rules, {theirs} by the prototype", game, actions)
    if ours is not None:
        score = slow.score()
        is_same = score is None or score == state.final_score()
        hold(is_same, f"the score is {state.final_score():g} by the rules, {score} by the prototype", game, actions)
        return True
    turn, other_turn = state.current_player(), slow.to_move()
    hold(turn == other_turn, f"player {turn} moves by the rules, {other_turn} by the prototype", game, actions)
    legal = {game.action_to_text(state, action) for action in state.legal_actions()}
    known = set(slow.legal_moves())
    others = [move for move in known if not isinstance(move, str)]
    hold(not others, f"legal_moves of the prototype has {short(others[:1])}; moves should be text", game, actions)
    if legal != known:
        only, one, other = (legal - known, "rules", "prototype")
        if not only:
            only, one, other = (known - legal, "prototype", "rules")
        both = f"legal by both: {listed(sorted(legal & known)) or 'none'}"
        raise Broken(f"{_some(only)} legal by the {one}, not by the {other}; {both}", game, actions)
    return False


def _some(moves: set[str]) -> str:
    shown = sorted(moves)[:5]
    return f"{' '.join(shown)}{' ...' if len(moves) > 5 else ''} {'is' if len(moves) == 1 else 'are'}"
