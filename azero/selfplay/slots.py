"""The slots of self-play: a slot is a game under way with its tree. Defines what happens when a search is over."""

from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.compiler.rng import random_below, random_unit
from azero.errors import NO_ACTION, TOO_LONG, BrokenRules
from azero.games import ONGOING, Game, new_states
from azero.games.contract import sign_of
from azero.mcts.search.kernels import child_to_play, start_search, write_target
from azero.mcts.tree import UNPROVEN, move_root
from azero.selfplay.data.policies import pack_target
from azero.selfplay.data.shard import Shard
from azero.system.machine import sparse_zeros


class PlaySettings(NamedTuple):
    """The game settings of self-play."""

    num_simulations: int  # of a full search
    temperature: float  # of the first plies
    temperature_plies: int  # number of these plies
    final_temperature: float  # of the plies after them
    full_search_share: float = 1.0  # of the searches; the others are fast, and no training data
    fast_simulations: int = 0  # of a fast search
    random_opening_share: float = 0.0  # of the games
    random_opening_plies: int = 0  # maximum


class OpenGames(NamedTuple):
    """B games under way, at most T plies each. `Shard` describes the fields.

    The policy targets of a game's plies follow one another in `visited` and `visits`. There is room for all actions at
    each ply, but only what is written takes memory.
    """

    states: np.recarray  # [B, T] the game's state dtype
    players: np.ndarray  # [B, T] int8
    actions: np.ndarray  # [B, T] int16
    visited: np.ndarray  # [B, T * A] int16
    visits: np.ndarray  # [B, T * A] uint16
    num_visited: np.ndarray  # [B, T] int16
    ends: np.ndarray  # [B] int64, the numbers of `visited` so far
    root_values: np.ndarray  # [B, T] float32
    proven: np.ndarray  # [B, T] int8
    weights: np.ndarray  # [B, T] float32
    lengths: np.ndarray  # [B] int32, plies so far
    outcomes: np.ndarray  # [B] int8, ONGOING until the end
    simulations: np.ndarray  # [B] int64, so far
    full_trees: np.ndarray  # [B] int64, searches so far whose tree had no room to grow
    openings: np.ndarray  # [B, at least 1] int16, the opening's random moves
    opening_lengths: np.ndarray  # [B] int32, the number of these


def new_open_games(game: Game, size: int, opening_plies: int) -> OpenGames:
    """Returns arrays for `size` games, none of them begun, with at most `opening_plies` random moves each."""
    plies = game.max_plies
    return OpenGames(
        states=new_states(game.rules, size, plies),
        players=np.zeros((size, plies), np.int8),
        actions=np.zeros((size, plies), np.int16),
        visited=sparse_zeros((size, plies * game.num_actions), np.int16),
        visits=sparse_zeros((size, plies * game.num_actions), np.uint16),
        num_visited=np.zeros((size, plies), np.int16),
        ends=np.zeros(size, np.int64),
        root_values=np.zeros((size, plies), np.float32),
        proven=np.zeros((size, plies), np.int8),
        weights=np.zeros((size, plies), np.float32),
        lengths=np.zeros(size, np.int32),
        outcomes=np.zeros(size, np.int8),  # not ONGOING: a slot without a game counts as finished
        simulations=np.zeros(size, np.int64),
        full_trees=np.zeros(size, np.int64),
        openings=np.zeros((size, max(1, opening_plies)), np.int16),
        opening_lengths=np.zeros(size, np.int32),
    )


@subroutine
def temperature_at(playing, ply):
    """Returns the temperature of the move at `ply`."""
    return playing.temperature if ply < playing.temperature_plies else playing.final_temperature


@subroutine
def begin_full_or_fast(settings, playing, tree, nodes, ply, weights):
    """Begins the search for the move at `ply`. `weights` ([A] float64) is scratch memory.

    Playout cap randomization [1]: some searches are full. The others are fast and without Dirichlet noise; they only
    choose moves.

    Source:
      [1] Wu, Accelerating self-play learning in Go (2019), section 3.1.
    """
    tree.is_fast = playing.full_search_share < 1.0 and random_unit(tree.rng) >= playing.full_search_share
    num_simulations = playing.fast_simulations if tree.is_fast else playing.num_simulations
    start_search(settings, tree, nodes, num_simulations, temperature_at(playing, ply), weights)


@subroutine
def proof_for_mover(nodes):
    """Returns the result that a search has proven, for the player to move at the root; UNPROVEN if there is none."""
    root = nodes[0]
    return root.proven if root.proven == UNPROVEN else sign_of(root.player) * root.proven


