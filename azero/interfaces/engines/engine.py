"""The engine room: a position with its past, an agent, clocks, and a search that input can end."""

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, NamedTuple

from azero.arena.agents.agent import Agent
from azero.arena.agents.analysis import FIRST_REPORT_S, Analysis
from azero.arena.agents.clock import UNLIMITED, Clock, Limit, TimeControl
from azero.arena.agents.suggestion import Suggestion
from azero.errors import BadInput
from azero.games import Game, State
from azero.games.make import make_trusted_game
from azero.games.names import name_of
from azero.games.registry import parameters_of
from azero.interfaces.engines.lines import Lines
from azero.mcts.search.deadline import Deadline
from azero.system.threads import finish

_MOST_EXPECTED = 30  # moves of a report about which the net is asked

_END_S = 0.2  # until a search that was stopped has ended
_NEVER_S = 1e9  # an interval without reports

_PATIENCE_S = 0.5  # for a search that nobody waits for,
_LEAVE_S = 0.3  # and then, once it was stopped, until it is given up
_LOOK_S = 0.05  # from one look at whether anybody waits to the next
_SHORTEST_S = 0.001


class Task(NamedTuple):
    """What a search is to do.

    Attributes:
      limit: when it ends; UNLIMITED simulations without seconds: when it is stopped.
      clock: the clock of the player to move, which also limits it; None: none. With it, a search of some actions alone
        takes the share of a move.
      interval: seconds between reports; None: no reports.
      allowed: the only actions to search; None: all.
      keeps_tree: whether it goes on with what is known of the position. Otherwise it is `Agent.suggest`, whose
        answer depends on nothing that came before.
      counts_lines: whether the visits along principal variations are told.
    """

    limit: Limit
    clock: Clock | None = None
    interval: float | None = None
    allowed: Collection[int] | None = None
    keeps_tree: bool = True
    counts_lines: bool = False


class Report(NamedTuple):
    """What a search has found so far.

    Attributes:
      search: whose report it is.
      found: None if there is nothing.
      is_last: whether the search is over.
      error: why it failed; None if it did not.
      after: what the net expects after each of the best moves, by action, as the attributes `ownership` and `score` of
        a suggestion: for the player to move here. Empty without such a net.
      visits: those of each action in the principal variations of the best moves, by their first actions, if asked for.
    """

    search: "Search"
    found: Suggestion | None
    is_last: bool = False
    error: BaseException | None = None
    after: dict[int, dict[str, Any]] = {}  # noqa: RUF012, never changed
    visits: dict[int, list[int]] = {}  # noqa: RUF012, never changed


