"""OpenSpiel's own search as an agent, `openspiel:mcts@1000`: UCT with random rollouts in C++, which proves results.

The option c is its exploration constant, for values in [-1, 1]. OpenSpiel's default is 2.
"""

import time

import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.clock import Limit
from azero.arena.agents.names import AgentName, Options
from azero.arena.agents.suggestion import Move, Suggestion, check_state
from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.games import Game, State
from azero.games.openspiel.counterparts import Counterpart
from azero.games.openspiel.library import import_openspiel
from azero.mcts import RESULT_NAMES

_MEMORY_MB = 1000  # of a tree, OpenSpiel's default
_C, _LARGEST_C = 2.0, 100.0


class OpenSpielAgent(Agent):
    """Plays by a new search of OpenSpiel's for each move."""

    def __init__(self, name: str, game: Game, limit: Limit, c: float, seed: int = 0):
        """Raises BadInput if OpenSpiel is not installed or does not have the game, or the limit is one of time."""
        super().__init__(name, game, seed)
        self.limit = limit
        self._c = c
        self._pyspiel = import_openspiel(f"agent {name!r}")
        self._counterpart = Counterpart(game)
        self._check(limit)

    def _check(self, limit: Limit) -> Limit:
        if limit.seconds is not None:
            raise BadInput(f"agent {self.name!r} takes simulations, not seconds, e.g. openspiel:mcts@1000")
        return limit

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        check_state(self.game, state)
        most = self._counterpart.theirs.max_utility()
        limit, begin = self._check(self.limit.unless(simulations, seconds)), time.perf_counter()
        position, player = self._counterpart.position(state), state.current_player()
        root = self._new_search(state, limit.simulations).mcts_search(position)
        moves = []
        for child in sorted(root.children, key=lambda each: each.explore_count, reverse=True):
            action = self._counterpart.own_action(state, position, child.action)
            text = self.game.action_to_text(state, action)
            value = child.total_reward / child.explore_count / most if child.explore_count else 0.0
            proven = RESULT_NAMES[int(np.sign(child.outcome[player]))] if child.outcome else None
            moves.append(Move(action, text, child.explore_count, value, child.prior, proven, None, [text]))
        best = root.best_child().action
        moves.sort(key=lambda each: self._counterpart.their_action(state, position, each.action) != best)
        elapsed_s = time.perf_counter() - begin
        return Suggestion(str(self.game), player, root.explore_count, elapsed_s, moves[0].value, moves[0].move, moves)

    def _new_search(self, state: State, simulations: int):
        seed = derive_seed(self.seed, "suggest", state.hash_key()) >> 33  # 31 bits
        rollouts = self._pyspiel.RandomRolloutEvaluator(1, seed)
        game = self._counterpart.theirs
        return self._pyspiel.MCTSBot(game, rollouts, self._c, simulations, _MEMORY_MB, True, seed, False)


def make_openspiel_agent(name: AgentName, game: Game, seed: int) -> Agent:
    """Returns the agent of a name that begins with `openspiel:`; raises BadInput."""
    options = Options(name.base, name.options)
    if name.word != "openspiel:mcts":
        raise BadInput(f"agent {name.text!r}: OpenSpiel's search is openspiel:mcts; its games are named with --game")
    agent = OpenSpielAgent(name.text, game, name.limit, options.number("c", _C, 0.0, _LARGEST_C), seed)
    agent.resign_below = options.resign_below()
    options.finish()
    return agent
