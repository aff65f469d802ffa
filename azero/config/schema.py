"""The settings of a run. They are frozen; `reading.py` reads and checks them.

Each field's description says what the setting does and, after "Paper:", which value AlphaZero (Silver et al. 2018) or
AlphaGo Zero (2017) used. `text.py` makes `docs/configuration.md` and the comments of a run's `config.toml` from them.
"""

from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model, field_validator

from azero.heads import HEADS

if TYPE_CHECKING:
    HeadName = str
else:
    HeadName = Literal[tuple(HEADS)]

FORMAT = 1
"""Version of the file format. A file without `format` has version 1."""

C_UCT = 1.0
"""Default exploration constant of UCT, chosen by matches; see docs/lab.md."""


class Section(BaseModel):
    """A table of settings. It is frozen, and unknown settings are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


AnySection = TypeVar("AnySection", bound=Section)


def _own_or(name: str, *known: str) -> str:
    """Returns a name that is known, or that of something in a user's file; raises ValueError for any other."""
    if name not in known and ".py:" not in name:
        raise ValueError(f"should be {', '.join(known)} or one of your own, e.g. my.py:Mine")
    return name


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
        description=f"Auxiliary heads that stay in the checkpoint, any of {', '.join(f'`{name}`' for name in HEADS)}. "
        "A suggestion then has their answers. Each needs its `training.NAME_loss_weight`. Searches do not run them. "
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

    selection: str = Field(
        "puct",
        max_length=1000,
        description="Selection rule: `puct`, `uct`, or one of your own, `my.py:Rule` or `my.py:Rule(c=2)`. Paper: "
        "puct.",
    )
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

    @field_validator("selection")
    @classmethod
    def _check_selection(cls, name: str) -> str:
        """Raises ValueError unless it can be the name of a rule."""
        return _own_or(name, "puct", "uct")


class SelfPlayConfig(Section):
    """Self-play, which makes the training data."""

    games_per_iteration: int = Field(1000, ge=1, description="Games per iteration. Paper: 25000 (AlphaGo Zero).")
    parallel_games: int = Field(
        256,
        ge=1,
        le=16384,
        description="Games that a worker plays at the same time. The net evaluates their leaves in batches. There are "
        "fewer if their search trees would not fit into 2 GiB.",
    )
    num_workers: int = Field(
        0,
        ge=0,
        le=1024,
        description="Number of worker processes. 1: self-play runs in the training process. 0: one worker per core (on "
        "GPUs, one per GPU). The games do not depend on this number. Paper: 5000 TPUs.",
    )
    games_per_shard: int = Field(
        250,
        ge=1,
        description="Games in a shard. One worker plays all games of a shard, and they are saved together. Large "
        "shards fill the net's batches better. Small shards spread better over the workers, and less is lost if a run "
        "is interrupted.",
    )
    num_simulations: int = Field(64, ge=1, le=30000, description="Simulations per move. Paper: 800.")
    full_search_share: float = Field(
        1.0,
        gt=0,
        le=1,
        description="Playout cap randomization: share of searches that are full. Training uses only positions of full "
        "searches. The other searches are fast, without Dirichlet noise. Paper: 1; KataGo: 0.25.",
    )
    fast_simulations: int = Field(
        16, ge=1, le=30000, description="Simulations of a fast search. Paper: none; KataGo: 100 of 600."
    )
    policy_surprise_share: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Policy surprise weighting: this share of a game's training weight is distributed over its "
        "positions in proportion to their surprise, KL(policy || prior). The rest is distributed equally. Paper: 0; "
        "KataGo: 0.5.",
    )
    ending_nodes: int = Field(
        0,
        ge=0,
        le=1 << 24,
        description="After a game, alpha-beta solves its positions, from the last one backwards. This is the limit on "
        "the positions that it visits per game. The maximum is 16,777,216; 0 disables it. The value target of a solved "
        "position is its result, and the returns of the plies before it begin there. Paper: none.",
    )
    random_opening_share: float = Field(
        0.0, ge=0, le=1, description="Share of games that start after uniformly random plies. Paper: 0."
    )
    random_opening_plies: int = Field(
        12, ge=1, le=1000, description="These games start with a random number of plies, from 1 to this number."
    )
    starts: str = Field(
        "none",
        min_length=1,
        description="File of positions at which games begin, one per line, as text or as `moves: ...`; `# ` begins a "
        "comment. Each game begins at one of them, chosen at random. The run keeps them, and needs the file no more. "
        "`temperature_plies` and random openings count from there. `none`: the initial position. Paper: none.",
    )
    temperature: float = Field(
        1.0,
        ge=0,
        le=100,
        description="Temperature in the first plies. A move is drawn in proportion to N^(1 / temperature); 0 plays the "
        "best move. Paper: 1.",
    )
    temperature_plies: int = Field(
        30,
        ge=0,
        description="Number of plies that use `temperature`, from a game's start or the end of its random opening. "
        "Paper: 30.",
    )
    final_temperature: float = Field(0.0, ge=0, le=100, description="Temperature after these plies. Paper: 0.")
    root: str = Field(
        "noise",
        max_length=1000,
        description="Exploration at the root. `noise`: Dirichlet noise in the priors; the policy target is the visits. "
        "`gumbel`: the search samples moves and halves their number repeatedly (sequential halving). Their values give "
        "the policy target (Danihelka et al. 2022; docs/decisions/0009-gumbel-root.md). `my.py:Root` or "
        "`my.py:Root(c=2)`: one of your own, which also writes the policy target. Paper: noise.",
    )
    gumbel_considered: int = Field(
        16,
        ge=1,
        le=30000,
        description="With root = gumbel: number of moves that a search samples at first. Paper: none; Gumbel: 16.",
    )
    gumbel_scale: float = Field(
        1.0,
        gt=0,
        le=1000,
        description="With root = gumbel: c_scale in the policy target, the softmax of logits + (50 + visits of the "
        "most visited move) c_scale q, for q in [0, 1]. A higher c_scale gives values more weight against the prior. "
        "Paper: none; Gumbel: 1 in Go and chess.",
    )
    dirichlet_alpha: float = Field(
        1.0,
        gt=0,
        le=100,
        description="Concentration of the Dirichlet noise; about 10 / legal moves is usual. Paper: 0.03 (Go).",
    )
    dirichlet_epsilon: float = Field(
        0.25, ge=0, le=1, description="Share of the noise in the root's priors. Paper: 0.25."
    )

    @field_validator("root")
    @classmethod
    def _check_root(cls, name: str) -> str:
        """Raises ValueError unless it can be the name of a root strategy."""
        return _own_or(name, "noise", "gumbel")


