"""Tests all games with kernels that check the bounds of arrays: random games, rollouts, self-play and replay."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from azero.compiler.jit import IS_COMPILED
from azero.games import registered_games

GAMES = [
    *("amazons(size=4)", "breakthrough(rows=5,columns=5)", "clobber(rows=4,columns=4)", "connect_four", "go(size=4)"),
    *("gomoku(size=5)", "hex(size=4)", "othello(size=4)", "p_game(branching=3,depth=6)", "tic_tac_toe"),
]

PLAY = """
import sys
import numpy as np
from azero.authoring.check_game import check_game
import numba
from azero.games import make_game
from azero.mcts import UniformEvaluator
from azero.selfplay.data.legality import check_games
from azero.selfplay.play import SelfPlay, play_games
from training.runs import tiny_config

@numba.njit
def beyond(array):
    return array[array.size]

try:
    beyond(np.zeros(3))
except IndexError:
    print("bounds are checked")
for name in sys.argv[1:]:
    report = check_game(name, None, 100, 0, lambda line: None)
    assert not report.broken, (name, report.broken)
    print(name)
game = make_game("amazons(size=4)")  # its planes are written at coordinates in the state
config = tiny_config(game={"name": str(game)})
shard = play_games(SelfPlay.from_config(config, game, UniformEvaluator(game.num_actions)), [1, 2, 3])
check_games(shard, game)
shard.actions[:] = game.num_actions - 1
try:
    check_games(shard, game)
except ValueError as error:
    print(error)
"""


@pytest.mark.long
@pytest.mark.skipif(not IS_COMPILED, reason="plain Python checks bounds in any case")
def test_no_kernel_of_a_game_leaves_its_arrays(tmp_path):
    assert {each.partition("(")[0] for each in GAMES} == set(registered_games())
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "AZERO_CACHE_DIR": str(tmp_path), "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", PLAY, *GAMES], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    refusal = "game 0 breaks the rules of amazons(rows=4,columns=4)"
    assert done.stdout.splitlines() == ["bounds are checked", *GAMES, refusal]
