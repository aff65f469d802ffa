"""Training of a rollout policy (`LinearSoftmax`) from self-play: softmax regression on the search's visits."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm import tqdm

from azero.compiler.cache import cache_directory
from azero.errors import BadInput
from azero.games import Game
from azero.games.make import make_trusted_game
from azero.games.names import file_of, source_digest_of
from azero.games.user.trust import Untrusted
from azero.mcts.rollouts.features import NUM_PATTERNS, action_classes, count_legal, pattern_classes, write_features
from azero.mcts.rollouts.weights import RolloutCard, check_board, save_rollout
from azero.mcts.scratch import new_scratch
from azero.nets.checkpoint_file import read_card
from azero.nets.origins import find_named
from azero.runs.folder import REPLAY, RunFolder, files_in
from azero.runs.shards import game_of_shard, load_shard
from azero.selfplay.data.policies import Policies
from azero.selfplay.data.shard import Shard, join_shards
from azero.system.machine import keep_torch_files

HELD_OUT = 0.1
"""Share of the games that are held out."""

BATCH_SIZE = 256
LEARNING_RATE = 0.03
"""Initial learning rate; it falls to zero linearly."""
WEIGHT_DECAY = 1e-3
"""Decoupled (AdamW). It pulls the weights of rare patterns to zero, which is neutral."""

_UNSEEN = 0  # index of patterns without a weight: unseen ones, and those of actions without a cell


class Positions(NamedTuple):
    """The training data of n positions. Their legal actions follow one another, m in all."""

    starts: np.ndarray  # [n + 1] int64, the index at which each position's actions begin
    patterns: np.ndarray  # [m] int32, the pattern's class, NO_PATTERN if there is none
    actions: np.ndarray  # [m] int32, the action's class
    policies: np.ndarray  # [m] float32, the search's

    def __len__(self) -> int:
        return len(self.starts) - 1


@dataclass(frozen=True)
class Figures:
    """Mean figures of a policy over positions, and those of the uniform policy for comparison."""

    cross_entropy: float  # to the search's policy, in nats
    top_1: float  # how often the first choice is the search's first choice; ties count by their share
    uniform_cross_entropy: float
    uniform_top_1: float
    search_entropy: float  # the least possible cross-entropy


class Weights(nn.Module):
    """The trainable policy: a weight for each class of patterns that occurs, and for each class of actions."""

    def __init__(self, num_patterns: int, num_actions: int):
        super().__init__()
        self.patterns = nn.Embedding(num_patterns, 1, padding_idx=_UNSEEN)
        self.actions = nn.Embedding(num_actions, 1)
        nn.init.zeros_(self.patterns.weight)
        nn.init.zeros_(self.actions.weight)

    def forward(self, patterns: Tensor, actions: Tensor, is_legal: Tensor) -> Tensor:
        """Returns log p of the actions of B positions, [B, L]; minus infinity for padding."""
        scores = (self.patterns(patterns) + self.actions(actions)).squeeze(2)
        return F.log_softmax(scores.masked_fill(~is_legal, -torch.inf), dim=1)


def shards_of(paths: Sequence[Path]) -> list[Path]:
    """Returns the shards in the given runs' folders, and those given themselves; raises BadInput if there are none."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise BadInput(f"{str(path)!r} does not exist; it should be a run's folder, or shards from its replay/")
        shards = files_in(path, REPLAY) if path.is_dir() else [path]
        if not shards:
            raise BadInput(f"folder {str(path)!r} holds no replay/*.safetensors; is it the folder of a run with games?")
        found += shards
    return found


