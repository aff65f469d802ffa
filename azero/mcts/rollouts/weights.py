"""Rollout policies by name (`own`, `uniform`, or a file's path), and files of trained ones, one `.safetensors` each.

The card of a file has the fields of `RolloutCard`.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from azero.config.schema import SearchConfig
from azero.errors import BadInput, Damaged
from azero.games import Game
from azero.games.names import contrast, is_made_with, without_folder
from azero.mcts.rollouts.features import MAX_WIDTH, NUM_PATTERNS
from azero.mcts.rollouts.policies import LinearSoftmax, OwnRollout, RolloutPolicy, UniformRollout
from azero.system.formats import check_format
from azero.system.tensor_files import check_digest, read_tensors, write_tensors

FORMAT = 2
"""Format version of the files."""

MOST = 20.0
"""Bound on a weight's absolute value. The exponential of the sum of two weights then fits easily in a float32."""


@dataclass(frozen=True)
class RolloutCard:
    """The metadata of a trained rollout policy."""

    game: str  # with its sizes
    game_digest: str  # of the sources of a user's own game
    positions: int  # number of training positions
    games: int
    epochs: int
    seed: int
    held_out: dict  # figures on the held-out games


def rollout_named(text: str, game: Game) -> RolloutPolicy:
    """Returns the rollout policy that `text` names: `own`, `uniform`, or a file; raises BadInput if it is neither."""
    if text == "own":
        return OwnRollout()
    if text == "uniform":
        return UniformRollout()
    if not text.endswith(".safetensors"):
        raise BadInput(f"rollout policy {text!r} should be own, uniform or a file, e.g. runs/mine/rollout.safetensors")
    return load_rollout(Path(text), game)


def rollout_from_config(config: SearchConfig, game: Game) -> RolloutPolicy:
    """Returns the rollout policy of a run's settings. If rollouts have no weight, it is the game's own, and unused."""
    return rollout_named(config.rollout, game) if config.rollout_weight > 0 else OwnRollout()


def policy_of_weights(patterns: np.ndarray, actions: np.ndarray) -> LinearSoftmax:
    """Returns the policy with weights w of patterns, [NUM_PATTERNS], and of actions, [A], clipped to MOST."""
    return LinearSoftmax(*(np.exp(np.clip(each, -MOST, MOST)).astype(np.float32) for each in (patterns, actions)))


def check_board(game: Game) -> None:
    """Raises BadInput if a game's board is too wide for patterns."""
    if game.planes_shape[2] > MAX_WIDTH:
        raise BadInput(f"{game} is {game.planes_shape[2]} cells wide; rollout policies are for {MAX_WIDTH} at most")


def save_rollout(path: Path, patterns: np.ndarray, actions: np.ndarray, card: RolloutCard) -> None:
    """Writes weights of patterns, [NUM_PATTERNS] float32, and of actions, [A] float32, atomically."""
    tensors = {"patterns": patterns.astype(np.float32), "actions": actions.astype(np.float32)}
    write_tensors(path, tensors, {**asdict(card), "format": FORMAT})


def load_rollout(path: Path, game: Game) -> LinearSoftmax:
    """Reads a policy; raises BadInput if the file is damaged, not one of azero's, or of another game."""
    name = f"rollout policy {str(path)!r}"
    if not path.exists():
        raise BadInput(f"{name} does not exist; azero train-rollout makes one")
    card, tensors = read_tensors(path, name)
    if set(tensors) != {"patterns", "actions"}:
        raise Damaged(f"{name} holds no rollout policy; azero train-rollout makes one")
    digest = card.pop("digest", None)
    check_format(name, card.get("format"), FORMAT)  # first: the digest of format 1 was another one
    check_digest(name, digest, card, tensors)
    own_game = str(card.get("game"))
    if without_folder(own_game) != without_folder(str(game)):
        raise Damaged(f"{name} plays {contrast(own_game, game.rules)}")
    if not is_made_with(game.rules, str(card.get("game_digest"))):
        raise BadInput(f"{name} is for an earlier version of the file of {game}; train it again")
    for key, size in (("patterns", NUM_PATTERNS), ("actions", game.num_actions)):
        if tensors[key].shape != (size,) or tensors[key].dtype != np.float32 or not np.isfinite(tensors[key]).all():
            raise BadInput(f"{name} has {key} that are not {size} finite float32 numbers")
    check_board(game)
    return policy_of_weights(tensors["patterns"], tensors["actions"])
