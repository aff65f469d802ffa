"""Measures how much weaker the net that a run publishes is than the best net of its final.

    python benchmarks/published_net.py [--runs 10] [--games 1600] [--game connect_four]

Each run is short, with a seed of its own. Afterwards the nets that were in its final play a long pool with other openings.
The script prints the Elo of the strongest of them above the published net, with the 95 % interval of that difference.
The strongest is the one that seems so in these games, so the difference is a little too large.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

import azero
from azero.arena.ratings.pool import Pool
from azero.config.reading import check_config
from azero.nets.checkpoint import load_checkpoint, save_checkpoint
from azero.training.final import mean_of
