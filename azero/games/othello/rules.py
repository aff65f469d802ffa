"""Othello (Reversi) on boards of even size from 4x4 to 16x16, in one 64-bit word up to 8x8 and in four above."""

from typing import NamedTuple

import numpy as np

from azero.compiler.bits import ONE, ZERO, bit, bit_of_rank, count_bits, has_bit, lowest_bit
from azero.compiler.rng import mix, random_below
from azero.errors import BadInput
from azero.games.boards import board_symmetries, places_by_plane
from azero.games.contract import DRAW, LOSS, ONGOING, WIN, Places, Ranges, Symmetries
from azero.games.othello import text
from azero.games.othello.board import STATE_DTYPE, action_of, note_moves, num_words, place_of, put_stone, word_of
from azero.games.registry import game


@game("othello", text)
class Othello(NamedTuple):
    """Turn over the stones you enclose; most stones win. Action row * size + column, written a1 (top left), or pass.

    Sizes are even. The pass is action size * size, which is legal only if the player cannot put a stone. The game is
    over when neither player can. Passes after the last stone are not played.

    Source: World Othello Federation, official rules. By these, empty cells count for the winner.
    """

    size: int = 8

    def reset(game, state):
        for player in range(2):
            for word in range(4):
                state.stones[player, word] = 0
        for word in range(4):
            state.moves[word] = 0
        low, high = game.size // 2 - 1, game.size // 2
        state.stones[0, word_of(game, low)] |= bit(place_of(game, low, high))
        state.stones[0, word_of(game, high)] |= bit(place_of(game, high, low))
        state.stones[1, word_of(game, low)] |= bit(place_of(game, low, low))
        state.stones[1, word_of(game, high)] |= bit(place_of(game, high, high))
        state.ply = 0
        note_moves(game, state)

    def legal_actions(game, state, out):
        count = 0
        for word in range(num_words(game)):
            moves = state.moves[word]
            while moves:
                out[count] = action_of(game, word, lowest_bit(moves))
                moves &= moves - ONE
                count += 1
        if count == 0:
            out[0] = game.size * game.size
            count = 1
        return count

    def rollout_action(game, state, legal, rng):
        total = 0
        for word in range(num_words(game)):
            total += count_bits(state.moves[word])
        if total == 0:
            return game.size * game.size
        rank = random_below(rng, total)
        word = 0
        while rank >= count_bits(state.moves[word]):
            rank -= count_bits(state.moves[word])
            word += 1
        return action_of(game, word, bit_of_rank(state.moves[word], rank))

    def apply_action(game, state, action):
        if action < game.size * game.size:
            put_stone(game, state, state.ply & 1, action // game.size, action % game.size)
        state.ply += 1
        note_moves(game, state)

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if not state.is_over:
            return ONGOING
        lead = game.final_score(state)
        return WIN if lead > 0 else LOSS if lead < 0 else DRAW

    def is_near_end(game, state):
        """Returns whether a player has so few stones that he may soon lose all of them."""
        first = 0
        second = 0
        for word in range(num_words(game)):
            first += count_bits(state.stones[0, word])
            second += count_bits(state.stones[1, word])
        return min(first, second) <= min(game.size - 2, 6)

    def final_score(game, state):
        """Returns the first player's stones minus the second's. Empty cells count for the player with more stones."""
        first = 0
        second = 0
        for word in range(4):
            first += count_bits(state.stones[0, word])
            second += count_bits(state.stones[1, word])
        lead = first - second
        empty = game.size * game.size - first - second
        return float(lead + empty if lead > 0 else lead - empty if lead < 0 else 0)

    def ownership(game, state, owners):
        """Writes the owner of the stone on each cell; empty cells belong to nobody."""
        for row in range(game.size):
            for column in range(game.size):
                word, place = word_of(game, row), place_of(game, row, column)
                is_first = np.int8(has_bit(state.stones[0, word], place))
                owners[row, column] = is_first - np.int8(has_bit(state.stones[1, word], place))

    def encode(game, state, planes):
        """Planes, top row first: own stones, the opponent's, empty cells."""
        player = state.ply & 1
        for row in range(game.size):
            for column in range(game.size):
                word, place = word_of(game, row), place_of(game, row, column)
                is_own = has_bit(state.stones[player, word], place)
                is_theirs = has_bit(state.stones[1 - player, word], place)
                planes[0, row, column] = is_own
                planes[1, row, column] = is_theirs
                planes[2, row, column] = ONE - (is_own | is_theirs)

    def hash_key(game, state):
        key = ZERO
        for player in range(2):
            for word in range(4):
                key = mix(key ^ state.stones[player, word])
        return mix(key ^ np.uint64(state.ply & 1))

    def ranges(game) -> Ranges:
        return {"size": (4, 16)}

    def check(game) -> None:
        if game.size % 2:
            raise BadInput(f"othello: size={game.size} should be an even number from 4 to 16")

    @property
    def state_dtype(game) -> np.dtype:
        return STATE_DTYPE

    @property
    def num_actions(game) -> int:
        return game.size**2 + 1

    @property
    def max_plies(game) -> int:
        """Players put at most size**2 - 4 stones. At most one pass follows each of them."""
        return 2 * (game.size**2 - 4)

    @property
    def is_about_mobility(game) -> bool:
        return True

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        return 3, game.size, game.size

    def symmetries(game) -> Symmetries:
        """Returns the identity, the rotation by 180 degrees and the mirror images in the two diagonals.

        The other symmetries of the square change the colours of the four initial stones.
        """
        row, column = np.divmod(np.arange(game.size**2), game.size)
        start = np.sign(2 * row - game.size + 1) * np.sign(2 * column - game.size + 1)
        cells = board_symmetries(game.size, game.size)
        cells = cells[(start[cells] == start).all(axis=1)]
        passes = np.full((len(cells), 1), game.size**2, np.int32)
        return Symmetries(cells=cells, actions=np.hstack([cells, passes]))

    def places(game) -> Places:
        return places_by_plane(game.size, game.size, slots=1)
