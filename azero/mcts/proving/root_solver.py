"""Roots solved, as far as that goes: what their moves are worth under best play, by alpha-beta with a table.

Of each move, the most visited first, it is asked whether it wins; where none does, which of them lose. Each question
has a window of one result. Moves are asked in rounds, with more positions in each, so that what is easy to answer comes
first; the table keeps what the rounds before have found. To begin with it has the moves that the tree likes best.

Source: Plaat et al., Best-first fixed-depth minimax algorithms (1996), the answer from questions of yes or no.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel
from azero.exact.alphabeta import search_on
from azero.exact.frames import new_search, restart, start_iteration
from azero.exact.transpositions import note_action, noted_action
from azero.games import DRAW, LOSS, WIN, Game, State
from azero.games.contract import sign_of
from azero.mcts.tree import NODE_DTYPE, UNPROVEN, Forest, children_of
from azero.system.threads import share_among_threads

_FIRST_ROUND = 1 << 10  # positions for each move
_GROWTH = 4  # times as many in the next round
_AT_ONCE = 1 << 14  # positions between two looks at the clock
_NO_LIMIT = 1 << 62
_MOST_ENTRIES = 1 << 20  # of the table, 32 bytes each; all are cleared for each root
_FEWEST_VISITS = 2  # of a node whose favourite is noted,
_ROOT_VISITS = 1000  # and one in so many of the root's


class KnownMove(NamedTuple):
    """What a move is worth under best play."""

    result: int  # WIN, DRAW or LOSS for the player to move
    line: list[int]  # of a move that wins: how that goes on after it, as far as the table tells


class RootSolver:
    """Room to solve one root after another. What is found follows from the position and its tree alone."""

    def __init__(self, game: Game, max_positions: int):
        self._game = game
        self._max_positions = max_positions
        self._work = new_search(game.new_initial_state(), False, min(max_positions, _MOST_ENTRIES))
        self._path = np.zeros((game.max_plies + 1, 2), np.int64)

    @property
    def num_positions(self) -> int:
        """Positions visited for the last root."""
        return int(self._work.progress[0].num_nodes)

    def prepare(self) -> None:
        """Compiles what `solve` needs, if that has not been done."""
        state = self._game.new_initial_state()
        self._note_favourites(state, np.zeros(1, NODE_DTYPE).view(np.recarray))
        self._noted_action(state)
        search_on(state, self._work, False, 0, _NO_LIMIT)

    def solve(self, state: State, nodes: np.recarray, has_to_stop: Callable[[], bool]) -> dict[int, KnownMove]:
        """Returns what is found of the open moves at a tree's root, whose position is `state`, by so many positions.

        That is one that wins, and nothing else; or, where it is certain that none wins, those that draw or lose.
        Raises BrokenRules where the rules cannot go on.
        """
        restart(self._work)
        self._note_favourites(state, nodes)
        sign = sign_of(state.current_player())
        after = {}
        for action in open_moves(nodes):
            after[action] = state.clone()
            after[action].apply_action(action)
        num_not_won = 0
        for action, wins in self._ask(after, sign, WIN, has_to_stop):
            if wins:
                return {action: KnownMove(WIN, self._line(after[action]))}
            num_not_won += 1
        if num_not_won < len(after):
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
        return int(noted_action(self._work.table, np.uint64(state.hash_key())))

    def _note_favourites(self, state: State, nodes: np.recarray) -> None:
        work = self._work
        if len(work.table):
            work.states[0] = state.record
            _note_favourites(self._game.rules, nodes, work.states, work.table, self._path)


@kernel
def _note_favourites(rules, nodes, states, table, path):
    """Notes the most visited action of each position in the tree that is worth a look; states[0] is the root's.

    Args:
      path: [D + 1, 2] int64, room for the nodes from the root on, and how many of their children have been seen.
    """
    if nodes[0].first_child == 0:
        return
    fewest = max(_FEWEST_VISITS, nodes[0].N // _ROOT_VISITS)
    ply, path[0, 0], path[0, 1] = 0, 0, 0
    while ply >= 0:
        node, num_seen = nodes[path[ply, 0]], path[ply, 1]
        if num_seen == 0:
            best = node.first_child
            for child in range(node.first_child, node.first_child + node.num_children):
                best = child if nodes[child].N > nodes[best].N else best
            note_action(table, rules.hash_key(states[ply]), nodes[best].action)
        if num_seen == node.num_children:
            ply -= 1
            continue
        path[ply, 1] += 1
        child = nodes[node.first_child + num_seen]
        if child.first_child > 0 and fewest <= child.N and ply + 1 < len(path):
            ply += 1
            path[ply, 0], path[ply, 1] = node.first_child + num_seen, 0
            states[ply] = states[ply - 1]
            rules.apply_action(states[ply], np.int64(child.action))


def open_moves(nodes: np.recarray) -> list[int]:
    """Returns the root's actions that are not proven, the most visited first, of equals the one of highest prior."""
    children = [nodes[child] for child in children_of(nodes)]
    children.sort(key=lambda child: (-int(child.N), -float(child.P)))
    return [int(child.action) for child in children if child.proven == UNPROVEN]


def write_known(nodes: np.recarray, known: dict[int, KnownMove], max_plies: int) -> None:
    """Proves the root's moves that win or lose, and the root where one wins; lengths are not known, so `max_plies`.

    Where all moves lose nothing is written, and those that draw are not held for settled: the search goes on, to find
    what an opponent is likely to answer wrongly.
    """
    root, children = nodes[0], [nodes[child] for child in children_of(nodes)]
    sign = sign_of(int(root.player))
    lost = [child for child in children if child.action in known and known[int(child.action)].result == LOSS]
    num_lost = len(lost) + sum(child.proven == -sign for child in children)
    for child in children:
        if child.action in known and known[int(child.action)].result == WIN:
            child.proven, child.proven_plies = sign, max_plies
            root.proven = sign
    if num_lost < len(children):
        for child in lost:
            child.proven, child.proven_plies = -sign, max_plies


def solve_roots(
    solvers: Sequence[RootSolver],
    forest: Forest,
    states: dict[int, State],
    known_moves: list[dict[int, KnownMove]],
    deadline: float,
) -> None:
    """Lets threads, a solver each, share the trees whose roots' positions are given; adds what they find to what is
    known of each root's moves, and writes it into the tree.
    """

    def solve_some(trees: Sequence[int], solver: RootSolver, is_halted: threading.Event) -> None:
        for b in trees:
            nodes, state = forest.nodes[b], states[b]
            known = solver.solve(state, nodes, lambda: is_halted.is_set() or time.perf_counter() >= deadline)
            known_moves[b] |= known
            write_known(nodes, known, state.game.max_plies)

    share_among_threads(list(states), solvers, solve_some)
