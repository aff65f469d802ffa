"""Imports for the process from which tests fork runs. They save each run a second.

Nothing here computes with torch, because its threads do not survive a fork.
"""

import torch._inductor
import torch.utils.tensorboard  # noqa: F401

import azero.commands.app
import azero.training.loop  # noqa: F401
from azero.arena.agents.make import make_agent
from azero.games import make_game
from azero.mcts import UniformEvaluator
from azero.selfplay.data.samples import make_sample
from azero.selfplay.play import SelfPlay, play_games

from .runs import tiny_config

CONFIG, GAME = tiny_config(), make_game("tic_tac_toe")
_shard = play_games(SelfPlay.from_config(CONFIG, GAME, UniformEvaluator(9)), [1])
make_agent("uct@20", GAME).suggest(GAME.new_initial_state())
make_sample(GAME, _shard, _shard.lengths.astype("int64") - 1, _shard.lengths.astype("int64") * 0)
