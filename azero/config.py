"""The settings of a run: read from TOML and checked once, here; frozen and complete from then on.

Each field's description says what it does and, after "Paper:", what AlphaZero (Silver et al. 2018) or AlphaGo Zero
(2017) used. `config_text.py` makes the comments of a run's `config.toml` and `docs/configuration.md` from these.
"""

import contextlib
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from azero.errors import BadInput, suggest_nearest

_PLACES = (Path(__file__).parent / "configs", Path(__file__).parent.parent / "configs")


class Section(BaseModel):
    """A table of settings: frozen, and nothing unknown in it."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class GameConfig(Section):
    """What is played."""

    name: str = Field(description="The game, with its parameters: `connect_four(rows=6,columns=7)`; see `azero games`.")


class NetConfig(Section):
    """The residual tower and its heads."""

    blocks: int = Field(5, ge=1, le=80, description="Residual blocks. Paper: 19.")
    channels: int = Field(64, ge=1, le=1024, description="Filters of each 3x3 convolution. Paper: 256.")
    policy_channels: int = Field(
        8, ge=1, le=256, description="Filters of the policy head's 1x1 convolution. Paper: 2 (Go)."
    )
    value_channels: int = Field(8, ge=1, le=256, description="Filters of the value head's 1x1 convolution. Paper: 1.")
    value_hidden: int = Field(64, ge=1, le=4096, description="Units of the value head's hidden layer. Paper: 256.")


class SearchConfig(Section):
    """The search of self-play, gate and evaluation alike."""

    selection: Literal["puct", "uct"] = Field("puct", description="How a simulation picks its way down. Paper: puct.")
    c_uct: float = Field(1.4, ge=0, le=100, description="Exploration constant of selection = uct; Q is in [-1, 1].")
    c_puct: float = Field(1.25, gt=0, le=100, description="Exploration constant of PUCT. Paper: 1.25.")
    c_puct_factor: float = Field(
        1.0,
        ge=0,
        le=100,
        description="How much c_puct grows with ln((1 + N + base) / base); 0 keeps it constant. Paper: 1.",
    )
    c_puct_base: float = Field(19652.0, ge=1, description="Visits at which that growth sets in. Paper: 19652.")
    fpu: Literal["reduced", "absolute"] = Field(
        "reduced", description="Value of an unvisited move: its parent's, reduced, or a constant. Paper: absolute."
    )
    fpu_reduction: float = Field(
        0.2,
        ge=0,
        le=2,
        description="Reduction from the parent's value, times the root of the prior already visited. Paper: none.",
    )
    fpu_value: float = Field(0.0, ge=-1, le=1, description="The constant of fpu = absolute. Paper: 0, a new edge's Q.")
    prove: bool = Field(
        True, description="Carry proven wins, draws and losses up the tree, and leave lost moves alone. Paper: no."
    )
    look_ahead: bool = Field(True, description="Look at each new node's moves for one that ends the game. Paper: no.")
    rollout_weight: float = Field(
        0.0,
        ge=0,
        le=1,
        description="a of the leaf value (1 - a) v + a z, z from a rollout. Paper: 0; AlphaGo: 0.5.",
    )
    rollout: str = Field(
        "own",
        min_length=1,
        description="The policy of that rollout: `own` (the game's), `uniform`, or a file of `azero train-rollout`. "
        "Paper: none; AlphaGo: trained.",
    )
    stop_early: bool = Field(
        False, description="End a search when no other move can overtake the most visited one; never in self-play, "
        "nor where moves are chosen by value. Paper: no."
    )  # fmt: skip
    choose_by: Literal["visits", "value"] = Field(
        "visits", description="What the best move is chosen by when no temperature is set. Paper: visits."
    )


class SelfPlayConfig(Section):
    """Games against itself, which are the training data."""

    games_per_iteration: int = Field(1000, ge=1, description="Games an iteration. Paper: 25000 (AlphaGo Zero).")
    parallel_games: int = Field(
        256, ge=1, le=16384, description="Games a worker plays in lockstep, one net batch a step."
    )
    num_workers: int = Field(
        0, ge=0, le=1024, description="Worker processes; 1 is the training process, 0 takes one a core (one on a GPU). "
        "The games are the same for any number. Paper: 5000 TPUs."
    )  # fmt: skip
    games_per_shard: int = Field(
        250, ge=1, description="Games that are played, saved and, after an interruption, kept together."
    )
    num_simulations: int = Field(64, ge=1, le=30000, description="Simulations a move. Paper: 800.")
    temperature: float = Field(
        1.0,
        ge=0,
        le=100,
        description="Moves of the opening are drawn from N^(1 / temperature); 0 plays the best. Paper: 1.",
    )
    temperature_plies: int = Field(30, ge=0, description="Length of that opening in plies. Paper: 30.")
    final_temperature: float = Field(0.0, ge=0, le=100, description="Temperature after the opening. Paper: 0.")
    dirichlet_alpha: float = Field(
        1.0,
        gt=0,
        le=100,
        description="Concentration of the noise at the root, about 10 / legal moves. Paper: 0.03 for Go's 361.",
    )
    dirichlet_epsilon: float = Field(
        0.25, ge=0, le=1, description="Share of the noise in the root's priors. Paper: 0.25."
    )
    keep_tree: bool = Field(True, description="Keep the subtree of the move played for the next search. Paper: yes.")
    random_symmetry: bool = Field(
        True, description="Let the net see each leaf in a random symmetry. Paper: yes in AlphaGo Zero, no in AlphaZero."
    )


class ReplayConfig(Section):
    """The positions that training draws from."""

    window: int = Field(
        200_000, ge=1, description="Positions kept, the newest; whole shards, so up to one shard more. "
        "Paper: the last 500,000 games."
    )  # fmt: skip


class TrainingConfig(Section):
    """From positions to a better net."""

    iterations: int = Field(50, ge=1, description="Rounds of self-play, training and gate.")
    batch_size: int = Field(256, ge=1, le=65536, description="Positions a step. Paper: 4096.")
    samples_per_position: float = Field(
        4.0,
        gt=0,
        le=1000,
        description="How often each new position is drawn on average; it sets the steps of an iteration.",
    )
    optimizer: Literal["adamw", "sgd"] = Field("adamw", description="AdamW or SGD with momentum. Paper: sgd.")
    learning_rate: float = Field(
        0.002, gt=0, le=10, description="Highest learning rate. Paper: 0.2 for batches of 4096."
    )
    momentum: float = Field(0.9, ge=0, lt=1, description="Momentum of SGD, first beta of AdamW. Paper: 0.9.")
    weight_decay: float = Field(
        1e-4, ge=0, le=1, description="Decay of weights (not of biases and norms). Paper: 1e-4."
    )
    schedule: Literal["constant", "cosine", "step"] = Field(
        "cosine", description="From the highest learning rate to the final one: not at all, as a cosine, or by tenths "
        "at 50, 75 and 90 % of the run. Paper: step."
    )  # fmt: skip
    final_learning_rate: float = Field(
        0.0002, ge=0, le=10, description="Learning rate at the end, and at the least. Paper: 0.0002."
    )
    warmup_steps: int = Field(100, ge=0, description="Steps over which the learning rate rises from zero. Paper: 0.")
    gradient_clip: float = Field(5.0, ge=0, description="Limit on the gradient's norm; 0 sets none. Paper: none.")
    ema_decay: float = Field(
        0.99, ge=0, lt=1, description="Decay a step of the moving average of weights, which is the candidate; "
        "0 takes the weights themselves. Paper: none."
    )  # fmt: skip
    value_loss_weight: float = Field(
        1.0, ge=0, le=100, description="Weight of the value loss beside the policy's 1. Paper: 1."
    )
    root_value_weight: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Share of the search's value in the value to learn, beside the game's result. Paper: 0.",
    )
    save_every_steps: int = Field(500, ge=1, description="Steps between saves of the whole state within an iteration.")


class GateConfig(Section):
    """Candidate against best."""

    games: int = Field(
        40, ge=2, description="Games of a gate, at the most; even, since each opening is played twice. Paper: 400."
    )
    num_simulations: int = Field(32, ge=1, le=30000, description="Simulations a move. Paper: 1600.")
    method: Literal["win_rate", "sprt"] = Field(
        "win_rate", description="Promote by the score, or by an SPRT. Paper: win_rate."
    )
    win_rate_threshold: float = Field(
        0.55, gt=0, lt=1, description="Score from which a candidate is promoted. Paper: 0.55."
    )
    elo0: float = Field(0.0, description="SPRT: not better than this is not promoted.")
    elo1: float = Field(50.0, description="SPRT: better than this is promoted.")
    opening_plies: int = Field(
        4, ge=0, description="Random plies at the start of each pair of games, at the least one fewer."
    )


class EvaluationConfig(Section):
    """The score against a fixed opponent, for the record."""

    opponent: str = Field("uct@1000", description="The agent that the best net meets.")
    every: int = Field(5, ge=0, description="Iterations between these matches, and one after the last; 0 plays none.")
    games: int = Field(40, ge=2, description="Games of a match.")
    num_simulations: int = Field(64, ge=1, le=30000, description="The net's simulations a move.")


class DeviceConfig(Section):
    """Where the net runs."""

    device: Literal["auto", "cpu", "cuda", "mps"] = Field(
        "auto", description="`auto` takes CUDA, else MPS, else the CPU."
    )
    precision: Literal["auto", "fp32", "bf16"] = Field(
        "auto",
        description="Arithmetic of inference; `auto` takes bf16 where the machine computes in it. Training is in fp32.",
    )
    threads: int = Field(0, ge=0, le=1024, description="Threads of training and matches; 0 takes a thread a core.")


class Config(Section):
    """All settings of a run."""

    seed: int = Field(0, ge=0, lt=1 << 63, description="Every random number of the run follows from it.")
    game: GameConfig
    net: NetConfig = NetConfig()
    search: SearchConfig = SearchConfig()
    selfplay: SelfPlayConfig = SelfPlayConfig()
    replay: ReplayConfig = ReplayConfig()
    training: TrainingConfig = TrainingConfig()
    gate: GateConfig = GateConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    device: DeviceConfig = DeviceConfig()


def find_config(name: str) -> Path:
    """Returns the file of a config named by path, or by the name of one that comes with azero; raises BadInput."""
    with contextlib.suppress(OSError, ValueError):  # a name that no file can have
        if Path(name).is_file():
            return Path(name)
    shipped = {path.stem: path for place in _PLACES for path in place.glob("*.toml")}
    if name in shipped:
        return shipped[name]
    raise BadInput(f"config {name!r} is neither a file nor one that comes with azero; {suggest_nearest(name, shipped)}")


def load_config(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Reads a TOML file, applies overrides of the form `section.key=value`, and checks; raises BadInput.

    The file of a user's own game is looked for from the working folder, then from the TOML file's.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"config {str(path)!r} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"config {str(path)!r} is not TOML: {error}") from None
    _find_own_game(tables, path.parent)
    for override in overrides:
        _apply_override(tables, override)
    return check_config(tables)


def _find_own_game(tables: dict[str, Any], folder: Path) -> None:
    """Puts `folder` before the path of a game's file that lies there, and not where the path leads from here."""
    section = tables.get("game")
    name = section.get("name") if isinstance(section, dict) else None
    if isinstance(section, dict) and isinstance(name, str) and ".py:" in name:
        file = Path(name.rpartition(".py:")[0] + ".py")
        if not file.exists() and (folder / file).exists():
            section["name"] = str(folder / name)


