"""Many games in lockstep: each slot is a game with its tree; a step gives the net one batch with a leaf of each."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from azero.errors import BrokenRules
from azero.games import ONGOING, Game, new_states
from azero.games.face import broken_rules
from azero.jit import kernel, subroutine
from azero.mcts import Evaluator, OwnRollout, RolloutPolicy, Rule, Settings, nodes_needed
from azero.mcts.kernels import expand_and_backup, is_done, select_leaves
from azero.mcts.root import add_noise, chosen_child, value_for, write_policy_target
from azero.mcts.tree import clear_tree, new_batch, new_forest, play_at_root, start_tree
from azero.selfplay.records import Shard, join_shards


class Manner(NamedTuple):
    """How self-play plays."""

    num_simulations: int
    temperature: float
    temperature_plies: int
    final_temperature: float
    is_keeping_tree: bool


class Games(NamedTuple):
    """B games on their way, at most T plies each."""

    states: np.recarray  # [B, T] the game's state dtype
    players: np.ndarray  # [B, T] int8
    actions: np.ndarray  # [B, T] int16
    visits: np.ndarray  # [B, T, A] uint16
    root_values: np.ndarray  # [B, T] float32
    lengths: np.ndarray  # [B] int32, plies so far
    outcomes: np.ndarray  # [B] int8, ONGOING until the end
    simulations: np.ndarray  # [B] int64, so far


def _new_games(game: Game, size: int) -> Games:
    plies = game.max_plies
    return Games(
        states=new_states(game.rules, size, plies),
        players=np.zeros((size, plies), np.int8),
        actions=np.zeros((size, plies), np.int16),
        visits=np.zeros((size, plies, game.num_actions), np.uint16),
        root_values=np.zeros((size, plies), np.float32),
        lengths=np.zeros(size, np.int32),
        outcomes=np.zeros(size, np.int8),  # a slot without a game counts as one that is over
        simulations=np.zeros(size, np.int64),
    )


@subroutine
def _begin_search(settings, manner, tree, nodes):
    """Sets a tree its simulations; a root that has children already gets its noise now."""
    tree.simulations = 0
    tree.target = manner.num_simulations
    if nodes[0].first_child > 0 and settings.dirichlet_epsilon > 0.0:
        add_noise(nodes, tree, settings.dirichlet_alpha, settings.dirichlet_epsilon)


@subroutine
def _play_move(game, settings, manner, forest, games, b):
    """Notes what the search in slot b found, plays its move, and begins the next search, or ends the game."""
    tree = forest.trees[b]
    nodes = forest.nodes[b]
    ply = games.lengths[b]
    player = game.current_player(forest.root_states[b])
    games.states[b][ply] = forest.root_states[b]
    games.players[b, ply] = player
    games.root_values[b, ply] = value_for(nodes[0], 1 - 2 * player)
    write_policy_target(nodes, games.visits[b, ply])
    temperature = manner.temperature if ply < manner.temperature_plies else manner.final_temperature
    action = nodes[chosen_child(nodes, tree, temperature, settings.is_choosing_by_value)].action
    games.actions[b, ply] = action
    games.lengths[b] += 1
    games.simulations[b] += tree.simulations
    play_at_root(game, forest, b, action)
    games.outcomes[b] = game.outcome(forest.root_states[b])
    if games.outcomes[b] != ONGOING:
        tree.target = 0
        return
    if not manner.is_keeping_tree:
        clear_tree(tree, nodes)
    _begin_search(settings, manner, tree, nodes)


@kernel
def _play_moves(game, settings, manner, forest, games):
    """Plays a move in every slot whose search is done, and more where the next needs no search; returns games ended."""
    num_ended = 0
    for b in range(len(forest.trees)):
        while games.outcomes[b] == ONGOING and is_done(settings, forest.trees[b], forest.nodes[b]):
            _play_move(game, settings, manner, forest, games, b)
            num_ended += games.outcomes[b] != ONGOING
    return num_ended


@kernel
def _begin_game(settings, manner, forest, games, b):
    games.lengths[b] = 0
    games.outcomes[b] = ONGOING
    games.simulations[b] = 0
    _begin_search(settings, manner, forest.trees[b], forest.nodes[b])


def play_games(
    game: Game,
    rule: Rule,
    settings: Settings,
    manner: Manner,
    evaluator: Evaluator,
    seeds: Sequence[int],
    num_slots: int,
    on_games: Callable[[int], None] = lambda num: None,
    rollout: RolloutPolicy = OwnRollout(),
) -> Shard:
    """Plays one game for each seed, `num_slots` at a time; returns them in the order of the seeds.

    A game follows from its seed and the net alone, whatever is played beside it (unless so many are that their trees
    have to share the memory there is, and reach their limit of nodes). `on_games` is called with the number
    of games that have just ended. Raises BrokenRules where the game's rules cannot go on.
    """
    rules, num_slots = game.rules, min(num_slots, len(seeds))
    settings = settings._replace(is_rollout_only=False, leaves_per_tree=1, is_stopping_early=False)
    max_nodes = nodes_needed(game, manner.num_simulations, num_slots)
    forest, batch = new_forest(rules, num_slots, max_nodes), new_batch(rules, num_slots)
    games = _new_games(game, num_slots)
    inverse_actions = np.argsort(game.symmetries.actions, axis=1).astype(np.int32)
    initial = game.new_initial_state().record
    waiting = iter(enumerate(seeds))
    playing: dict[int, int] = {}  # slot to place of its game
    finished: list[Shard | None] = [None] * len(seeds)

    def begin(slot: int) -> None:
        place, seed = next(waiting, (None, 0))
        if place is not None:
            playing[slot] = place
            start_tree(forest, slot, initial, np.uint64(seed))
            _begin_game(settings, manner, forest, games, slot)

    for slot in range(num_slots):
        begin(slot)
    while playing:
        num_ended = _play_moves(rules, settings, manner, forest, games)
        if num_ended:
            on_games(num_ended)
            for slot in [slot for slot in playing if games.outcomes[slot] != ONGOING]:
                finished[playing.pop(slot)] = _take_game(games, forest.trees[slot].evaluations, slot)
                begin(slot)
            continue  # a new game may be over before its first evaluation
        try:
            count, _ = select_leaves(rules, rule, settings, game.symmetries, forest, batch)
            if count:
                logits, values = evaluator.evaluate(batch.planes[:count])
                expand_and_backup(rules, rollout, settings, inverse_actions, forest, batch, count, logits, values)
        except BrokenRules as error:
            raise broken_rules(game.name, f"{error} in self-play", []) from None
    return join_shards([one for one in finished if one is not None])


def _take_game(games: Games, evaluations: int, slot: int) -> Shard:
    """Returns a copy of the finished game in a slot."""
    plies = games.lengths[slot]
    return Shard(
        states=np.asarray(games.states[slot, :plies]).copy(),
        players=games.players[slot, :plies].copy(),
        actions=games.actions[slot, :plies].copy(),
        visits=games.visits[slot, :plies].copy(),
        root_values=games.root_values[slot, :plies].copy(),
        outcomes=np.full(plies, games.outcomes[slot], np.int8),
        lengths=np.array([plies], np.int32),
        evaluations=np.array([evaluations], np.int64),
        simulations=games.simulations[slot : slot + 1].copy(),
    )
