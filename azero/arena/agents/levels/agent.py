"""An agent that plays at a level: it searches with another agent, and draws its move by the level's rule."""

import functools
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from azero.arena.agents.agent import Agent, Limit, check_state
from azero.arena.agents.levels.level import Level
from azero.arena.agents.levels.rule import Judged, draw_move
from azero.arena.agents.search_agent import SearchAgent
from azero.arena.agents.suggestion import RESIGN, Move, Suggestion, Thought, suggestion_of
from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.games import State
from azero.games.contract import sign_of
from azero.mcts import Search, affordable_nodes, root_value
from azero.mcts.proving.wins import wins_in_one
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.search.tree_arrays import mean_values
from azero.mcts.tree import UNPROVEN, children_of

_EVEN_NOISE = 1e6  # Dirichlet's alpha: the noise is uniform
_EXPLORED = 0.5  # share of uniform priors at the root, so that moves that the net dislikes get values, too
_LOST_ROLLOUTS = 1.0  # lost visits added to each move, if values come from random rollouts


class LevelAgent(Agent):
    """Plays at a level. Its move depends on the position, the seed and the number of the game alone.

    Each search begins afresh. It makes all its simulations, and it does not solve the root or look ahead further than
    a ply. With a net, half of the root's prior is uniform.

    Args:
      inner: the agent that judges positions. Several levels may share it for suggestions, in one thread. A match at full
        strength is its own, with the level's simulations as its limit.

    Raises BadInput if the agent does not judge positions.
    """

    can_ponder = False

    def __init__(self, inner: Agent, level: Level, name: str | None = None, seed: int | None = None):
        super().__init__(name or f"{inner.name} level {level.number or 'adaptive'}", inner.game, inner.seed)
        if not inner.judges_positions:
            raise BadInput(f"agent {inner.name!r} does not judge positions, so it has no levels")
        self.seed = inner.seed if seed is None else seed
        self.inner, self.level = inner, level
        self.limit, self.resign_below = Limit(level.simulations), inner.resign_below
        self.net_alone, self.heads_alone = inner.net_alone, inner.heads_alone
        self.plays_side_by_side = inner.plays_side_by_side
        self._searches: dict[int, Search] = {}  # by the number of their trees
        self._states: list[State] = []
        self._seeds: list[int] = []
        self._thoughts: list[Thought | None] = []

    def start(self, num_slots: int, states: Sequence[State], first_game: int) -> None:
        if self.level.is_full:
            self.inner.limit = self.limit
            self.inner.start(num_slots, states, first_game)
            return
        self._states = [state.clone() for state in states]
        self._seeds = [derive_seed(self.seed, "game", first_game + slot) for slot in range(num_slots)]
        self._thoughts = [None] * num_slots
        if self._searches_itself:
            self._search_of(num_slots)
        wins_in_one(self.game.new_initial_state())  # compiles it, if necessary, outside the measured time

    def advance(self, slot: int, action: int) -> None:
        if self.level.is_full:
            self.inner.advance(slot, action)
        else:
            self._states[slot].apply_action(action)

    def _choose(self, slots: Sequence[int]) -> list[int]:
        if self.level.is_full:
            return self._choose_best(slots)
        states = [self._states[slot] for slot in slots]
        seeds = [derive_seed(self._seeds[slot], len(self._states[slot].history())) for slot in slots]
        if self._searches_itself:
            return self._choose_together(slots, states, seeds)
        suggestions = [self._suggest(state, seed) for state, seed in zip(states, seeds, strict=True)]
        for slot, each in zip(slots, suggestions, strict=True):
            self.simulations += each.simulations
            self._thoughts[slot] = Thought(each.value, each.simulations)
        return [RESIGN if self.resigns(each.value) else each.action for each in suggestions]

    def _choose_best(self, slots: Sequence[int]) -> list[int]:
        before = self.inner.simulations
        actions = self.inner.choose(slots)
        self.simulations += self.inner.simulations - before
        return actions

    def _choose_together(self, slots: Sequence[int], states: list[State], seeds: list[int]) -> list[int]:
        search = self._search_of(len(self._states))
        self._run(search, slots, states, seeds)
        actions = []
        for slot, state, seed in zip(slots, states, seeds, strict=True):
            thought = Thought(root_value(search, slot), int(search.forest.trees.simulations[slot]))
            self._thoughts[slot] = thought
            self.simulations += thought.simulations or 0
            place = self._draw(_judged_in(search, slot), state, seed)
            actions.append(RESIGN if self.resigns(root_value(search, slot)) else state.legal_actions()[place])
        return actions

    def thought(self, slot: int) -> Thought | None:
        return self.inner.thought(slot) if self.level.is_full else self._thoughts[slot]

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        """Returns the moves of a position. The first one is the move that the level plays.

        Raises BadInput if limits are given: a level has its own.
        """
        if simulations is not None or seconds is not None:
            raise BadInput(
                f"agent {self.name!r} plays at a level, which has simulations of its own; give no other limit"
            )
        return self.suggest_by(state, self.seed)

    def suggest_by(self, state: State, seed: int) -> Suggestion:
        """Returns the moves of a position, the one that the level plays first. Position and seed determine it."""
        check_state(self.game, state)
        return self._suggest(state, derive_seed(seed, "suggest"))

    def _suggest(self, state: State, seed: int) -> Suggestion:
        if self.level.is_full:
            return self.inner.suggest(state, self.level.simulations)
        if not self._searches_itself:
            found = self.inner.suggest(state, self.level.simulations)
            return _with_first(found, state, self._draw(_judged_by(found, state), state, seed))
        begin = time.perf_counter()
        search = self._search_of(1)
        self._run(search, [0], [state], [seed])
        place = self._draw(_judged_in(search, 0), state, seed)
        found = replace(suggestion_of(search, state), elapsed_s=time.perf_counter() - begin)
        return _with_first(found, state, place)

    @functools.cached_property
    def _searches_itself(self) -> bool:
        """Whether it runs a search of the inner agent's kind, all slots together, or asks it for suggestions."""
        return isinstance(self.inner, SearchAgent) and self.inner.has_plain_trees

    def _search_of(self, num_trees: int) -> Search:
        """Returns the search of so many trees."""
        assert isinstance(self.inner, SearchAgent)
        if num_trees not in self._searches:
            wanted = (self.level.simulations + 1) * self.game.num_actions + 1
            search = self.inner.new_search(num_trees, min(wanted, affordable_nodes(num_trees)))
            settings = search.settings._replace(is_stopping_early=False, proof_nodes=0, solve_nodes=0)
            if search.evaluator is not None:
                settings = settings._replace(root=VisitsRoot(_EVEN_NOISE, _EXPLORED))
            search.use_settings(settings)
            search.prepare()
            self._searches = {num_trees: search}
        return self._searches[num_trees]

    def _run(self, search: Search, slots: Sequence[int], states: Sequence[State], seeds: Sequence[int]) -> None:
        for slot, state, seed in zip(slots, states, seeds, strict=True):
            search.start(slot, state, seed)
        search.run(slots, self.level.simulations)

    def _draw(self, judged: Judged, state: State, seed: int) -> int:
        """Returns the place of the move to play among the legal actions."""
        rng = np.random.default_rng(derive_seed(seed, "level", state.hash_key()))
        return draw_move(judged, self.level, wins_in_one(state), rng)

    def close(self) -> None:
        self._searches = {}
        self.inner.close()


