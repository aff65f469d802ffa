"""Checks of a shard's games. A damaged or hostile file must not reach kernels, which do not check their bounds."""

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.errors import BadInput
from azero.games import DRAW, LOSS, ONGOING, WIN, Game, new_states
from azero.games.position_files import LONGEST_TEXT
from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.shard import Shard

_MOST = 1 << 48  # evaluations or simulations of a shard; sums of many shards are still exact


def check_games(shard: Shard, game: Game) -> None:
    """Raises BadInput unless the shard's games follow the rules, and its other values are in their ranges.

    Each game is replayed from the position at which it began, with its opening, and compared with the shard's states.
    The arrays should have the right dtypes and shapes.
    """
    check_lengths(shard, game)
    _check_ranges(shard, game)
    replayed = new_states(game.rules, shard.num_positions)
    players, outcomes = np.zeros_like(shard.players), np.zeros_like(shard.outcomes)
    begins, work = _begins(shard, game), new_states(game.rules, 1)
    moves = shard.openings, shard.opening_lengths, shard.actions, shard.lengths
    legal = np.zeros(game.num_actions, np.int32)
    seen = np.full(game.num_actions, -1)
    bad = _replay(game.rules, begins, moves, shard.policies(), work, legal, seen, replayed, players, outcomes)
    if bad >= 0:
        raise BadInput(f"game {bad} breaks the rules of {game}")
    fields = game.rules.state_dtype.names or ()  # not whole records, which may have gaps
    pairs = [(shard.players, players), (shard.outcomes, outcomes)]
    pairs += [(shard.states[name], replayed[name]) for name in fields]
    if not all(np.array_equal(own, wanted) for own, wanted in pairs):
        raise BadInput("its positions are not those of its games")


def _begins(shard: Shard, game: Game) -> np.recarray:
    """Returns the position at which each game began, [G] the game's state dtype; raises BadInput if it is none."""
    if (shard.start_lengths > LONGEST_TEXT).any():
        raise BadInput(f"the text of a position at which a game begins has more than {LONGEST_TEXT:,} bytes")
    texts = shard.start_texts()
    known = {text: game.state_from_text(text) if text else game.new_initial_state() for text in set(texts)}
    begins = new_states(game.rules, len(texts))
    for g, text in enumerate(texts):
        begins[g] = known[text].record
    return begins


def check_lengths(shard: Shard, game: Game) -> None:
    """Raises BadInput unless the lengths of games and their parts add up, and no game is too long."""
    openings, starts = (shard.opening_lengths, shard.openings, 0), (shard.start_lengths, shard.starts, 0)
    policies = shard.num_visited, shard.visited, 0
    for lengths, parts, least in ((shard.lengths, shard.actions, 1), policies, openings, starts):
        if (lengths < least).any() or lengths.sum(dtype=np.int64) != len(parts):
            raise BadInput("the lengths of its games do not add up")
    if (shard.lengths.astype(np.int64) + shard.opening_lengths > game.max_plies).any():
        raise BadInput("it has a game that is too long")


def _check_ranges(shard: Shard, game: Game) -> None:
    """Raises BadInput if there are no games, or a value is out of its range."""
    if not len(shard.lengths):
        raise BadInput("it has no games")
    ranges: dict[str, tuple[float, float]]
    ranges = dict.fromkeys(("actions", "openings", "visited"), (0, game.num_actions - 1))
    ranges |= {"visits": (1, np.inf), "weights": (0, np.inf), "root_values": (-1, 1)}
    ranges |= dict.fromkeys(("evaluations", "cache_hits", "simulations", "full_trees"), (0, _MOST))
    for name, (low, high) in ranges.items():
        array = getattr(shard, name)
        if not (np.isfinite(array) & (array >= low) & (array <= high)).all():
            raise BadInput(f"its {name} have a value out of range")
    if shard.weights.sum(dtype=np.float64) > shard.num_positions + 1:
        raise BadInput("its weights are more than its positions")
    if not np.isin(shard.proven, (WIN, DRAW, LOSS, UNPROVEN)).all():
        raise BadInput("its proven have a value out of range")
    if not ((shard.num_visited > 0) | (shard.weights == 0)).all():
        raise BadInput("a training position has no visits")


@kernel
def _replay(rules, begins, moves, policies, work, legal, seen, states, players, outcomes):
    """Replays all games, and writes states, players and outcomes; returns the first game that breaks the rules, or -1.

    A game should be over after its last action, and not before. A policy target should have each action at most once,
    and only legal ones. `seen` ([A] int64) begins with -1.
    """
    openings, opening_lengths, actions, lengths = moves
    opening = position = 0
    for g in range(len(lengths)):
        work[0] = begins[g]
        for _ in range(opening_lengths[g]):
            if _legal_with(rules, work[0], openings[opening], legal) == 0:
                return g
            rules.apply_action(work[0], np.int64(openings[opening]))
            opening += 1
        begin, position = position, position + lengths[g]
        for i in range(begin, position):
            count = _legal_with(rules, work[0], actions[i], legal)
            if count == 0 or not _is_of_legal(policies, i, legal, count, seen):
                return g
            states[i] = work[0]
            players[i] = rules.current_player(work[0])
            rules.apply_action(work[0], np.int64(actions[i]))
        outcome = rules.outcome(work[0])
        if outcome == ONGOING:
            return g
        outcomes[begin:position] = outcome
    return -1


@subroutine
def _legal_with(rules, state, action, legal):
    """Writes the legal actions into `legal`; returns their number. 0: the game is over, or `action` is not legal."""
    if rules.outcome(state) != ONGOING:
        return 0
    count = rules.legal_actions(state, legal)
    for k in range(count):
        if legal[k] == action:
            return count
    return 0


@subroutine
def _is_of_legal(policies, position, legal, count, seen):
    """Returns whether a policy target has only actions among the first `count` in `legal`, each at most once."""
    for k in range(count):
        seen[legal[k]] = position
    for place in range(policies.starts[position], policies.starts[position + 1]):
        action = policies.actions[place]
        if seen[action] != position:
            return False
        seen[action] = -1
    return True
