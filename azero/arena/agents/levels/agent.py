"""An agent that plays at a level: it searches with another agent, and draws its move by the level's rule."""

import functools
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.clock import Clock, Limit
from azero.arena.agents.game_player import GamePlayer, Thought
from azero.arena.agents.levels.level import Level
from azero.arena.agents.levels.rule import Judged, adapted, draw_move
from azero.arena.agents.suggestion import Move, Suggestion, check_state, suggestion_of
from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.games import State
from azero.games.contract import sign_of
from azero.mcts import TreeSearch, affordable_nodes, root_value
from azero.mcts.proving.wins import wins_in_one
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.search.analysis import mean_values
from azero.mcts.tree import UNPROVEN, children_of

LEVEL_ROOT = VisitsRoot(1e6, 0.5)
"""The root of searches with a net. Half of its prior is uniform, so that moves that the net dislikes get values, too.

With such an alpha, Dirichlet's noise is uniform.
"""

_LOST_ROLLOUTS = 1.0  # lost visits added to each move, if values come from random rollouts
_MOMENT_S = 0.001  # of a search that only prepares the next ones
_REMEMBERED = 4096  # positions that the adaptive level remembers


class LevelAgent(Agent):
    """Plays at a level. Its move depends on the position, the seed and the number of the game alone.

    Each search begins afresh. It makes all its simulations, and it does not solve the root or look ahead further than
    a ply. With a net, half of the root's prior is uniform.

    Args:
      inner: the agent that judges positions. Several levels may share it for suggestions, in one thread. In a match at
        full strength, its limit becomes the level's simulations.

    Raises BadInput if the agent does not judge positions and each of their moves.
    """

    def __init__(self, inner: Agent, level: Level, name: str | None = None, seed: int | None = None):
        super().__init__(name or f"{inner.name} level {level.number or 'adaptive'}", inner.game, inner.seed)
        if not inner.judges_positions:
            raise BadInput(f"agent {inner.name!r} does not judge positions, so it has no levels")
        if not inner.judges_all_moves:
            raise BadInput(f"agent {inner.name!r} values its best moves alone, so it has no levels")
        if inner.at_full_strength is not inner:
            raise BadInput(f"agent {inner.name!r} plays at a level already; give only one level")
        self.seed = inner.seed if seed is None else seed
        self.inner, self.level = inner, level
        self.limit, self.resign_below = Limit(level.simulations), inner.resign_below
        self.net_alone, self.heads_alone = inner.net_alone, inner.heads_alone
        self.player = LevelPlayer(self)
        self._search: TreeSearch | None = None
        self._memory: dict[tuple[int, int | bytes], Judged] = {}  # by seed and position

    @property
    def at_full_strength(self) -> Agent:
        return self.inner

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        """Returns the moves of a position. The first one is the move that the level plays.

        Raises BadInput for any other limit than the level's own simulations.
        """
        if simulations not in (None, self.level.simulations) or seconds is not None:
            own = f"its level has {self.level.simulations} simulations"
            raise BadInput(f"agent {self.name!r} takes no other limit: {own}")
        return self.suggest_by(state, self.seed)

    def suggest_by(self, state: State, seed: int) -> Suggestion:
        """Returns the moves of a position, the one that the level plays first. Position and seed determine it."""
        check_state(self.game, state)
        self.inner.seed = seed  # of searches that are the inner agent's own
        return self.suggest_in_game(state, derive_seed(seed, "suggest"))

    def suggest_in_game(self, state: State, seed: int, since: int = 0) -> Suggestion:
        """Returns the moves of a position, the one that the level plays first.

        Args:
          seed: of the game.
          since: the number of the game's first plies that nobody has chosen, such as a random opening.
        """
        level = self.level
        if level.is_adaptive:
            level = adapted(level.levels, state, lambda position: self._remembered(position, seed), since)
        if level.is_full:
            return self.inner.suggest(state, level.simulations)
        found, judged = self.judge(state, seed, level.simulations)
        return _with_first(found, state, _draw(judged, level, state, seed))

    def judge(self, state: State, seed: int, simulations: int) -> tuple[Suggestion, Judged]:
        """Searches a position."""
        if not self.searches_itself:
            found = self.inner.suggest(state, simulations)
            return found, _judged_by(found, state, _LOST_ROLLOUTS if self.inner.net_alone is None else 0.0)
        begin = time.perf_counter()
        search = self.search_of(1)
        _run(search, [0], [state], [seed], simulations)
        found = replace(suggestion_of(search, state), elapsed_s=time.perf_counter() - begin)
        return found, _judged_in(search, 0)

    def _remembered(self, state: State, seed: int) -> Judged:
        """Returns what the adaptive level thinks of a position of the opponent, kept for later moves of the game."""
        key = seed, state.position_key()
        if key not in self._memory:
            self._memory[key] = self.judge(state, seed, self.level.simulations)[1]
            if len(self._memory) > _REMEMBERED:
                self._memory.pop(next(iter(self._memory)))
        return self._memory[key]

    @functools.cached_property
    def searches_itself(self) -> bool:
        """Whether it runs a search of the inner agent's kind, all slots together, or asks it for suggestions."""
        return self.inner.new_search() is not None

    def search_of(self, num_trees: int) -> TreeSearch:
        """Returns its search, of so many trees or more."""
        if self._search is None or len(self._search.forest.trees) < num_trees:
            most = max(level.simulations for level in (self.level, *self.level.levels))
            wanted = (most + 1) * self.game.num_actions + 1
            search = self.inner.new_search(num_trees, min(wanted, affordable_nodes(num_trees)))
            assert search is not None, "it searches itself"
            settings = search.settings._replace(is_stopping_early=False, proof_nodes=0, solve_nodes=0)
            if search.evaluator is not None:
                settings = settings._replace(root=LEVEL_ROOT)
            search.use_settings(settings)
            search.prepare()
            self._search = search
        return self._search

    def close(self) -> None:
        self._search = None
        self.inner.close()


