"""Slots: each is a game on its way, with its tree; kernels play on in all of them until they need the net."""

from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.compiler.rng import random_below, random_unit
from azero.errors import NO_ACTION, TOO_LONG, BrokenRules
from azero.games import LOSS, ONGOING, WIN, Game, new_states
from azero.games.contract import sign_of
from azero.mcts.roots.choice import chosen_child, greedy_child, value_for
from azero.mcts.roots.forced_playouts import prune_forced_visits
from azero.mcts.roots.gumbel import begin_halving, surviving_child, write_improved_policy
from azero.mcts.roots.noise import add_noise
from azero.mcts.roots.target import write_policy_target
from azero.mcts.search.kernels import is_done
from azero.mcts.search.leaves import select_leaf
from azero.mcts.tree import UNPROVEN, clear_tree, play_at_root
from azero.selfplay.data.records import Shard
from azero.selfplay.resignation import NOBODY


class PlaySettings(NamedTuple):
    """How self-play plays."""

    num_simulations: int  # of a full search
    temperature: float  # of the moves of the first plies
    temperature_plies: int  # how many these are
    final_temperature: float  # of the moves after them
    is_keeping_tree: bool
    full_search_share: float = 1.0  # of the searches; the others are fast, and not learnt from
    fast_simulations: int = 0  # of a fast search
    random_opening_share: float = 0.0  # of the games
    random_opening_plies: int = 0  # at the most
    resign_threshold: float = NOBODY
    resign_played_on_share: float = 1.0  # of the games: nobody resigns in them


class Games(NamedTuple):
    """B games on their way, at most T plies each."""

    states: np.recarray  # [B, T] the game's state dtype
    players: np.ndarray  # [B, T] int8
    actions: np.ndarray  # [B, T] int16
    visits: np.ndarray  # [B, T, A] uint16
    root_values: np.ndarray  # [B, T] float32
    resign_values: np.ndarray  # [B, T] float32
    proven: np.ndarray  # [B, T] int8
    weights: np.ndarray  # [B, T] float32
    lengths: np.ndarray  # [B] int32, plies so far
    played_on: np.ndarray  # [B] bool
    resigned: np.ndarray  # [B] bool
    outcomes: np.ndarray  # [B] int8, ONGOING until the end
    simulations: np.ndarray  # [B] int64, so far


def new_games(game: Game, size: int) -> Games:
    """Returns room for `size` games, none of them begun."""
    plies = game.max_plies
    return Games(
        states=new_states(game.rules, size, plies),
        players=np.zeros((size, plies), np.int8),
        actions=np.zeros((size, plies), np.int16),
        visits=np.zeros((size, plies, game.num_actions), np.uint16),
        root_values=np.zeros((size, plies), np.float32),
        resign_values=np.zeros((size, plies), np.float32),
        proven=np.zeros((size, plies), np.int8),
        weights=np.zeros((size, plies), np.float32),
        lengths=np.zeros(size, np.int32),
        played_on=np.zeros(size, np.bool_),
        resigned=np.zeros(size, np.bool_),
        outcomes=np.zeros(size, np.int8),  # a slot without a game counts as one that is over
        simulations=np.zeros(size, np.int64),
    )


@subroutine
def temperature_at(playing, ply):
    """Returns the temperature of the move of that ply."""
    return playing.temperature if ply < playing.temperature_plies else playing.final_temperature


@subroutine
def begin_search(settings, playing, tree, nodes, ply, weights):
    """Sets a tree its simulations; a root that has children already gets its noise now; `weights` ([A]) is for that.

    Playout cap randomisation [1]: some searches are full; the others are fast, without Dirichlet noise, and move the
    game on.

    Source:
      [1] Wu, Accelerating self-play learning in Go (2019), section 3.1.
    """
    tree.simulations = 0
    tree.is_fast = playing.full_search_share < 1.0 and random_unit(tree) >= playing.full_search_share
    tree.target = playing.fast_simulations if tree.is_fast else playing.num_simulations
    if settings.gumbel_considered > 0:
        begin_halving(tree, nodes, temperature_at(playing, ply))
    elif nodes[0].first_child > 0 and settings.dirichlet_epsilon > 0.0 and not tree.is_fast:
        add_noise(nodes, tree, settings.dirichlet_alpha, settings.dirichlet_epsilon, weights)


@subroutine
def write_targets(rule, settings, tree, nodes, player, visits):
    """Writes the policy that a finished search has to teach into `visits` ([A] uint16).

    Returns:
      The search's value, in [-1, 1], and what it proved, UNPROVEN if nothing, for `player`, who moves at the root.
    """
    sign = sign_of(player)
    proven = nodes[0].proven if nodes[0].proven == UNPROVEN else sign * nodes[0].proven
    if settings.gumbel_considered > 0:
        return write_improved_policy(settings, nodes, visits), proven
    write_policy_target(nodes, visits)
    if settings.forced_playouts > 0.0 and not tree.is_fast:
        prune_forced_visits(rule, settings, tree, nodes, visits)
    return value_for(nodes[0], sign), proven


@subroutine
def best_child(settings, tree, nodes):
    """Returns the root's child that a finished search found best, which is played where no move is drawn."""
    if settings.gumbel_considered > 0:
        return surviving_child(settings, tree, nodes)
    return greedy_child(nodes, settings.chosen_by)