class ReplayConfig(Section):
    """The positions that training draws from."""

    window: int = Field(
        200_000, ge=1, description="Number of newest positions to train on. Shards are kept whole, so there may be up "
        "to one shard more. Paper: the last 500,000 games."
    )  # fmt: skip
    window_growth: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Growth beta of the window. Once the run has more positions than `window`, the size is "
        "window (1 + beta ((positions / window)^0.75 - 1) / 0.75). Paper: 0; KataGo: 0.4.",
    )
    first_games: str = Field(
        "none",
        min_length=1,
        max_length=4096,
        description="Folder of a run of the same game. Its newest games, as many as fit the window, take the place of "
        "self-play in iteration 1; or `none`. They are copied when the run begins. `azero train --games-of` sets it. "
        "Paper: none.",
    )


def with_heads(section: type[AnySection]) -> type[AnySection]:
    """Adds a setting `NAME_loss_weight` for each auxiliary head, as a decorator."""
    begin = "Loss weight of an auxiliary head, used in training only unless `net.heads` keeps it, for "
    weights: dict[str, Any] = {
        f"{name}_loss_weight": (float, Field(0.0, ge=0, le=100, description=begin + head.setting))
        for name, head in HEADS.items()
    }
    own = section.__name__, section.__module__, section.__doc__
    return create_model(own[0], __base__=section, __module__=own[1], __doc__=own[2], **weights)


