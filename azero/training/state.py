"""The saved state of a run: its progress, settings and trainer's tensors, in one file that is written atomically.

A second file has the state at the beginning of the current iteration. `azero check-run --repair` goes back to it if the
first file is damaged.
"""

import re
import shlex
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from reprlib import repr as short

import torch

from azero.config.deleted import DELETED_HEADS, check_run_can_continue, drop_deleted
from azero.config.schema import Config
from azero.errors import BadInput, Damaged
from azero.system.files import check_regular, write_whole
from azero.system.formats import drop_unknown, is_number
from azero.system.tensor_files import Tensors, read_card_alone, read_signed, write_tensors
from azero.training.learning.trainer import Trainer

MEAN, CANDIDATE = "mean", "candidate"
"""Names of the final's nets that have no iteration."""

NUM_PROMOTED = 3
"""Number of promoted nets that take part in the final; these are the last ones."""

STAGES = "play", "train", "gate"
"""Stages of an iteration, in order. Older states may have `reanalysis`, a stage between the first two."""

STATE, BEGINNING = "state.safetensors", "state_beginning.safetensors"
"""Names of the files, in the run's folder."""

SETTINGS = "settings", "settings_before"
"""Fields of the state with the run's settings; see `save_state`."""

NOTES_OF_PLAY = frozenset(
    {
        *("selfplay/positions", "selfplay/mean_plies", "selfplay/first_player_score", "selfplay/draws"),
        *("fresh/policy_agreement", "time/play_s"),
    }
)
"""Metrics of self-play that later stages and the run's table need."""

FORMAT = 2
"""Format version of a run's state. Format 1, which files without a version have, had no digest."""


@dataclass(frozen=True)
class Progress:
    """The progress of a run."""

    iteration: int = 1  # the current one
    stage: str = "play"  # the current one of STAGES
    steps: int = 0  # training steps in the run
    steps_this_iteration: int = 0
    positions: int = 0  # training positions of self-play in the run
    best: int = 0  # iteration of the best net
    player: int | None = None  # iteration of the net that plays this iteration's games, if not the best net
    rating: float = 0.0  # Elo above the first net of the best net or, after a final, of its winner
    pool: list[list[float]] = field(default_factory=list)  # the games by which nets are rated; see `rating.py`
    anchor: int = 0  # iteration of the net whose rating is given
    anchor_rating: float = 0.0  # 0 for the first net; another one in a long run, or if it began without a pool
    promotions: int = 0
    promoted: list[int] = field(default_factory=list)  # iterations of the last promoted nets, for the final; ascending
    final: str = ""  # name in checkpoints/ of the final's winner (an iteration, MEAN or CANDIDATE); empty before it
    shards: list[str] = field(default_factory=list)  # in the replay window, oldest first
    digests: dict[str, str] = field(default_factory=dict)  # of the files that belong to the run; see `digest_of`
    starts: list[str] = field(default_factory=list)  # texts of the positions of selfplay.starts, as the run began
    notes: dict = field(default_factory=dict)  # metrics of this iteration's finished stages
    sums: dict[str, float] = field(default_factory=dict)  # over this iteration's steps so far; see `add_steps`


_LARGEST = 4 << 30  # bytes of a file; it has several tensors for each of the net's


def save_state(
    folder: Path, config: Config, trainer: Trainer, progress: Progress, before: Config | None = None
) -> None:
    """Writes the state from which the run in `folder` continues, with the run's settings, atomically.

    Args:
      before: the settings in config.toml, if `config` is about to replace them there.
    """
    tensors = {name: tensor.numpy() for name, tensor in trainer.tensors().items()}
    settings = {
        name: each.model_dump(mode="json") for name, each in zip(SETTINGS, (config, before), strict=True) if each
    }
    write_tensors(folder / STATE, tensors, {"format": FORMAT, **asdict(progress), **settings}, _LARGEST)


def read_settings(folder: Path, name: str = STATE) -> list[dict]:
    """Returns the settings in a run's state, nested by section, and those before, if a change was interrupted.

    There are none in a run without a state, or with one of azero 0.1.0. Deleted settings are left out.

    Raises BadInput if the file is damaged, or if the run cannot continue without a deleted setting.
    """
    path = folder / name
    if not path.exists():
        return []
    card, _ = _read_state(path)
    found = [drop_deleted(card[name]) for name in SETTINGS if isinstance(card.get(name), dict)]
    for each in found:
        check_run_can_continue(_name_of(path), each)
    return found


