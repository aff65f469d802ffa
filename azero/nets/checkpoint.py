"""Checkpoints: one `.safetensors` file with the weights and everything needed to rebuild the net."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch

from azero.config.reading import check_device, load_config, override_section
from azero.config.schema import Config, NetConfig
from azero.errors import BadInput
from azero.games import Game, State
from azero.games.names import SHORT_IDENTITY, file_of, is_made_with, source_digest_of, without_folder
from azero.games.sizes import games_of
from azero.games.state import check_states
from azero.games.user.sources import Sources
from azero.games.user.trust import trust_config
from azero.nets.architectures.contract import Net, fold
from azero.nets.architectures.heads import all_outputs
from azero.nets.checkpoint_file import Card, CheckpointFile, read_checkpoint
from azero.nets.make import make_net
from azero.nets.origins import place_of
from azero.nets.runtimes.pytorch.session import evaluator_of, open_heads
from azero.nets.runtimes.session import by_position
from azero.nets.users_net import BrokenNet
from azero.system.tensor_files import Tensors, write_tensors

Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Checkpoint:
    """A net with its card.

    Attributes:
      net: the net, a torch.nn.Module on the CPU. It turns planes [B, C, H, W] float32 into a pair of logits: of actions
        [B, A], and of win, draw and loss [B, 3], for the player to move.
      card: the metadata: game, settings of the net and of the search, training steps.
      game: the game.
      digest: of the file's contents; empty if the net has not been saved.
    """

    net: Net
    card: Card
    game: Game
    digest: str = ""

    def evaluator(self, device: str = "auto") -> Evaluate:
        """Returns a function for `azero.Search`, from planes to logits [B, A] and values [B] in [-1, 1].

        It computes in fp32, with a copy of the net's present weights.

        Args:
          device: auto, cpu, cuda or mps.

        Raises BadInput if there is no such device.
        """
        return evaluator_of(self.net, check_device(device, "fp32"))

    def evaluate(self, states: Sequence[State]) -> tuple[np.ndarray, np.ndarray]:
        """Returns the net's judgement of positions, without a search.

        Returns:
          policies: [B, A] float32, probabilities; 0 for illegal actions.
          values: [B] float32 in [-1, 1], for the player to move.

        Raises BadInput if there is no position, one is of another game, or its game is over.
        """
        check_states(self.game, states)
        logits, values = self.evaluator()(np.stack([state.planes() for state in states]))
        masked = np.full_like(logits, -np.inf)
        for row, state in enumerate(states):
            legal = state.legal_actions()
            masked[row, legal] = logits[row, legal]
        weights = np.exp(masked - masked.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True), values

    def heads(self, states: Sequence[State]) -> dict[str, np.ndarray]:
        """Returns the answers of the heads that the net keeps for positions, by name; empty without such heads.

        Returns:
          ownership: [B, H, W] float32 in [-1, 1], the expected owners of the planes' cells at the end; 1 is the player
            to move.
          score: [B] float32, the points by which the player to move is expected to win.

        Raises BadInput if there is no position, one is of another game, or its game is over.
        """
        check_states(self.game, states)
        planes = np.stack([state.planes() for state in states])
        return by_position(open_heads(self.net, check_device("auto", "fp32"))(planes))


def new_checkpoint(config: str | Path | Config) -> Checkpoint:
    """Returns a new net for a game, as a config describes both. Its weights depend on the config's seed.

    Of several sizes, the game is the largest.

    Args:
      config: the name of an included config, a path, or what `load_config` returns.

    Raises BadInput if the config, the game or the net cannot be used.
    """
    config = config if isinstance(config, Config) else load_config(config)
    trust_config(config)
    game = games_of(config.game)[-1]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        net = make_net(config.net, game)
    rule = file_of(config.search.selection, "rule")
    card = Card(
        game=str(game),
        net=config.net.model_dump(mode="json"),
        search=config.search.model_dump(),
        seed=config.seed,
        rule_digest=Sources(rule, "rule").identity[:SHORT_IDENTITY] if rule else "",
    )
    return Checkpoint(net, card, game)


def save_checkpoint(path: str | Path, net: Net, card: Card) -> None:
    """Writes a checkpoint atomically. `azero suggest PATH` and `make_agent` play with it.

    Args:
      net: a net of `load_checkpoint` or `new_checkpoint`, perhaps trained further, on any device.
      card: its metadata. `dataclasses.replace(checkpoint.card, step=100)` changes a field. Fields that describe a
        user's own game and net are set here.

    Raises BadInput if the net does not fit the card, or has values that are not finite numbers.
    """
    path, refusal = Path(path), f"checkpoint {str(path)!r} is not written"
    if not isinstance(net, Net):
        raise BadInput(f"{refusal}: the net is a {type(net).__name__}; it should come from azero.load_checkpoint")
    if without_folder(card.game) != without_folder(str(net.game)):
        raise BadInput(f"{refusal}: its card names the game {card.game}, and the net is for {net.game}")
    config = override_section(NetConfig, card.net, {})
    try:
        check_shapes(wanted_weights(config, net.game), weights_of(net))
    except BadInput as error:
        raise BadInput(f"{refusal}: {error}") from None
    check_finite(net, refusal)
    card = replace(
        card,
        game_digest=source_digest_of(net.game.rules),
        game_file=place_of(net.game.name, path.parent),
        net_digest=net.identity[:SHORT_IDENTITY],
        net_file=place_of(config.name, path.parent),
        rule_file=place_of(card.origin_of_rule.name, path.parent),
    )
    write_checkpoint(path, net, card)


def write_checkpoint(path: Path, net: Net, card: Card) -> None:
    """Writes a checkpoint atomically."""
    write_tensors(path, weights_of(net), _fields(card))


def weights_of(net: Net) -> Tensors:
    """Returns the net's weights and running statistics as arrays."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in net.state_dict().items()}


