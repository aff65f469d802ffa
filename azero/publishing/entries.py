"""The entries of a module: what JavaScript calls. They are rules, searches and a net, over arrays at fixed places.

A module has one position (`states[0]`), and one tree whose root is another. `engine.js` calls the entries and reads the
arrays; the manifest says where these are.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from azero.compiler.jit import shared_with_python, subroutine
from azero.compiler.rng import RNG_DTYPE
from azero.compiler.wasm.compiling import STACK_BYTES
from azero.compiler.wasm.memory import Placed, Room
from azero.exact.alphabeta import Work, search_rules_on
from azero.exact.alphabeta import new_search as new_work
from azero.exact.transpositions import noted_action
from azero.games import ONGOING, Game
from azero.games.contract import sign_of
from azero.games.state import new_states
from azero.mcts import RolloutPolicy
from azero.mcts.evaluation.cache import WAYS, Cache, keep_answers, new_cache
from azero.mcts.evaluation.views import Views, new_views
from azero.mcts.proving.root_solver import MOST_ENTRIES, note_favourites
from azero.mcts.proving.wins import find_kinds
from azero.mcts.roots.ranking import rank_children
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.scratch import Scratch, new_scratch
from azero.mcts.search.analysis import best_of
from azero.mcts.search.kernels import choose_action, simulate, start_search
from azero.mcts.search.lockstep import Batch, expand_and_backup, new_batch, walk_trees
from azero.mcts.search.settings import SearchParts, Settings
from azero.mcts.search.trees import OneSearch
from azero.mcts.selection import Puct, Uct
from azero.mcts.tree import UNPROVEN, Forest, new_forest, start_tree
from azero.publishing import net as nets
from azero.publishing.net import run_net

CACHE_MIB = 8
"""Size of the evaluation cache. It holds some 100,000 answers of seven logits."""

MOST_LEAVES = 16
"""Leaves of a tree that may wait for the net."""

NUMBERS_DTYPE = np.dtype(
    [
        *((name, np.int32) for name in ("is_proving", "is_looking_ahead", "is_stopping_early", "is_caching")),
        *((name, np.int32) for name in ("proof_nodes", "min_visits", "leaves_per_tree", "visits_per_leaf")),
        *((name, np.int32) for name in ("chosen_by", "is_fpu_absolute")),
        *((name, np.float64) for name in ("rollout_weight", "dirichlet_alpha", "dirichlet_epsilon", "c_uct")),
        *((name, np.float64) for name in ("c_puct", "c_puct_base", "c_puct_factor", "fpu_value", "fpu_reduction")),
    ],
    align=True,
)
"""The numbers of a search, as JavaScript writes them: those of `Settings`, `Puct`, `Uct` and `VisitsRoot`."""


class NotedRollout(NamedTuple):
    """A rollout policy that notes the state of the random generator before a rollout, so that it can be repeated."""

    policy: RolloutPolicy
    noted: Any  # [1] uint64

    def play_out(self, rules, state, scratch, rng):
        self.noted[0] = rng.counter
        return self.policy.play_out(rules, state, scratch, rng)


class Memory(NamedTuple):
    """The arrays of a module. Those with a place alone are read and written by JavaScript."""

    states: Any  # [3] the position, and two to try moves in
    legal: Any  # [2, A] int32
    planes: Any  # [C, H, W] float32
    kinds: Any  # [A] int8, of `wins_in_one`
    cells: Any  # [A] int32, the target of each legal action
    order: Any  # [A] int32, children of the root, best first
    line: Any  # [max_plies + 1] int32, actions
    noted: Any  # [1] uint64
    rng: Any  # [1] RNG_DTYPE
    numbers: Any  # [1] NUMBERS_DTYPE
    moved: Any  # [2] int64: address and length of the tree's nodes
    test: Any  # [2] int64 of the solver: the sign of the player who moves at the root, and the result that is tested
    work: Work  # of the solver
    favourites: Any  # [max_plies + 1, 2] int64, scratch memory of `note_favourites`
    slots: OneSearch
    scratch: Scratch
    batch: Batch
    flat_planes: Any  # [MOST_LEAVES, C, H * W] float32, the memory of the batch's planes
    views: Views
    words: Any  # [E] uint64, the words of places, from which those of views are made
    cells_of_views: Any  # [S, H * W] int32
    cache: Cache
    logits: Any  # [MOST_LEAVES, A] float32
    values: Any  # [MOST_LEAVES] float32
    answers: Any  # [answers] float32 of the net
    forest: Forest


class Module(NamedTuple):
    """What is compiled to a module.

    Attributes:
      memory: its arrays, placed.
      weights: those of the net, which are loaded from another file; None without a net.
    """

    room: Room
    memory: Memory
    weights: Placed | None
    entries: dict[str, Callable]


@shared_with_python
def whole(number) -> Any:
    """Returns a number as kernels have integers."""
    return np.int64(number)


@subroutine
def settings_of(numbers, is_rollout_only):
    """Returns the settings of a search."""
    return Settings(
        numbers.is_proving != 0,
        numbers.is_looking_ahead != 0,
        whole(numbers.proof_nodes),
        0,
        is_rollout_only,
        numbers.rollout_weight,
        whole(numbers.min_visits),
        whole(numbers.leaves_per_tree),
        whole(numbers.visits_per_leaf),
        numbers.is_stopping_early != 0,
        False,
        0,
        VisitsRoot(numbers.dirichlet_alpha, numbers.dirichlet_epsilon),
        whole(numbers.chosen_by),
    )


@subroutine
def puct_of(numbers):
    """Returns the selection rule of a search with a net."""
    return Puct(
        numbers.c_puct,
        numbers.c_puct_base,
        numbers.c_puct_factor,
        numbers.is_fpu_absolute != 0,
        numbers.fpu_value,
        numbers.fpu_reduction,
    )


def new_memory(game: Game, num_answers: int, solve_nodes: int) -> tuple[Room, Memory]:
    """Returns the room and the arrays of a module, except those of a net; see `make_module`."""
    rules, room = game.rules, Room(STACK_BYTES)
    views, shape = new_views(game), game.planes_shape
    forest = new_forest(rules, 1, 1)
    batch = new_batch(rules, MOST_LEAVES, MOST_LEAVES)
    words = np.zeros(views.words.shape[1], np.uint64)
    words[views.targets[0]] = views.words[0]
    moved = room.place(np.zeros(2, np.int64))
    plain = Memory(
        states=new_states(rules, 3),
        legal=np.zeros((2, game.num_actions), np.int32),
        planes=np.zeros(shape, np.float32),
        kinds=np.zeros(game.num_actions, np.int8),
        cells=np.zeros(game.num_actions, np.int32),
        order=np.zeros(game.num_actions, np.int32),
        line=np.zeros(rules.max_plies + 1, np.int32),
        noted=np.zeros(1, np.uint64),
        rng=np.zeros(1, RNG_DTYPE).view(np.recarray),
        numbers=np.zeros(1, NUMBERS_DTYPE).view(np.recarray),
        moved=None,
        test=np.zeros(2, np.int64),
        work=new_work(game.new_initial_state(), False, min(solve_nodes, MOST_ENTRIES)),
        favourites=np.zeros((rules.max_plies + 1, 2), np.int64),
        slots=OneSearch(np.zeros(1, np.bool_)),
        scratch=new_scratch(rules),
        batch=batch,
        flat_planes=batch.planes.reshape(MOST_LEAVES, shape[0], -1),
        views=Views(np.zeros_like(views.targets), np.zeros_like(views.words), views.actions),
        words=words,
        cells_of_views=np.argsort(game.symmetries.cells, axis=1).astype(np.int32),
        cache=new_cache(CACHE_MIB if num_answers else 0),
        logits=np.zeros((MOST_LEAVES, game.num_actions), np.float32),
        values=np.zeros(MOST_LEAVES, np.float32),
        answers=np.zeros(num_answers, np.float32),
        forest=Forest(forest.trees, None, forest.root_states, None),  # type: ignore[arg-type]
    )
    memory = room.place(plain)
    nodes = Placed(forest.nodes.dtype, (1, -1), 0, moved.address)
    return room, memory._replace(moved=moved, forest=memory.forest._replace(nodes=nodes))


def make_module(game: Game, rollout: RolloutPolicy, solve_nodes: int, model: Any = None) -> Module:
    """Returns the entries of a game's module.

    Args:
      solve_nodes: the most positions that the solver of roots visits; 0 without one.
      rollout: of searches.
      model: the net, a `winograd.graph.Model` of a `PortableGraph`; None for a module without a net.
    """
    num_answers = 0 if model is None else len(model.program.answers)
    room, memory = new_memory(game, num_answers, solve_nodes)
    rollout = room.place(rollout)
    made = [*_of_tables(game, memory), *_of_rules(game, memory), *_of_moves(game, memory)]
    made += [*_of_trees(game, memory, rollout), *(_of_solver(game, memory) if solve_nodes else [])]
    entries = {each.__name__: each for each in made}
    if model is None:
        return Module(room, memory, None, entries)
    pass_memory = room.place(nets.new_memory(model.size, model.depth, game.planes_shape[1:]))
    program = model.program._replace(
        **{name: np.zeros(0, np.float32) for name in ("matrices", "rows", "columns", "sharing_rows", "sharing_columns")}
    )
    weights = room.place(program.weights, is_filled=False)
    program = room.place(program._replace(weights=None))._replace(weights=weights)
    of_net = _of_net(game, memory, rollout, program, pass_memory)
    entries |= {each.__name__: each for each in of_net}
    return Module(room, memory, weights, entries)


def _of_tables(game: Game, m: Memory) -> list[Callable]:
    """Returns the entry that fills tables."""
    num_views = m.cells_of_views.shape[0]
    num_planes, num_cells = game.planes_shape[0], math.prod(game.planes_shape[1:])

    def prepare() -> None:
        """Fills the tables that are made of others. It is called once, before all other entries."""
        for s in range(num_views):
            for plane in range(num_planes):
                for cell in range(num_cells):
                    place = plane * num_cells + cell
                    target = plane * num_cells + m.cells_of_views[s, cell]
                    m.views.targets[s, place] = target
                    m.views.words[s, place] = m.words[target]

    return [prepare]


def _of_rules(game: Game, m: Memory) -> list[Callable]:
    """Returns the entries of rules. `k` is a place in `states`."""
    rules: Any = game.rules

    def reset(k: int) -> None:
        rules.reset(m.states[k])

    def apply_action(k: int, action: int) -> None:
        rules.apply_action(m.states[k], action)

    def legal_actions(k: int) -> int:
        return rules.legal_actions(m.states[k], m.legal[0])

    def current_player(k: int) -> int:
        return rules.current_player(m.states[k])

    def outcome(k: int) -> int:
        return rules.outcome(m.states[k])

    def final_score(k: int) -> float:
        return np.float64(rules.final_score(m.states[k]))

    def encode(k: int) -> None:
        rules.encode(m.states[k], m.planes)

    def hash_key(k: int) -> np.uint64:
        return np.uint64(rules.hash_key(m.states[k]))

    return [reset, apply_action, legal_actions, current_player, outcome, final_score, encode, hash_key]


def _of_moves(game: Game, m: Memory) -> list[Callable]:
    """Returns the entries that say more of a position's moves. They use `states[1]` and `states[2]`."""
    rules: Any = game.rules

    def targets(k: int) -> int:
        """Writes the cells of the legal actions; returns how many there are."""
        num_legal = rules.legal_actions(m.states[k], m.legal[0])
        for place in range(num_legal):
            m.cells[place] = rules.target(m.states[k], np.int64(m.legal[0, place]))
        return num_legal

    def wins_in_one(k: int) -> int:
        """Writes what becomes of each legal action within a ply, as `mcts/proving/wins.py`; returns how many."""
        find_kinds(rules, m.states[k], m.states[1:], m.legal, m.kinds)
        return rules.legal_actions(m.states[k], m.legal[0])

    def play_out(k: int, counter: np.uint64) -> int:
        """Plays to the end from a position by `rollout_action`; writes the actions into `line`, returns how many.

        It is the rollout that a search made with the generator's state `counter`, if the rules play move by move.
        The position is then that at the end, and `rng` has the generator's state. Returns -1 if it takes too long.
        """
        m.rng[0].counter = counter
        length = 0
        while rules.outcome(m.states[k]) == ONGOING:
            if length == len(m.line):
                return -1
            action = np.int64(rules.rollout_action(m.states[k], m.legal[0], m.rng[0]))
            m.line[length] = action
            length += 1
            rules.apply_action(m.states[k], action)
        return length

    return [targets, wins_in_one, play_out]


