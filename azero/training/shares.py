"""How the games of a run are shared among the sizes of its game. One size gets all of them."""

from typing import NamedTuple


class SizedSeeds(NamedTuple):
    """The seeds of a shard's games, and the place of the size at which they are played among all sizes."""

    size: int
    seeds: tuple[int, ...]


def split_seeds(seeds: list[int], num_sizes: int, games_per_shard: int) -> list[SizedSeeds]:
    """Returns the seeds of each shard. All sizes have as many games, the first ones one more if necessary."""
    shards = []
    for size in range(num_sizes):
        own = tuple(seeds[size::num_sizes])
        shards += [SizedSeeds(size, own[at : at + games_per_shard]) for at in range(0, len(own), games_per_shard)]
    return shards


def share_match(num_games: int, num_sizes: int) -> list[int]:
    """Returns the games of each size in a match: as many pairs, the first sizes one more if necessary."""
    pairs, more = divmod(num_games // 2, num_sizes)
    shares = [2 * (pairs + (size < more)) for size in range(num_sizes)]
    shares[-1] += num_games % 2
    return shares
