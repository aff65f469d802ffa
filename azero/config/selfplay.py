"""Settings of self-play and replay."""

from typing import Literal

from pydantic import Field

from azero.config.section import Section


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
    root: Literal["noise", "gumbel"] = Field(
        "noise",
        description="Exploration at the root. `noise`: Dirichlet noise in the priors; the policy target is the visits. "
        "`gumbel`: the search samples moves and halves their number repeatedly (sequential halving). Their values give "
        "the policy target (Danihelka et al. 2022; docs/decisions/0009-gumbel-root.md). Paper: noise.",
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
