"""The settings of runs that tests with Ray share, and the environment of their processes."""

import os
from pathlib import Path

from training.runs import tiny_config

from azero.config.schema import Config

TRAINING = {"iterations": 2, "batch_size": 512, "samples_per_position": 40, "precision": "fp32"}
"""Training in which four processes can share a step."""


def config_of(trainers: int = 1, **sections: dict) -> Config:
    """Returns the tiny settings with this training, and changes in the given sections."""
    return tiny_config(**{"training": TRAINING, "cluster": {"trainers": trainers}} | sections)


def with_tests() -> str:
    """Returns Python's path with the tests, from which workers import what their tasks do."""
    return os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]))
