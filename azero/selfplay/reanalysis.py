"""Reanalysis: a newer net searches old positions again, many in lockstep. Each position has its own tree.

The new search replaces policy, value and proof. The moves played and the result of the game stay. A search is a full
one of self-play at that ply, with its noise, but it starts with an empty tree.

Source:
  Schrittwieser et al., Mastering Atari, Go, chess and shogi by planning with a learned model (2020), appendix H;
  Online and offline reinforcement learning by planning with a learned model (2021). There positions are drawn for each
  update; here whole shards are reanalysed once per iteration.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel
from azero.mcts.tree import UNPROVEN, start_tree
from azero.selfplay.data.policies import join_rows, pack_target
from azero.selfplay.data.records import Shard
from azero.selfplay.groups import RenewedWalker, Setup
from azero.selfplay.play import SelfPlay, walk_all
from azero.selfplay.slots import begin_full_or_fast, proof_for_mover

_NOWHERE = -1

Rows = dict[int, tuple[np.ndarray, np.ndarray]]
"""Policy targets by the places of their positions: actions [k] int16, and counts [k] uint16."""


class Positions(NamedTuple):
    """P positions and the results of their searches, except policy targets, as in `Shard`."""

    states: np.recarray  # [P] the game's state dtype
    plies: np.ndarray  # [P] int64, place in the game as self-play counts plies
    seeds: np.ndarray  # [P] uint64
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
        plies=plies[indices],
        seeds=np.array(seeds, np.uint64),
        root_values=np.zeros(len(indices), np.float32),
        proven=np.zeros(len(indices), np.int8),
        evaluations=np.zeros(len(indices), np.int64),
        cache_hits=np.zeros(len(indices), np.int64),
        simulations=np.zeros(len(indices), np.int64),
    )


@kernel
def _begin(parts, playing, forest, scratch, b, ply):
    """Begins the search in slot b, whose tree has just been started, as self-play does at `ply`."""
    begin_full_or_fast(parts.settings, playing, forest.trees[b], forest.nodes[b], ply, scratch.weights)


class PositionSlots(NamedTuple):
    """Slots of a walker, with one position each. A slot is finished when its search is finished and stored."""

    positions: Positions
    places: np.ndarray  # [B] int64, the place of each slot's position; _NOWHERE if its search is finished
    visited: np.ndarray  # [B, A] int16, the actions of the policy target of the last position
    visits: np.ndarray  # [B, A] uint16, their counts
    num_visited: np.ndarray  # [B] int64, their number

    def is_under_way(slots, b):
        return slots.places[b] != _NOWHERE

    def end_search(slots, parts, forest, scratch, b):
        place, positions = slots.places[b], slots.positions
        tree, nodes = forest.trees[b], forest.nodes[b]
        positions.root_values[place] = parts.settings.root.write_target(parts.selection, tree, nodes, scratch.counts)
        slots.num_visited[b] = pack_target(nodes, scratch.counts, slots.visited[b], slots.visits[b], 0)
        positions.proven[place] = proof_for_mover(nodes)
        positions.evaluations[place] = tree.evaluations
        positions.cache_hits[place] = tree.cache_hits
        positions.simulations[place] = tree.simulations
        slots.places[b] = _NOWHERE
        return True

    def is_clocked(slots):
        return False


class PositionWalker(RenewedWalker):
    """Searches positions, each in its own tree.

    Args:
      rows: the policy targets, by the positions' places; filled in here.
    """

    def __init__(self, setup: Setup, positions: Positions, rows: Rows, waiting: Iterator[int], num_slots: int):
        size = num_slots, setup.game.num_actions
        self._playing, self._positions, self._rows, self._waiting = setup.playing, positions, rows, waiting
        self._places: dict[int, int] = {}  # slot to place of its position
        none_yet, numbers = np.full(num_slots, _NOWHERE, np.int64), np.zeros(num_slots, np.int64)
        slots = PositionSlots(positions, none_yet, np.zeros(size, np.int16), np.zeros(size, np.uint16), numbers)
        super().__init__(setup.parts, slots, num_slots, setup.max_nodes)
        self.renew()

    def renew(self) -> None:
        slots, positions = self.slots, self._positions
        for slot in np.flatnonzero(slots.places == _NOWHERE).tolist():
            if slot in self._places:
                own = slots.num_visited[slot]
                self._rows[self._places.pop(slot)] = slots.visited[slot, :own].copy(), slots.visits[slot, :own].copy()
            place = next(self._waiting, None)
            if place is not None:
                start_tree(self.forest, slot, positions.states[place], positions.seeds[place])
                _begin(self.parts, self._playing, self.forest, self.scratch, slot, positions.plies[place])
                self._places[slot] = slots.places[slot] = place


def search_anew(
    selfplay: SelfPlay,
    shard: Shard,
    seed_of: Callable[[int], int],
    on_positions: Callable[[int], None] = lambda num: None,
) -> Shard:
    """Returns a shard whose training positions have been searched again, `selfplay.num_slots` at a time.

    Positions with a proven result are not searched. The result of a search depends only on the position, its seed and
    the net, as in `play_games`. Evaluations, cache hits and simulations are those of the new searches.

    Args:
      seed_of: returns the seed of a position, given its index in the shard.
      on_positions: is called with the number of positions that have just been searched.
    """
    indices = np.flatnonzero((shard.weights > 0) & (shard.proven == UNPROVEN))
    positions = new_positions(shard, indices, [seed_of(int(index)) for index in indices])
    waiting = iter(range(len(indices)))
    rows: Rows = {}
    full = replace(selfplay, playing=selfplay.playing._replace(full_search_share=1.0))
    walk_all(
        full, len(indices), lambda setup, size: PositionWalker(setup, positions, rows, waiting, size), on_positions
    )
    found = {name: getattr(shard, name).copy() for name in ("root_values", "proven")}
    for name, array in found.items():
        array[indices] = getattr(positions, name)
    policies = shard.policies()
    own = [policies.row(k) for k in range(shard.num_positions)]
    for place, row in rows.items():
        own[indices[place]] = row
    return shard.with_policies(join_rows(own))._replace(
        **found,
        evaluations=positions.evaluations.sum(keepdims=True),
        cache_hits=positions.cache_hits.sum(keepdims=True),
        simulations=positions.simulations.sum(keepdims=True),
    )
