"""Roots solved, as far as that goes: what their moves are worth under best play, by alpha-beta with a table.

Of each move, the most visited first, it is asked whether it wins; where none does, which of them lose. Each question
has a window of one result. Moves are asked in rounds, with more positions in each, so that what is easy to answer comes
first; the table keeps what the rounds before have found. To begin with it has the moves that the tree likes best.

Source: Plaat et al., Best-first fixed-depth minimax algorithms (1996), the answer from questions of yes or no.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from azero.games import DRAW, LOSS, WIN, Game, State
from azero.mcts.alphabeta import search_on
from azero.mcts.frames import Work, new_search, restart, start_iteration
from azero.mcts.transpositions import find_entry, note_actions
from azero.mcts.tree import UNPROVEN

_FIRST_ROUND = 1 << 10  # positions for each move
_GROWTH = 4  # times as many in the next round
_FEWEST_VISITS, _VISITS_OF_ROOT = 2, 1000  # of a node that is worth a look: as many, and one in so many of the root's
_AT_ONCE = 1 << 14  # positions between two looks at the clock
_NO_LIMIT = 1 << 62
_MOST_ENTRIES = 1 << 20  # of the table, 32 bytes each; all are cleared for each root


class KnownMove(NamedTuple):
    """What a move is worth under best play."""

    result: int  # WIN, DRAW or LOSS for the player to move
    line: list[int]  # of a move that wins: how that goes on after it, as far as the table tells


class RootSolver:
    """Room to solve one root after another. What is found follows from the position and its tree alone."""

    def __init__(self, game: Game, max_positions: int):
        self._max_positions = max_positions
        self._work: Work = new_search(game.new_initial_state(), False, min(max_positions, _MOST_ENTRIES))

    @property
    def num_positions(self) -> int:
        """Positions visited for the last root."""
        return int(self._work.progress[0].num_nodes)

    def solve(
        self,
        state: State,
        actions: Sequence[int],
        favourites: Mapping[int, int],
        has_to_stop: Callable[[], bool] = lambda: False,
    ) -> dict[int, KnownMove]:
        """Returns what is found of the legal `actions`, asked in their order, by so many positions.

        That is one that wins, and nothing else; or, where it is certain that none wins, those that draw or lose.
        Raises BrokenRules where the rules cannot go on.

        Args:
          favourites: what to try first, by the key of a position.
        """
        restart(self._work)
        if len(self._work.table):
            keys, first = np.array(list(favourites), np.uint64), np.array(list(favourites.values()), np.int64)
            note_actions(self._work.table, keys, first)
        sign = 1 - 2 * state.current_player()
        after = {}
        for action in actions:
            after[action] = state.clone()
            after[action].apply_action(action)
        num_not_won = 0
        for action, wins in self._ask(after, sign, WIN, has_to_stop):
            if wins:
                return {action: KnownMove(WIN, self._line(after[action]))}
            num_not_won += 1
        if num_not_won < len(actions):
            return {}
        answers = self._ask(after, sign, DRAW, has_to_stop)
        return {action: KnownMove(DRAW if draws else LOSS, []) for action, draws in answers}

    def _ask(
        self, positions: dict[int, State], sign: int, least: int, has_to_stop: Callable[[], bool]
    ) -> Iterator[tuple[int, bool]]:
        """Yields whether a position is worth at least so much to the player of `sign`, of all where that is found."""
        left, num_more = dict(positions), _FIRST_ROUND
        while left:
            for action, state in list(left.items()):
                limit = min(self.num_positions + num_more, self._max_positions)
                answer = self._answer(state, sign, least, limit, has_to_stop)
                if answer is not None:
                    del left[action]
                    yield action, answer
                elif self.num_positions >= self._max_positions or has_to_stop():
                    return
            num_more *= _GROWTH

    def _answer(self, state: State, sign: int, least: int, limit: int, has_to_stop: Callable[[], bool]) -> bool | None:
        """Returns the answer for one position; None where it does not come before so many positions in all."""
        if state.is_terminal():
            return sign * state.returns()[0] >= least
        work, root = self._work, self._work.frames[0]
        work.states[0] = state.record
        start_iteration(work, False, len(work.frames), self._noted_action(state))
        root.alpha, root.beta = sorted((float(sign * least), float(sign * (least - 1))))
        while work.progress[0].ply >= 0:
            if self.num_positions >= limit or has_to_stop():
                return None
            search_on(state, work, False, min(self.num_positions + _AT_ONCE, limit), _NO_LIMIT)
        return bool(sign * root.value >= least)

    def _line(self, state: State) -> list[int]:
        """Returns how play goes on from the position asked of last, by what the search holds for best."""
        state, line = state.clone(), []
        best = int(self._work.frames[0].action)
        while not state.is_terminal() and best in state.legal_actions():
            line.append(best)
            state.apply_action(best)
            best = self._noted_action(state)
        return line

    def _noted_action(self, state: State) -> int:
        """Returns the action that the table holds for best, or -1."""
        table = self._work.table
        place = find_entry(table, np.uint64(state.hash_key())) if len(table) else -1
        return int(table[place].action) if place >= 0 else -1


def open_moves(nodes: np.recarray) -> list[int]:
    """Returns the root's actions that are not proven, the most visited first, of equals the one of highest prior."""
    root = nodes[0]
    children = [nodes[child] for child in range(root.first_child, root.first_child + root.num_children)]
    children.sort(key=lambda child: (-int(child.N), -float(child.P)))
    return [int(child.action) for child in children if child.proven == UNPROVEN]


def favourites_of(nodes: np.recarray, state: State) -> dict[int, int]:
    """Returns the most visited action of each position in the tree of `state` that is worth a look, by its key."""
    found: dict[int, int] = {}
    waiting = [(0, state)]
    fewest = max(_FEWEST_VISITS, int(nodes[0].N) // _VISITS_OF_ROOT)
    while waiting:
        index, state = waiting.pop()
        first = int(nodes[index].first_child)
        children = range(first, first + int(nodes[index].num_children))
        visits = {child: int(nodes[child].N) for child in children}
        found[state.hash_key()] = int(nodes[max(children, key=visits.__getitem__)].action)
        for child in children:
            if visits[child] >= fewest and nodes[child].first_child > 0:
                after = state.clone()
                after.apply_action(int(nodes[child].action))
                waiting.append((child, after))
    return found


def write_known(nodes: np.recarray, known: dict[int, KnownMove]) -> None:
    """Proves the root's moves that win or lose, and the root where one wins. How many plies that takes is not known.

    Where all that were open lose nothing is written, and those that draw are not held for settled: the search goes on,
    to find what an opponent is likely to answer wrongly.
    """
    root = nodes[0]
    sign = 1 - 2 * int(root.player)
    is_any_left = len(known) < len(open_moves(nodes)) or any(move.result > LOSS for move in known.values())
    for child in range(root.first_child, root.first_child + root.num_children):
        move = known.get(int(nodes[child].action))
        if move is not None and move.result != DRAW and is_any_left:
            nodes[child].proven = sign * move.result
            if move.result == WIN:
                root.proven = sign * WIN
