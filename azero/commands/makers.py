"""From the options of a command to its agents."""

from typing import TYPE_CHECKING, NamedTuple

from azero.errors import BadInput

if TYPE_CHECKING:
    from azero.arena.agents.agent import Agent
    from azero.arena.agents.specs import AgentSpec
    from azero.config.schema import DeviceConfig
    from azero.games import Game


class Maker(NamedTuple):
    """Makes the agents of a command from their names."""

    game: "Game | str | None"  # None: the agent's checkpoint names the game
    seed: int
    threads: int | None  # None: all cores
    device: "DeviceConfig"
    max_nodes: int | None = None

    @property
    def num_threads(self) -> int:
        """The threads that are given, or all cores."""
        from azero.system.machine import count_cores

        return count_cores() if self.threads is None else self.threads

    def agent(self, name: str) -> "Agent":
        """Returns the agent of this name. The caller closes it."""
        from azero.arena.agents.checkpoints import trust_search
        from azero.arena.agents.make import make_agent
        from azero.arena.agents.names import parse_name

        trust_search(parse_name(name), is_kept=True)
        return make_agent(name, self.game, self.seed, self.num_threads, self.device, self.max_nodes)

    def pair(self, name: str, other: str) -> tuple["Agent", "Agent"]:
        """Returns both agents of a match. If one is a checkpoint, both play its game."""
        from azero.arena.agents.checkpoints import game_of

        told = self.game or game_of(name) or game_of(other)
        one = self._replace(game=told)
        return one.agent(name), one._replace(seed=self.seed + 1).agent(other)

    def device_of(self, *agents: "Agent") -> "DeviceConfig | None":
        """Returns where the nets of these agents run; None if none has a net."""
        return self.device if any(agent.net_alone for agent in agents) else None

    def device_for(self, names: list[str]) -> "DeviceConfig | None":
        """Returns where the nets of agents with these names run; None if none has a net."""
        from azero.arena.agents.names import parse_name

        return self.device if any(parse_name(name).kind == "net" for name in names) else None

    def spec(self, name: str, agent: "Agent") -> "AgentSpec":
        """Returns the spec of an agent that this maker has made. Its net runs elsewhere as it does here."""
        from azero.arena.agents.specs import settled_device, spec_of

        return spec_of(name, agent.game, agent.seed, 1, settled_device(agent, self.device), self.max_nodes)


def device_of_options(names: list[str], device: str, precision: str, runtime: str) -> "DeviceConfig":
    """Returns the settings of where and how nets run.

    Raises:
      BadInput: an option is unknown or not available on this machine, contradicts an agent's name, or no agent has a
        net.
    """
    from azero.arena.agents.names import parse_name
    from azero.config.reading import check_device

    given = {"device": device, "precision": precision, "runtime": runtime}
    given = {key: value for key, value in given.items() if value != "auto"}
    config = check_device(device, precision, runtime)
    if not given:
        return config
    from azero.nets.runtimes.fastest import wanted_runtimes

    wanted_runtimes(config)
    settings = [parse_name(name).device_settings for name in names]
    if all(each is None for each in settings):
        raise BadInput(f"--{next(iter(given))} is for nets, and there is no net in {' or '.join(names)}")
    for name, own in zip(names, settings, strict=True):
        for key, value in given.items():
            if (own or {}).get(key, value) != value:
                raise BadInput(f"--{key} {value} contradicts agent {name!r}; give only one of the two")
    return config
