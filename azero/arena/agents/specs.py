"""Agents as plain data: what is named here can be made on another machine.

A spec has the contents of the files that an agent's name stands for: its checkpoint, a rollout policy, and the code
of a user's own game, net and search. Nothing of this machine is needed where the agent is made.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.checkpoints import files_of_search, find_checkpoint, search_of
from azero.arena.agents.make import make_agent
from azero.arena.agents.names import SEARCH_FILES, AgentName, join_options, parse_name, split_program
from azero.arena.agents.opened import Opened
from azero.config.schema import DeviceConfig
from azero.errors import BadInput
from azero.games import Game
from azero.games.make import make_sent_game
from azero.games.names import file_of, identity_of
from azero.games.user.sources import Sources, name_here, pack_code
from azero.games.user.trust import check_trusted, trust_identity
from azero.system.machine import count_cores
from azero.system.packed_files import PackedFiles, pack, unpack
from azero.system.worker_pool import Pool


@dataclass(frozen=True)
class AgentSpec:
    """All that an agent is made from; see `make_agent`. Files are named by their paths at the sender's.

    A user's selection rule and root strategy are named by the options.
    """

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
    files: PackedFiles = ()

    @property
    def is_program(self) -> bool:
        """Whether it is another program, which is only here."""
        return split_program(self.name) is not None

    def __hash__(self) -> int:
        return hash((self.name, self.game, self.seed))


def spec_of(
    name: str,
    game: Game,
    seed: int = 0,
    threads: int = 1,
    device: DeviceConfig | None = None,
    max_nodes: int | None = None,
) -> AgentSpec:
    """Returns the spec of an agent that `make_agent` makes from the same arguments.

    Raises BadInput as `make_agent`; Untrusted if the user has not named a file of its search, or it has changed since.

    A user's code that this process trusts is trusted where the agent is made.
    """
    spec = AgentSpec(name, str(game), seed, threads, device or DeviceConfig(), max_nodes)
    spec = replace(spec, game_identity=identity_of(game.rules), files=pack_code(str(game)))
    if spec.is_program:
        return replace(spec, word=name)
    parsed = parse_name(name)
    options = parsed.options | ({} if parsed.level is None else {"level": parsed.level})
    spec = replace(spec, limit=name.removeprefix(parsed.base))
    if parsed.kind == "net":
        spec, rollout = _with_net(spec, parsed, options)
    else:
        spec = replace(spec, word=parsed.word, options=tuple(options.items()))
        rollout = options.get("rollout", "")
    if not rollout.endswith(".safetensors"):
        return spec
    return replace(spec, rollout=rollout, files=spec.files + pack({rollout: "rollout/rollout.safetensors"}))


def _with_net(spec: AgentSpec, parsed: AgentName, options: dict[str, str]) -> tuple[AgentSpec, str]:
    """Returns the spec with its checkpoint, a user's net and search, and the rollout policy of its search."""
    from azero.nets.checkpoint_file import name_of_net, read_card

    checkpoint = find_checkpoint(parsed.word).absolute()
    card = read_card(checkpoint)
    net = name_of_net(checkpoint, card)
    search = card.search | options
    rollout = str(search.get("rollout", "")) if float(search.get("rollout_weight", 0)) > 0 else ""
    files, file = spec.files, file_of(net, "net")
    if file:
        sources = Sources(file, "net")
        check_trusted(sources)
        spec, files = replace(spec, net=net, net_identity=sources.identity), files + sources.packed()
    files += pack({checkpoint: f"checkpoint/{checkpoint.name}"})
    own = search_of(parsed)
    for kind, path in files_of_search(own):
        sources = Sources(path, kind)
        check_trusted(sources)
        files += sources.packed()
    if file_of(card.origin_of_rule.name, "rule"):  # what plays is settled here
        own = {"selection": "puct", **own}
    options = {**own, **options}
    return replace(spec, checkpoint=str(checkpoint), options=tuple(options.items()), files=files), rollout


