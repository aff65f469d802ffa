"""Tests of the machine: freed memory is reused without page faults, and torch leaves no files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FAULTS = """
import resource, threading
import numpy as np
from azero.system.machine import keep_freed_memory

def allocate(num_rounds):
    for _ in range(num_rounds):
        [np.ones(1 << 17) for _ in range(24)]  # 24 MiB

def count():
    allocate(3)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    allocate(10)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)

keep_freed_memory()
thread = threading.Thread(target=count)
thread.start()
thread.join()
count()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other C libraries have no such call")
def test_freed_memory_is_used_again_without_page_faults():
    """Without it glibc causes 6,000 page faults in a thread, and 60,000 in the main thread."""
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    assert all(int(line) < 1000 for line in done.stdout.split()), done.stdout


TRAINS = """
from training.runs import tiny_config
from azero.games import make_game
from azero.training.learning.trainer import Trainer

Trainer(tiny_config(), make_game("tic_tac_toe"))
"""


def test_training_leaves_nothing_in_the_folder_of_temporary_files(tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "TORCHINDUCTOR_CACHE_DIR"}
    environment |= {"TMPDIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[1])}
    subprocess.run([sys.executable, "-c", TRAINS], env=environment, check=True)
    assert list(tmp_path.iterdir()) == []
