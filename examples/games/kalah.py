"""Kalah: two players sow seeds around a board of houses and stores.

A move empties one of the mover's houses and sows its seeds one by one: to the right through the own houses, into the
own store, through the opposing houses, and round again. The opposing store is left out. If the last seed falls into the
own store, the mover moves again. If it falls into an empty own house, and the house opposite has seeds, both go into
the own store. The game is over when either player's houses are empty. The other player keeps the seeds in his houses.
The player with more seeds wins.

Source: G. Irving, J. Donkers and J. Uiterwijk, Solving Kalah, ICGA Journal 23(3), 2000.
"""

from typing import NamedTuple

import numpy as np

from azero.authoring import (
    DRAW,
    LOSS,
    ONGOING,
    WIN,
    Board,
    Cell,
    Label,
    Picture,
    Piece,
    Player,
    mix,
)

MOST_HOUSES = 8  # of a player, so that positions of all sizes are records of one dtype, and are compiled once
COUNTS = 13  # planes that show a house with 1, 2, ... seeds; a house with 13 seeds is sown right round the board


class Kalah(NamedTuple):
    """Players sow the seeds of a house round the board. The one who has more seeds in the end wins."""

    houses: int = 6
    seeds: int = 4

    def reset(game, state):
        state.houses[:] = 0
        state.houses[:, : game.houses] = game.seeds
        state.stores[:] = 0
        state.player = 0

    def legal_actions(game, state, out):
        count = 0
        for house in range(game.houses):
            if state.houses[state.player, house]:
                out[count] = house
                count += 1
        return count

    def apply_action(game, state, action):
        player, other = state.player, 1 - state.player
        seeds = state.houses[player, action]
        state.houses[player, action] = 0
        place = action  # on the way round: the own houses, the own store, the opposing houses
        for _ in range(seeds):
            place = place + 1 if place < 2 * game.houses else 0
            if place < game.houses:
                state.houses[player, place] += 1
            elif place == game.houses:
                state.stores[player] += 1
            else:
                state.houses[other, place - game.houses - 1] += 1
        if place == game.houses:
            return
        opposite = game.houses - 1 - place
        if place < game.houses and state.houses[player, place] == 1 and state.houses[other, opposite]:
            state.stores[player] += 1 + state.houses[other, opposite]
            state.houses[player, place] = state.houses[other, opposite] = 0
        state.player = other

    def current_player(game, state):
        return state.player

    def outcome(game, state):
        if state.houses[0].any() and state.houses[1].any():
            return ONGOING
        margin = game.final_score(state)
        return WIN if margin > 0 else LOSS if margin < 0 else DRAW

    def final_score(game, state):
        return state.stores[0] + state.houses[0].sum() - state.stores[1] - state.houses[1].sum()

    def encode(game, state, planes):
        lap = 2 * game.houses + 1
        margin = state.stores[state.player] - state.stores[1 - state.player]
        for row in range(2):  # the mover's houses are below, each opposite the one above it
            side = state.player if row == 1 else 1 - state.player
            for column in range(game.houses):
                house = column if row == 1 else game.houses - 1 - column
                seeds = state.houses[side, house]
                for count in range(COUNTS):
                    planes[count, row, column] = seeds == count + 1
                planes[COUNTS, row, column] = seeds / COUNTS
                moves_again = seeds % lap == game.houses - house  # the last seed falls into the store
                planes[COUNTS + 1, row, column] = moves_again
                planes[COUNTS + 2, row, column] = margin / COUNTS

    def hash_key(game, state):
        key = mix(np.uint64(2 * state.stores[0] + state.player))
        for side in range(2):
            for house in range(game.houses):
                key = mix(key ^ np.uint64(state.houses[side, house]))
        return key

    def target(game, state, action):
        return game.houses + action

    def ranges(game):
        return {"houses": (1, MOST_HOUSES), "seeds": (1, 10)}

    state_dtype = np.dtype(
        [("houses", np.int16, (2, MOST_HOUSES)), ("stores", np.int16, 2), ("player", np.int16)], align=True
    )
    num_actions = property(lambda game: game.houses)

    @property
    def max_plies(game):
        """A move that stores no seed brings one nearer to its store, so there are few between two that store one."""
        total = 2 * game.houses * game.seeds
        return total + (game.houses - 1) * total * (total + 1) // 2

    planes_shape = property(lambda game: (COUNTS + 3, 2, game.houses))

    def action_to_text(game, state, action):
        return ("abcdefgh" if state.player == 0 else "ABCDEFGH")[action]

    def draw(game, state, marks):
        texts = [[str(seeds) for seeds in side[: game.houses]] for side in state.houses]
        for action, mark in marks.items():
            texts[state.player][action] = mark
        first, second = ("".join(f"{text:>5}" for text in row) for row in (texts[0], texts[1][::-1]))
        names = "".join(f"{name:>5}" for name in "abcdefgh"[: game.houses])
        other_names = "".join(f"{name:>5}" for name in "ABCDEFGH"[: game.houses][::-1])
        stores = f"{state.stores[1]:>2}" + " " * (5 * game.houses + 1) + f"{state.stores[0]:>2}"
        return "\n".join(("  " + other_names, "  " + second, stores, "  " + first, "  " + names))

    def picture(game, state, legal, history):
        width = game.houses
        names = [*"ABCDEFGH"[:width][::-1], *"abcdefgh"[:width]]
        cells = [Cell(name, 1.5 + k % width, 0.5 + k // width) for k, name in enumerate(names)]
        seeds = [*state.houses[1, :width][::-1], *state.houses[0, :width]]
        return Picture(
            Board("holes", width + 2, 2, cells, [range(width), range(width, 2 * width)]),
            (Player("Lower", "red"), Player("Upper", "blue")),
            [Piece(k, int(k < width), "text", str(count)) for k, count in enumerate(seeds)],
            {action: (width + action if state.player == 0 else width - 1 - action,) for action in legal},
            texts=[Label(str(state.stores[1]), 0.5, 1), Label(str(state.stores[0]), width + 1.5, 1)],
        )
