"""Perft: the number of move sequences of each length, the results of their games, and the positions reached."""

import numpy as np

from azero.compiler.jit import kernel
from azero.games import DRAW, LOSS, ONGOING, WIN, Game, new_states


def perft(game: Game, length: int) -> list[int]:
    """Returns the number of move sequences of length 1, 2, ..., `length`."""
    return _walk_all(game, length, np.zeros(0, np.uint64))[0].tolist()


def perft_with_passes(game: Game, length: int) -> list[int]:
    """Returns `perft` with two passes played after the end of each game, as published counts of Othello have it."""
    sequences, ends = _walk_all(game, length, np.zeros(0, np.uint64))
    ended = [0, 0, *ends.sum(axis=1).tolist()]  # by length plus one
    return [played + ended[n] + ended[n + 1] for n, played in enumerate(sequences.tolist())]


def count_ends(game: Game, length: int) -> dict[int, int]:
    """Returns the number of games of at most `length` moves, by outcome."""
    ends = _walk_all(game, length, np.zeros(0, np.uint64))[1].sum(axis=0)
    return {outcome: int(ends[1 + outcome]) for outcome in (WIN, DRAW, LOSS)}


def count_positions(game: Game, ply: int) -> int:
    """Returns the number of positions after `ply` moves with different hash keys."""
    keys = np.zeros(perft(game, ply)[-1], np.uint64)
    _walk_all(game, ply, keys)
    return len(np.unique(keys))


def _walk_all(game: Game, length: int, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sequences, ends = np.zeros(length, np.int64), np.zeros((length, 3), np.int64)
    num_legal, num_tried = np.zeros((2, length), np.int64)
    legal = np.zeros((length, game.num_actions), np.int32)
    _walk(game.rules, new_states(game.rules, length + 1), legal, num_legal, num_tried, sequences, ends, keys)
    return sequences, ends


@kernel
def _walk(rules, states, legal, num_legal, num_tried, sequences, ends, keys):
    """Plays every sequence of up to D moves, depth first.

    Args:
      states, legal, num_legal, num_tried: scratch memory by ply, [D + 1], [D, A], [D], [D].
      sequences: [D] int64 zeros; receives the number of sequences, by length - 1.
      ends: [D, 3] int64 zeros; receives the number of finished games, by length - 1 and outcome + 1.
      keys: [K] uint64; receives the keys of the positions after D moves, unless K is 0.
    """
    depth = len(sequences)
    rules.reset(states[0])
    num_legal[0] = rules.legal_actions(states[0], legal[0])
    ply = 0
    while ply >= 0:
        if num_tried[ply] == num_legal[ply]:
            ply -= 1
            continue
        states[ply + 1] = states[ply]
        child = states[ply + 1]
        rules.apply_action(child, legal[ply, num_tried[ply]])
        num_tried[ply] += 1
        sequences[ply] += 1
        outcome = rules.outcome(child)
        if outcome != ONGOING:
            ends[ply, outcome + 1] += 1
        if ply + 1 == depth:
            if len(keys) > 0:
                keys[sequences[ply] - 1] = rules.hash_key(child)
        elif outcome == ONGOING:
            ply += 1
            num_legal[ply] = rules.legal_actions(child, legal[ply])
            num_tried[ply] = 0
