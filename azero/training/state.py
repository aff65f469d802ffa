"""The saved state of a run: its progress and the trainer's tensors, in one file that is written atomically."""

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
"""Names of the final's nets that have no iteration."""

FORMAT = 1
"""Format version of a run's state. Files without a version have this one, too."""


@dataclass(frozen=True)
class Progress:
    """The progress of a run."""

    iteration: int = 1  # the current one
    stage: str = "play"  # the current one: "play", "reanalysis", "train" or "gate"
    steps: int = 0  # training steps in the run
    steps_this_iteration: int = 0
    positions: int = 0  # training positions of self-play in the run
    best: int = 0  # iteration of the best net
    rating: float = 0.0  # the best net's Elo above the first net
    promotions: int = 0
    final: str = ""  # name in checkpoints/ of the final's winner (an iteration, MEAN or CANDIDATE); empty before it
    shards: list[str] = field(default_factory=list)  # in the replay window, oldest first
    notes: dict = field(default_factory=dict)  # metrics of this iteration's finished stages
    sums: dict[str, float] = field(default_factory=dict)  # over this iteration's steps so far; see `add_steps`


def save_state(folder: Path, trainer: Trainer, progress: Progress) -> None:
    """Writes the state from which the run in `folder` continues, atomically."""
    metadata = {"azero": json.dumps({"format": FORMAT, **asdict(progress)}, sort_keys=True)}
    write_whole(folder / "state.safetensors", save(trainer.tensors(), metadata))


def load_state(folder: Path, trainer: Trainer) -> Progress | None:
    """Restores the trainer from the state in `folder`, and returns the progress; None if there is no state.

    Raises BadInput if the file is damaged, has a later format, or does not fit the trainer.
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
                raise ValueError(f"final = {progress.final!r} is not the name of a net")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except BadInput:
        raise
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise BadInput(f"the run's state {str(path)!r} cannot be read: {error}") from None
    trainer.restore(tensors, progress.steps)
    return progress
