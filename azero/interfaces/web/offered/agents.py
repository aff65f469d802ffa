"""The agents that a server offers: what is known of them before they are loaded."""

import functools
from dataclasses import dataclass
from pathlib import Path

from azero.arena.agents.checkpoints import find_checkpoint, identity_of_agent
from azero.arena.agents.clock import UNLIMITED
from azero.arena.agents.levels import Table, levels_of
from azero.arena.agents.make import make_agent
from azero.arena.agents.names import has_folder, join_options, parse_name, split_program
from azero.errors import BadInput
from azero.games import Game
from azero.games.names import KOMI, differences, is_playable
from azero.interfaces.web.offered.games import built_in_game
from azero.nets.architectures.drawing import is_any_size
from azero.nets.checkpoint_file import game_of_card, read_whole
from azero.system.console import printable

_SMALL = "tic_tac_toe"
_LONGEST = 80  # characters of an id

CLASSICAL_OFFERED = ("uct@1000", "mc@1000", "alphabeta@1000", "random")
"""Agents without a net that are offered if nothing else is asked for."""


@dataclass(frozen=True)
class OfferedAgent:
    """An agent by its id. It is not loaded.

    Attributes:
      id: by which requests choose it.
      name: as `make_agent` takes it.
      title: the name for people.
      kind: net, uct, mc, mmmc, alphabeta, random or program.
      source: shipped, run or given.
      game: the game of its net; None for agents that play any game.
      is_any_size: whether its net plays the game in other sizes, too.
      has_ownership: whether its net tells who will own the cells.
      run: the id of its run; None for others.
      version: of the file of its net, which a run replaces while it trains.
    """

    id: str
    name: str
    title: str
    kind: str
    source: str
    game: Game | None = None
    is_any_size: bool = False
    has_ownership: bool = False
    run: str | None = None
    version: int = 0

    def plays(self, game: Game) -> bool:
        """Returns whether it can play a game."""
        return self.game is None or self.game == game or is_playable(self.game.name, game.rules, self.is_any_size)

    def title_in(self, game: Game | None) -> str:
        """Returns its title in a game, with the komi that its net was trained with if the game has another one."""
        found = differences(self.game.name, game.rules) if self.game and game else None
        return f"{self.title} (trained with komi {found[KOMI][0]})" if found and KOMI in found else self.title

    def levels(self, game: Game) -> Table | None:
        """Returns the levels at which it plays a game; None if it does not judge positions and each of their moves."""
        if self.kind in ("random", "alphabeta", "program"):
            return None
        return levels_of(game, "" if self.run else _identity(self.name))

    @property
    def public_name(self) -> str | None:
        """Its name in commands, without a limit.

        None if it would tell a command, or a folder that is not a run's, or if nobody can type it.
        """
        is_told = self.kind != "program" and (self.run is not None or not has_folder(self.name))
        if not is_told or not self.name.isprintable():
            return None
        return parse_name(self.name).base

    @property
    def judges(self) -> bool:
        """Whether its values mean anything."""
        return self.kind != "random"

    @property
    def simulations(self) -> int:
        """Its simulations of a suggestion, unless a request says otherwise; 0: it has no such limit."""
        simulations = 0 if self.kind in ("random", "program") else parse_name(self.name).limit.simulations
        return simulations if simulations < UNLIMITED else 0

    @property
    def seconds(self) -> float | None:
        """Its time of a suggestion, unless a request says otherwise; None: its name has none."""
        return None if self.kind == "program" else parse_name(self.name).limit.seconds


@functools.lru_cache(maxsize=64)
def _identity(name: str) -> str:
    """Returns an agent's identity. Levels have simulations of their own, so its limit does not count."""
    return identity_of_agent(parse_name(name).base)


def offered_agent(
    name: str, agent_id: str, source: str, run: str | None = None, title: str = "", game: Game | None = None
) -> OfferedAgent:
    """Returns what is offered under a name that the user has given; raises BadInput if there is no such agent.

    Args:
      game: the only one that it will play; None for all that are offered.
    """
    if program := split_program(name):
        command = program[1].split()
        if not command:
            raise BadInput(f"agent {name!r} names no command")
        return OfferedAgent(agent_id, name, printable(Path(command[0]).name), "program", source)
    parsed = parse_name(name)
    if parsed.level is not None:
        raise BadInput(f"agent {name!r} plays at a level; leave it out: the page has all levels")
    if parsed.kind != "net":
        make_agent(name, game or built_in_game(_SMALL).game).close()  # raises BadInput if it cannot be made
        return OfferedAgent(agent_id, name, title or _without_folders(name), parsed.word, source)
    file = find_checkpoint(parsed.word)
    version = file.stat().st_mtime_ns
    return OfferedAgent(agent_id, name, title or "azero", "net", source, *_net_of(file, version), run, version)


@functools.lru_cache(maxsize=256)
def _net_of(file: Path, version: int) -> tuple[Game, bool, bool]:
    """Returns game, `is_any_size` and `has_ownership` of a checkpoint's net; raises BadInput if it is damaged."""
    card, _, _ = read_whole(file)
    heads = card.net.get("heads") or ()
    return game_of_card(file, card), is_any_size(card.net.get("name")), "ownership" in heads


def _without_folders(name: str) -> str:
    """Returns the name of an agent without a net; of files in its options, the names alone."""
    parsed = parse_name(name)
    options = {key: Path(value).name if has_folder(value) else value for key, value in parsed.options.items()}
    return join_options(parsed.word, options) + name.removeprefix(parsed.base)


def id_of(name: str, taken: set[str]) -> str:
    """Returns a short id for an agent's name, without folders or commands, that is not taken. It can be shown."""
    program = split_program(name)
    stem = f"program:{program[0].partition('(')[0]}" if program else name
    if not program and parse_name(name).kind == "classical":
        stem = _without_folders(name)
    elif not program and ("/" in name or Path(name).exists()):
        path = Path(name)
        stem = path.stem if path.suffix == ".safetensors" else path.name
    if not stem:
        raise BadInput(f"agent {name!r} has no name")
    stem = printable(stem)[:_LONGEST]
    candidates = [stem, *(f"{stem}~{number}" for number in range(2, len(taken) + 3))]
    return next(each for each in candidates if each not in taken)
