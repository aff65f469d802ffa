"""The saved state of a run: its progress, settings and trainer's tensors, in one file that is written atomically.

A second file has the state at the beginning of the current iteration. `azero check-run --repair` goes back to it if the
first file is damaged.
"""

from contextlib import suppress
from pathlib import Path
from reprlib import repr as short
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from azero.config.reading import check_all_settings, check_config
from azero.config.schema import Config
from azero.errors import BadInput
from azero.runs.folder import BEGINNING, CANDIDATE, MEAN, MOST_ITERATIONS, NET, SHARD, STATE
from azero.system.files import check_regular, write_whole
from azero.system.formats import check_names
from azero.system.tensor_files import Tensors, read_card_alone, read_signed, write_tensors

NUM_PROMOTED = 3
"""Number of promoted nets that take part in the final; these are the last ones."""

STAGES = "play", "train", "gate"
"""Stages of an iteration, in order."""

SETTINGS = "settings", "settings_before"
"""Fields of the state with the run's settings; see `write_state`."""

NOTES_OF_PLAY = frozenset(
    {
        *("selfplay/positions", "selfplay/mean_plies", "selfplay/first_player_score", "selfplay/draws"),
        *("fresh/policy_agreement", "time/play_s"),
    }
)
"""Metrics of self-play that later stages and the run's table need."""

FORMAT = 2
"""Format version of a run's state."""

_LARGEST = 4 << 30  # bytes of a file; it has several tensors for each of the net's


def _check_row(row: list[float]) -> list[float]:
    """Raises ValueError unless a row of the pool is two iterations and three sums of scores in [0, 1]."""
    if len(row) == 5:
        a, b, pairs, points, squares = row
        are_nets = type(a) is type(b) is int and a != b and min(a, b) >= 0 and max(a, b) < MOST_ITERATIONS
        if are_nets and 0 <= squares <= points <= pairs:
            return row
    raise ValueError("it should be two nets, and their games")


Count = Annotated[int, Field(ge=0, lt=1 << 53)]
Iteration = Annotated[int, Field(ge=0, lt=MOST_ITERATIONS)]
Number = Annotated[int, Field(gt=-1e18, lt=1e18)] | Annotated[float, Field(gt=-1e18, lt=1e18)]
"""A number of a size that something of a run can have. An integer stays one."""

Row = Annotated[list[Number], AfterValidator(_check_row)]
Name = Annotated[str, StringConstraints(pattern=r"\A[A-Za-z0-9_/.@-]{1,200}\Z")]
Winner = Annotated[str, StringConstraints(pattern=rf"\A({MEAN}|{CANDIDATE}|{NET})?\Z")]
Shard = Annotated[str, StringConstraints(pattern=rf"\A{SHARD}\Z")]
Digest = Annotated[str, StringConstraints(pattern=r"\A[0-9a-f]{64}\Z")]
Belonging = Annotated[
    str, StringConstraints(pattern=rf"\A(candidate|checkpoints/({MEAN}|{CANDIDATE}|{NET})|replay/{SHARD})\Z")
]
Text = Annotated[str, StringConstraints(pattern=r"\A\S.*\Z")]