def _of_trees(game: Game, m: Memory, rollout: RolloutPolicy) -> list[Callable]:
    """Returns the entries of the tree, and of searches with rollouts alone."""
    rules: Any = game.rules
    policy: Any = NotedRollout(rollout, m.noted)

    def start(seed: np.uint64) -> None:
        """Makes the position `states[0]` the root of a new tree."""
        start_tree(m.forest, 0, m.states[0], seed)

    def begin(num_simulations: int, temperature: float) -> None:
        """Begins a search of so many more simulations."""
        settings, tree = settings_of(m.numbers[0], False), m.forest.trees[0]
        start_search(settings, tree, m.forest.nodes[0], num_simulations, temperature, m.scratch.weights)
        m.slots.is_open[0] = True
        m.batch.waiting[0].leaves = 0
        m.batch.waiting[0].rows = 0
        m.batch.waiting[0].collisions = 0

    def simulate_by_rollouts(num_simulations: int) -> int:
        """Runs simulations; returns whether the search is over."""
        settings = settings_of(m.numbers[0], True)
        parts = SearchParts(rules, Uct(m.numbers[0].c_uct), policy, settings, None, None)
        return simulate(parts, m.forest, m.scratch, 0, num_simulations)

    def choose(temperature: float) -> int:
        """Returns the action to play at the root. It may prove the best move lost before."""
        parts = SearchParts(rules, Uct(1.0), policy, settings_of(m.numbers[0], False), None, None)
        return choose_action(parts, m.forest, m.scratch, 0, temperature)

    def rank() -> int:
        """Writes the root's children into `order`, best first; returns how many there are."""
        return rank_children(m.forest, 0, np.int64(m.numbers[0].chosen_by), m.order)

    def principal_variation(child: int) -> int:
        """Writes the actions from a child of the root on into `line`; returns how many there are."""
        nodes = m.forest.nodes[0]
        index, end = np.int64(child), 1
        m.line[0] = nodes[index].action
        while nodes[index].first_child > 0 and end < len(m.line):
            node = nodes[index]
            count = node.num_visited if node.num_visited > 0 else node.num_children
            index = best_of(nodes, node.first_child, count, sign_of(node.player))
            if nodes[index].N == 0 and nodes[index].proven == UNPROVEN:
                break
            m.line[end] = nodes[index].action
            end += 1
        return end

    return [start, begin, simulate_by_rollouts, choose, rank, principal_variation]


