"""Games of self-play for tests, with an untrained, deterministic evaluator."""

import functools
import random

import numpy as np
import torch
from mcts.evaluators import HashEvaluator

from azero.config.reading import check_config
from azero.config.schema import Config
from azero.games import Game, make_game
from azero.mcts import Evaluator, Puct, Settings
from azero.mcts.roots.gumbel import GumbelRoot
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.tree import UNPROVEN
from azero.nets.architectures.tower.net import ResidualTower
from azero.nets.checkpoint import weights_of
from azero.selfplay.data.policies import Policies, policies_of
from azero.selfplay.data.shard import Shard, bytes_of_states
from azero.selfplay.play import SelfPlay, play_games
from azero.selfplay.slots import PlaySettings
from azero.system.tensor_files import Tensors

TIC_TAC_TOE, CONNECT_FOUR = make_game("tic_tac_toe"), make_game("connect_four(rows=5,columns=4)")

PLAY = PlaySettings(num_simulations=30, temperature=1.0, temperature_plies=4, final_temperature=0.0)
QUIET = PLAY._replace(temperature=0.0)
"""The most visited move is played."""

NOISY = Settings(is_looking_ahead=True, has_random_symmetry=True, root=VisitsRoot(1.0, dirichlet_epsilon=0.25))
PLAIN = Settings(is_proving=False)
"""No noise, no symmetry, no proofs."""

AHEAD = NOISY._replace(proof_nodes=100, root=VisitsRoot(1.0, 0.25))
"""Proofs at new nodes. A root can be proven before a child has a visit."""

GUMBEL = Settings(is_looking_ahead=True, root=GumbelRoot(3))


def config_with(**selfplay) -> Config:
    """Returns settings of tic-tac-toe with a tiny net and the given settings of self-play."""
    net = {"blocks": 1, "channels": 4, "policy_channels": 4, "value_channels": 4, "value_hidden": 4}
    device = {"device": "cpu", "precision": "fp32"}
    played = {"num_simulations": 8, "parallel_games": 4} | selfplay
    return check_config({"game": {"name": "tic_tac_toe"}, "net": net, "device": device, "selfplay": played})


def new_weights(config: Config) -> Tensors:
    """Returns the weights of a net of the settings whose priors differ."""
    torch.manual_seed(0)
    net = ResidualTower(config.net, TIC_TAC_TOE)
    torch.nn.init.normal_(net.policy.weight)
    return weights_of(net)


def play(
    game: Game,
    seeds,
    num_slots: int = 4,
    playing: PlaySettings = PLAY,
    settings: Settings = NOISY,
    evaluator: Evaluator | None = None,
    on_games=lambda num: None,
    **how,
) -> Shard:
    evaluator = evaluator or HashEvaluator(game)
    return play_games(SelfPlay(game, Puct(), settings, playing, evaluator, num_slots, **how), seeds, on_games)


@functools.cache
def some_games(game: Game) -> Shard:
    """Returns twelve games."""
    return play(game, range(12))


def shard_of(game: Game, *records: str) -> Shard:
    """Returns a shard of games with these moves. Each search is full, with one visit, of the move played."""
    states, players, actions, outcomes = [], [], [], []
    for record in records:
        state = game.new_initial_state()
        for move in game.rules.split_moves(record):
            states.append(np.asarray(state.record).copy())
            players.append(state.current_player())
            actions.append(game.text_to_action(state, move))
            state.apply_action(actions[-1])
        outcomes += [int(state.returns()[0])] * len(state.history())
    size = len(actions)
    return Shard(
        states=np.array(states, game.rules.state_dtype),
        players=np.array(players, np.int8),
        actions=np.array(actions, np.int16),
        visited=np.array(actions, np.int16),
        visits=np.ones(size, np.uint16),
        num_visited=np.ones(size, np.int16),
        proven=np.full(size, UNPROVEN, np.int8),
        root_values=np.zeros(size, np.float32),
        weights=np.ones(size, np.float32),
        outcomes=np.array(outcomes, np.int8),
        lengths=np.array([len(game.rules.split_moves(record)) for record in records], np.int32),
        **{name: np.zeros(1, np.int64) for name in ("evaluations", "cache_hits", "simulations", "full_trees")},
        openings=np.zeros(0, np.int16),
        opening_lengths=np.zeros(len(records), np.int32),
        starts=np.zeros(0, np.uint8),
        start_lengths=np.zeros(len(records), np.int32),
    )


def random_games(game: Game, num: int, seed: int = 0) -> Shard:
    """Returns a shard of games in which both players move at random, without a search."""
    choice, records = random.Random(seed), []
    for _ in range(num):
        state, moves = game.new_initial_state(), []
        while not state.is_terminal():
            moves.append(game.action_to_text(state, action := choice.choice(state.legal_actions())))
            state.apply_action(action)
        records.append(" ".join(moves))
    return shard_of(game, *records)


def visits_of(shard: Shard, game: Game) -> np.ndarray:
    """Returns the counts of all actions in the policy targets, [n, A]."""
    policies = shard.policies()
    rows = np.zeros((len(policies.starts) - 1, game.num_actions), int)
    rows[policies.positions(), policies.actions] = policies.counts
    return rows


def pack_rows(rows: np.ndarray) -> Policies:
    """Returns the policies with these counts of all actions, [n, A]."""
    positions, actions = np.nonzero(rows)
    lengths = np.bincount(positions, minlength=len(rows))
    return policies_of(lengths, actions.astype(np.int16), rows[positions, actions].astype(np.uint16))


def with_visits(shard: Shard, rows: np.ndarray) -> Shard:
    """Returns the shard with these counts of all actions in the policy targets, [n, A]."""
    policies = pack_rows(rows)
    lengths = np.diff(policies.starts).astype(np.int16)
    return shard._replace(visited=policies.actions, visits=policies.counts, num_visited=lengths)


def split(shard: Shard) -> list[list]:
    """Returns each game as a list: states as bytes, players, actions, visits, root values, outcomes."""
    games, start, policies = [], 0, shard.policies()
    for length in shard.lengths:
        own = slice(start, start + int(length))
        visits = [tuple(map(np.ndarray.tolist, policies.row(k))) for k in range(own.start, own.stop)]
        players, actions, values, outcomes = (
            array[own].tolist() for array in (shard.players, shard.actions, shard.root_values, shard.outcomes)
        )
        states = bytes_of_states(shard.states[own]).tobytes()
        games.append([states, players, actions, visits, values, outcomes])
        start += int(length)
    assert start == shard.num_positions
    return games


def assert_same(one: Shard, other: Shard) -> None:
    """Asserts that two shards are equal, to the last bit and type. What is in the gaps of states does not count."""
    one, other = (each._replace(states=bytes_of_states(each.states)) for each in (one, other))
    for name, array, expected in zip(Shard._fields, one, other, strict=True):
        assert array.dtype == expected.dtype and array.shape == expected.shape, name
        assert array.tobytes() == expected.tobytes(), name