class Progress(BaseModel):
    """The progress of a run."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, regex_engine="python-re")

    iteration: Iteration = 1  # the current one
    stage: Literal["play", "train", "gate"] = "play"  # the current one of STAGES
    steps: Count = 0  # training steps in the run
    steps_this_iteration: Count = 0
    positions: Count = 0  # training positions of self-play in the run
    best: Count = 0  # iteration of the best net
    player: Iteration | None = None  # iteration of the net that plays this iteration's games, if not the best net
    rating: Number = 0.0  # Elo above the first net of the best net or, after a final, of its winner
    pool: list[Row] = []  # the games by which nets are rated; see `rating.py`
    anchor: Count = 0  # iteration of the net whose rating is given
    anchor_rating: Number = 0.0  # 0 for the first net; another one in a long run
    promotions: Count = 0
    promoted: list[Iteration] = []  # iterations of the last promoted nets, for the final; ascending
    final: Winner = ""  # name in checkpoints/ of the final's winner; empty before it
    shards: list[Shard] = []  # in the replay window, oldest first
    digests: dict[Belonging, Digest] = {}  # of the files that belong to the run; see `digest_of`
    starts: list[Text] = []  # of the positions of selfplay.starts, as the run began
    notes: dict[Name, Number] = {}  # metrics of this iteration's finished stages
    sums: dict[Name, Number] = {}  # over this iteration's steps so far; see `add_steps`

    def changed(self, **changes: object) -> "Progress":
        """Returns the progress with other values of some fields."""
        return Progress(**(dict(self) | changes))

    @field_validator("steps_this_iteration")
    @classmethod
    def _are_some_of_all(cls, steps: int, others: ValidationInfo) -> int:
        return _hold(steps, steps <= others.data.get("steps", 0), "these are more than all steps")

    @field_validator("player")
    @classmethod
    def _is_to_play(cls, player: int | None, others: ValidationInfo) -> int | None:
        return _hold(player, player is None or others.data.get("stage") == STAGES[0], "the games are played")

    @field_validator("promoted")
    @classmethod
    def _were_promoted(cls, promoted: list[int], others: ValidationInfo) -> list[int]:
        is_right = sorted({*promoted}) == promoted and max(promoted, default=0) <= others.data.get("iteration", 0)
        return _hold(promoted, is_right, "they should ascend up to this iteration")

    @field_validator("shards")
    @classmethod
    def _are_played(cls, shards: list[str], others: ValidationInfo) -> list[str]:
        is_right = len({*shards}) == len(shards) and (bool(shards) or others.data.get("stage") == STAGES[0])
        return _hold(shards, is_right, "each should be there once, and self-play fills the window")

    @field_validator("notes")
    @classmethod
    def _are_of_stages(cls, notes: dict[str, float], others: ValidationInfo) -> dict[str, float]:
        stage = others.data.get("stage")
        has_played = notes.keys() >= NOTES_OF_PLAY and notes["selfplay/positions"] > 0
        is_right = (has_played or stage == STAGES[0]) and ("time/train_s" in notes or stage != STAGES[-1])
        return _hold(notes, is_right, "a finished stage has its metrics")

    @field_validator("sums")
    @classmethod
    def _are_of_steps(cls, sums: dict[str, float], others: ValidationInfo) -> dict[str, float]:
        steps = others.data.get("steps_this_iteration", 0)
        is_right = sums.get("steps", 0) == steps and (not sums or (steps > 0 and sums.get("seconds", 0) > 0))
        return _hold(sums, is_right, "they should be of the iteration's steps")


def _hold(value: Any, is_right: bool, reason: str) -> Any:
    """Returns a value; raises ValueError if it is not right."""
    if not is_right:
        raise ValueError(reason)
    return value


class State(NamedTuple):
    """What the file of a state says."""

    progress: Progress
    settings: list[Config]  # the run's, and those before if a change was interrupted
    tensors: Tensors  # of the trainer


def write_state(
    folder: Path, config: Config, tensors: Tensors, progress: Progress, before: Config | None = None
) -> None:
    """Writes the state from which the run in `folder` continues, with the run's settings, atomically.

    Args:
      before: the settings in config.toml, if `config` is about to replace them there.
    """
    settings = {
        name: each.model_dump(mode="json") for name, each in zip(SETTINGS, (config, before), strict=True) if each
    }
    write_tensors(folder / STATE, tensors, {"format": FORMAT, **dict(progress), **settings}, _LARGEST)


def read_state(path: Path) -> State:
    """Returns what a state says.

    Raises Damaged if the file is damaged, BadInput if it is of another version of azero or has impossible values.
    """
    what = f"the run's state {str(path)!r}"
    card, tensors = read_signed(path, what, FORMAT, lambda card: "stage" in card, _LARGEST)
    check_names(what, card, ["format", *Progress.model_fields, *SETTINGS], optional=SETTINGS[1:])
    own = {name: card[name] for name in Progress.model_fields}
    try:
        progress = Progress(**own)
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        raise BadInput(f"{what} cannot be read: {name} = {short(own[name])} is not valid") from None
    return State(progress, [_settings_from(what, card[name]) for name in SETTINGS if name in card], tensors)


def _settings_from(what: str, tables: object) -> Config:
    """Returns the settings in a state; raises BadInput."""
    if not isinstance(tables, dict):
        raise BadInput(f"{what} cannot be read: settings = {short(tables)} is not valid")
    check_all_settings(what, tables)
    try:
        return check_config(tables)
    except BadInput as error:
        raise BadInput(f"{what} cannot be read: {error}") from None


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
        return read_state(folder / BEGINNING).progress.shards
    except BadInput:
        return []


def path_of(folder: Path, name: str) -> Path:
    """Returns the path of a file that belongs to the run in `folder`, by its name in `Progress.digests`.

    These are `candidate` during the gate, `checkpoints/NAME` and `replay/NAME`.
    """
    return folder / f"{name}.safetensors"


def digest_of(path: Path) -> str:
    """Returns the digest that a net or a shard names; raises BadInput. Readers of the file check it."""
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
