"""The settings of getting better: self-play, replay, training, gate and evaluation."""

from typing import Literal

from pydantic import Field

from azero.config.section import Section


class SelfPlayConfig(Section):
    """Games against itself, which are the training data."""

    games_per_iteration: int = Field(1000, ge=1, description="Games an iteration. Paper: 25000 (AlphaGo Zero).")
    parallel_games: int = Field(
        256,
        ge=1,
        le=16384,
        description="Games a worker plays side by side; their leaves go to the net in whole passes.",
    )
    num_workers: int = Field(
        0, ge=0, le=1024, description="Worker processes; 1 is the training process, 0 takes one a core (one on a GPU). "
        "The games are the same for any number. Paper: 5000 TPUs."
    )  # fmt: skip
    games_per_shard: int = Field(
        250,
        ge=1,
        description="Games that one worker plays, and that are saved and, after an interruption, kept together. The "
        "more, the fuller the net's passes; the fewer, the more workers share them.",
    )
    num_simulations: int = Field(64, ge=1, le=30000, description="Simulations a move. Paper: 800.")
    full_search_share: float = Field(
        1.0,
        gt=0,
        le=1,
        description="Playout cap randomisation: the share of searches that are full and learnt from; the others are "
        "fast, and without Dirichlet noise. Paper: 1; KataGo: 0.25.",
    )
    fast_simulations: int = Field(16, ge=1, le=30000, description="Simulations of a fast search. KataGo: 100 of 600.")
    policy_surprise_share: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Policy surprise weighting: the share of a game's weight that its positions have by how little the "
        "net expected what the search found, KL(policy || prior). Paper: 0; KataGo: 0.5.",
    )
    random_opening_share: float = Field(
        0.0, ge=0, le=1, description="Share of games that start after uniformly random plies. Paper: 0."
    )
    random_opening_plies: int = Field(12, ge=1, le=1000, description="How many such plies at the most; at least one.")
    resign_error: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Share of the resigned games that may be errors, which would have been won or drawn. A player "
        "resigns where the values of the position and of its best move are below a threshold, which is chosen in each "
        "iteration so that errors are fewer. Resigned games teach no plies left, owners and scores. 0: nobody resigns. "
        "Paper: 0.05 (AlphaGo Zero).",
    )
    resign_played_on_share: float = Field(
        0.1,
        gt=0,
        lt=1,
        description="Share of games in which nobody resigns, to see the errors. Paper: 0.1 (AlphaGo Zero).",
    )
    temperature: float = Field(
        1.0,
        ge=0,
        le=100,
        description="Moves of the opening are drawn from N^(1 / temperature); 0 plays the best. Paper: 1.",
    )
    temperature_plies: int = Field(30, ge=0, description="Length of that opening in plies. Paper: 30.")
    final_temperature: float = Field(0.0, ge=0, le=100, description="Temperature after the opening. Paper: 0.")
    root: Literal["noise", "gumbel"] = Field(
        "noise",
        description="What happens at the root: `noise` mixes Dirichlet noise into the priors, and learns from visits; "
        "`gumbel` draws the moves to consider, halves them in rounds, and learns from their values (Danihelka et al. "
        "2022); see docs/decisions/0009-gumbel-root.md. Paper: noise.",
    )
    gumbel_considered: int = Field(
        16, ge=1, le=30000, description="Moves that a search of root = gumbel begins with. Paper: none; Gumbel: 16."
    )
    gumbel_visit: float = Field(
        50.0, ge=0, le=1e6, description="Constant c_visit of root = gumbel, whose policy is the softmax of logits + "
        "(c_visit + most visits) c_scale q, q in [0, 1]. Paper: none; Gumbel: 50."
    )  # fmt: skip
    gumbel_scale: float = Field(
        1.0, gt=0, le=1000, description="Constant c_scale of root = gumbel: the more, the more values count beside the "
        "prior. Paper: none; Gumbel: 1 in Go and chess."
    )  # fmt: skip
    dirichlet_alpha: float = Field(
        1.0,
        gt=0,
        le=100,
        description="Concentration of the noise at the root, about 10 / legal moves. Paper: 0.03 for Go's 361.",
    )
    dirichlet_epsilon: float = Field(
        0.25, ge=0, le=1, description="Share of the noise in the root's priors. Paper: 0.25."
    )
    forced_playouts: float = Field(
        0.0,
        ge=0,
        le=100,
        description="Constant k of forced playouts: in a full search a move of the root that has been tried gets "
        "sqrt(k P N) visits, and the policy to learn is without them; 0 forces none. It takes selection = puct and "
        "root = noise. Paper: 0; KataGo: 2.",
    )
    keep_tree: bool = Field(True, description="Keep the subtree of the move played for the next search. Paper: yes.")
    random_symmetry: bool = Field(
        True,
        description="Let the net see each leaf in a random symmetry, where search.cache_mib is 0. "
        "Paper: yes in AlphaGo Zero, no in AlphaZero.",
    )


class ReplayConfig(Section):
    """The positions that training draws from."""

    window: int = Field(
        200_000, ge=1, description="Positions to learn from that are kept, the newest; whole shards, so up to one "
        "shard more. Paper: the last 500,000 games."
    )  # fmt: skip
    window_growth: float = Field(
        0.0,
        ge=0,
        le=1,
        description="How fast the window grows, once as many positions have come: beta of "
        "window (1 + beta ((positions / window)^0.75 - 1) / 0.75). Paper: 0; KataGo: 0.4.",
    )
    reanalysed_share: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Share of the window's shards, rounded up, that the best net searches anew in each iteration, for "
        "the policies and values to learn: of older games, those first whose last search was the longest ago. What "
        "is proven is not searched again. It costs by the window's size, and adds no steps. "
        "Paper: 0; MuZero Reanalyze: fresh policies in 0.8 of the updates.",
    )


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
        0.0, ge=0, lt=1, description="Decay a step of the moving average of weights, which is the candidate, e.g. "
        "0.99; 0 takes the weights themselves. Paper: none."
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