def net_from_weights(config: NetConfig, game: Game, weights: Tensors) -> Net:
    """Returns the net with these weights; raises RuntimeError if they do not fit."""
    net = make_net(config, game)
    net.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return net


def load_checkpoint(path: str | Path, game: Game | None = None) -> Checkpoint:
    """Reads a checkpoint, for `game` if it is given. Raises BadInput if it is damaged, or of another game or format.

    If the sources of a user's own game have changed since the checkpoint was made, a warning is printed on stderr.
    """
    return load_net(read_checkpoint(Path(path), game))


def load_net(file: CheckpointFile) -> Checkpoint:
    """Returns the checkpoint with this file's net; raises BadInput if the weights do not fit it."""
    name, game = f"checkpoint {str(file.path)!r}", file.game
    try:
        wanted = wanted_weights(file.config, game)
    except BadInput as error:
        raise type(error)(f"{name}: {error}") from None
    try:
        check_shapes(wanted, file.weights)
    except BadInput as error:
        if not is_made_with(game.rules, file.card.game_digest):
            raise BadInput(
                f"{name} does not fit {game}, which has changed since it was made: its planes, now "
                f"{'x'.join(map(str, game.planes_shape))}, or its actions, now {game.num_actions}, do not have the "
                "net's shape"
            ) from None
        raise BadInput(f"{name} does not fit its own card: {error}") from None
    net = net_from_weights(file.config, game, file.weights)
    check_finite(net, f"{name} cannot be used")
    file.warn_of_change()
    return Checkpoint(net, file.card, game, file.digest)


def check_finite(net: Net, refusal: str) -> None:
    """Raises BadInput, which begins with `refusal`, if a weight or an output of the net is not a finite number."""
    for name, tensor in net.state_dict().items():
        if not tensor.isfinite().all():
            raise BadInput(f"{refusal}: {name} has values that are not finite numbers")
    if not _answers(net):
        raise BadInput(f"{refusal}: its net's outputs are not finite numbers")


def wanted_weights(config: NetConfig, game: Game) -> dict[str, torch.Tensor]:
    """Returns the weights of a net with these settings, of which only names, shapes and dtypes count.

    The net is not allocated for this: a small file can describe a net of many GiB. A user's net may need that.
    """
    try:
        with torch.device("meta"):
            return make_net(config, game, is_tried=False).state_dict()
    except BrokenNet:
        return make_net(config, game).state_dict()


def check_shapes(wanted: dict[str, torch.Tensor], weights: Tensors) -> None:
    """Raises BadInput if the weights do not fit the net by name, shape and dtype."""
    for name in sorted(wanted.keys() | weights.keys()):
        own, other = (
            " x ".join(map(str, each[name].shape)) or "a number" if name in each else "not there"
            for each in (weights, wanted)
        )
        if own != other:
            raise BadInput(f"{name} is {own}, and in the net that the card describes {other}")
        if f"torch.{weights[name].dtype.name}" != str(wanted[name].dtype):
            raise BadInput(f"{name} is of torch.{weights[name].dtype.name}; it should be of {wanted[name].dtype}")


@torch.inference_mode()
def _answers(net: Net) -> bool:
    """Returns whether the net's output is finite for planes of ones. Finite weights can be too large for that."""
    outputs = all_outputs(fold(net).cpu(), torch.ones(1, *net.game.planes_shape))
    return all(bool(each.isfinite().all()) for each in outputs.values())


_FIELDS_OF_FILES = (
    "root",
    *(f"{kind}_{what}" for kind in ("game", "net", "rule", "root") for what in ("digest", "file")),
)


def _fields(card: Card) -> dict:
    """Returns the fields of a card that are written. Those about a user's files are left out if there is none."""
    return {key: value for key, value in asdict(card).items() if key not in _FIELDS_OF_FILES or value}