def load_state(folder: Path, trainer: Trainer, name: str = STATE) -> Progress | None:
    """Restores the trainer from the state in `folder`, and returns the progress; None if there is no state.

    Raises BadInput if the file is damaged, has a later format, or does not fit the trainer.
    """
    path = folder / name
    if not path.exists():
        return None
    card, tensors = _read_state(path)
    progress = _progress_from(_name_of(path), card)
    trainer.restore({name: torch.from_numpy(array) for name, array in tensors.items()}, progress.steps)
    return progress


def read_progress(folder: Path, name: str) -> Progress:
    """Returns the progress in a state; raises BadInput if the file is damaged, or has a later format."""
    path = folder / name
    return _progress_from(_name_of(path), _read_state(path)[0])


def _read_state(path: Path) -> tuple[dict, Tensors]:
    """Returns card and tensors of a state; raises BadInput if it is damaged, or has a head that no longer exists."""
    card, tensors = read_signed(path, _name_of(path), FORMAT, _LARGEST)
    if "stage" not in card:
        raise Damaged(f"{_name_of(path)} is another file of azero's")
    for head in DELETED_HEADS:
        if any(name.startswith(f"heads.{head}.") for name in tensors):
            run = shlex.quote(str(path.parent))
            raise BadInput(
                f"{_name_of(path)} has a head that no longer exists, training.{head}_loss_weight (docs/learning.md), "
                f"so the run cannot continue; begin another with --from {run}, which takes its net, and "
                f"--games-of {run}"
            )
    return card, tensors


def _name_of(path: Path) -> str:
    return f"the run's state {str(path)!r}"


def keep_beginning(folder: Path) -> None:
    """Copies the state to the file of the iteration's beginning. Call it when an iteration begins."""
    data, path = (folder / STATE).read_bytes(), folder / BEGINNING
    if path.exists():
        check_regular(path)
    if not path.exists() or path.read_bytes() != data:
        write_whole(path, data)


def shards_at_beginning(folder: Path) -> list[str]:
    """Returns the names of the shards in the window when the iteration began; none if that state is damaged."""
    try:
        return read_progress(folder, BEGINNING).shards
    except BadInput:
        return []


def path_of(folder: Path, name: str) -> Path:
    """Returns the path of a file that belongs to the run in `folder`, by its name in `Progress.digests`.

    These are `candidate` during the gate, `checkpoints/NAME` and `replay/NAME`.
    """
    return folder / f"{name}.safetensors"


def digest_of(path: Path) -> str:
    """Returns the digest that a net or a shard names; raises BadInput. That it is right is checked by whoever reads it.

    It is empty for a shard of azero 0.1.0.
    """
    return str(read_card_alone(path).get("digest", ""))


def others_among(folder: Path, digests: dict[str, str]) -> list[Path]:
    """Returns the files that are in the places of a run's own ones, but have other digests; raises BadInput."""
    paths = {path_of(folder, name): digest for name, digest in digests.items()}
    return [path for path, digest in paths.items() if path.is_file() and digest_of(path) != digest]


def is_of_run(folder: Path, progress: Progress) -> bool:
    """Returns whether most of the files that a state names are in its folder. Otherwise it is another run's state."""
    is_same = []
    for name, digest in progress.digests.items():
        with suppress(BadInput):
            is_same.append(digest_of(path_of(folder, name)) == digest)
    return 2 * sum(is_same) >= len(is_same)


MOST_ITERATIONS = 10**9
"""The names of shards have room for fewer iterations."""

SHARD = r"[0-9]{5,9}-[0-9]{4,9}"
"""The names of shards, as a pattern."""

_BELONGING = rf"candidate|checkpoints/({MEAN}|{CANDIDATE}|[0-9]{{5,9}})|replay/{SHARD}"
"""The names of files that belong to a run, as a pattern."""


