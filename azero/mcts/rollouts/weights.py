"""Rollout policies by name (`own`, `uniform`, or a file's path), and files of trained ones, one `.safetensors` each.

The file's metadata have one entry, `azero`: a JSON object with the fields of `RolloutCard`, the sizes of the weights,
and a digest of all of these and the weights.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from azero.config.schema import SearchConfig
from azero.errors import BadInput
from azero.games import Game
from azero.games.names import contrast, source_digest_of
from azero.mcts.rollouts.features import MAX_WIDTH, NUM_PATTERNS
from azero.mcts.rollouts.policies import LinearSoftmax, OwnRollout, RolloutPolicy, UniformRollout
from azero.system.files import write_whole
from azero.system.formats import check_format

FORMAT = 1
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
    fields = {**asdict(card), "format": FORMAT, "sizes": _sizes(tensors)}
    metadata = {**fields, "digest": _digest(tensors, fields)}
    write_whole(path, save(tensors, {"azero": json.dumps(metadata, sort_keys=True)}))


def load_rollout(path: Path, game: Game) -> LinearSoftmax:
    """Reads a policy; raises BadInput if the file is damaged, not one of azero's, or of another game."""
    name = f"rollout policy {str(path)!r}"
    fields, tensors = _read(path, name)
    check_format(name, fields.get("format"), FORMAT)
    digest = fields.pop("digest", None)
    if digest != _digest(tensors, fields) or fields.get("sizes") != _sizes(tensors):
        raise BadInput(f"{name} is damaged: its contents do not match their digest")
    if fields["game"] != str(game):
        raise BadInput(f"{name} plays {contrast(fields['game'], game.rules)}")
    if fields["game_digest"] != source_digest_of(game.rules):
        raise BadInput(f"{name} is of an earlier {game}, whose file has changed; train it again")
    if fields["sizes"] != {"patterns": [NUM_PATTERNS], "actions": [game.num_actions]}:
        raise BadInput(f"{name} has weights of sizes {fields['sizes']}, not {game}'s")
    check_board(game)
    return policy_of_weights(tensors["patterns"], tensors["actions"])


def _read(path: Path, name: str) -> tuple[dict, dict[str, np.ndarray]]:
    """Returns card and weights of a file; raises BadInput if it is not a rollout policy."""
    if not path.is_file():
        raise BadInput(f"{name} does not exist; azero train-rollout makes one")
    try:
        with safe_open(str(path), framework="numpy") as file:
            text = (file.metadata() or {}).get("azero")
            names = set(file.keys())
            if text is None or names != {"patterns", "actions"}:
                raise BadInput(f"{name} holds no rollout policy; azero train-rollout makes one")
            return dict(json.loads(text)), {each: file.get_tensor(each) for each in sorted(names)}
    except BadInput:
        raise
    except (OSError, SafetensorError, ValueError, TypeError, RecursionError) as error:
        raise BadInput(f"{name} is damaged or not a .safetensors file: {error}") from None


def _sizes(tensors: dict[str, np.ndarray]) -> dict[str, list[int]]:
    return {name: list(tensor.shape) for name, tensor in tensors.items()}


def _digest(tensors: dict[str, np.ndarray], fields: dict) -> str:
    """Returns a digest of weights and card."""
    digest = hashlib.sha256(json.dumps(fields, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode() + str(tensor.dtype).encode() + tensor.tobytes())
    return digest.hexdigest()
