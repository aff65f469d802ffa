"""Prototypes: slow, plain versions of games, with which `azero check-game --against` compares compiled rules.

A prototype is written in the obvious way, with lists, sets and strings. It uses moves in the game's notation. It does
not use actions, records or Numba. So its author is unlikely to repeat a mistake of the compiled rules.
"""

import math
import random
import time
from abc import ABC, abstractmethod

from azero.errors import BadInput
from azero.games.laws.findings import hold, record_of
from azero.games.reasons import fails_with, place_of, short
from azero.games.registry import parameters_of
from azero.games.state import Game, State
from azero.games.user.loading import load_class
from azero.games.user.timeouts import TimedOut, time_limit
from azero.games.user.trust import trust_file


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


def check_against(
    game: Game, prototype: type[Prototype], name: str, num_games: int, seed: int, seconds: float = math.inf
) -> int:
    """Plays the same random games with both. Raises BadInput at the first difference, with the moves that lead there.

    Begins no game after `seconds`, but plays at least one. Returns the number of games.
    """
    chooser, begin = random.Random(seed), time.monotonic()
    for number in range(num_games):
        if number and time.monotonic() - begin >= seconds:
            return number
        state = game.new_initial_state()
        actions: list[int] = []
        try:
            slow = prototype(**{key: getattr(game.rules, key) for key in parameters_of(type(game.rules))})
            is_over = False
            while not is_over:
                with time_limit():
                    is_over = _compare(game, state, slow, actions)
                    if not is_over:
                        action = chooser.choice(state.legal_actions())
                        slow.play(game.action_to_text(state, action))
                        state.apply_action(action)
                        actions.append(action)
        except BadInput:
            raise
        except TimedOut as error:
            raise _failure(f"{name} {error}", game, actions) from None
        except (Exception, SystemExit) as error:
            place = place_of(error, name.rpartition(":")[0])
            raise _failure(f"{name} {fails_with(error, place)}", game, actions) from None
    return num_games


def _failure(what: str, game: Game, actions: list[int]) -> BadInput:
    return BadInput(f"{what}, after {record_of(game, actions) or 'no move'}")


def _compare(game: Game, state: State, slow: Prototype, actions: list[int]) -> bool:
    """Returns whether the game is over. Raises Broken if the two differ in a position."""
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
    hold(not legal - known, f"{_some(legal - known)} legal by the rules, not by the prototype", game, actions)
    hold(not known - legal, f"{_some(known - legal)} legal by the prototype, not by the rules", game, actions)
    return False


def _some(moves: set[str]) -> str:
    shown = sorted(moves)[:5]
    return f"{' '.join(shown)}{' ...' if len(moves) > 5 else ''} {'is' if len(moves) == 1 else 'are'}"