class Search:
    """A search of a position in a thread of its own.

    Args:
      lines: take the reports. The last one comes when the search is over, whatever happens.

    Attributes:
      state: the position.
      begin_s: when it began, by `time.perf_counter`.
    """

    def __init__(self, agent: Agent, state: State, task: Task, lines: Lines[Report]):
        self.state, self.task = state, task
        self._agent, self._lines = agent, lines
        self._ending = Deadline()
        self._analysis: Analysis | None = None
        self._after: dict[int, dict[str, Any]] = {}
        self.begin_s = time.perf_counter()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the search: its last report comes within about 50 ms, if its agent can be interrupted."""
        self._ending.stop()
        if self._analysis is not None:
            self._analysis.stop()

    def end(self) -> bool:
        """Stops the search; returns whether it has ended. If not, it cannot be stopped, and the process should end."""
        self.stop()
        self._thread.join(_END_S)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            found = self._think()
            self._lines.put(self._report(found, is_last=True))
        except BaseException as error:  # whoever takes the reports decides
            self._lines.put(Report(self, None, True, error))

    def _think(self) -> Suggestion:
        task, agent = self.task, self._agent
        if task.clock is not None and task.allowed is None:
            return self._think_on_clock(task.clock)
        if not task.keeps_tree:
            limit = None if task.limit == agent.limit else task.limit
            own = (None, None) if limit is None else limit_of(limit)
            return finish(agent.suggesting(self.state, *own, self._ending))
        limit = task.limit
        if task.clock is not None:  # time management chooses among all moves
            limit, manager = limit.beside_clock(), agent.player.time_manager
            manager.look_at(task.clock)
            share_s = max(manager.share(self.state, task.clock).planned_s, _SHORTEST_S)
            limit = Limit(limit.simulations, min(share_s, limit.seconds or share_s))
        simulations, seconds = limit_of(limit)
        if agent.at_full_strength is not agent or (not agent.can_ponder and limit in (Limit(), agent.limit)):
            simulations = seconds = None  # a level has its own limit, and so has a search that cannot be stopped
        analysis = agent.analyse(
            self.state,
            interval=task.interval or _NEVER_S,
            simulations=simulations,
            seconds=seconds,
            memory_mib=agent.memory_mib,
            allow=() if task.allowed is None else list(task.allowed),
        )
        with analysis:
            self._analysis = analysis
            if self._ending.is_stopped:
                analysis.stop()
            for found in analysis:
                if task.interval and not analysis.is_over:
                    self._lines.offer(self._report(found))
        return found

    def _think_on_clock(self, clock: Clock) -> Suggestion:
        """Plays by the agent's time management, within the task's limit. Reports come as the search goes on."""
        agent, next_s = self._agent, self.begin_s + min(FIRST_REPORT_S, self.task.interval or _NEVER_S)
        search, heads = agent.position_search(), agent.heads_of(self.state) if self.task.interval else {}
        before = 0

        def goes_on() -> bool:
            nonlocal next_s, before
            assert search is not None, "it has a tree"
            before, now = before or search.visits, time.perf_counter()
            if self.task.interval and now >= next_s:
                next_s = max(next_s + self.task.interval, now)
                found = search.suggestion()
                rate = (found.simulations - before) / (now - self.begin_s)
                found = replace(found, simulations_per_s=rate, heads=heads)
                self._lines.offer(self._report(found))
            return not self._ending.is_stopped

        limit, agent.limit, agent.player.goes_on = agent.limit, self.task.limit, goes_on
        try:
            found = agent.player.play(self.state, clock)
        finally:
            agent.limit, agent.player.goes_on = limit, None
        if search is None:
            return found
        rate = found.simulations / max(found.elapsed_s, 1e-9)  # all visits of the position count, as in an analysis
        return replace(found, simulations=search.visits, simulations_per_s=rate, heads=heads)

    def _report(self, found: Suggestion, is_last: bool = False) -> Report:
        return Report(self, found, is_last, None, self._expect(found), self._count(found))

    def _count(self, found: Suggestion) -> dict[int, list[int]]:
        """Returns the visits along principal variations, see `Report.visits`."""
        search = self._agent.position_search() if self.task.counts_lines else None
        if search is None:
            return {}
        game, visits = self.state.game, dict[int, list[int]]()
        for move in found.moves[:_MOST_EXPECTED]:
            reached = self.state.clone()
            for text in move.pv:
                reached.apply_action(game.text_to_action(reached, text))
            line = reached.history()[len(self.state.history()) :]
            visits[move.action] = [move.visits, *search.visits_along(line)[1:]]
        return visits

    def _expect(self, found: Suggestion) -> dict[int, dict[str, Any]]:
        """Returns what the net expects after each of the best moves, see `Report.after`."""
        player = self.state.current_player()
        for move in found.moves[:_MOST_EXPECTED] if found.heads else []:
            if move.action not in self._after:
                after = self.state.clone()
                after.apply_action(move.action)
                if after.is_terminal():
                    self._after[move.action] = {"score": after.final_score() * (1 if player == 0 else -1)}
                else:
                    sign = 1 if after.current_player() == player else -1
                    heads = self._agent.heads_of(after).items()
                    self._after[move.action] = {name: sign * answer for name, answer in heads}
        return dict(self._after)


def limit_of(limit: Limit) -> tuple[int | None, float | None]:
    """Returns the simulations and the seconds of a limit; None for no limit."""
    return None if limit.simulations == UNLIMITED else limit.simulations, limit.seconds


def with_parameters(game: Game, **values: Any) -> Game:
    """Returns a game with other parameters; raises BadInput if it does not have them, or not these values."""
    if not values.keys() <= parameters_of(type(game.rules)).keys():
        raise BadInput(f"{game} has no parameters {', '.join(values)}")
    return make_trusted_game(name_of(game.rules._replace(**values)))  # type: ignore[attr-defined]


def with_size(game: Game, columns: int, rows: int) -> Game:
    """Returns a game on another board; raises BadInput if it has no such board."""
    _, height, width = game.planes_shape
    if (columns, rows) == (width, height):
        return game
    if hasattr(game.rules, "size"):
        if columns != rows:
            raise BadInput(f"{game} has square boards only")
        return with_parameters(game, size=rows)
    return with_parameters(game, rows=rows, columns=columns)


def prepare(agent: Agent) -> None:
    """Compiles and opens what an agent's searches need, so that the first one begins at once. If not, it is closed."""
    try:
        agent.player.start_clock()
        state = agent.game.new_initial_state()
        agent.game.state_from_text(state.to_text())
        if agent.can_ponder:
            agent.suggest(state, 2)
        if search := agent.position_search():
            search.ask_for_truth(True)  # as an analysis does
    except BaseException:
        agent.close()
        raise