def _of_solver(game: Game, m: Memory) -> list[Callable]:
    """Returns the entries of the solver of roots; `engine.js` has its rounds, as `mcts/proving/root_solver.py`."""
    rules: Any = game.rules

    def begin_solving() -> None:
        """Forgets what the solver knows of another root, and takes the tree's most visited moves."""
        work = m.work
        table, moves = work.table, work.root_moves
        for place in range(len(table)):
            table[place].effort = 0
        for action in range(len(moves)):
            moves[action].draft, moves[action].num_leaves, moves[action].is_bound = 0, 0, False
            work.cut_rates[0, action] = work.cut_rates[1, action] = 0.5
        work.progress[0].num_nodes = 0
        work.progress[0].num_leaves = 0
        if len(table) > 0:
            work.states[0] = m.forest.root_states[0]
            note_favourites(rules, m.forest.nodes[0], work.states, table, m.favourites)

    def begin_test(k: int, sign: int, least: int) -> None:
        """Begins to test whether the player of `sign` gets at least a result in a position that is not over."""
        work = m.work
        root, low, high = work.frames[0], np.float64(sign * least), np.float64(sign * (least - 1))
        work.states[0] = m.states[k]
        m.test[0], m.test[1] = sign, least
        root.alpha, root.beta = min(low, high), max(low, high)
        root.table_action = noted_action(work.table, np.uint64(rules.hash_key(m.states[k])))
        root.num_legal = -1
        work.progress[0].ply = 0
        work.progress[0].horizon = len(work.frames)

    def go_on(most: int) -> int:
        """Goes on with a test; returns its answer, 1 or 0, or -1 if it needs more than so many positions of all."""
        if not search_rules_on(rules, m.work, False, most, 1 << 62):
            return whole(-1)
        return whole(m.test[0] * m.work.frames[0].value >= m.test[1])

    def count_positions() -> int:
        """Returns how many positions the solver has visited for this root."""
        return m.work.progress[0].num_nodes

    def tested_action() -> int:
        """Returns the best action in the position that was tested last."""
        return whole(m.work.frames[0].action)

    def noted_in(k: int) -> int:
        """Returns the best action in a position, as far as the solver knows it, else -1."""
        return noted_action(m.work.table, np.uint64(rules.hash_key(m.states[k])))

    return [begin_solving, begin_test, go_on, count_positions, tested_action, noted_in]


