"""Loaded agents: one thread makes them, and searches claim them.

They are kept while there is room; those not used for longest go first.
"""

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.levels import Level, LevelAgent
from azero.arena.agents.make import make_agent
from azero.arena.agents.names import split_program
from azero.arena.agents.opened import AllInUse, Opened
from azero.compiler.elsewhere import Abandoned, Elsewhere, compiled_by
from azero.config.schema import DeviceConfig
from azero.errors import BadInput
from azero.games import Game, State, compile_game
from azero.games.make import make_sent_game
from azero.games.names import file_of, identity_of
from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.offered.agents import OfferedAgent
from azero.interfaces.web.offered.games import OfferedGame
from azero.interfaces.web.searches.queue import Job, JobQueue
from azero.interfaces.web.settings import ServeSettings

_LOADING_S = 3.0
"""Seconds of loading, as measured with torch on two cores. How long an agent took before says little: what it compiled
and imported then is there now.
"""

_KERNELS, _KERNELS_WITHOUT_NET = 20, 15  # about so many are compiled for the first agent that plays a game

_Key = tuple[str, int, Game]  # name and version of an agent, and the game that it plays

_LONGEST_SLICE_S = 1.0  # that the end of the server waits for

_POLL_S = 0.5

_OLD = 0.98  # the weight of a slice before, against the next one


class Rate:
    """How long a simulation usually takes, by the last slices of an agent's analyses."""

    def __init__(self) -> None:
        self._simulations = self._seconds = 0.0

    def add(self, simulations: int, seconds: float) -> None:
        """Adds a slice. Older ones count less and less."""
        self._simulations = _OLD * self._simulations + simulations
        self._seconds = _OLD * self._seconds + seconds

    @property
    def seconds_per_simulation(self) -> float:
        """The mean."""
        return self._seconds / max(1.0, self._simulations)


class Loaded:
    """An agent for one game, loaded or on its way.

    Attributes:
      wanted: the agent as it is offered.
      made: the agent; its error if it cannot be loaded.
      queue: of its searches. Programs do not use this process's time, so each has its own.
      users: searches that want it.
      holder: the analysis that its search works on; None: another search has used it.
      rate: how fast its simulations are.
      is_begun: whether loading has begun.
      begin_s: when it began or was asked for, by `time.perf_counter`.
      num_compiled: kernels that were compiled for it; None as long as none is missing.
    """

    def __init__(self, wanted: OfferedAgent, queue: JobQueue, aside: ThreadPoolExecutor):
        self.wanted, self.queue = wanted, queue
        self._aside = aside
        self.made: Future[Agent] = Future()
        self.users = 0
        self.holder: Job | None = None
        self.rate = Rate()
        self._players: dict[Level, LevelAgent] = {}
        self.is_begun = False
        self.begin_s = time.perf_counter()
        self.num_compiled: int | None = None

    def begin(self) -> None:
        """Loading begins now."""
        self.is_begun, self.begin_s = True, time.perf_counter()

    def note_compiled(self, num: int) -> None:
        """Takes note of the number of kernels that were compiled for it."""
        self.num_compiled = num

    @property
    def state(self) -> str:
        """Returns loading or ready."""
        return "ready" if self.made.done() else "loading"

    @property
    def has_failed(self) -> bool:
        """Returns whether it was loaded and cannot play any more: its program has ended."""
        return self.made.done() and self.made.exception() is None and self.made.result().has_failed

    def player(self, level: Level) -> LevelAgent:
        """Returns the agent as it plays at a level."""
        if level not in self._players:
            self._players[level] = LevelAgent(self.made.result(), level)
        return self._players[level]

    def draws(self, state: State) -> "Future[float | None]":
        """Returns the share of draws that the net expects, as soon as another thread has found it.

        It is cancelled if the server ends.
        """
        try:
            return self._aside.submit(draws_of, self.made.result(), state.clone())
        except RuntimeError:  # the threads are closed
            draws: Future[float | None] = Future()
            draws.cancel()
            return draws

    def stage(self) -> dict[str, object]:
        """Returns what loading does at present, as a stage of a stream."""
        elapsed_s, done = round(time.perf_counter() - self.begin_s, 1), self.num_compiled
        if done is None:
            text = f"Loading {self.wanted.title}"
            return {"stage": "loading", "text": text, "elapsed_s": elapsed_s, "expected_s": _LOADING_S, "share": None}
        most = _KERNELS if self.wanted.kind == "net" else _KERNELS_WITHOUT_NET
        text, share = f"Compiling: {done} of about {most} parts", min(0.95, done / most)
        return {"stage": "compiling", "text": text, "elapsed_s": elapsed_s, "expected_s": None, "share": share}