def _progress_from(what: str, card: dict) -> Progress:
    """Returns the progress that a card describes; raises BadInput if a field has another type or is out of range."""
    own = {name: value for name, value in card.items() if name not in ("format", *SETTINGS)}
    if own.get("stage") == "reanalysis":
        own["stage"] = "train"
    if "pool" not in own:  # of azero 0.1.0, whose rating was a sum over gates
        own |= {"anchor": own.get("best", 0), "anchor_rating": own.get("rating", 0.0)}
    progress = Progress(**drop_unknown(what, own, [*asdict(Progress())]))
    counts = ("iteration", "steps", "steps_this_iteration", "positions", "best", "promotions", "anchor")
    are_right = {
        name: type(getattr(progress, name)) is int and 0 <= getattr(progress, name) < 1 << 53 for name in counts
    }
    are_right["iteration"] = are_right["iteration"] and progress.iteration < MOST_ITERATIONS
    are_right["promoted"] = type(progress.promoted) is list and all(
        type(each) is int and 0 <= each <= progress.iteration for each in progress.promoted
    )
    are_right["promoted"] = are_right["promoted"] and sorted({*progress.promoted}) == progress.promoted
    are_right["player"] = progress.player is None or (
        type(progress.player) is int and 0 <= progress.player < MOST_ITERATIONS and progress.stage == STAGES[0]
    )
    are_right["steps_this_iteration"] = are_right["steps_this_iteration"] and (
        progress.steps_this_iteration <= (progress.steps if are_right["steps"] else 0)
    )
    are_right["stage"] = progress.stage in STAGES
    are_right |= {name: is_number(getattr(progress, name)) for name in ("rating", "anchor_rating")}
    are_right["pool"] = type(progress.pool) is list and all(map(_is_row, progress.pool))
    are_right["final"] = _is_match(rf"({MEAN}|{CANDIDATE}|[0-9]{{5,9}})?", progress.final)
    are_right["shards"] = type(progress.shards) is list and all(_is_match(SHARD, name) for name in progress.shards)
    if are_right["shards"]:  # self-play fills the window
        has_games = bool(progress.shards) or progress.stage == STAGES[0]
        are_right["shards"] = has_games and len({*progress.shards}) == len(progress.shards)
    are_right["digests"] = type(progress.digests) is dict and all(
        _is_match(_BELONGING, name) and _is_match(r"([0-9a-f]{64})?", digest)
        for name, digest in progress.digests.items()
    )
    are_right["starts"] = type(progress.starts) is list and all(_is_match(r"\S.*", each) for each in progress.starts)
    for name in ("notes", "sums"):
        values = getattr(progress, name)
        are_right[name] = type(values) is dict and all(map(is_number, values.values()))
        are_right[name] = are_right[name] and all(_is_match(r"[\w/.@-]{1,200}", each) for each in values)
    if are_right["sums"] and progress.sums:
        count, seconds = (progress.sums.get(name, -1) for name in ("steps", "seconds"))
        # Fewer than the iteration's steps, if azero 0.1.0 took some of them.
        are_right["sums"] = 0 < count <= progress.steps_this_iteration and seconds > 0
    if progress.stage in STAGES[1:] and are_right["notes"]:
        are_right["notes"] = progress.notes.keys() >= NOTES_OF_PLAY and progress.notes["selfplay/positions"] > 0
    if progress.stage == STAGES[-1] and are_right["notes"]:
        are_right["notes"] = "time/train_s" in progress.notes
    wrong = [name for name, is_right in are_right.items() if not is_right]
    if wrong:
        raise BadInput(f"{what} cannot be read: {wrong[0]} = {short(getattr(progress, wrong[0]))} is not valid")
    return progress


def _is_row(row: object) -> bool:
    """Returns whether a row of the pool is two iterations and three sums of scores in [0, 1]."""
    if not isinstance(row, list) or len(row) != 5 or not all(map(is_number, row)):
        return False
    a, b, pairs, points, squares = row
    are_nets = type(a) is type(b) is int and a != b and min(a, b) >= 0 and max(a, b) < MOST_ITERATIONS
    return are_nets and 0 <= squares <= points <= pairs


def _is_match(pattern: str, text: object) -> bool:
    """Returns whether `text` is a text of this pattern."""
    return isinstance(text, str) and re.fullmatch(pattern, text, re.ASCII) is not None