@with_heads
class TrainingConfig(Section):
    """Training of the net."""

    iterations: int = Field(50, ge=1, description="Number of iterations. Each has self-play, training and a gate.")
    first_net: str = Field(
        "none",
        min_length=1,
        max_length=4096,
        description="Checkpoint whose weights the run begins with: a file, a run's folder (its best net), or the name "
        "of an included checkpoint; `none` for random weights. The net may have more blocks or channels than the "
        "checkpoint's. It is read only when the run begins. `azero train --from` sets it. Paper: none.",
    )
    batch_size: int = Field(256, ge=2, le=65536, description="Positions per step. Paper: 4096.")
    samples_per_position: float = Field(
        4.0,
        gt=0,
        le=1000,
        description="Average number of times that each new position is drawn for training. This ratio of training to "
        "self-play sets the number of steps per iteration.",
    )
    precision: Literal["auto", "fp32", "bf16"] = Field(
        "auto",
        description="Arithmetic of the net's layers in training: `fp32`, `bf16` or `auto`. `auto` takes bf16 on a GPU "
        "that supports it. On a CPU it takes the faster of the two, measured once per machine; the run's config.toml "
        "keeps the choice. Weights, gradients and optimizer state are always fp32.",
    )
    convolution: Literal["auto", "torch", "winograd"] = Field(
        "auto",
        description="What computes 3x3 convolutions in training: `torch`, `winograd`, or `auto`. `winograd` is azero's "
        "own kernels, which train towers in fp32 on CPUs with AVX2 and FMA. `auto` takes what is fastest with the "
        "setting of precision, measured once per machine; the run's config.toml keeps the choice.",
    )
    optimizer: Literal["muon", "adamw", "sgd"] = Field(
        "muon",
        description="`muon`, which is Muon for matrices and convolutions, and AdamW for the rest; `adamw`; or `sgd`, "
        "with a momentum of 0.9. Paper: sgd.",
    )
    learning_rate: float = Field(
        0.002,
        gt=0,
        le=10,
        description="Highest learning rate; with optimizer = muon, that of the weights that Muon does not train. "
        "Paper: 0.2 with batches of 4096.",
    )
    muon_learning_rate: float = Field(
        0.04,
        gt=0,
        le=10,
        description="Highest learning rate of the weights that Muon trains, on the same schedule. Their momentum is "
        "0.95 and their weight decay is 0.1; weight_decay does not apply. Paper: none; Muon: 0.02.",
    )
    weight_decay: float = Field(
        1e-4, ge=0, le=1, description="Weight decay. Biases and normalization have none. Paper: 1e-4."
    )
    schedule: Literal["constant", "cosine", "step"] = Field(
        "cosine", description="Schedule of the learning rate, down to final_learning_rate. `constant`: no change; "
        "`cosine`; `step`: divided by 10 at 50, 75 and 90 % of the run. Paper: step."
    )  # fmt: skip
    final_learning_rate: float = Field(
        0.0002,
        ge=0,
        le=10,
        description="The value that learning_rate has at the end of the schedule; muon_learning_rate falls in "
        "proportion. With schedule = step, it is a lower limit. Paper: 0.0002.",
    )
    warmup_steps: int = Field(100, ge=0, description="Steps in which the learning rate rises from zero. Paper: 0.")
    gradient_clip: float = Field(5.0, ge=0, description="Limit on the gradient's norm; 0: no limit. Paper: none.")
    ema_decay: float = Field(
        0.99, ge=0, lt=1, description="Decay per step of the moving average of the weights, e.g. 0.99. The average is "
        "the candidate. 0: no average. Paper: none."
    )  # fmt: skip
    value_loss_weight: float = Field(
        1.0, ge=0, le=100, description="Weight of the value loss; the policy loss has weight 1. Paper: 1."
    )
    value_lambda: float = Field(
        0.9,
        ge=0,
        le=1,
        description="Lambda of the lambda-return, the value target. The return of a ply is lambda times the next ply's "
        "return plus (1 - lambda) times the value of the ply's own search. If a ply's result is proven, its return is "
        "this result. After the last ply, the return is the game's result. All values are for the player to move at "
        "the position. With 1, the target is the game's result, and proofs do not count. Paper: 1.",
    )
    lessons: str = Field(
        "none",
        min_length=1,
        description="Positions to train on, in addition to self-play: a file that `azero lessons` wrote, or a file or "
        "folder of solved positions in the format of docs/solved_positions.md; or `none`. It is read "
        "whenever a run starts or resumes. If a position lists the moves that keep its result, these are "
        "the policy target. Paper: none; AlphaGo: experts' games.",
    )
    lessons_share: float = Field(
        0.25,
        gt=0,
        le=0.9,
        description="Share of lessons in a batch. The rest of the batch is from self-play. So positions of self-play "
        "are drawn less often than samples_per_position says. Paper: none.",
    )
    play_ahead: int = Field(
        0,
        ge=0,
        le=1,
        description="Iterations by which self-play is ahead. With 1, the next iteration's games are played while this "
        "iteration is trained and its gate is held, by the net that was best before the gate. With 0, self-play waits "
        "for the gate. 1 saves time if trainer and workers have cores or GPUs of their own. A single worker takes "
        "turns, with the same result. Paper: no fixed lag.",
    )
    save_every_steps: int = Field(
        500, ge=1, description="Steps between saves of the training state within an iteration."
    )

    def loss_weight(self, name: str) -> float:
        """Returns the weight of a loss by its name: `value`, or the name of an auxiliary head."""
        return getattr(self, f"{name}_loss_weight")