def features_of(game: Game, shard: Shard) -> Positions:
    """Returns the features of a shard's positions and the search's policies."""
    rules, states, scratch = game.rules, shard.states.view(np.recarray), new_scratch(game.rules)
    counts = np.zeros(len(states), np.int64)
    count_legal(rules, states, scratch, counts)
    starts = np.concatenate([[0], np.cumsum(counts)])
    patterns, actions = np.zeros(starts[-1], np.int32), np.zeros(starts[-1], np.int32)
    write_features(rules, states, scratch, starts, patterns, actions)
    visits = _counts_of(shard.policies(), np.repeat(np.arange(len(states)), counts), actions, game.num_actions)
    totals = np.add.reduceat(visits, starts[:-1])
    if not (totals > 0).all():
        raise BadInput(f"a replay file of {game} holds a position whose legal moves have no visits; is it damaged?")
    classes = np.append(pattern_classes(game), np.int32(-1))  # NO_PATTERN, -1, stays -1
    return Positions(starts, classes[patterns], action_classes(game)[actions], visits / np.repeat(totals, counts))


def _counts_of(policies: Policies, positions: np.ndarray, actions: np.ndarray, num_actions: int) -> np.ndarray:
    """Returns the policy targets' counts of m actions at their positions, both [m], as [m] float32."""
    keys = policies.positions() * num_actions + policies.actions
    if not len(keys):
        return np.zeros(len(actions), np.float32)
    order = np.argsort(keys)
    wanted = positions * num_actions + actions
    places = order[np.searchsorted(keys, wanted, sorter=order).clip(max=len(keys) - 1)]
    return np.where(keys[places] == wanted, policies.counts[places], 0).astype(np.float32)


def choose_games(shard: Shard, seed: int) -> np.ndarray:
    """Returns for each position whether its game is held out, [n] bool; raises BadInput if there are too few games."""
    num_games = len(shard.lengths)
    if num_games < 2:
        raise BadInput(f"there is {num_games} game to learn from; training needs 2 or more, one of them held out")
    order = np.random.default_rng(seed).permutation(num_games)
    return np.repeat(order < max(1, round(HELD_OUT * num_games)), shard.lengths)


