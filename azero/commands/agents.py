"""Commands that use one agent: `azero suggest` and `azero play`."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azero.commands.makers import Maker, device_of_options
from azero.commands.options import (
    AGENT_HELP,
    ClockOption,
    DeviceOption,
    GameOption,
    JsonOption,
    NodesOption,
    PositionOption,
    PrecisionOption,
    RuntimeOption,
    SeedOption,
    ThreadsOption,
    as_path,
    named_game,
    start_of,
    time_control,
)
from azero.errors import BadInput
from azero.system.console import say
from azero.system.interrupt import interruption_waits

if TYPE_CHECKING:
    from azero.arena.agents.agent import Agent
    from azero.arena.agents.suggestion import Suggestion
    from azero.games import State

app = typer.Typer()

MovesOption = Annotated[
    str, typer.Option("--moves", help="Moves from the beginning or --position on, in the game's notation, e.g. 4453.")
]
SaveOption = Annotated[
    Path | None,
    typer.Option("--save", metavar="FILE", parser=as_path, help="Add the game to this file; SGF if it ends in .sgf."),
]
SimulationsOption = Annotated[
    int | None, typer.Option("--simulations", metavar="N", help="Maximum number of simulations per search.")
]
SecondsOption = Annotated[float | None, typer.Option("--time", metavar="S", help="Maximum seconds per search.")]

_ONE_REPORT_S = 1e9
"""An interval so long that the last report of an analysis is its only one after the first."""


@app.command(epilog="Example:  azero suggest connect_four --moves 4453 --simulations 800")
def suggest(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help=AGENT_HELP)],
    game: GameOption = None,
    position: PositionOption = None,
    moves: MovesOption = "",
    simulations: SimulationsOption = None,
    seconds: SecondsOption = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
    runtime: RuntimeOption = "auto",
    max_nodes: NodesOption = None,
    top: Annotated[
        int | None, typer.Option("--top", metavar="N", help="Moves to list; 10 by default, all with --json.")
    ] = None,
    watch: Annotated[
        float | None,
        typer.Option("--watch", metavar="S", help="Report every S seconds, until Ctrl-C or a limit ends the search."),
    ] = None,
    allow: Annotated[str, typer.Option("--allow", metavar="MOVES", help="Search these moves alone.")] = "",
    avoid: Annotated[str, typer.Option("--avoid", metavar="MOVES", help="Leave out these moves.")] = "",
    memory: Annotated[
        int | None,
        typer.Option("--memory", metavar="MIB", help="With --watch, --allow or --avoid: maximum MiB of trees; 1024."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask an agent for a move.

    Prints the moves of the position, best first. Each has its visits, value, prior, proven result and principal
    variation. With --watch, it prints them again and again while the search goes on; with --json, one object a line.
    """
    for option, text in (("--allow", allow), ("--avoid", avoid)):
        if text and not text.strip():
            raise BadInput(f"{option} {text!r} names no moves")
    if top is not None and top < 1:
        raise BadInput(f"--top {top} should be 1 or more")
    device_config = device_of_options([agent], device, precision, runtime)
    _check_limit(agent, simulations, seconds)
    chosen = Maker(named_game(game), seed, threads, device_config, max_nodes).agent(agent)
    try:
        _check_use_of_limit(chosen, simulations, seconds)
        state = chosen.game.state_from_moves(moves, start_of(chosen.game, position))
        split = chosen.game.rules.split_moves
        reports = _reports(chosen, state, simulations, seconds, watch, memory, split(allow), split(avoid))
        for number, suggestion in enumerate(reports):
            _show(suggestion, state, top, as_json, is_again=number > 0)
    finally:
        chosen.close()


def _reports(
    agent: "Agent",
    state: "State",
    simulations: int | None,
    seconds: float | None,
    watch: float | None,
    memory: int | None,
    allow: list[str],
    avoid: list[str],
) -> "Iterator[Suggestion]":
    """Yields the reports of an analysis with --watch, otherwise one suggestion. Ctrl-C ends an analysis."""
    from azero.arena.agents.analysis import MEMORY_MIB

    if watch is None and not (allow or avoid):
        if memory is not None:
            raise BadInput("--memory is for --watch, --allow and --avoid; --max-nodes limits other trees")
        yield agent.suggest(state, simulations, seconds)
        return
    is_endless = watch is not None and agent.can_ponder  # a default does not end a long look
    limit = agent.limit.beside_clock() if is_endless else agent.limit
    if simulations is seconds is None:
        simulations, seconds = limit.simulations, limit.seconds
    interval = _ONE_REPORT_S if watch is None else watch
    analysis = agent.analyse(
        state,
        interval=interval,
        simulations=simulations,
        seconds=seconds,
        memory_mib=MEMORY_MIB if memory is None else memory,
        allow=allow,
        avoid=avoid,
    )
    if watch is not None:
        with interruption_waits(analysis.stop):
            yield from analysis
    else:
        *_, last = analysis
        yield last


