"""Tests of the second process that compiles: this one reads what it has compiled; its errors and output are lost."""

import os
import subprocess
import sys

import pytest

from azero.compiler.jit import IS_COMPILED
from azero.system.files import PACKAGE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled"),
    pytest.mark.skipif(
        sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="one process compiles everything here"
    ),
]


def run(program: str, folder) -> list[str]:
    """Runs a program with an empty cache of kernels; returns the lines that it prints."""
    settings = {"AZERO_CACHE_DIR": str(folder), "PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, timeout=300, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


BESIDE = """
import os, sys, time
from azero.compiler.beside import compiling_beside
from azero.compiler.jit import kernel
@kernel
def triple(number):
    return 3 * number
@kernel
def double(number):
    return 2 * number
def work():
    print("never seen")
    double(1)
    {work}
begin = time.monotonic()
with compiling_beside(work):
    print(triple(5))
print(double(4), sum(double.by_numba._cache_hits.values()), time.monotonic() - begin < 55, flush=True)
try:
    os.wait()
except ChildProcessError:
    print("no process is left")
"""


@pytest.mark.parametrize("work", ["pass", "raise ValueError('lost')", "os.kill(os.getpid(), 9)", "sys.exit(3)"])
def test_a_second_process_compiles_what_this_one_reads(tmp_path, work):
    program = tmp_path / "program.py"
    program.write_text(BESIDE.format(work=work))
    source = f"exec(compile(open({str(program)!r}).read(), {str(program)!r}, 'exec'))"
    assert run(source, tmp_path / "cache") == ["15", "8 1 True", "no process is left"]


def test_nothing_to_compile_needs_no_second_process(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(BESIDE.format(work="open('started', 'w').close()"))
    source = (
        f"import os; os.chdir({str(tmp_path)!r}); exec(compile(open('program.py').read(), {str(program)!r}, 'exec'))"
    )
    run(source, tmp_path / "cache")
    (tmp_path / "started").unlink()
    run(source, tmp_path / "cache")
    assert not (tmp_path / "started").exists()


INTERRUPTED = """
import os, signal
from azero.compiler.beside import compiling_beside
from azero.compiler.jit import kernel
@kernel
def triple(number):
    return 3 * number
fork = os.fork
def fork_and_interrupt():
    process = fork()
    os.kill(os.getpid(), signal.SIGINT)  # in both processes
    return process
os.fork = fork_and_interrupt
try:
    with compiling_beside(lambda: open("done", "w").close() or signal.pause()):
        triple(5)
except KeyboardInterrupt:
    print("stopped", flush=True)
try:
    os.wait()
except ChildProcessError:
    print("no process is left")
"""


def test_ctrl_c_while_the_second_process_begins_stops_both(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(INTERRUPTED)
    source = (
        f"import os; os.chdir({str(tmp_path)!r}); exec(compile(open('program.py').read(), {str(program)!r}, 'exec'))"
    )
    assert run(source, tmp_path / "cache") == ["stopped", "no process is left"]


WAITING = """
import time
from numba.core import event
from azero.compiler.beside import compiling_beside
from azero.compiler.jit import compile_errors, kernel
@kernel
def triple(number):
    return 3 * number
@kernel
def double(number):
    return 2 * number
@kernel
def wrong(number):
    return number.nothing
class Slow(event.Listener):
    def on_start(self, event):
        time.sleep(2)
    def on_end(self, event):
        pass
def work():
    event.register("numba:compile", Slow())
    double(1)
with compiling_beside(work):
    triple(5)
    time.sleep(1)
    print(double(4), sum(double.by_numba._cache_hits.values()))
begin = time.monotonic()
for _ in range(2):
    try:
        wrong(1)
    except compile_errors():
        print("an error")
print(time.monotonic() - begin < 30)
"""


def test_a_kernel_that_another_process_compiles_is_waited_for(tmp_path):
    """And one that cannot be compiled is nobody's."""
    program = tmp_path / "program.py"
    program.write_text(WAITING)
    source = f"exec(compile(open({str(program)!r}).read(), {str(program)!r}, 'exec'))"
    assert run(source, tmp_path / "cache") == ["8 1", "an error", "an error", "True"]


ANALYSING = """
import azero
from azero.mcts.kept_trees import add_roots, copy_subtree, sum_up_root
from azero.mcts.search.kernels import choose_action
agent = azero.make_agent("uct@100", azero.make_game("tic_tac_toe"), threads=2)
with agent.analyse(agent.game.new_initial_state(), simulations=10) as analysis:
    next(analysis)
kernels = add_roots, copy_subtree, sum_up_root, choose_action
print(*(sum(each.by_numba._cache_hits.values()) for each in kernels))
"""


def test_the_second_process_compiles_what_an_analysis_does_with_its_trees(tmp_path):
    assert run(ANALYSING, tmp_path / "cache") == ["1 1 1 1"]