def check_config(tables: dict[str, Any]) -> Config:
    """Returns the settings of nested tables, complete and checked; raises BadInput with the first that is wrong."""
    try:
        config = Config.model_validate(tables)
    except ValidationError as error:
        raise BadInput(_explain(error)) from None
    if config.gate.elo1 <= config.gate.elo0:
        raise BadInput(f"gate.elo1 = {config.gate.elo1} should be greater than gate.elo0 = {config.gate.elo0}")
    return config


def override_search(values: dict[str, Any], overrides: dict[str, str]) -> SearchConfig:
    """Returns the settings of a search, with some of them written anew; raises BadInput."""
    tables = {"search": dict(values)}
    for key, text in overrides.items():
        _apply_override(tables, f"search.{key}={text}")
    try:
        return SearchConfig.model_validate(tables["search"])
    except ValidationError as error:
        raise BadInput(_explain(error, SearchConfig)) from None


def check_device(device: str, precision: str) -> DeviceConfig:
    """Returns where a net is to run; raises BadInput."""
    try:
        return DeviceConfig.model_validate({"device": device, "precision": precision})
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(f"{first['loc'][0]} {first['input']!r} is not known: {_lower(first['msg'])}") from None


def _apply_override(tables: dict[str, Any], override: str) -> None:
    """Sets one `section.key=value`; the value is TOML, and a word that is no TOML is a string."""
    key, separator, text = override.partition("=")
    *sections, name = key.strip().split(".")
    if not separator or not name:
        raise BadInput(f"--set {override!r} should be of the form section.key=value, e.g. training.iterations=10")
    value: object = text.strip()
    if "\n" not in text:
        with contextlib.suppress(tomllib.TOMLDecodeError):
            value = tomllib.loads(f"value = {text}")["value"]
    for section in sections:
        tables = tables.setdefault(section, {})
        if not isinstance(tables, dict):
            raise BadInput(f"--set {override!r}: {section!r} is a setting, not a section")
    tables[name] = value


def _explain(error: ValidationError, root: type[BaseModel] = Config) -> str:
    """Returns the first error as one line that names the setting, its value and what would be right.

    What is unknown comes before the rest: a table that is misspelt is missing, too.
    """
    first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        section = root
        for part in first["loc"][:-1]:
            section = section.model_fields[str(part)].annotation  # type: ignore[assignment]
        return f"unknown setting {name!r}; {suggest_nearest(str(first['loc'][-1]), section.model_fields)}"
    if first["type"] == "missing":
        return f"setting {name!r} is missing"
    return f"setting {name} = {first['input']!r} is not valid: {_lower(first['msg'])}"


def _lower(message: str) -> str:
    return message[0].lower() + message[1:]
