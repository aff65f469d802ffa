"""Reanalysis: old positions to learn from are searched anew by a newer net, many in lockstep, a tree of its own each.

What a search finds is replaced: policy, values and proof. What was played, and how it ended, stays. A search is a
full one of self-play at that ply, with its noise, but from a tree that has just been begun.

Source:
  Schrittwieser et al., Mastering Atari, Go, chess and shogi by planning with a learned model (2020), appendix H;
  Online and offline reinforcement learning by planning with a learned model (2021). There the positions are drawn with
  the updates that learn from them; ours are whole shards, once an iteration.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel
from azero.mcts.search.kernels import is_done
from azero.mcts.search.leaves import select_leaf
from azero.mcts.tree import UNPROVEN, start_tree
from azero.selfplay.data.records import Shard
from azero.selfplay.groups import Setup, Walker
from azero.selfplay.play import SelfPlay, walk_all
from azero.selfplay.slots import begin_search, write_targets

_NOWHERE = -1


class Positions(NamedTuple):
    """P positions, and what their searches find, as in `Shard`."""

    states: np.recarray  # [P] the game's state dtype
    players: np.ndarray  # [P] int8
    plies: np.ndarray  # [P] int64, of their games as self-play counts them
    seeds: np.ndarray  # [P] uint64
    visits: np.ndarray  # [P, A] uint16
    root_values: np.ndarray  # [P] float32
    proven: np.ndarray  # [P] int8
    evaluations: np.ndarray  # [P] int64
    cache_hits: np.ndarray  # [P] int64
    simulations: np.ndarray  # [P] int64


def new_positions(shard: Shard, indices: np.ndarray, seeds: Sequence[int]) -> Positions:
    """Returns the positions at `indices` ([P] int64) of a shard, not searched yet."""
    begins = np.cumsum(shard.lengths) - shard.lengths
    plies = np.arange(shard.num_positions) - np.repeat(begins, shard.lengths)
    return Positions(
        states=shard.states[indices].view(np.recarray),
        players=shard.players[indices],
        plies=plies[indices],
        seeds=np.array(seeds, np.uint64),
        visits=np.zeros((len(indices), shard.visits.shape[1]), np.uint16),
        root_values=np.zeros(len(indices), np.float32),
        proven=np.zeros(len(indices), np.int8),
        evaluations=np.zeros(len(indices), np.int64),
        cache_hits=np.zeros(len(indices), np.int64),
        simulations=np.zeros(len(indices), np.int64),
    )


@kernel
def _begin(settings, playing, forest, batch, b, ply):
    """Begins the search in slot b, whose tree has just been started, as self-play does at that ply."""
    begin_search(settings, playing, forest.trees[b], forest.nodes[b], ply, batch.weights)


@kernel
def _search_on(game, rule, rollout, settings, views, cache, forest, positions, places, batch):
    """Searches on in every slot until it has a leaf for the net in the batch, or its search is finished and on record.

    Args:
      places: [B] int64, which of the positions is in a slot; _NOWHERE from when its search is finished.

    Returns:
      How many searches have been finished.
    """
    num_finished = 0
    for b in range(len(places)):
        tree = forest.trees[b]
        nodes = forest.nodes[b]
        while places[b] != _NOWHERE and tree.pending == 0:
            if is_done(settings, tree, nodes):
                place = places[b]
                player, visits = positions.players[place], positions.visits[place]
                value, proven = write_targets(rule, settings, tree, nodes, player, visits)
                positions.root_values[place] = value
                positions.proven[place] = proven
                positions.evaluations[place] = tree.evaluations
                positions.cache_hits[place] = tree.cache_hits
                positions.simulations[place] = tree.simulations
                places[b] = _NOWHERE
                num_finished += 1
            else:
                select_leaf(game, rule, rollout, settings, views, cache, forest, batch, b)
    return num_finished


class PositionWalker(Walker):
    """Searches positions: a slot is at its end when its search is finished."""

    def __init__(self, setup: Setup, positions: Positions, waiting: Iterator[int], num_slots: int):
        super().__init__(setup, num_slots)
        self._positions, self._waiting = positions, waiting
        self._places = np.full(num_slots, _NOWHERE, np.int64)
        self.renew()

    def walk(self) -> int:
        setup = self._setup
        search = setup.game.rules, setup.rule, setup.rollout, setup.settings, setup.views, setup.cache
        return int(_search_on(*search, self._forest, self._positions, self._places, self._batch))

    def renew(self) -> None:
        setup, positions = self._setup, self._positions
        for slot, place in zip(np.flatnonzero(self._places == _NOWHERE), self._waiting, strict=False):
            start_tree(self._forest, slot, positions.states[place], positions.seeds[place])
            _begin(setup.settings, setup.playing, self._forest, self._batch, slot, positions.plies[place])
            self._places[slot] = place


def search_anew(
    selfplay: SelfPlay,
    shard: Shard,
    seed_of: Callable[[int], int],
    on_positions: Callable[[int], None] = lambda num: None,
) -> Shard:
    """Returns a shard whose positions to learn from have been searched anew, `selfplay.num_slots` at a time.

    Positions whose result is proven stay as they are: no net knows better.
    What a search finds follows from the position, its seed (`seed_of` tells it by the position's index in the shard)
    and the net alone, as in `play_games`. Evaluations, cache hits and simulations are those of the new searches.
    `on_positions` is called with the number of positions that have just been searched.
    """
    indices = np.flatnonzero((shard.weights > 0) & (shard.proven == UNPROVEN))
    positions = new_positions(shard, indices, [seed_of(int(index)) for index in indices])
    waiting = iter(range(len(indices)))
    full = replace(selfplay, playing=selfplay.playing._replace(full_search_share=1.0))
    walk_all(full, len(indices), lambda setup, size: PositionWalker(setup, positions, waiting, size), on_positions)
    found = {name: getattr(shard, name).copy() for name in ("visits", "root_values", "proven")}
    for name, array in found.items():
        array[indices] = getattr(positions, name)
    return shard._replace(
        **found,
        evaluations=positions.evaluations.sum(keepdims=True),
        cache_hits=positions.cache_hits.sum(keepdims=True),
        simulations=positions.simulations.sum(keepdims=True),
    )
