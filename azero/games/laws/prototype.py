"""A game once more, slow and plain, to be held against compiled rules: `azero check-game GAME --against FILE.py:NAME`.

A prototype is written the obvious way, with lists, sets and strings. It knows moves as the game writes them and nothing
of actions, records or Numba; so whoever writes it makes other mistakes.
"""

import math
import random
import time
from abc import ABC, abstractmethod

from azero.errors import BadInput
from azero.games.laws.findings import hold, record_of
from azero.games.registry import parameters_of
from azero.games.state import Game, State
from azero.games.user.loading import load_class, place_of, reason_of
from azero.games.user.timeouts import TimedOut, time_limit


class Prototype(ABC):
    """One game being played. It is made with the parameters of the game, e.g. `SlowNim(heap=21)`."""

    @abstractmethod
    def to_move(self) -> int:
        """Returns who moves, 0 or 1."""

    @abstractmethod
    def legal_moves(self) -> list[str]:
        """Returns every legal move, in the game's notation, in any order; none where the game is over."""

    @abstractmethod
    def play(self, move: str) -> None:
        """Plays a legal move."""

    @abstractmethod
    def result(self) -> int | None:
        """Returns what the first player has, 1 for a win, 0, or -1; None while the game goes on."""

    def score(self) -> float | None:
        """Returns by how much the first player has won, where the game counts that; else None."""
        return None


def load_prototype(name: str) -> type[Prototype]:
    """Returns the prototype that `file.py:Name` names; raises BadInput."""
    file, colon, class_name = name.rpartition(":")
    if not colon or not file.endswith(".py"):
        raise BadInput(f"prototype {name!r} is not of the form FILE.py:NAME")
    found = load_class(file, class_name)
    if not (isinstance(found, type) and issubclass(found, Prototype)):
        raise BadInput(f"{name} is no prototype: it should be a class {class_name}(Prototype), of azero.authoring")
    if found.__abstractmethods__:
        raise BadInput(f"{name} lacks {', '.join(sorted(found.__abstractmethods__))}")
    return found


def check_against(
    game: Game, prototype: type[Prototype], name: str, num_games: int, seed: int, seconds: float = math.inf
) -> int:
    """Plays random games with both in lockstep; raises BadInput at the first difference, with the moves to it.

    Begins none after `seconds`, but one at least; returns how many were played.
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
            line = place_of(error, name.rpartition(":")[0])
            raise _failure(f"{name} fails{line}: {reason_of(error)}", game, actions) from None
    return num_games


def _failure(what: str, game: Game, actions: list[int]) -> BadInput:
    return BadInput(f"{what}, after {record_of(game, actions) or 'no move'}")


def _compare(game: Game, state: State, slow: Prototype, actions: list[int]) -> bool:
    """Returns whether the game is over; raises Broken where the two differ in a position."""
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
    hold(not others, f"legal_moves of the prototype has {others[:1]}; moves should be text", game, actions)
    hold(not legal - known, f"{_some(legal - known)} legal by the rules, not by the prototype", game, actions)
    hold(not known - legal, f"{_some(known - legal)} legal by the prototype, not by the rules", game, actions)
    return False


def _some(moves: set[str]) -> str:
    shown = sorted(moves)[:5]
    return f"{' '.join(shown)}{' ...' if len(moves) > 5 else ''} {'is' if len(moves) == 1 else 'are'}"
