"""The settings of a run: checked once, frozen and complete from then on; `reading.py` reads them.

Game, net, search and device are here; self-play, replay, training, gate and evaluation are in `training.py`.

Each field's description says what it does and, after "Paper:", what AlphaZero (Silver et al. 2018) or AlphaGo Zero
(2017) used. `text.py` makes the comments of a run's `config.toml` and `docs/configuration.md` from these.
"""

from typing import Literal

from pydantic import Field

from azero.config.section import Section
from azero.config.selfplay import ReplayConfig, SelfPlayConfig
from azero.config.training import EvaluationConfig, GateConfig, TrainingConfig

FORMAT = 1
"""Of files of settings; those that do not say so are of it, too."""

C_UCT = 1.0
"""The exploration constant of UCT unless another is given: chosen by matches, see docs/lab.md."""


class GameConfig(Section):
    """What is played."""

    name: str = Field(description="The game, with its parameters: `connect_four(rows=6,columns=7)`; see `azero games`.")


class NetConfig(Section):
    """The residual tower and its heads."""

    blocks: int = Field(5, ge=1, le=80, description="Residual blocks. Paper: 19.")
    channels: int = Field(64, ge=1, le=1024, description="Filters of each 3x3 convolution. Paper: 256.")
    global_context: Literal["none", "se", "se_bias", "pool"] = Field(
        "none",
        description="How a block tells each cell of the whole board: not at all; by squeeze-and-excitation, with a "
        "scale or with a scale and a bias for each channel; or by a bias from pooled channels. "
        "Paper: none; Lc0: se_bias; KataGo: pool.",
    )
    policy_channels: int = Field(
        8, ge=1, le=256, description="Filters of the policy head's 1x1 convolution. Paper: 2 (Go)."
    )
    value_channels: int = Field(8, ge=1, le=256, description="Filters of the value head's 1x1 convolution. Paper: 1.")
    value_hidden: int = Field(64, ge=1, le=4096, description="Units of the value head's hidden layer. Paper: 256.")


class SearchConfig(Section):
    """The search of self-play, gate and evaluation alike."""

    selection: Literal["puct", "uct"] = Field("puct", description="How a simulation picks its way down. Paper: puct.")
    c_uct: float = Field(C_UCT, ge=0, le=100, description="Exploration constant of selection = uct; Q is in [-1, 1].")
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
    proof_nodes: int = Field(
        0,
        ge=0,
        le=1 << 16,
        description="Positions by which a new node's moves are followed further, ply by ply, to prove results by "
        "alpha-beta: at most 65,536, 0 for not at all. It has no effect without prove, looks ahead whatever look_ahead "
        "says, costs no evaluations, and is of use where games come to forced ends. Paper: none.",
    )
    solve_nodes: int = Field(
        0,
        ge=0,
        le=1 << 24,
        description="Positions that alpha-beta with a table visits, half-way through a search, to solve the root: at "
        "most 16,777,216, 0 for not at all. Moves that are found to lose are left alone, one that wins is played. "
        "While a run trains, its nets do without. It has no effect without prove, and takes up to 32 MiB for each "
        "thread. Paper: none.",
    )
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
        False, description="End a search when no other move can overtake the most visited one: where moves are "
        "chosen by visits, and never in self-play. Paper: no."
    )  # fmt: skip
    cache_mib: int = Field(
        64,
        ge=0,
        le=1 << 20,
        description="Memory in MiB for what the net has said, for each worker or agent; 0 keeps nothing. Where it is "
        "kept, the net sees every position in one and the same of its symmetries. Paper: none.",
    )
    choose_by: Literal["visits", "value", "bound"] = Field(
        "visits",
        description="What the best move is chosen by when no temperature is set: `N`, `Q`, or the lower bound "
        "`Q - 1 / sqrt(N)`. Paper: visits; Leela Zero, KataGo: a bound.",
    )


class DeviceConfig(Section):
    """Where the net runs."""

    device: Literal["auto", "cpu", "cuda", "mps"] = Field(
        "auto", description="`auto` takes CUDA, else MPS, else the CPU."
    )
    precision: Literal["auto", "fp32", "bf16", "int8"] = Field(
        "auto", description="Arithmetic of inference; `auto` takes the fastest that stays near fp32."
    )
    runtime: Literal["auto", "torch", "openvino"] = Field(
        "auto", description="What runs the net on a CPU; `auto` takes the fastest, which is measured once a machine."
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
