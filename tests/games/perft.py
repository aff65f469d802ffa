"""Perft: how many move sequences there are of each length, how their games end, how many positions they reach."""

import numpy as np

from azero.compiler.jit import kernel
from azero.games import DRAW, LOSS, ONGOING, WIN, Game, new_states


def perft(game: Game, length: int) -> list[int]:
    """Returns the number of move sequences of length 1, 2, ..., `length`."""
    return _walk_all(game, length, np.zeros(0, np.uint64))[0].tolist()


def perft_with_passes(game: Game, length: int) -> list[int]:
    """Returns what `perft` would where two passes were played after the end of each game, as in Othello."""
    sequences, ends = _walk_all(game, length, np.zeros(0, np.uint64))
    ended = [0, 0, *ends.sum(axis=1).tolist()]  # by length plus one
    return [played + ended[n] + ended[n + 1] for n, played in enumerate(sequences.tolist())]


def count_ends(game: Game, length: int) -> dict[int, int]:
    """Returns the number of games of up to `length` moves by their outcome."""
    ends = _walk_all(game, length, np.zeros(0, np.uint64))[1].sum(axis=0)
    return {outcome: int(ends[1 + outcome]) for outcome in (WIN, DRAW, LOSS)}


def count_positions(game: Game, ply: int) -> int:
    """Returns the number of positions after `ply` moves that differ in their hash key."""
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
      states, legal, num_legal, num_tried: working space by ply, [D + 1], [D, A], [D], [D].
      sequences: [D] int64 zeros; gets the number of sequences by length less one.
      ends: [D, 3] int64 zeros; gets the number of games that ended, by length less one and outcome plus one.
      keys: [K] uint64; gets the keys of the positions after D moves, unless K is 0.
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