def at_level(inner: Agent, level: Level) -> LevelAgent:
    """Returns an agent that plays at this level with the judgement of `inner`, for suggestions."""
    return LevelAgent(inner, level)


def _judged_in(search: Search, b: int) -> Judged:
    """Returns what a search knows of the root's moves of tree b, in the order of the legal actions."""
    nodes = search.forest.nodes[b]
    places = children_of(nodes)
    children = nodes[places.start : places.stop].view(np.ndarray)
    children = children[np.argsort(children["action"])]
    sign = sign_of(int(nodes[0].player))
    is_proven = children["proven"] != UNPROVEN
    values = np.where(is_proven, sign * children["proven"].astype(float), mean_values(sign, children))
    lost = _LOST_ROLLOUTS if search.evaluator is None else 0.0
    return Judged(children["N"].astype(np.int64), values, is_proven, children["P"].astype(float), lost)


def _judged_by(found: Suggestion, state: State) -> Judged:
    """Returns what a suggestion says of the moves, in the order of the legal actions."""
    moves = {move.action: move for move in found.moves}
    unknown = Move(-1, "", 0, 0.0, 0.0, None, None, [])
    listed = [moves.get(action, unknown) for action in state.legal_actions()]
    fields = np.array([[each.visits, each.value, each.proven is not None, each.prior] for each in listed], float)
    return Judged(fields[:, 0].astype(np.int64), fields[:, 1], fields[:, 2] > 0, fields[:, 3])


def _with_first(found: Suggestion, state: State, place: int) -> Suggestion:
    """Returns a suggestion with the move at this place among the legal actions as its first and best one."""
    action = state.legal_actions()[place]
    drawn = [move for move in found.moves if move.action == action]
    others = [move for move in found.moves if move.action != action]
    return replace(found, best=drawn[0].move, moves=[*drawn, *others])