class RolloutTrainer:
    """Trains the weights on some positions, and evaluates them on others."""

    def __init__(self, positions: Positions, is_learnt: np.ndarray, is_held_out: np.ndarray, num_actions: int):
        self._positions = positions
        self.held_out, self.learnt = np.flatnonzero(is_held_out), np.flatnonzero(is_learnt)
        is_learnt = np.repeat(is_learnt, np.diff(positions.starts))
        met = np.unique(positions.patterns[is_learnt])
        self._met = met[met >= 0]
        self._place_of = np.full(NUM_PATTERNS + 1, _UNSEEN)  # the last index is that of NO_PATTERN, -1
        self._place_of[self._met] = 1 + np.arange(len(self._met))
        self.weights = Weights(1 + len(self._met), num_actions)

    def train(self, epochs: int, seed: int, is_quiet: bool = False) -> None:
        """Trains for `epochs` passes over the positions."""
        rng = np.random.default_rng(seed)
        num_threads = torch.get_num_threads()
        torch.set_num_threads(1)  # steps are too small to share
        keep_torch_files(cache_directory())
        optimizer = torch.optim.AdamW(self.weights.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
        steps = epochs * -(-len(self.learnt) // BATCH_SIZE)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0 - step / steps)
        with tqdm(
            total=steps,
            unit=" steps",
            desc="train-rollout",
            leave=False,
            file=sys.stderr,
            delay=0.2,
            disable=is_quiet or None,
        ) as bar:
            for _ in range(epochs):
                order = rng.permutation(self.learnt)
                for first in range(0, len(order), BATCH_SIZE):
                    inputs, policies = self._take(order[first : first + BATCH_SIZE])
                    loss = _cross_entropy(self.weights(*inputs), policies).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    schedule.step()
                    bar.update()
        torch.set_num_threads(num_threads)

    @torch.inference_mode()
    def judge(self, indices: np.ndarray) -> Figures:
        """Returns the figures of the policy on the positions at `indices`."""
        sums = np.zeros(5)
        for first in range(0, len(indices), BATCH_SIZE):
            inputs, policies = self._take(indices[first : first + BATCH_SIZE])
            log_p, is_legal = self.weights(*inputs), inputs[2]
            uniform = torch.zeros_like(log_p).masked_fill(~is_legal, -torch.inf).log_softmax(1)
            entropy = -torch.xlogy(policies, policies).sum(1)
            own, none = ((_cross_entropy(each, policies), _top_1(each, policies)) for each in (log_p, uniform))
            sums += [float(part.sum()) for part in (*own, *none, entropy)]
        return Figures(*(sums / len(indices)).tolist())

    def tables(self, game: Game) -> tuple[np.ndarray, np.ndarray]:
        """Returns the weights of all patterns, [NUM_PATTERNS], and actions, [A]; float32."""
        of_patterns = self.weights.patterns.weight.detach().numpy()[:, 0]
        of_actions = self.weights.actions.weight.detach().numpy()[:, 0]
        return of_patterns[self._place_of[pattern_classes(game)]], of_actions[action_classes(game)]

    def _take(self, indices: np.ndarray) -> tuple[tuple[Tensor, Tensor, Tensor], Tensor]:
        """Returns the patterns, actions and legality, and the search's policy, each [B, L], of B positions."""
        starts = self._positions.starts
        counts = (starts[indices + 1] - starts[indices])[:, None]
        places = np.arange(counts.max())[None]
        is_legal = places < counts
        places = np.where(is_legal, starts[indices][:, None] + places, 0)
        patterns = np.where(is_legal, self._place_of[self._positions.patterns[places]], _UNSEEN)
        actions = self._positions.actions[places].astype(np.int64)
        policies = np.where(is_legal, self._positions.policies[places], np.float32(0))
        inputs = (torch.from_numpy(patterns), torch.from_numpy(actions), torch.from_numpy(is_legal))
        return inputs, torch.from_numpy(policies)


def train_rollout(paths: Sequence[Path], out: Path, epochs: int, seed: int) -> tuple[RolloutCard, Figures]:
    """Trains a policy on the games of a run, or of shards, and saves it; returns its card and held-out figures."""
    shards = shards_of(paths)
    game = game_of(shards[0])
    check_board(game)
    shard = join_shards([load_shard(path, game) for path in shards])
    is_held_out, counts = choose_games(shard, seed), shard.weights > 0  # fast searches give no policy target
    trainer = RolloutTrainer(features_of(game, shard), ~is_held_out & counts, is_held_out & counts, game.num_actions)
    if not len(trainer.learnt) or not len(trainer.held_out):
        raise BadInput("too few games to learn from and to hold out: name more shards, or play more games")
    trainer.train(epochs, seed)
    figures = trainer.judge(trainer.held_out)
    card = RolloutCard(
        str(game), source_digest_of(game.rules), len(trainer.learnt), len(shard.lengths), epochs, seed, asdict(figures)
    )
    save_rollout(out, *trainer.tables(game), card)
    return card, figures


def game_of(shard: Path) -> Game:
    """Returns the game of a run's shard. The file of a user's own game is found as for the run's nets."""
    name, best = game_of_shard(shard), RunFolder(shard.parent.parent).best_path
    if file_of(name) and best.is_file():
        name = find_named(name, read_card(best).origin_of_game, best)
    try:
        return make_trusted_game(name)
    except Untrusted as error:
        advice = f"if you trust it, name it, e.g. with azero check-game {name!r}"
        raise Untrusted(f"replay file {str(shard)!r}: {error}; {advice}") from None


def _cross_entropy(log_p: Tensor, policies: Tensor) -> Tensor:
    """Returns the cross-entropy of each position, [B]. Padding adds nothing."""
    return -(policies * log_p.masked_fill(policies == 0, 0.0)).sum(1)


def _top_1(log_p: Tensor, policies: Tensor) -> Tensor:
    """Returns, for each position, the share of the policy's first choices that are first choices of the search, [B]."""
    is_first = log_p == log_p.max(1, keepdim=True).values
    is_best = policies == policies.max(1, keepdim=True).values
    return (is_first & is_best).sum(1) / is_first.sum(1)
