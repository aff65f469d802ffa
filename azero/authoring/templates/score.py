"""NewGame: sow seeds around the board; who gathers more of them wins."""

from typing import NamedTuple

import numpy as np

from azero.authoring import (
    DRAW,
    LOSS,
    ONGOING,
    WIN,
    BadInput,
    Picture,
    Piece,
    Player,
    mix,
    squares,
    subroutine,
)


@subroutine
def total(game, state, player):
    """Returns the seeds in a player's houses."""
    seeds = 0
    for house in range(game.houses):
        seeds += state.seeds[player, house]
    return seeds


class NewGame(NamedTuple):
    """Take the seeds of one of your houses and sow them, one each, into the next houses and your store.

    A player who sows the last seed into the own store moves again. If the player to move has no seeds, the opponent
    takes the rest. More seeds in the store win. After `most_plies` the game ends, too, so that none goes on for ever.
    Action k empties the house k; house `houses - 1` is next to the store.
    """

    houses: int = 4
    seeds_each: int = 3
    most_plies: int = 100

    def reset(game, state):
        for player in range(2):
            state.stores[player] = 0
            for house in range(game.houses):
                state.seeds[player, house] = game.seeds_each
        state.player = 0
        state.ply = 0

    def legal_actions(game, state, out):
        count = 0
        for house in range(game.houses):
            if state.seeds[state.player, house]:
                out[count] = house
                count += 1
        return count

    def apply_action(game, state, action):
        mover, side, house = state.player, state.player, action
        in_hand = state.seeds[mover, house]
        state.seeds[mover, house] = 0
        is_in_store = False
        while in_hand:
            house += 1
            if house == game.houses and side == mover:
                state.stores[mover] += 1
                is_in_store = True
            else:
                if house >= game.houses:
                    side, house = 1 - side, 0
                state.seeds[side, house] += 1
                is_in_store = False
            in_hand -= 1
        if not is_in_store:
            state.player = 1 - mover
        state.ply += 1

    def current_player(game, state):
        return state.player

    def final_score(game, state):
        """Returns the first player's seeds minus the second player's. The rest belongs to the side where it lies."""
        return state.stores[0] + total(game, state, 0) - state.stores[1] - total(game, state, 1)

    def outcome(game, state):
        if total(game, state, state.player) and state.ply < game.most_plies:
            return ONGOING
        score = game.final_score(state)
        if score == 0:
            return DRAW
        return WIN if score > 0 else LOSS

    def encode(game, state, planes):
        """Planes: row 0 has the opponent's houses, row 1 the own ones; then both stores, and the time that has passed.

        Numbers lie between 0 and about 1, as nets like them.
        """
        own, all_seeds = state.player, 2.0 * game.houses * game.seeds_each
        for row in range(2):
            for column in range(game.houses):
                side = own if row == 1 else 1 - own
                house = column if row == 1 else game.houses - 1 - column
                planes[0, row, column] = state.seeds[side, house] / (2.0 * game.seeds_each)
                planes[1, row, column] = state.stores[own] / all_seeds
                planes[2, row, column] = state.stores[1 - own] / all_seeds
                planes[3, row, column] = state.ply / game.most_plies

    def hash_key(game, state):
        """The ply belongs to the key, since the game ends at `most_plies`."""
        key = mix(np.uint64(2 * state.ply + state.player))
        for player in range(2):
            key = mix(key ^ np.uint64(state.stores[player]))
            for house in range(game.houses):
                key = mix(key ^ np.uint64(state.seeds[player, house]))
        return key

    def ranges(game):
        return {"houses": (2, 8), "seeds_each": (1, 8), "most_plies": (10, 1000)}

    def check(game):
        if game.houses * game.seeds_each > 48:  # an example of parameters that do not go together
            raise BadInput(f"{2 * game.houses * game.seeds_each} seeds are too many; at most 96 are possible")

    @property
    def state_dtype(game):
        return np.dtype(
            [
                ("seeds", np.int32, (2, game.houses)),
                ("stores", np.int32, 2),
                ("player", np.int32),
                ("ply", np.int32),
            ],
            align=True,
        )

    @property
    def num_actions(game):
        return game.houses

    @property
    def max_plies(game):
        return game.most_plies

    @property
    def planes_shape(game):
        return (4, 2, game.houses)

    # What follows is optional: it helps people to read.

    def action_to_text(game, state, action):
        return str(action + 1)

    def draw(game, state, marks):
        names = "".join(f"{marks.get(house, house + 1):>3}" for house in range(game.houses))
        if state.player == 1:
            names = "".join(f"{marks.get(house, house + 1):>3}" for house in reversed(range(game.houses)))
        seeds = ["".join(f"{each:3}" for each in side) for side in (state.seeds[1][::-1], state.seeds[0])]
        middle = f"{state.stores[1]:3}" + "   " * game.houses + f"{state.stores[0]:3}"
        lines = ["   " + seeds[0], middle, "   " + seeds[1]]
        return "\n".join([f"   {names}", *lines] if state.player == 1 else [*lines, f"   {names}"])

    def picture(game, state, legal, history):
        """The first player's houses are below, and the own store is on the right of each player."""
        width = game.houses + 2
        own = [width + 1 + house for house in range(game.houses)]  # the cells of the first player's houses
        theirs = [game.houses - house for house in range(game.houses)]
        cells = [*own, 2 * width - 1, *theirs, 0]
        counts = [*state.seeds[0], state.stores[0], *state.seeds[1], state.stores[1]]
        return Picture(
            squares(2, width, "plain"),
            (Player("South", "orange"), Player("North", "blue")),
            [Piece(cell, None, "text", str(int(count))) for cell, count in zip(cells, counts, strict=True)],
            {action: ((own, theirs)[state.player][action],) for action in legal},
        )
