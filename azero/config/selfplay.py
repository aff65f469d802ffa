"""Settings of self-play and of the replay it fills."""

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