class LevelPlayer(GamePlayer):
    """Plays at a level: all slots together if the level searches itself, otherwise one after another.

    At full strength, the inner agent's player plays.
    """

    agent: LevelAgent

    def __init__(self, agent: LevelAgent):
        super().__init__(agent)
        self.plays_side_by_side = agent.inner.player.plays_side_by_side
        self._openings: list[int] = []  # plies of each slot's opening
        self._began: int | None = None  # plies before its first move on the clock

    @property
    def most_slots(self) -> int:
        return self.agent.inner.player.most_slots

    def start(self, num_slots: int, states: Sequence[State], first_game: int) -> None:
        agent = self.agent
        if agent.level.is_full:
            agent.inner.limit = agent.limit
            agent.inner.player.start(num_slots, states, first_game)
            return
        super().start(num_slots, states, first_game)
        self._openings = [len(state.history()) for state in states]
        if agent.searches_itself:
            agent.search_of(num_slots)
        wins_in_one(agent.game.new_initial_state())  # compiles it, if necessary, outside the measured time

    def advance(self, slot: int, action: int) -> None:
        if self.agent.level.is_full:
            self.agent.inner.player.advance(slot, action)
        else:
            super().advance(slot, action)

    def _choose(self, slots: Sequence[int]) -> list[int]:
        agent = self.agent
        if agent.level.is_full:
            before = agent.inner.player.simulations
            actions = agent.inner.player.choose(slots)
            self.simulations += agent.inner.player.simulations - before
            return actions
        if agent.level.is_adaptive or not agent.searches_itself:
            return super()._choose(slots)
        search = agent.search_of(len(self.states))
        states, seeds = [self.states[slot] for slot in slots], [self.seed_of(slot) for slot in slots]
        _run(search, slots, states, seeds, agent.level.simulations)
        return [
            self._note(
                slot,
                state.legal_actions()[_draw(_judged_in(search, slot), agent.level, state, seed)],
                Thought(root_value(search, slot), int(search.forest.trees.simulations[slot])),
            )
            for slot, state, seed in zip(slots, states, seeds, strict=True)
        ]

    def _choose_in(self, slot: int) -> int:
        found = self.agent.suggest_in_game(self.states[slot], self.seed_of(slot), self._openings[slot])
        return self._note(slot, found.action, Thought(found.value, found.simulations))

    def start_clock(self) -> None:
        super().start_clock()
        self._began = None
        agent, start = self.agent, self.agent.game.new_initial_state()
        wins_in_one(start)
        if agent.searches_itself and not agent.level.is_full:
            agent.judge(start, 0, 1)
        if not agent.searches_itself or agent.level.is_full or agent.level.is_adaptive:
            strongest = agent.level.levels[-1] if agent.level.is_adaptive else agent.level
            agent.inner.suggest(start, strongest.simulations, _MOMENT_S)  # in trees of the size that is needed

    def _play_on_clock(self, state: State, clock: Clock) -> Suggestion:
        if self._began is None:
            self._began = len(state.history())
        agent = self.agent
        agent.inner.seed = agent.seed
        return agent.suggest_in_game(state, derive_seed(agent.seed, "suggest"), self._began)  # too short for the clock

    def thought(self, slot: int) -> Thought | None:
        return self.agent.inner.player.thought(slot) if self.agent.level.is_full else super().thought(slot)


def _run(
    search: TreeSearch, slots: Sequence[int], states: Sequence[State], seeds: Sequence[int], simulations: int
) -> None:
    """Searches positions from nothing; a search depends on the position and the seed alone."""
    for slot, state, seed in zip(slots, states, seeds, strict=True):
        search.start(slot, state, derive_seed(seed, "search", state.hash_key()))
    search.run(slots, simulations)


def _draw(judged: Judged, level: Level, state: State, seed: int) -> int:
    """Returns the place of the move to play among the legal actions."""
    rng = np.random.default_rng(derive_seed(seed, "level", state.hash_key()))
    return draw_move(judged, level, wins_in_one(state), rng)


def _judged_in(search: TreeSearch, b: int) -> Judged:
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


def _judged_by(found: Suggestion, state: State, lost: float) -> Judged:
    """Returns what a suggestion says of the moves, in the order of the legal actions; `lost` is as in `Judged`."""
    moves = {move.action: move for move in reversed(found.moves)}  # of whole turns with one first action, the best
    unknown = Move(-1, "", 0, 0.0, 0.0, None, None, [])
    listed = [moves.get(action, unknown) for action in state.legal_actions()]
    fields = np.array([[each.visits, each.value, each.proven is not None, each.prior] for each in listed], float)
    return Judged(fields[:, 0].astype(np.int64), fields[:, 1], fields[:, 2] > 0, fields[:, 3], lost)


def _with_first(found: Suggestion, state: State, place: int) -> Suggestion:
    """Returns a suggestion with the move at this place among the legal actions as its first and best one."""
    action = state.legal_actions()[place]
    drawn = [move for move in found.moves if move.action == action]
    others = [move for move in found.moves if move.action != action]
    return replace(found, best=drawn[0].move, moves=[*drawn, *others])