def _show(suggestion: "Suggestion", state: "State", top: int | None, as_json: bool, is_again: bool) -> None:
    """Prints a suggestion: as one line of JSON, or as text, which in a terminal replaces the one before."""
    from azero.interfaces.terminal.results import MOST_MOVES, show_suggestion

    if as_json:
        print(json.dumps(suggestion.to_json(top)), flush=True)
        if suggestion.is_tree_full:
            say("the search tree reached its limit of nodes and stopped growing")
    else:
        before = ("\x1b[H\x1b[J" if sys.stdout.isatty() else "\n") if is_again else ""
        print(before + show_suggestion(suggestion, state, top or MOST_MOVES), flush=True)


@app.command(epilog="Example:  azero play connect_four@400 --second")
def play(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help=AGENT_HELP)],
    game: GameOption = None,
    position: PositionOption = None,
    moves: MovesOption = "",
    simulations: SimulationsOption = None,
    seconds: SecondsOption = None,
    second: Annotated[bool, typer.Option("--second", help="Play second: the agent moves first.")] = False,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
    runtime: RuntimeOption = "auto",
    clock: ClockOption = None,
    ponder: Annotated[bool, typer.Option("--ponder", help="With --clock: the agent also thinks on your time.")] = False,
    save: SaveOption = None,
    level: Annotated[
        str | None,
        typer.Option("--level", metavar="N", help="The agent's level, 1 the weakest to 8, or adaptive."),
    ] = None,
) -> None:
    """Play against an agent in the terminal, with a clock for each side if you like.

    Enter help in the game for its commands. Colours need a terminal; the variable NO_COLOR turns them off.
    """
    from azero.interfaces.terminal.clocks import Clocks
    from azero.interfaces.terminal.game_so_far import GameSoFar
    from azero.interfaces.terminal.play import TerminalGame
    from azero.interfaces.terminal.screen import open_screen
    from azero.records.files import check_target

    control = time_control(clock, ponder)
    device_config = device_of_options([agent], device, precision, runtime)
    _check_limit(agent, simulations, seconds)
    maker = Maker(named_game(game), seed, threads, device_config)
    opponent = maker.agent(agent) if level is None else _at_level(maker, agent, level, simulations, seconds)
    try:
        _check_use_of_limit(opponent, simulations, seconds)
        if save:
            check_target(save, opponent.game)
        start = start_of(opponent.game, position)
        now = opponent.game.state_from_moves(moves, start)
        if now.is_terminal():
            raise BadInput(f"--moves {moves!r}: the game is over after them")
        if opponent.at_full_strength is not opponent and not simulations is seconds is None:
            raise BadInput(f"agent {agent!r} has simulations of its own; leave out --simulations and --time")
        opponent.limit = opponent.limit.unless(simulations, seconds)
        played = GameSoFar(start, now.history()[len(start.history()) :])
        clocks = Clocks(control, ponder) if control else None
        TerminalGame(opponent, played, int(second), open_screen(), clocks, save).run()
    finally:
        opponent.close()


def _at_level(maker: Maker, name: str, level: str, simulations: int | None, seconds: float | None) -> "Agent":
    """Returns the agent of this name at a level; raises BadInput if there is another limit, too."""
    from azero.arena.agents.checkpoints import identity_of_agent
    from azero.arena.agents.levels import LevelAgent, levels_of, parse_level
    from azero.arena.agents.names import parse_name

    number = parse_level(level)
    if not parse_name(name).limit.is_default or not simulations is seconds is None:
        raise BadInput(f"--level {level} has simulations of its own; leave out --simulations, --time and @ in the name")
    inner = maker.agent(name)
    return LevelAgent(inner, levels_of(inner.game, identity_of_agent(name)).level(number), f"{name} at level {level}")


def _check_use_of_limit(agent: "Agent", simulations: int | None, seconds: float | None) -> None:
    """Raises BadInput if there is a limit that the agent would not use: it does not search, or hides its search."""
    for option, given in (("--simulations", simulations), ("--time", seconds)):
        if given is not None and not agent.judges_positions:
            raise BadInput(f"{option} {given} has no effect on agent {agent.name!r}; leave it out")


def _check_limit(name: str, simulations: int | None, seconds: float | None) -> None:
    """Raises BadInput if the limit of an option contradicts the one in the agent's name."""
    from azero.arena.agents.names import parse_name

    limit = parse_name(name).limit
    for option, given, own in (("--simulations", simulations, limit.simulations), ("--time", seconds, limit.seconds)):
        if not limit.is_default and given is not None and given != own:
            raise BadInput(f"{option} {given} contradicts agent {name!r}; give only one of the two")