@subroutine
def play_random_opening(game, playing, forest, batch, b):
    """Moves the root of tree b on by 1 to `random_opening_plies` uniformly random plies, but not to the game's end."""
    tree = forest.trees[b]
    work = batch.states[len(batch.states) - 1 :]
    for _ in range(1 + random_below(tree, playing.random_opening_plies)):
        num_legal = game.legal_actions(forest.root_states[b], batch.legal)
        if num_legal == 0:
            raise BrokenRules(NO_ACTION)
        work[0] = forest.root_states[b]
        game.apply_action(work[0], np.int64(batch.legal[random_below(tree, num_legal)]))
        if game.outcome(work[0]) != ONGOING:
            return
        forest.root_states[b] = work[0]


@kernel
def begin_game(game, settings, playing, forest, games, batch, b):
    """Makes the tree in slot b a game that has just begun."""
    if playing.random_opening_share > 0.0 and random_unit(forest.trees[b]) < playing.random_opening_share:
        play_random_opening(game, playing, forest, batch, b)
    share = playing.resign_played_on_share
    games.played_on[b] = share >= 1.0 or random_unit(forest.trees[b]) < share
    games.resigned[b] = False
    games.lengths[b] = 0
    games.outcomes[b] = ONGOING
    games.simulations[b] = 0
    begin_search(settings, playing, forest.trees[b], forest.nodes[b], 0, batch.weights)


@subroutine
def _note_search(rule, settings, playing, tree, nodes, games, b, ply, player):
    """Notes what the search in slot b found; returns the action to play."""
    value, proven = write_targets(rule, settings, tree, nodes, player, games.visits[b, ply])
    games.root_values[b, ply] = value
    games.proven[b, ply] = proven
    games.weights[b, ply] = 0.0 if tree.is_fast else 1.0
    best = best_child(settings, tree, nodes)
    child = best
    if settings.gumbel_considered == 0:
        child = chosen_child(nodes, tree, temperature_at(playing, ply), settings.chosen_by)
    games.resign_values[b, ply] = max(value, value_for(nodes[best], sign_of(player)))
    games.actions[b, ply] = nodes[child].action
    return nodes[child].action


@subroutine
def _move_root(game, settings, playing, forest, b, action):
    """Plays `action` at the root of tree b, and keeps what is below it where the next search goes on from there."""
    if playing.is_keeping_tree and settings.gumbel_considered == 0:
        play_at_root(game, forest, b, action)
    else:
        game.apply_action(forest.root_states[b], np.int64(action))
        clear_tree(forest.trees[b], forest.nodes[b])


@subroutine
def _play_move(game, rule, settings, playing, forest, games, batch, b):
    """Notes what the search in slot b found, plays its move, and begins the next search, or ends the game."""
    tree = forest.trees[b]
    nodes = forest.nodes[b]
    ply = games.lengths[b]
    if ply == games.actions.shape[1]:
        raise BrokenRules(TOO_LONG)
    player = game.current_player(forest.root_states[b])
    games.states[b][ply] = forest.root_states[b]
    games.players[b, ply] = player
    action = _note_search(rule, settings, playing, tree, nodes, games, b, ply, player)
    games.lengths[b] += 1
    games.simulations[b] += tree.simulations
    if not games.played_on[b] and float(games.resign_values[b, ply]) < playing.resign_threshold:
        games.resigned[b] = True
        games.outcomes[b] = WIN if player == 1 else LOSS
    else:
        _move_root(game, settings, playing, forest, b, action)
        games.outcomes[b] = game.outcome(forest.root_states[b])
    if games.outcomes[b] != ONGOING:
        tree.target = 0
        return
    begin_search(settings, playing, tree, nodes, games.lengths[b], batch.weights)


@kernel
def play_on(game, rule, rollout, settings, playing, views, cache, forest, games, batch):
    """Plays on in every slot until it has a leaf for the net in the batch, or its game is over.

    Returns how many games have ended.
    """
    num_ended = 0
    for b in range(len(forest.trees)):
        tree = forest.trees[b]
        while games.outcomes[b] == ONGOING and tree.pending == 0:
            if is_done(settings, tree, forest.nodes[b]):
                _play_move(game, rule, settings, playing, forest, games, batch, b)
                num_ended += games.outcomes[b] != ONGOING
            else:
                select_leaf(game, rule, rollout, settings, views, cache, forest, batch, b)
    return num_ended


def take_game(games: Games, tree: np.record, slot: int) -> Shard:
    """Returns a copy of the finished game in a slot."""
    plies = games.lengths[slot]
    return Shard(
        states=np.asarray(games.states[slot, :plies]).copy(),
        players=games.players[slot, :plies].copy(),
        actions=games.actions[slot, :plies].copy(),
        visits=games.visits[slot, :plies].copy(),
        root_values=games.root_values[slot, :plies].copy(),
        resign_values=games.resign_values[slot, :plies].copy(),
        proven=games.proven[slot, :plies].copy(),
        weights=games.weights[slot, :plies].copy(),
        outcomes=np.full(plies, games.outcomes[slot], np.int8),
        lengths=np.array([plies], np.int32),
        played_on=games.played_on[slot : slot + 1].copy(),
        resigned=games.resigned[slot : slot + 1].copy(),
        evaluations=np.array([tree.evaluations], np.int64),
        cache_hits=np.array([tree.cache_hits], np.int64),
        simulations=games.simulations[slot : slot + 1].copy(),
        searched=np.zeros(1, np.int32),
    )
