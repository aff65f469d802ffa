"""`Catalogue`: the games, agents and runs of a server by their ids. What a request names is looked up here alone."""

import contextlib
import re
from collections.abc import Iterable
from pathlib import Path

from azero.arena.agents.checkpoints import shipped_checkpoints
from azero.errors import BadInput
from azero.games import Game, registered_games
from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.offered.agents import CLASSICAL_OFFERED, OfferedAgent, id_of, offered_agent
from azero.interfaces.web.offered.games import OfferedGame, built_in_game, offered_game
from azero.interfaces.web.offered.runs import OfferedRuns, is_run
from azero.runs.folder import RunFolder

_RUN_AGENT = re.compile(r"run:([^:]{1,100})(?::(\d{1,7}))?")


class Catalogue:
    """What a server offers.

    Attributes:
      games: by id: all built-in games, those of the agents, and the user's own.
      agents: by id, without the nets of runs.
      runs: the runs by id.
    """

    def __init__(self, agents: Iterable[str] = (), games: Iterable[Game] = (), runs: Iterable[Path] = ()):
        """Raises BadInput if an agent or a run cannot be used.

        Args:
          runs: runs, or folders of runs, where `look_for_runs` finds those that begin later.
        """
        self.games: dict[str, OfferedGame] = {}
        self.agents: dict[str, OfferedAgent] = {}
        for name in registered_games():
            self._add_game(built_in_game(name).game)
        for game in games:
            self._add_game(game)
        names = list(agents)
        given = [name for name in names if not is_run(Path(name))]
        self.runs = OfferedRuns([*runs, *(Path(name) for name in names if is_run(Path(name)))])
        for run_id in self.runs.ids():
            self._add_game_of_run(run_id)
        for name in given:
            self._add_agent(name, "given")
        if not names:
            for name in shipped_checkpoints():
                self._add_agent(name, "shipped", f"azero {self._title(name)}")
        for name in CLASSICAL_OFFERED:
            if name not in self.agents:
                self._add_agent(name, "shipped")

    def game(self, game_id: str) -> OfferedGame:
        """Returns the game of an id, or a built-in game with other parameters; raises ApiError."""
        return self.games.get(game_id) or built_in_game(game_id)

    def id_of(self, game: Game) -> str:
        """Returns the id of a game that is offered, or of a built-in game with any parameters."""
        return offered_game(game).id

    def agent(self, agent_id: str) -> OfferedAgent:
        """Returns the agent of an id; raises ApiError. The nets of a run are `run:ID` and `run:ID:ITERATION`."""
        found = self.agents.get(agent_id) or self._net_of_run(agent_id)
        if found is None:
            raise ApiError(
                404, "unknown_agent", "there is no such agent; GET /api/v1/agents lists them", value=agent_id
            )
        return found

    def agent_for(self, agent_id: str, game: OfferedGame) -> OfferedAgent:
        """Returns the agent of an id if it plays a game; raises ApiError."""
        agent = self.agent(agent_id)
        if not agent.plays(game.game):
            message = f"agent {agent.id!r} plays {agent.game}, not {game.id}"
            raise ApiError(409, "other_game", message, value=game.id)
        return agent

    def agents_for(self, game: Game | None) -> list[OfferedAgent]:
        """Returns the agents that play a game, or all of them; of a run the best net alone."""
        best = [self._best_of_run(run) for run in self.runs.ids()]
        every = [*(each for each in best if each), *self.agents.values()]
        return [each for each in every if game is None or each.plays(game)]

    def first_agents(self) -> list[tuple[OfferedAgent, Game]]:
        """Returns the first agent for each game, with the game."""
        return [(self.agents_for(each.game)[0], each.game) for each in self.games.values()]

    def run(self, run_id: str) -> Path:
        """Returns the folder of a run; raises ApiError."""
        folder = self.runs.folder_of(run_id)
        if folder is None:
            raise ApiError(404, "unknown_run", "there is no such run; GET /api/v1/runs lists them", value=run_id)
        return folder

    def look_for_runs(self) -> None:
        """Offers runs that have begun in the folders of runs, with their games."""
        for run_id in self.runs.look():
            with contextlib.suppress(BadInput):  # its game has the name of another one: its nets play nothing here
                self._add_game_of_run(run_id)

    def _add_game(self, game: Game) -> None:
        found = offered_game(game)
        known = self.games.get(found.id)
        if known is not None and known.game != game:
            raise BadInput(f"two games are named {found.id.removeprefix('own:')!r}; rename one of their classes")
        self.games = {**self.games, found.id: found}  # a new one: a request may be going through the old one

    def _add_agent(self, name: str, source: str, title: str = "") -> None:
        agent = offered_agent(name, id_of(name, set(self.agents)), source, title=title)
        self.agents[agent.id] = agent
        if agent.game is not None:
            self._add_game(agent.game)

    def _add_game_of_run(self, run_id: str) -> None:
        best = self._best_of_run(run_id)
        if best is not None and best.game is not None:
            self._add_game(best.game)

    def _best_of_run(self, run_id: str) -> OfferedAgent | None:
        """Returns the best net of a run; None if there is none that can be read now."""
        try:
            return self._net_of_run(f"run:{run_id}")
        except (BadInput, OSError):
            return None

    def _net_of_run(self, agent_id: str) -> OfferedAgent | None:
        """Returns a net of a run; None if there is none. The id has no part of a path but numbers."""
        match = _RUN_AGENT.fullmatch(agent_id)
        folder = self.runs.folder_of(match[1]) if match else None
        if not match or folder is None:
            return None
        iteration = match[2]
        run = RunFolder(folder)
        file = run.checkpoint_path(int(iteration)) if iteration else run.best_path
        if not file.is_file() or file.is_symlink() or (iteration and file.parent.is_symlink()):
            return None
        title = f"{match[1]}, iteration {int(iteration)}" if iteration else match[1]
        return offered_agent(str(file), agent_id, "run", match[1], title)

    def _title(self, name: str) -> str:
        return " ".join(word.capitalize() for word in name.split("_"))