class GateConfig(Section):
    """The match between candidate and best net."""

    games: int = Field(
        40,
        ge=2,
        description="Maximum number of games in a gate. Use an even number: each opening is played twice. Paper: 400.",
    )
    num_simulations: int = Field(32, ge=1, le=30000, description="Simulations per move. Paper: 1600.")
    win_rate_threshold: float = Field(
        0.55, gt=0, lt=1, description="Lowest score with which a candidate is promoted. Paper: 0.55."
    )
    opening_plies: int = Field(
        4,
        ge=0,
        description="Random plies at the start of each pair of games. A pair has this number or one fewer. A turn of "
        "several actions, as in Amazons, counts as one.",
    )
    rating_games: int = Field(
        10,
        ge=0,
        description="Games of a promoted net against older nets, for the run's rating alone. The nets are those "
        "whose games narrow the rating most. 0: none. Paper: none.",
    )
    final_games: int = Field(
        40,
        ge=0,
        description="Maximum number of games for each pair of nets in the final, after the last iteration. The nets "
        "are the three promoted last, the last candidate and the mean of their weights. A clearly weaker net drops "
        "out. The winner is published. 0: there is no final, and the net promoted last is published. Paper: none.",
    )


class EvaluationConfig(Section):
    """Matches against a fixed opponent and mistakes in solved positions. They are recorded, and decide nothing."""

    opponent: str = Field("uct@1000", description="Opponent of the best net.")
    every: int = Field(
        5, ge=0, description="Evaluate every this many iterations, and after the last one. 0: no evaluation."
    )
    games: int = Field(40, ge=2, description="Games per match.")
    num_simulations: int = Field(64, ge=1, le=30000, description="Simulations per move of the net.")
    benchmark: str = Field(
        "auto",
        min_length=1,
        description="Solved positions in which the best net's mistakes are counted: a benchmark's name, a file, a "
        "folder, or `none`. `auto` takes the benchmark that is included for the game, if there is one.",
    )
    benchmark_positions: int = Field(
        180, ge=1, description="Approximate number of positions used in all. They are the first ones of each set."
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
        description="Library that runs the net on a CPU: `auto`, `torch`, `openvino` or `winograd`, azero's own "
        "kernels. `auto` takes the fastest, measured once per machine, and torch only if no other runs the net.",
    )
    threads: int = Field(0, ge=0, le=1024, description="Threads of training and matches; 0 takes one per core.")

    def for_any_machine(self) -> "DeviceConfig":
        """Returns the settings by which each machine runs nets in its own fastest way."""
        return self.model_copy(update={"runtime": "auto", "precision": "auto"})


class ClusterConfig(Section):
    """How a run is shared out among processes and machines; all but `trainers` needs `azero train --cluster`.

    The games and the weights do not depend on it, unless `mixed` is set.
    """

    cpus_per_worker: float = Field(
        1.0,
        ge=0.1,
        le=1024,
        description="CPUs of a node that each worker takes, where nets run on CPUs; where they run on GPUs, a worker "
        "takes one GPU. With --cluster local, selfplay.num_workers decides. Paper: none.",
    )
    deadline_s: float = Field(
        3600.0,
        ge=0.1,
        le=1e7,
        description="Seconds after which a task that has begun is given to another worker. Paper: none.",
    )
    mixed: bool = Field(
        False,
        description="Accept nodes whose CPUs have other features, or whose libraries have other versions; each runs "
        "the net in the way that is fastest there. The games then depend on the nodes that play them. Paper: none.",
    )
    trainers: int = Field(
        1,
        ge=1,
        le=1024,
        description="Processes that share each training step; every one has a copy of the replay window. On a CPU, "
        "each needs a pass of its own, and a pass has at most 128 rows of a batch. The weights are the same for any "
        "number. Within one machine, threads are as fast. Paper: 64 TPUs.",
    )


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


FILE_SETTINGS = {
    ("game", "name"): "game",
    ("net", "name"): "net",
    ("search", "selection"): "rule",
    ("selfplay", "root"): "root",
}
"""Settings that may name a user's file, by section and key, with what the file has."""


def named_files(config: Config) -> dict[str, str]:
    """Returns the names in these settings, by what they name: "game", "net", "rule" or "root"."""
    return {kind: getattr(getattr(config, section), key) for (section, key), kind in FILE_SETTINGS.items()}


def with_names(config: Config, names: dict[str, str]) -> Config:
    """Returns the settings with other names in them, by what they name."""
    for (section, key), kind in FILE_SETTINGS.items():
        if kind in names:
            changed = getattr(config, section).model_copy(update={key: names[kind]})
            config = config.model_copy(update={section: changed})
    return config