def draws_of(agent: Agent, state: State) -> float | None:
    """Returns the share of draws that the net alone expects; None for an agent without a net.

    The first call opens the net, for which some runtimes import torch.
    """
    if agent.net_alone is None:
        return None
    _, logits = agent.net_alone(state.planes()[None])
    shares = np.exp(logits[0] - logits[0].max())
    return float(shares[1] / shares.sum())


def open_agent(wanted: OfferedAgent, game: Game, settings: ServeSettings, device: DeviceConfig | None = None) -> Agent:
    """Returns an agent that has compiled and opened all that its searches need; raises BadInput."""
    compile_game(game)
    agent = _make(wanted, game, settings.threads, device)
    try:
        state = game.new_initial_state()
        if agent.can_ponder:
            with contextlib.closing(agent.analyse(state, memory_mib=settings.memory_mib, simulations=2)) as analysis:
                next(analysis)
            agent.suggest(state, simulations=2)
        if table := wanted.levels(game):
            LevelAgent(agent, table.levels[0]).suggest_by(state, 0)
    except BaseException:
        agent.close()
        raise
    return agent


def process_for(games: Iterable[Game], nice: int = 0) -> Elsewhere:
    """Returns a process that compiles for these games."""
    return Elsewhere(
        [(make_sent_game, (str(each), identity_of(each.rules))) for each in games if file_of(str(each))], nice
    )


def compile_for(wanted: OfferedAgent, game: Game, settings: ServeSettings, device: DeviceConfig | None = None) -> None:
    """Compiles what an agent's searches need."""
    if wanted.kind == "program":
        compile_game(game)
    else:
        open_agent(wanted, game, settings, device).close()


def compile_ahead(wanted: OfferedAgent, game: Game, settings: ServeSettings) -> None:
    """Compiles what an agent's searches need, and measures no runtimes, since others have the machine meanwhile."""
    for runtime in "winograd", "auto":  # where azero's kernels do not run a net, there is one runtime with fp32
        with contextlib.suppress(BadInput):
            compile_for(wanted, game, settings, DeviceConfig(runtime=runtime, precision="fp32"))
            return


def _make(wanted: OfferedAgent, game: Game, threads: int, device: DeviceConfig | None) -> Agent:
    """Makes an agent; raises BadInput. In its errors a program goes by its id: its command is for nobody else."""
    program = split_program(wanted.name)
    if program is None:
        return make_agent(wanted.name, game, threads=threads, device=device)
    try:
        agent = make_agent(wanted.name, game)
    except BadInput as error:
        text = str(error)
        for told in (wanted.name, program[0]):
            text = text.replace(repr(told), repr(wanted.id))
        raise BadInput(text) from None
    agent.name = wanted.id
    return agent


def _is_free(loaded: Loaded) -> bool:
    """Returns whether nobody uses an agent, and it is not being loaded at present."""
    return loaded.users == 0 and (loaded.made.done() or not loaded.is_begun)


class Claim:
    """The right to search with an agent, until `release`."""

    def __init__(self, agents: "LoadedAgents", loaded: Loaded):
        self.loaded = loaded
        self._agents: LoadedAgents | None = agents

    def release(self) -> None:
        """Gives the right back. Any thread may call this, more than once."""
        agents, self._agents = self._agents, None
        if agents is not None:
            agents.leave(self.loaded)


