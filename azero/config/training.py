"""The settings of getting better: self-play, replay, training, gate and evaluation."""

from typing import Literal

from pydantic import Field

from azero.config.section import Section


class TrainingConfig(Section):
    """From positions to a better net."""

    iterations: int = Field(50, ge=1, description="Rounds of self-play, training and gate.")
    batch_size: int = Field(256, ge=1, le=65536, description="Positions a step. Paper: 4096.")
    samples_per_position: float = Field(
        4.0,
        gt=0,
        le=1000,
        description="How often each new position is drawn on average: the ratio of training to self-play, which sets "
        "the steps of an iteration.",
    )
    precision: Literal["auto", "fp32", "bf16"] = Field(
        "auto",
        description="Arithmetic of the net's layers in training. `auto` is bf16 on a GPU that computes in it, and on a "
        "CPU the faster one, measured once per machine. The run's config.toml keeps the answer. Weights, gradients and "
        "optimiser are fp32 always.",
    )
    optimizer: Literal["muon", "adamw", "sgd"] = Field(
        "adamw",
        description="AdamW, SGD with momentum, or Muon for matrices and convolutions with AdamW for the rest. "
        "Paper: sgd.",
    )
    learning_rate: float = Field(
        0.002, gt=0, le=10, description="Highest learning rate. Paper: 0.2 for batches of 4096."
    )
    muon_learning_rate: float = Field(
        0.02,
        gt=0,
        le=10,
        description="Highest learning rate of what Muon takes; it follows the same schedule. The momentum is 0.95, and "
        "these weights decay by a tenth of the rate, whatever weight_decay says. Paper: none; Muon: 0.02.",
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
        0.0, ge=0, lt=1, description="Decay a step of the moving average of weights, which is the candidate, e.g. "
        "0.99; 0 takes the weights themselves. Paper: none."
    )  # fmt: skip
    value_loss_weight: float = Field(
        1.0, ge=0, le=100, description="Weight of the value loss beside the policy's 1. Paper: 1."
    )
    value_lambda: float = Field(
        1.0,
        ge=0,
        le=1,
        description="Lambda of the return that is the value to learn: from the game's end backwards, each ply hears "
        "lambda of what follows and the rest of its own search's value. 1 is the game's result alone. Paper: 1.",
    )
    root_value_weight: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Share of the search's value in the value to learn, beside that return. Paper: 0.",
    )
    learn_proven: bool = Field(
        False,
        description="Where the search proved a result, learn it in place of those two. With root = noise, games follow "
        "proofs and end as proven: it then matters only for proven draws, whose value of 0 root_value_weight teaches "
        "as half a win and half a loss, and for positions that reanalysis proved. Paper: no.",
    )
    lessons: str = Field(
        "none",
        min_length=1,
        description="Positions with known results to learn beside those of self-play: a file or a folder in the format "
        "of docs/benchmarks.md, read whenever a run begins or goes on; `none` for none. Where moves are listed that "
        "keep the result, they are the policy. Paper: none; AlphaGo: experts' games.",
    )
    lessons_share: float = Field(
        0.25,
        gt=0,
        le=0.9,
        description="Share of a batch that is lessons; positions of self-play are drawn as much less often. "
        "Paper: none.",
    )
    reply_loss_weight: float = Field(
        0.0,
        ge=0,
        le=100,
        description="Weight of the loss of a head, in training only, for the opponent's policy at the next ply; "
        "0 builds none. Paper: none; KataGo: 0.15.",
    )
    plies_left_loss_weight: float = Field(
        0.0,
        ge=0,
        le=100,
        description="Weight of the loss of a head, in training only, for the plies until the game ends; 0 builds none. "
        "Paper: none.",
    )
    short_term_loss_weight: float = Field(
        0.0,
        ge=0,
        le=100,
        description="Weight of the loss of a head, in training only, for the search's values soon after; 0 builds "
        "none. Paper: none.",
    )
    ownership_loss_weight: float = Field(
        0.0,
        ge=0,
        le=100,
        description="Weight of the loss of a head, in training only, for who holds each cell at the end, in games that "
        "tell (Go, Othello): mean over cells; 0 builds none. Paper: none; KataGo: 1.5.",
    )
    score_loss_weight: float = Field(
        0.0,
        ge=0,
        le=100,
        description="Weight of the loss of a head, in training only, for the score at the end, in games that have one "
        "(Go, Othello): Huber's, in units of the board's side, beside which scores should not be large; 0 builds none. "
        "Paper: none.",
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
    final_games: int = Field(
        40,
        ge=0,
        description="Games of each pair in the round robin after the last iteration, among the three nets promoted "
        "last, the last candidate and the mean of their weights; its winner is published. 0 plays none, and publishes "
        "the net promoted last. Paper: none.",
    )


class EvaluationConfig(Section):
    """The score against a fixed opponent, and mistakes in solved positions, for the record."""

    opponent: str = Field("uct@1000", description="The agent that the best net meets.")
    every: int = Field(5, ge=0, description="Iterations between these matches, and one after the last; 0 plays none.")
    games: int = Field(40, ge=2, description="Games of a match.")
    num_simulations: int = Field(64, ge=1, le=30000, description="The net's simulations a move.")
    benchmark: str = Field(
        "auto",
        min_length=1,
        description="Solved positions that the best net is held to at the same time: a benchmark's name, a file or a "
        "folder; `auto` takes what comes with azero for the game, if anything does, `none` nothing.",
    )
    benchmark_positions: int = Field(180, ge=1, description="Positions of it, the first ones of each set.")
