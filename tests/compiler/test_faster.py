"""Tests of the changes to Numba that save time: with another version of Numba, results are the same without them."""

import os
import subprocess
import sys

import pytest

from azero.compiler.jit import IS_COMPILED
from azero.system.files import PACKAGE

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")]

SUGGEST = """
import numba
{before}
import azero
game = azero.make_game({game!r})
suggestion = azero.make_agent("uct@300", game=game, seed=7, threads=1).suggest(game.new_initial_state())
print([(each.move, each.visits, each.value) for each in suggestion.moves])
from azero.compiler import faster
print(numba.core.ir.Inst._rec_list_vars is faster._list_vars)
"""


def run(program: str, **settings) -> list[str]:
    """Runs a program with these environment variables; returns the lines that it prints."""
    settings["PYTHONPATH"] = str(PACKAGE.parent)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, timeout=300, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_another_version_of_numba_compiles_without_the_changes_and_to_the_same_results(tmp_path):
    found, changed = run(SUGGEST.format(before="", game="tic_tac_toe"))
    assert changed == "True"
    before = "numba.__version__ = '0.0.1'"
    assert run(SUGGEST.format(before=before, game="tic_tac_toe"), AZERO_CACHE_DIR=str(tmp_path)) == [found, "False"]
