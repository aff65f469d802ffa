"""The ends of self-play games: scores and owners of cells, from the last state and the last action of each game."""

from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel
from azero.games import Game, new_states
from azero.selfplay.data.records import Shard


class Endings(NamedTuple):
    """The final positions of G games."""

    scores: np.ndarray  # [G] float32, `final_score` for the first player
    owners: np.ndarray  # [G, H * W] int8, `ownership`: 1 the first player, -1 the second, 0 nobody


def endings_of(game: Game, shard: Shard) -> Endings:
    """Returns the final positions of a shard's games."""
    size = len(shard.lengths)
    endings = Endings(np.zeros(size, np.float32), np.zeros((size, *game.planes_shape[1:]), np.int8))
    last = np.cumsum(shard.lengths) - 1
    states, work = shard.states[last].view(np.recarray), new_states(game.rules, 1)
    _judge_endings(game.rules, states, shard.actions[last], work, *endings)
    return endings._replace(owners=endings.owners.reshape(size, -1))


@kernel
def _judge_endings(rules, states, actions, work, scores, owners):
    """Plays each game's last action in its last state, and writes score and owners."""
    state = work[0]
    for k in range(len(states)):
        work[0] = states[k]
        rules.apply_action(state, np.int64(actions[k]))
        scores[k] = rules.final_score(state)
        rules.ownership(state, owners[k])