def _of_net(game: Game, m: Memory, rollout: RolloutPolicy, program: Any, passes: Any) -> list[Callable]:
    """Returns the entries of a net, and of searches with it."""
    rules, num_actions = game.rules, game.num_actions
    policy: Any = NotedRollout(rollout, m.noted)

    def walk() -> int:
        """Searches until leaves wait for the net; returns how many rows, 0 if it should be called again, or -1.

        -1 means that the search is over.
        """
        numbers = m.numbers[0]
        buckets: Any = m.cache.buckets
        num_buckets = len(buckets) if numbers.is_caching else 0
        cache = Cache(buckets[:num_buckets], m.cache.logits, m.cache.actions, m.cache.written)
        parts = SearchParts(rules, puct_of(numbers), policy, settings_of(numbers, False), m.views, cache)
        if walk_trees(parts, m.slots, m.forest, m.batch, m.scratch):
            return -1
        return m.batch.waiting[0].rows

    def answer(num_rows: int) -> None:
        """Expands the leaves of the first rows with `logits` and `values`, and backs these up."""
        numbers, logits, values = m.numbers[0], m.logits[:num_rows], m.values[:num_rows]
        buckets: Any = m.cache.buckets
        num_buckets = len(buckets) if numbers.is_caching else 0
        cache = Cache(buckets[:num_buckets], m.cache.logits, m.cache.actions, m.cache.written)
        parts = SearchParts(rules, puct_of(numbers), policy, settings_of(numbers, False), m.views, cache)
        if num_buckets > 0:
            keep_answers(cache, m.views, m.batch, logits, values)
        expand_and_backup(parts, m.forest, m.batch, m.scratch, logits, values)

    def clear_cache() -> None:
        """Forgets all answers of the net."""
        for index in range(len(m.cache.buckets)):
            bucket = m.cache.buckets[index]
            for way in range(WAYS):
                bucket.key[way] = 0
                bucket.begin[way] = 0
        m.cache.written[0] = 1

    def evaluate(row: int) -> None:
        """Asks the net for a row of the batch; writes its row of `logits` and `values`, and all `answers`.

        The answers are logits of actions, then those of win, draw and loss for the player to move.
        """
        run_net(program, passes, m.flat_planes[row], m.answers)
        for action in range(num_actions):
            m.logits[row, action] = m.answers[action]
        win = np.float64(m.answers[num_actions])
        draw = np.float64(m.answers[num_actions + 1])
        loss = np.float64(m.answers[num_actions + 2])
        highest = max(win, draw, loss)
        wins, draws, losses = math.exp(win - highest), math.exp(draw - highest), math.exp(loss - highest)
        m.values[row] = np.float32((wins - losses) / (wins + draws + losses))

    def show(k: int, row: int) -> None:
        """Writes the planes of a position into a row of the batch, which nothing waits in."""
        rules.encode(m.states[k], m.batch.planes[row])

    return [walk, answer, clear_cache, evaluate, show]