def settled_device(agent: Agent, device: DeviceConfig) -> DeviceConfig:
    """Returns the settings with the device, library and precision that run an agent's net here, in place of "auto"."""
    inner = agent.at_full_strength
    if inner.net_alone is None:
        return device
    search = inner.new_search(2)
    if search and search.evaluator:  # the net is opened as a match does
        search.evaluator.evaluate(np.zeros((1, *inner.game.planes_shape), np.float32))
    if inner.runtime is None:
        return device
    from azero.nets.devices import device_type

    library, precision = inner.runtime
    kind = device_type(device.device)
    return device.model_copy(update={"device": kind, "runtime": library, "precision": precision})


def make_from(spec: AgentSpec) -> Agent:
    """Returns the agent of a spec. The caller closes it.

    Raises:
      BadInput: it cannot be made here.
      Damaged: a file has other bytes than it had where the spec was made.
    """
    found = unpack(spec.files)
    game = _game_here(spec.game, spec.game_identity, name_here(spec.game, found))
    if spec.net_identity:
        trust_identity(spec.net_identity)
    net = name_here(spec.net, found, "net") if spec.net else None
    name = _name_here(spec, found)
    agent = make_agent(name, game, spec.seed, spec.threads, spec.device, spec.max_nodes, net)
    agent.name = spec.name
    return agent


def game_of_spec(spec: AgentSpec) -> Game:
    """Returns the game that the agent of a spec plays; raises as `make_from`."""
    return _game_here(spec.game, spec.game_identity, name_here(spec.game, unpack(spec.files)))


@lru_cache(8)
def _game_here(name: str, identity: str, name_here: str) -> Game:
    """Returns a game whose code has this identity; raises BadInput for any other code."""
    game = make_sent_game(name_here, identity)
    if game is None:
        raise BadInput(f"{name} has changed while it was being played; begin again")
    return game


def _name_here(spec: AgentSpec, found: dict[str, Path]) -> str:
    """Returns the agent's name with the places of its files on this machine."""
    base, options = str(found[spec.checkpoint]) if spec.checkpoint else spec.word, dict(spec.options)
    if spec.checkpoint:
        options |= {key: name_here(options[key], found, kind) for key, kind in SEARCH_FILES.items() if key in options}
    if spec.rollout:
        options["rollout"] = str(found[spec.rollout])
    return join_options(base, options) + spec.limit


class OpenAgents:
    """Agents that are made from specs, and stay open for their next use: the `most` that were used last."""

    def __init__(self, most: int):
        self._opened = Opened[tuple[AgentSpec, bool], Agent](most, lambda agent: agent.close())

    def pair(self, a: AgentSpec, b: AgentSpec) -> tuple[Agent, Agent]:
        """Returns the agents of a match, which are two even if they have the same spec."""
        return self.one(a), self.one(b, is_twin=a == b)

    def one(self, spec: AgentSpec, is_twin: bool = False) -> Agent:
        """Returns the agent of a spec; with `is_twin`, another one than without."""
        return self._opened.use((spec, is_twin), lambda: make_from(spec))

    def close(self) -> None:
        """Closes all agents."""
        self._opened.close()


WORKERS_AGENTS = OpenAgents(2)
"""The agents of a worker's last task: the next one often has the same."""


def for_workers_of(pool: Pool, spec: AgentSpec) -> AgentSpec:
    """Returns the spec of an agent that any worker of a pool can make."""
    return replace(spec, device=spec.device.for_any_machine()) if pool.is_mixed else spec


def for_a_worker(spec: AgentSpec) -> AgentSpec:
    """Returns the spec with a worker's share of this machine: a core, or a GPU and the cores that go with it."""
    threads = 1
    if spec.checkpoint:
        from azero.nets.devices import device_type

        threads = 1 if device_type(spec.device.device) == "cpu" else count_cores()
    return replace(spec, threads=threads)
