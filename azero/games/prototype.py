"""A game once more, slow and plain, to be held against compiled rules: `azero check-game GAME --against FILE.py:NAME`.

A prototype is written the obvious way, with lists, sets and strings. It knows moves as the game writes them and nothing
of actions, records or Numba; so whoever writes it makes other mistakes.
"""

import random
from abc import ABC, abstractmethod

from azero.errors import BadInput
from azero.games.face import Game
from azero.games.laws import hold
from azero.games.user_file import load_class, where


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
        raise BadInput(f"{name} is no prototype: it should be a class {class_name}(azero.Prototype)")
    return found


def check_against(game: Game, prototype: type[Prototype], name: str, num_games: int, seed: int) -> None:
    """Plays random games with both in lockstep; raises BadInput at the first difference, with the moves to it."""
    chooser = random.Random(seed)
    for _ in range(num_games):
        state = game.new_initial_state()
        actions: list[int] = []
        try:
            slow = prototype(**game.rules._asdict())  # type: ignore[attr-defined]
            while True:
                _compare(game, state, slow, actions)
                if state.is_terminal():
                    break
                action = chooser.choice(state.legal_actions())
                slow.play(game.action_to_text(state, action))
                state.apply_action(action)
                actions.append(action)
        except BadInput:
            raise
        except Exception as error:
            line = where(error, name.rpartition(":")[0])
            raise BadInput(f"{name}{line} fails: {type(error).__name__}: {error}") from None


def _compare(game: Game, state, slow: Prototype, actions: list[int]) -> None:
    """Raises Broken where the two differ in a position."""
    ours = int(state.returns()[0]) if state.is_terminal() else None
    theirs = slow.result()
    hold(ours == theirs, f"the result is {ours} by the rules, {theirs} by the prototype", game, actions)
    if ours is not None:
        score = slow.score()
        is_same = score is None or score == state.final_score()
        hold(is_same, f"the score is {state.final_score():g} by the rules, {score} by the prototype", game, actions)
        return
    turn, other_turn = state.current_player(), slow.to_move()
    hold(turn == other_turn, f"player {turn} moves by the rules, {other_turn} by the prototype", game, actions)
    legal = {game.action_to_text(state, action) for action in state.legal_actions()}
    known = set(slow.legal_moves())
    hold(not legal - known, f"{_some(legal - known)} legal by the rules, not by the prototype", game, actions)
    hold(not known - legal, f"{_some(known - legal)} legal by the prototype, not by the rules", game, actions)


def _some(moves: set[str]) -> str:
    shown = sorted(moves)[:5]
    return f"{' '.join(shown)}{' ...' if len(moves) > 5 else ''} {'is' if len(moves) == 1 else 'are'}"