@subroutine
def play_random_opening(rules, slots, forest, scratch, b):
    """Plays 1 to `random_opening_plies` uniformly random plies at the root of tree b, but not to the game's end."""
    playing, games = slots.playing, slots.games
    tree, state = forest.trees[b], scratch.states[0]
    for _ in range(1 + random_below(tree.rng, playing.random_opening_plies)):
        num_legal = rules.legal_actions(forest.root_states[b], scratch.legal)
        if num_legal == 0:
            raise BrokenRules(NO_ACTION)
        scratch.states[0] = forest.root_states[b]
        action = np.int64(scratch.legal[random_below(tree.rng, num_legal)])
        rules.apply_action(state, action)
        if rules.outcome(state) != ONGOING:
            return
        forest.root_states[b] = state
        games.openings[b, games.opening_lengths[b]] = action
        games.opening_lengths[b] += 1


@kernel
def begin_game(parts, slots, forest, scratch, b):
    """Begins a game in slot b, whose tree has just been started."""
    tree, playing, games = forest.trees[b], slots.playing, slots.games
    games.opening_lengths[b] = 0
    if playing.random_opening_share > 0.0 and random_unit(tree.rng) < playing.random_opening_share:
        play_random_opening(parts.rules, slots, forest, scratch, b)
    games.lengths[b] = games.ends[b] = 0
    games.outcomes[b] = ONGOING
    games.simulations[b] = games.full_trees[b] = 0
    begin_full_or_fast(parts.settings, playing, tree, forest.nodes[b], 0, scratch.weights)


@subroutine
def _note_search(parts, slots, forest, scratch, b, ply):
    """Stores the result of the search in slot b; returns the action to play."""
    tree, nodes, games, target = forest.trees[b], forest.nodes[b], slots.games, scratch.counts
    child = child_to_play(parts, forest, scratch, b, temperature_at(slots.playing, ply))
    value = write_target(parts, tree, nodes, target)
    end = pack_target(nodes, target, games.visited[b], games.visits[b], games.ends[b])
    games.num_visited[b, ply], games.ends[b] = end - games.ends[b], end
    games.root_values[b, ply] = value
    games.proven[b, ply] = proof_for_mover(nodes)
    games.weights[b, ply] = 0.0 if tree.is_fast else 1.0
    games.actions[b, ply] = nodes[child].action
    return nodes[child].action


@subroutine
def _play_move(parts, slots, forest, scratch, b):
    """Stores the result of the search in slot b, plays its move, and begins the next search.

    Returns whether the game has ended. Raises BrokenRules if it is longer than the rules' `max_plies`.
    """
    rules, games = parts.rules, slots.games
    tree, nodes = forest.trees[b], forest.nodes[b]
    ply = games.lengths[b]
    if games.opening_lengths[b] + ply == games.actions.shape[1]:
        raise BrokenRules(TOO_LONG)
    games.states[b][ply] = forest.root_states[b]
    games.players[b, ply] = rules.current_player(forest.root_states[b])
    action = _note_search(parts, slots, forest, scratch, b, ply)
    games.lengths[b] += 1
    games.simulations[b] += tree.simulations
    games.full_trees[b] += tree.is_full
    move_root(rules, forest, b, action, parts.settings.root.may_keep_tree())
    games.outcomes[b] = rules.outcome(forest.root_states[b])
    if games.outcomes[b] != ONGOING:
        tree.target = 0
        return True
    begin_full_or_fast(parts.settings, slots.playing, tree, nodes, games.lengths[b], scratch.weights)
    return False


class GameSlots(NamedTuple):
    """Slots of a walker (`azero/mcts/search/lockstep.py`), with one game each. A slot is finished when its game is."""

    playing: PlaySettings
    games: OpenGames

    def is_under_way(slots, b):
        return slots.games.outcomes[b] == ONGOING

    def end_search(slots, parts, forest, scratch, b):
        return _play_move(parts, slots, forest, scratch, b)

    def is_clocked(slots):
        return False


def take_game(games: OpenGames, tree: np.record, slot: int) -> Shard:
    """Returns a copy of the finished game in a slot."""
    plies, end = games.lengths[slot], games.ends[slot]
    return Shard(
        states=np.asarray(games.states[slot, :plies]).copy(),
        players=games.players[slot, :plies].copy(),
        actions=games.actions[slot, :plies].copy(),
        visited=games.visited[slot, :end].copy(),
        visits=games.visits[slot, :end].copy(),
        num_visited=games.num_visited[slot, :plies].copy(),
        root_values=games.root_values[slot, :plies].copy(),
        proven=games.proven[slot, :plies].copy(),
        weights=games.weights[slot, :plies].copy(),
        outcomes=np.full(plies, games.outcomes[slot], np.int8),
        lengths=np.array([plies], np.int32),
        evaluations=np.array([tree.evaluations], np.int64),
        cache_hits=np.array([tree.cache_hits], np.int64),
        simulations=games.simulations[slot : slot + 1].copy(),
        full_trees=games.full_trees[slot : slot + 1].copy(),
        openings=games.openings[slot, : games.opening_lengths[slot]].copy(),
        opening_lengths=games.opening_lengths[slot : slot + 1].copy(),
        starts=np.zeros(0, np.uint8),
        start_lengths=np.zeros(1, np.int32),
    )
