"""The root solver: finds results of root moves under best play, by alpha-beta with a transposition table.

It tests for each move whether it wins, the most visited move first. If none wins, it tests which ones lose. Each test
has a null window. Tests run in rounds with growing limits on positions, so that easy tests finish first. The table
keeps the results of earlier rounds. Before the first round it gets the tree's most visited moves for move ordering.

Source: Plaat et al., Best-first fixed-depth minimax algorithms (1996): minimax values from null-window tests.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel
from azero.exact.alphabeta import answer_of, new_search, restart, search_on, start_test
from azero.exact.transpositions import note_action, noted_action
from azero.games import DRAW, LOSS, WIN, Game, State
from azero.games.contract import sign_of
from azero.mcts.tree import NODE_DTYPE, UNPROVEN, Forest, children_of
from azero.system.threads import share_among_threads

FIRST_ROUND = 1 << 10  # positions per move in the first round
GROWTH = 4  # factor from one round to the next
_AT_ONCE = 1 << 14  # positions between two checks of the clock
_NO_LIMIT = 1 << 62
MOST_ENTRIES = 1 << 20  # of the table, 32 bytes each; all are cleared for each root
_FEWEST_VISITS = 2  # a node's most visited move enters the table if the node has at least this many visits,
_ROOT_VISITS = 1000  # and at least the root's visits divided by this


class KnownMove(NamedTuple):
    """The result of a move under best play."""

    result: int  # WIN, DRAW or LOSS for the player to move
    line: list[int]  # after a winning move: the best play that follows, as far as the table has it


class RootSolver:
    """Solves one root after another. Unless time runs out, the result depends only on the position and its tree."""

    def __init__(self, game: Game, max_positions: int):
        self._game = game
        self._max_positions = max_positions
        self._work = new_search(game.new_initial_state(), False, min(max_positions, MOST_ENTRIES))
        self._path = np.zeros((game.max_plies + 1, 2), np.int64)

    @property
    def num_positions(self) -> int:
        """Positions visited for the last root."""
        return int(self._work.progress[0].num_nodes)

    def prepare(self) -> None:
        """Compiles the kernels of `solve`, if they are not compiled yet."""
        state = self._game.new_initial_state()
        self._note_favourites(state, np.zeros(1, NODE_DTYPE).view(np.recarray))
        self._noted_action(state)
        search_on(state, self._work, False, 0, _NO_LIMIT)

    def solve(self, state: State, nodes: np.recarray, has_to_stop: Callable[[], bool]) -> dict[int, KnownMove]:
        """Returns the solved moves of a tree's root, whose position is `state`, among the unproven ones.

        If a move is found to win, this is the only one. If no move wins, these are the moves found to draw or lose.
        Otherwise there are none. Raises BrokenRules if the game's rules are broken.
        """
        return self.begin(state, nodes)(has_to_stop)

    def begin(self, state: State, nodes: np.recarray) -> Callable[[Callable[[], bool]], dict[int, KnownMove]]:
        """Reads all that `solve` needs of the tree; returns the rest of it as a function of `has_to_stop`.

        Another thread may run this function while the search of the tree goes on.
        """
        restart(self._work)
        self._note_favourites(state, nodes)
        after = {}
        for action in open_moves(nodes):
            after[action] = state.clone()
            after[action].apply_action(action)
        sign = sign_of(state.current_player())
        return lambda has_to_stop: self._solve_moves(after, sign, has_to_stop)

    def _solve_moves(self, after: dict[int, State], sign: int, has_to_stop: Callable[[], bool]) -> dict[int, KnownMove]:
        """As `solve`, for the positions after the root's moves; the mover there has this `sign`."""
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
        """Yields, for each position with an answer, whether its result for the player of `sign` is at least `least`."""
        left, num_more = dict(positions), FIRST_ROUND
        while left:
            for action, state in list(left.items()):
                limit = min(self.num_positions + num_more, self._max_positions)
                answer = self._answer(state, sign, least, limit, has_to_stop)
                if answer is not None:
                    del left[action]
                    yield action, answer
                elif self.num_positions >= self._max_positions or has_to_stop():
                    return
            num_more *= GROWTH

    def _answer(self, state: State, sign: int, least: int, limit: int, has_to_stop: Callable[[], bool]) -> bool | None:
        """Returns the answer for one position; None if it is not found within `limit` positions in all."""
        if state.is_terminal():
            return sign * state.returns()[0] >= least
        work = self._work
        start_test(work, state, sign, least, self._noted_action(state))
        while work.progress[0].ply >= 0:
            if self.num_positions >= limit or has_to_stop():
                return None
            search_on(state, work, False, min(self.num_positions + _AT_ONCE, limit), _NO_LIMIT)
        return answer_of(work, sign, least)

    def _line(self, state: State) -> list[int]:
        """Returns the search's best line of play from `state`, the last position tested."""
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
            note_favourites(self._game.rules, nodes, work.states, work.table, self._path)


@kernel
def note_favourites(rules, nodes, states, table, path):
    """Stores the most visited action of each position in the tree with enough visits; states[0] is the root's.

    Args:
      path: [D + 1, 2] int64, scratch memory: nodes from the root on, and the number of their children seen.
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
    """Returns the root's actions that are not proven, by descending visits, then by descending prior."""
    children = [nodes[child] for child in children_of(nodes)]
    children.sort(key=lambda child: (-int(child.N), -float(child.P)))
    return [int(child.action) for child in children if child.proven == UNPROVEN]


def write_known(nodes: np.recarray, known: dict[int, KnownMove], max_plies: int) -> None:
    """Writes the solver's wins and losses into the tree as proofs. Their lengths are unknown, so they are `max_plies`.

    A win proves the root, too. If all moves lose, no loss is written. Draws are never written. In both cases the search
    goes on and finds the moves that an opponent is likely to answer wrongly.
    """
    longest = min(max_plies, np.iinfo(nodes.dtype["proven_plies"]).max)
    root, children = nodes[0], [nodes[child] for child in children_of(nodes)]
    sign = sign_of(int(root.player))
    lost = [child for child in children if child.action in known and known[int(child.action)].result == LOSS]
    num_lost = len(lost) + sum(child.proven == -sign for child in children)
    for child in children:
        if child.action in known and known[int(child.action)].result == WIN:
            child.proven, child.proven_plies = sign, longest
            root.proven = sign
    if num_lost < len(children):
        for child in lost:
            child.proven, child.proven_plies = -sign, longest


def solve_roots(
    solvers: Sequence[RootSolver],
    forest: Forest,
    states: dict[int, State],
    known_moves: list[dict[int, KnownMove]],
    has_to_stop: Callable[[], bool],
) -> None:
    """Solves roots in threads, one solver each. Adds the results to `known_moves` and writes them into the trees.

    Args:
      states: the positions of the roots to solve, by their trees' numbers.
      known_moves: for each tree, the solved moves of its root.
      has_to_stop: returns whether the time is over.
    """

    def solve_some(trees: Sequence[int], solver: RootSolver, is_halted: threading.Event) -> None:
        for b in trees:
            nodes, state = forest.nodes[b], states[b]
            known = solver.solve(state, nodes, lambda: is_halted.is_set() or has_to_stop())
            known_moves[b] |= known
            write_known(nodes, known, state.game.max_plies)

    share_among_threads(list(states), solvers, solve_some)