class Engine:
    """A position with its past, and the agent that searches it.

    Args:
      make: makes the agent for a game; None: for its own. Raises BadInput if it cannot play that game.
      lines: take the reports of searches.

    Attributes:
      agent: who searches.
      game: the game that is played.
      state: the position.
      clocks: of both players; None: no clock is set.
    """

    def __init__(self, make: Callable[[Game | None], Agent], lines: Lines[Report]):
        self._make, self._lines = make, lines
        self.agent = make(None)
        self.game = self.agent.game
        self.state = self.game.new_initial_state()
        self.clocks: list[Clock | None] = [None, None]
        self._before: list[State] = []
        self._search: Search | None = None
        prepare(self.agent)

    def set_game(self, game: Game) -> None:
        """Begins a game of this kind. Raises BadInput, and changes nothing, if the agent cannot play it."""
        if game != self.game:
            agent = self._make(game)
            agent.memory_mib = self.agent.memory_mib
            prepare(agent)
            self.agent.close()
            self.agent, self.game = agent, game
        self.begin_game()

    def begin_game(self) -> None:
        """Begins a game, with clocks as at its beginning."""
        self.state, self._before = self.game.new_initial_state(), []
        self.clocks = [clock and Clock(clock.control) for clock in self.clocks]
        self.agent.player.time_manager.begin_game()

    def set_memory(self, mib: int) -> None:
        """Gives trees this much memory. Raises BadInput, and changes nothing, if it is too little for a tree."""
        before, self.agent.memory_mib = self.agent.memory_mib, mib
        try:
            self.agent.position_search()
        except BadInput:
            self.agent.memory_mib = before
            raise

    def give_clock(self, player: int, control: TimeControl) -> Clock:
        """Gives a player a new clock. It goes on counting the time used, by which time management knows its lag."""
        before, clock = self.clocks[player], Clock(control)
        clock.used_s = before.used_s if before else 0.0
        self.clocks[player] = clock
        return clock

    def set_up(self, state: State) -> None:
        """Makes this the position; `undo` leads back to the one before."""
        self._before.append(self.state)
        self.state = state

    def change_rules(self, game: Game) -> None:
        """Goes on in a game that is the same but for its result, as with another komi. Raises as `set_game`."""
        state, before, clocks = self.state, self._before, self.clocks
        self.set_game(game)
        self.state, *self._before = (State.from_record(game, each.record, each.history()) for each in [state, *before])
        self.clocks = clocks

    def undo(self) -> bool:
        """Goes back to the position before; returns whether there is one."""
        if self._before:
            self.state = self._before.pop()
            return True
        return False

    @property
    def past(self) -> list[State]:
        """The positions before, the first one first."""
        return list(self._before)

    def start(self, task: Task, state: State | None = None) -> Search:
        """Starts a search of a position, by default the present one, and returns it. The last one must be over."""
        self._search = Search(self.agent, (state or self.state).clone(), task, self._lines)
        return self._search

    def wait(self, search: Search, take: Callable[[Report], None], is_left: Callable[[], bool]) -> Report | None:
        """Waits for the end of a search, and returns its last report. Lines that come meanwhile are kept.

        Args:
          take: takes its reports, the last one too.
          is_left: whether nobody waits for it any more. Then it has half a second more, is stopped, and is given up if
            that does not end it: None.
        """
        end_s = None
        while True:
            report = self._lines.event(_LOOK_S)
            if report is not None and report.search is search:
                take(report)
                if report.is_last:
                    return report
            if is_left():
                now = time.perf_counter()
                end_s = end_s or now + _PATIENCE_S
                if now >= end_s:
                    search.stop()
                if now >= end_s + _LEAVE_S:
                    return None

    def close(self) -> bool:
        """Ends the search and the agent; returns whether the search has ended, see `Search.end`."""
        has_ended = self._search is None or self._search.end()
        if has_ended:
            self.agent.close()
        return has_ended
