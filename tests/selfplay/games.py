"""Games of self-play for tests, with an evaluator that knows nothing but is always of the same opinion."""

import functools

from mcts.evaluators import HashEvaluator

from azero.games import Game, make_game
from azero.mcts import Puct, Settings
from azero.selfplay.play import play_games
from azero.selfplay.records import Shard
from azero.selfplay.slots import PlaySettings

TIC_TAC_TOE, CONNECT_FOUR = make_game("tic_tac_toe"), make_game("connect_four(rows=5,columns=4)")

PLAY = PlaySettings(
    num_simulations=30, temperature=1.0, temperature_plies=4, final_temperature=0.0, is_keeping_tree=True
)
QUIET = PLAY._replace(temperature=0.0)
"""Nothing is drawn from the visits."""

NOISY = Settings(is_looking_ahead=True, has_random_symmetry=True, dirichlet_alpha=1.0, dirichlet_epsilon=0.25)
PLAIN = Settings(is_proving=False)
"""No noise, no symmetry, no proofs."""

GUMBEL = Settings(is_looking_ahead=True, gumbel_considered=3)


def play(
    game: Game, seeds, num_slots: int = 4, playing: PlaySettings = PLAY, settings: Settings = NOISY, **how
) -> Shard:
    return play_games(
        game, Puct(), settings, playing, how.pop("evaluator", HashEvaluator(game)), seeds, num_slots, **how
    )


@functools.cache
def some_games(game: Game) -> Shard:
    """Returns twelve games."""
    return play(game, range(12))


def split(shard: Shard) -> list[list]:
    """Returns each game as a list: states as bytes, players, actions, visits, root values, outcomes."""
    games, start = [], 0
    for length in shard.lengths:
        own = slice(start, start + int(length))
        per_position = shard.players, shard.actions, shard.visits, shard.root_values, shard.outcomes
        games.append([shard.states[own].tobytes(), *(array[own].tolist() for array in per_position)])
        start += int(length)
    assert start == shard.num_positions
    return games


def assert_same(one: Shard, other: Shard) -> None:
    """Asserts that two shards are equal, to the last bit and type."""
    for name, array, expected in zip(Shard._fields, one, other, strict=True):
        assert array.dtype == expected.dtype and array.shape == expected.shape, name
        assert array.tobytes() == expected.tobytes(), name
