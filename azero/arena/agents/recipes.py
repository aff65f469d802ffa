"""Agents as plain data: what is named here can be made on another machine.

A recipe has the contents of the files that an agent's name stands for: its checkpoint, a rollout policy, and the code
of a user's own game and net. Nothing of this machine is needed where the agent is made.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from azero.arena.agents.agent import Agent
from azero.arena.agents.checkpoints import find_checkpoint
from azero.arena.agents.classical import CLASSICAL, word_of
from azero.arena.agents.names import make_agent, split_name, split_settings
from azero.arena.agents.options import split_options, split_program
from azero.arena.agents.search_agent import SearchAgent
from azero.config.schema import DeviceConfig
from azero.errors import BadInput
from azero.games import Game
from azero.games.make import make_trusted_game
from azero.games.names import identity_of
from azero.games.user.sources import Sources, name_here, pack_code
from azero.games.user.trust import Untrusted, trust_identity
from azero.system.parcels import Parcel, pack, unpack


@dataclass(frozen=True)
class Recipe:
    """All that an agent is made from; see `make_agent`. Files are named by their paths at the sender's."""

    name: str
    game: str
    seed: int
    threads: int
    device: DeviceConfig
    max_nodes: int | None
    word: str = ""  # the name without options and limit; empty if that is a checkpoint
    options: tuple[tuple[str, str], ...] = ()
    limit: str = ""  # as in the name, with its @
    checkpoint: str = ""  # path of the net's file; empty for agents without a net
    net: str = ""  # name of a user's own net
    rollout: str = ""  # path of a rollout policy
    game_identity: str = ""  # of the code of a user's own game
    net_identity: str = ""
    files: Parcel = ()

    @property
    def is_program(self) -> bool:
        """Whether it is another program, which is only here."""
        return split_program(self.name) is not None

    def __hash__(self) -> int:
        return hash((self.name, self.game, self.seed))


def recipe_of(
    name: str,
    game: Game,
    seed: int = 0,
    threads: int = 1,
    device: DeviceConfig | None = None,
    max_nodes: int | None = None,
) -> Recipe:
    """Returns the recipe of an agent that `make_agent` makes from the same arguments; raises BadInput.

    A user's code that this process trusts is trusted where the agent is made.
    """
    recipe = Recipe(name, str(game), seed, threads, device or DeviceConfig(), max_nodes)
    recipe = replace(recipe, game_identity=identity_of(game.rules), files=pack_code(str(game)))
    if recipe.is_program:
        return replace(recipe, word=name)
    base, _ = split_name(name)
    recipe = replace(recipe, limit=name.removeprefix(base))
    if word_of(base) in ("random", *CLASSICAL):
        word, options = split_options(base)
        recipe, rollout = replace(recipe, word=word, options=tuple(options.items())), options.get("rollout", "")
    else:
        recipe, rollout = _with_net(recipe, *split_settings(base))
    if not rollout.endswith(".safetensors"):
        return recipe
    return replace(recipe, rollout=rollout, files=recipe.files + pack({rollout: "rollout/rollout.safetensors"}))


def _with_net(recipe: Recipe, path: str, options: dict[str, str]) -> tuple[Recipe, str]:
    """Returns the recipe with its checkpoint and a user's net, and the rollout policy of its search."""
    from azero.nets.checkpoint_file import name_of_net, read_card

    checkpoint = find_checkpoint(path).absolute()
    card = read_card(checkpoint)
    net = name_of_net(checkpoint, card)
    search = card.search | options
    rollout = str(search.get("rollout", "")) if float(search.get("rollout_weight", 0)) > 0 else ""
    code = pack_code(net, "net")
    if code:
        identity = Sources(code[0].path, "net").identity
        recipe = replace(recipe, net=net, net_identity=identity)
    files = recipe.files + code + pack({checkpoint: f"checkpoint/{checkpoint.name}"})
    return replace(recipe, checkpoint=str(checkpoint), options=tuple(options.items()), files=files), rollout


def settled_device(agent: Agent, device: DeviceConfig) -> DeviceConfig:
    """Returns the settings with the device, library and precision that run an agent's net here, in place of "auto"."""
    inner = agent.at_full_strength
    if not isinstance(inner, SearchAgent) or inner.net_alone is None:
        return device
    inner.new_search(2)  # opens the net as a match does
    if inner.runtime is None:
        return device
    from azero.nets.runtimes.choice import pick_device

    library, precision = inner.runtime
    kind = pick_device(device.device).type
    return device.model_copy(update={"device": kind, "runtime": library, "precision": precision})


def make_from(recipe: Recipe) -> Agent:
    """Returns the agent of a recipe. The caller closes it.

    Raises:
      BadInput: it cannot be made here.
      Damaged: a file has other bytes than it had where the recipe was made.
    """
    found = unpack(recipe.files)
    game = _game_here(recipe.game, recipe.game_identity, name_here(recipe.game, found))
    if recipe.net_identity:
        trust_identity(recipe.net_identity)
    net = name_here(recipe.net, found, "net") if recipe.net else None
    name = _name_here(recipe, found)
    agent = make_agent(name, game, recipe.seed, recipe.threads, recipe.device, recipe.max_nodes, net)
    agent.name = recipe.name
    return agent


def game_of_recipe(recipe: Recipe) -> Game:
    """Returns the game that the agent of a recipe plays; raises as `make_from`."""
    return _game_here(recipe.game, recipe.game_identity, name_here(recipe.game, unpack(recipe.files)))


@lru_cache(8)
def _game_here(name: str, identity: str, name_here: str) -> Game:
    """Returns a game whose code has this identity. That code may run here; raises BadInput for any other."""
    if identity:
        trust_identity(identity)
    try:
        game = make_trusted_game(name_here)
        if identity_of(game.rules) == identity:
            return game
    except Untrusted:
        pass
    raise BadInput(f"{name} has changed while it was being played; begin again")


def _name_here(recipe: Recipe, found: dict[str, Path]) -> str:
    """Returns the agent's name with the places of its files on this machine."""
    base, options = str(found[recipe.checkpoint]) if recipe.checkpoint else recipe.word, dict(recipe.options)
    if recipe.rollout:
        options["rollout"] = str(found[recipe.rollout])
    settings = ",".join(f"{key}={value}" for key, value in options.items())
    return (f"{base}({settings})" if settings else base) + recipe.limit