class LoadedAgents:
    """Loads agents, one after another in a thread of its own, so that no search waits for a compiler.

    Another process compiles what they need; see `compiling_elsewhere`. An agent that nobody waits for any more is given
    up if somebody waits for another one.

    Attributes:
      num_searches: searches that have a claim on an agent, or need none.
      ahead: agents, each with a game, whose kernels may be compiled before somebody needs them, if those of another one
        were missing.
    """

    def __init__(self, settings: ServeSettings, queue: JobQueue):
        self._settings, self._queue = settings, queue
        self._loader = ThreadPoolExecutor(1, "load")
        self._aside = ThreadPoolExecutor(1, "aside")
        self._loaded = Opened[_Key, Loaded](settings.most_agents, self._close_loaded, _is_free)
        self._on_page: Game | None = None  # the game whose rules were asked for last
        self.num_searches = 0
        self.ahead: Sequence[tuple[OfferedAgent, Game]] = ()
        self._lock = threading.Lock()
        self._closing: threading.Thread | None = None

    def claim(self, agent: OfferedAgent, game: OfferedGame) -> Claim:
        """Returns the right to search with an agent, which may have to load first; raises ApiError without room."""
        key = agent.name, agent.version, game.game
        with self._lock:
            if self._closing is not None:
                raise ApiError(503, "stopped", "the server has been stopped")
            self._check_room()
            before = self._loaded.get(key)
            if before is not None and before.has_failed:
                self._loaded.drop(key)
            try:
                loaded = self._loaded.use(key, lambda: self._begin(key, agent))
            except AllInUse:
                most = self._settings.most_agents
                text = f"{most} agents are in use already; try again when one is free"
                raise ApiError(503, "busy", text, retry_s=5) from None
            loaded.users += 1
            self.num_searches += 1
        return Claim(self, loaded)

    def leave(self, loaded: Loaded) -> None:
        """Says that a search no longer uses an agent; see `Claim.release`."""
        with self._lock:
            loaded.users -= 1
            self.num_searches -= 1

    @contextlib.contextmanager
    def searching(self) -> Iterator[None]:
        """Counts a search without an agent, which lasts for the block; raises ApiError if there is no room."""
        with self._lock:
            self._check_room()
            self.num_searches += 1
        try:
            yield
        finally:
            with self._lock:
                self.num_searches -= 1

    def _check_room(self) -> None:
        most = self._settings.most_searches
        if self.num_searches >= most:
            raise ApiError(429, "busy", f"all places for searches are taken, {most} in all; try again later", retry_s=2)

    def _begin(self, key: _Key, agent: OfferedAgent) -> Loaded:
        loaded = Loaded(agent, JobQueue("program") if agent.kind == "program" else self._queue, self._aside)
        self._loader.submit(self._load, key, loaded)
        return loaded

    def prepare(self, game: OfferedGame, first: OfferedAgent) -> None:
        """Compiles the rules of the game on the page in the background, then loads its first agent.

        Until they are compiled the rules run as plain Python.
        """
        self._on_page = game.game
        with contextlib.suppress(RuntimeError):  # it is closed
            self._loader.submit(self._prepare, game.game, first)

    def _prepare(self, game: Game, first: OfferedAgent) -> None:
        """Compiles and loads for a game, unless another one is on the page or waited for by now."""

        def is_wanted() -> bool:
            return self._closing is None and self._on_page == game and not self._is_waited_for(but=game)

        if is_wanted():
            with contextlib.suppress(BadInput, Abandoned), compiled_by((compile_game, (game,)), is_wanted):
                compile_game(game)
        if is_wanted() and first.kind != "program":
            key = first.name, first.version, game
            with self._lock, contextlib.suppress(AllInUse, RuntimeError):
                self._loaded.use(key, lambda: self._begin(key, first))

    def _is_wanted(self, loaded: Loaded) -> bool:
        """Returns whether to go on with the loading of an agent."""
        return self._closing is None and (loaded.users > 0 or not self._is_waited_for())

    def _is_waited_for(self, but: Game | None = None) -> bool:
        """Returns whether somebody waits for an agent whose loading has not begun, other than for a game."""
        with self._lock:
            waiting = [key for key, loaded in self._loaded.items() if loaded.users and not loaded.is_begun]
        return any(game != but for _, _, game in waiting)

    def _is_late_for_somebody(self) -> bool:
        """Returns whether somebody waits for an agent that is not loading yet, or that kernels are compiled for."""
        with self._lock:
            awaited = [each for _, each in self._loaded.items() if each.users and not each.made.done()]
        return any(not each.is_begun or each.num_compiled is not None for each in awaited)

    def _compile_ahead(self) -> None:
        """Begins to compile what `ahead` names, once: what was missing for one game is missing for others."""
        ahead, self.ahead = self.ahead, ()
        if ahead:
            threading.Thread(target=self._compile_all, args=[ahead], name="ahead", daemon=True).start()

    def _compile_all(self, ahead: Sequence[tuple[OfferedAgent, Game]]) -> None:
        """Compiles for agents at low priority, but not while somebody waits, who may need the very same kernel."""

        def is_wanted() -> bool:
            return self._closing is None and not self._is_late_for_somebody()

        process, left = process_for([game for _, game in ahead], nice=19), list(ahead)
        while left and self._closing is None:
            if is_wanted():
                with contextlib.suppress(Abandoned):
                    process.do((compile_ahead, (*left[0], self._settings)), is_wanted)
                    left.pop(0)
            else:
                time.sleep(_POLL_S)
        process.end()

    def state_of(self, agent: OfferedAgent, game: Game | None) -> str:
        """Returns cold, loading or ready: for a game, or for any."""
        what = agent.name, agent.version
        with self._lock:
            states = {
                loaded.state for key, loaded in self._loaded.items() if key[:2] == what and game in (None, key[2])
            }
        return next((state for state in ("ready", "loading") if state in states), "cold")

    def close(self) -> None:
        """Ends loading, and begins to close the agents; what has not begun is given up. The queue is closed."""
        with self._lock:
            if self._closing is not None:
                return
            made = [each for _, each in self._loaded.items() if each.made.done()]  # one that comes later closes itself
            self._closing = threading.Thread(target=self._close_agents, args=[made], name="close", daemon=True)
        for pool in (self._loader, self._aside):
            pool.shutdown(wait=False, cancel_futures=True)
        self._closing.start()

    def wait(self) -> None:
        """Waits until the agents are closed, after `close`."""
        if self._closing is not None:
            self._closing.join()

    def _close_agents(self, made: list[Loaded]) -> None:
        """Closes programs at once, even if they think, and others unless a search still uses them."""
        for loaded in made:
            self._close_queue(loaded)
        is_unused = self._queue.wait(_LONGEST_SLICE_S)
        for loaded in made:
            if loaded.made.exception() is None and (is_unused or loaded.queue is not self._queue):
                loaded.made.result().close()

    def _close_loaded(self, loaded: Loaded) -> None:
        """Closes an agent, or gives it up before it is loaded; the next use loads it again."""
        self._close_queue(loaded)
        if loaded.made.done() and loaded.made.exception() is None:
            self._aside.submit(loaded.made.result().close)  # a program may be slow to quit

    def _close_queue(self, loaded: Loaded) -> None:
        """Ends the thread of an agent that has its own."""
        if loaded.queue is not self._queue:
            loaded.queue.close()

    def _load(self, key: _Key, loaded: Loaded) -> None:
        game = key[2]
        with self._lock:
            if self._loaded.get(key) is not loaded:  # it was given up
                return
            loaded.begin()
        job = compile_for, (loaded.wanted, game, self._settings)
        try:
            with compiled_by(job, lambda: self._is_wanted(loaded), loaded.note_compiled):
                agent = open_agent(loaded.wanted, game, self._settings)
        except BaseException as error:  # whoever waits for the agent gets it
            with self._lock:
                if isinstance(error, Abandoned) and loaded.users and self._closing is None:  # it is wanted again
                    loaded.is_begun = False
                    self._loader.submit(self._load, key, loaded)
                    return
                self._loaded.forget(key)
            self._close_queue(loaded)
            loaded.made.set_exception(error)
            return
        with self._lock:
            loaded.made.set_result(agent)
            is_late = self._closing is not None
        if is_late:
            agent.close()
        elif loaded.num_compiled is not None:
            self._compile_ahead()
        loaded.draws(game.new_initial_state())  # imports what it needs before somebody waits for it
