"""The settings of a run. They are frozen; `reading.py` reads and checks them.

The sections game, net, search and device are here. `selfplay.py` has self-play and replay; `training.py` has training,
gate and evaluation; `cluster.py` has the cluster.

Each field's description says what the setting does and, after "Paper:", which value AlphaZero (Silver et al. 2018) or
AlphaGo Zero (2017) used. `text.py` makes `docs/configuration.md` and the comments of a run's `config.toml` from them.
"""

from typing import TYPE_CHECKING, Literal

from pydantic import Field, field_validator

from azero.config.cluster import ClusterConfig
from azero.config.section import Section
from azero.config.selfplay import ReplayConfig, SelfPlayConfig
from azero.config.training import EvaluationConfig, GateConfig, TrainingConfig
from azero.heads import HEADS

if TYPE_CHECKING:
    HeadName = str
else:
    HeadName = Literal[tuple(HEADS)]

FORMAT = 1
"""Version of the file format. A file without `format` has version 1."""

C_UCT = 1.0
"""Default exploration constant of UCT, chosen by matches; see docs/lab.md."""


class GameConfig(Section):
    """The game."""

    name: str = Field(description="Game with its parameters: `connect_four(rows=6,columns=7)`. See `azero games`.")
    sizes: tuple[int, ...] = Field(
        (),
        max_length=16,
        description="Sizes of the board that one net learns together, ascending: `[4, 6]`. The name then has no size, "
        "and the net is any_size. Empty: the game has the size that its name says. Paper: none; KataGo: 7 to 19.",
    )

    @field_validator("sizes")
    @classmethod
    def _check_sizes(cls, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Raises ValueError unless there is no size, or two or more in ascending order."""
        if len(sizes) == 1 or [*sizes] != sorted({*sizes}) or min(sizes, default=1) < 1:
            raise ValueError("should be two or more sizes, ascending, e.g. [4, 6], or [] for the one in game.name")
        return sizes


class NetConfig(Section):
    """The net."""

    name: str = Field(
        "tower",
        max_length=1000,
        description="The kind of net. `tower`: the residual tower. `any_size`: the tower with heads that do not depend "
        "on the board's size; 32 value channels suit it better than 8. `dense`: `blocks` linear layers of `channels` "
        "units, for planes that are no picture. `my_net.py:MyNet` or `my_net.py:MyNet(width=64)`: a net of your own. "
        "Of the other settings here, `heads`, `policy_channels`, `value_channels` and `value_hidden` apply to it; the "
        "last three are the widths of its auxiliary heads. Paper: tower.",
    )
    blocks: int = Field(5, ge=1, le=80, description="Residual blocks. Paper: 19.")
    channels: int = Field(64, ge=1, le=1024, description="Filters of each 3x3 convolution. Paper: 256.")
    global_context: Literal["none", "se", "pool"] = Field(
        "none",
        description="How a block lets each cell see the whole board. `none`: not at all. `se`: squeeze-and-excitation "
        "with a scale per channel. `pool`: a bias from pooled channels. Paper: none; Lc0: se with a bias; KataGo: "
        "pool.",
    )
    policy_channels: int = Field(
        8, ge=1, le=256, description="Filters of the policy head's 1x1 convolution. Paper: 2 (Go)."
    )
    value_channels: int = Field(8, ge=1, le=256, description="Filters of the value head's 1x1 convolution. Paper: 1.")
    value_hidden: int = Field(64, ge=1, le=4096, description="Units of the value head's hidden layer. Paper: 256.")
    heads: tuple[HeadName, ...] = Field(
        (),
        description=f"Auxiliary heads that stay in the checkpoint, of {', '.join(f'`{name}`' for name in HEADS)}. A "
        "suggestion then has their answers. Each needs its `training.NAME_loss_weight`. Searches do not run them. "
        "Paper: none; KataGo: both.",
    )

    @field_validator("heads")
    @classmethod
    def _check_heads(cls, heads: tuple[str, ...]) -> tuple[str, ...]:
        """Raises ValueError if a head is named twice."""
        if len({*heads}) < len(heads):
            raise ValueError("should name each head once")
        return heads


class SearchConfig(Section):
    """The search in self-play, gate and evaluation."""

    selection: Literal["puct", "uct"] = Field("puct", description="Selection rule: `puct` or `uct`. Paper: puct.")
    c_uct: float = Field(C_UCT, ge=0, le=100, description="Exploration constant of UCT, for Q in [-1, 1].")
    c_puct: float = Field(1.25, gt=0, le=100, description="Exploration constant of PUCT. Paper: 1.25.")
    c_puct_factor: float = Field(
        1.0,
        ge=0,
        le=100,
        description="Growth of c_puct with the visits N of the node: this factor times ln((1 + N + base) / base) is "
        "added to c_puct. 0 keeps it constant. Paper: 1.",
    )
    c_puct_base: float = Field(19652.0, ge=1, description="The base in that formula, in visits. Paper: 19652.")
    fpu: Literal["reduced", "absolute"] = Field(
        "reduced",
        description="Value of an unvisited move. `reduced`: the parent's value minus a reduction; `absolute`: a "
        "constant. Paper: absolute.",
    )
    fpu_reduction: float = Field(
        0.2,
        ge=0,
        le=2,
        description="With fpu = reduced: the reduction is this number times the square root of the visited moves' "
        "total prior. Paper: none.",
    )
    fpu_value: float = Field(
        0.0, ge=-1, le=1, description="With fpu = absolute: the constant. Paper: 0, a new edge's Q."
    )
    prove: bool = Field(
        True,
        description="Back up proven wins, draws and losses, and stop searching moves that are proven lost. No move is "
        "played that one reply refutes by ending the game, unless all moves are proven lost. Paper: no.",
    )
    look_ahead: bool = Field(
        True,
        description="Check at each new node whether one of its moves ends the game. If the rules say that the end is "
        "near, as in Othello with few stones, alpha-beta visits up to 1,000 positions there. Paper: no.",
    )
    proof_nodes: int = Field(
        0,
        ge=0,
        le=1 << 16,
        description="Limit on the positions that alpha-beta visits at each new node to prove its result. The maximum "
        "is 65,536; 0 disables it. It costs no net evaluations, and helps in games with forced endings. It needs prove "
        "= true. It includes look_ahead, even if look_ahead = false. Paper: none.",
    )
    solve_nodes: int = Field(
        0,
        ge=0,
        le=1 << 24,
        description="Halfway through a search, alpha-beta with a transposition table tries to solve the root. This is "
        "the limit on the positions that it visits. The maximum is 16,777,216; 0 disables it. A winning move is "
        "played, and lost moves are not searched any more. Self-play, gate and evaluation of a run do not use it. It "
        "needs prove = true, and up to 32 MiB per thread. Paper: none.",
    )
    rollout_weight: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Weight a of a rollout's result z in the leaf value (1 - a) v + a z, where v is the net's value. "
        "Paper: 0; AlphaGo: 0.5.",
    )
    rollout: str = Field(
        "own",
        min_length=1,
        description="Policy of the rollouts: `own` (the game's), `uniform`, or a file from `azero train-rollout`. "
        "Paper: none; AlphaGo: trained.",
    )
    stop_early: bool = Field(
        False,
        description="End a search when no other move can get more visits than the most visited one. Self-play ignores "
        "this setting. It needs choose_by = visits. Paper: no.",
    )
    cache_mib: int = Field(
        64,
        ge=0,
        le=1 << 20,
        description="Cache of the net's outputs, in MiB per worker or agent; 0 disables it. With a cache, symmetric "
        "images of a position share one evaluation. Paper: none.",
    )
    choose_by: Literal["visits", "value", "bound"] = Field(
        "visits",
        description="How the best move is chosen at temperature 0: by its visits N, its value Q, or the lower bound "
        "Q - 1 / sqrt(N). Paper: visits; Leela Zero, KataGo: a bound.",
    )


class DeviceConfig(Section):
    """Where and how the net runs."""

    device: Literal["auto", "cpu", "cuda", "mps"] = Field(
        "auto",
        description="Device of the net: `auto`, `cuda`, `mps` or `cpu`. `auto` takes CUDA if present, otherwise MPS, "
        "otherwise the CPU.",
    )
    precision: Literal["auto", "fp32", "bf16", "int8"] = Field(
        "auto",
        description="Arithmetic of inference: `auto`, `fp32`, `bf16` or `int8`. `auto` takes the fastest whose results "
        "stay near fp32.",
    )
    runtime: str = Field(
        "auto",
        description="Library that runs the net on a CPU: `auto`, `torch` or `openvino`. `auto` takes the fastest, "
        "measured once per machine.",
    )
    threads: int = Field(0, ge=0, le=1024, description="Threads of training and matches; 0 takes one per core.")

    def for_any_machine(self) -> "DeviceConfig":
        """Returns the settings by which each machine runs nets in its own fastest way."""
        return self.model_copy(update={"runtime": "auto", "precision": "auto"})


class Config(Section):
    """All settings of a run."""

    seed: int = Field(0, ge=0, lt=1 << 63, description="Seed of all random numbers of the run.")
    game: GameConfig
    net: NetConfig = NetConfig()
    search: SearchConfig = SearchConfig()
    selfplay: SelfPlayConfig = SelfPlayConfig()
    replay: ReplayConfig = ReplayConfig()
    training: TrainingConfig = TrainingConfig()
    gate: GateConfig = GateConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    device: DeviceConfig = DeviceConfig()
    cluster: ClusterConfig = ClusterConfig()

    def plays_ahead(self, iteration: int) -> bool:
        """Returns whether the next iteration's games are of the net that was best before this iteration's gate.

        Random weights do not play on when a net has learned from another run's games.
        """
        begins_random = self.training.first_net == "none" and self.replay.first_games != "none"
        return self.training.play_ahead > 0 and not (iteration == 1 and begins_random)
