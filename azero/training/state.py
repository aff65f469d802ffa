"""Where a killed run picks up: its progress and all that the trainer holds, in one file that is whole or not there."""

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from azero.errors import BadInput
from azero.system.files import remove_temporaries, write_whole
from azero.system.formats import check_format, drop_unknown
from azero.training.learning.trainer import Trainer

MEAN, CANDIDATE = "mean", "candidate"
"""Names of nets that have no iteration of their own, and meet in the final."""

FORMAT = 1
"""Of a run's state; those from before they said so are of it, too."""


@dataclass(frozen=True)
class Progress:
    """How far a run has come."""

    iteration: int = 1  # the one under way
    stage: str = "play"  # of "play", "reanalysis", "train", "gate"
    steps: int = 0  # training steps in the run
    steps_this_iteration: int = 0
    positions: int = 0  # to learn from, of self-play in the run
    best: int = 0  # iteration of the best net
    rating: float = 0.0  # the best net's Elo above the first
    promotions: int = 0
    final: str = ""  # name in checkpoints/ of the net that won it, once it has been: its iteration, MEAN or CANDIDATE
    shards: list[str] = field(default_factory=list)  # in the replay window, oldest first
    notes: dict = field(default_factory=dict)  # figures of this iteration's finished stages
    sums: dict[str, float] = field(default_factory=dict)  # over this iteration's steps so far, as `add_steps` has them


def save_state(folder: Path, trainer: Trainer, progress: Progress) -> None:
    """Writes the point from which the run in `folder` is to go on, whole or not at all."""
    metadata = {"azero": json.dumps({"format": FORMAT, **asdict(progress)}, sort_keys=True)}
    write_whole(folder / "state.safetensors", save(trainer.tensors(), metadata))


def load_state(folder: Path, trainer: Trainer) -> Progress | None:
    """Puts the trainer where the run in `folder` was left, and returns the progress; None where it had not begun.

    Raises BadInput where the file is damaged, of a later format, or does not fit the trainer.
    """
    path = folder / "state.safetensors"
    remove_temporaries(folder)
    if not path.exists():
        return None
    try:
        with safe_open(str(path), framework="pt") as file:
            said = dict(json.loads((file.metadata() or {})["azero"]))
            check_format(f"the run's state {str(path)!r}", said.pop("format", 1), FORMAT)
            progress = Progress(**drop_unknown(f"the run's state {str(path)!r}", said, [*asdict(Progress())]))
            if not re.fullmatch(rf"({MEAN}|{CANDIDATE}|[0-9]{{5,}})?", str(progress.final)):
                raise ValueError(f"final = {progress.final!r} is no name of a net")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except BadInput:
        raise
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise BadInput(f"the run's state {str(path)!r} cannot be read: {error}") from None
    trainer.restore(tensors, progress.steps)
    return progress
