"""Settings of training, gate and evaluation."""

from typing import Any, Literal

from pydantic import Field, create_model

from azero.config.section import AnySection, Section
from azero.heads import HEADS


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
        description="Most games of the final after the last iteration, for each pair of its nets. They are the three "
        "promoted last, the last candidate and the mean of their weights. A net that is clearly weaker no longer "
        "plays. The winner is published. 0: there is no final, and the net promoted last is published. Paper: none.",
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
