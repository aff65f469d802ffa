"""The commands that use agents: `azero evaluate`, `azero suggest` and `azero play`."""

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from azero.commands.options import (
    AGENT_HELP,
    DeviceOption,
    GameOption,
    JsonOption,
    NodesOption,
    PositionOption,
    PrecisionOption,
    RuntimeOption,
    SeedOption,
    ThreadsOption,
    named_game,
    start_of,
)
from azero.errors import BadInput, Stopped
from azero.system.console import say

if TYPE_CHECKING:
    from azero.arena.agents.agent import Agent
    from azero.config.schema import DeviceConfig
    from azero.games import Game

app = typer.Typer()


class Maker(NamedTuple):
    """Makes the agents of a command from their names."""

    game: "Game | str | None"  # None: the agent's checkpoint names the game
    seed: int
    threads: int | None  # None: all cores
    device: "DeviceConfig"
    max_nodes: int | None = None

    def agent(self, name: str) -> "Agent":
        """Returns the agent of this name. The caller closes it."""
        from azero.arena.agents.names import make_agent
        from azero.system.machine import count_cores

        cores = count_cores() if self.threads is None else self.threads
        return make_agent(name, self.game, self.seed, cores, self.device, self.max_nodes)

    def pair(self, name: str, other: str) -> tuple["Agent", "Agent"]:
        """Returns both agents of a match. If one is a checkpoint, both play its game."""
        from azero.arena.agents.names import game_of

        told = self.game or game_of(name) or game_of(other)
        one = self._replace(game=told)
        return one.agent(name), one._replace(seed=self.seed + 1).agent(other)


@app.command(epilog="Example:  azero evaluate connect_four@200 --against uct@1000 --games 100")
def evaluate(
    a: Annotated[str, typer.Argument(metavar="A", help=AGENT_HELP)],
    against: Annotated[str | None, typer.Option("--against", metavar="B", help="The opponent, named like A.")] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            "--benchmark", metavar="NAME", help="Solved positions instead of B: connect_four_pons, a file or a folder."
        ),
    ] = None,
    game: GameOption = None,
    games: Annotated[
        int | None, typer.Option("--games", help="Games to play, in pairs with colours swapped; 100 by default.")
    ] = None,
    opening_plies: Annotated[
        int | None,
        typer.Option("--opening-plies", help="Random plies before a pair, this number or one fewer; 4 by default."),
    ] = None,
    sprt: Annotated[
        str | None,
        typer.Option("--sprt", metavar="ELO0,ELO1", help="Stop when an SPRT decides between these Elo differences."),
    ] = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
    runtime: RuntimeOption = "auto",
    max_nodes: NodesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play a match, or count mistakes in solved positions.

    A match prints A's score and Elo difference with 95 % intervals, and the time and simulations of both agents.
    --benchmark prints the share of mistakes among A's moves for each set of positions. If a GTP engine fails in the
    middle of a match, the result of the finished games is printed, and the exit code is 1. Ctrl-C prints it, too.
    """
    if (against is None) == (benchmark is None):
        raise BadInput("give either an opponent with --against, e.g. uct@1000, or solved positions with --benchmark")
    device_config = _check_device([a, against] if against else [a], device, precision, runtime)
    maker = Maker(named_game(game), seed, threads, device_config, max_nodes)
    if benchmark is not None:
        for option, value in (("--games", games), ("--opening-plies", opening_plies), ("--sprt", sprt)):
            if value is not None:
                raise BadInput(f"{option} is for matches, and has no effect with --benchmark")
        _evaluate_on_benchmark(maker, a, benchmark, as_json)
    elif against is not None:
        _play_match(maker, a, against, 100 if games is None else games, opening_plies, sprt, as_json)


def _play_match(
    maker: Maker, a: str, b: str, games: int, opening_plies: int | None, sprt: str | None, as_json: bool
) -> None:
    from tqdm import tqdm

    from azero.arena.matches.match import OPENING_PLIES, Interrupted, MatchResult, Unfinished, play_match
    from azero.arena.matches.statistics import Sprt
    from azero.config.checks import describe_odd_games
    from azero.interfaces.terminal.show import show_match

    if games > 0 and games % 2:
        say(describe_odd_games("--games", games))
    test = Sprt(*_two_numbers("--sprt", sprt)) if sprt else None
    one, other = maker.pair(a, b)
    if opening_plies is not None and opening_plies >= one.game.max_plies:
        raise BadInput(f"--opening-plies {opening_plies} should be less than {one.game.max_plies}, the longest game")
    num_plies = OPENING_PLIES if opening_plies is None else opening_plies
    with tqdm(total=games, unit=" games", desc=f"{a} - {b}", leave=False, disable=None, file=sys.stderr) as bar:

        def show(num: int, tally: Any) -> None:
            bar.set_postfix_str(f"+{tally.wins} ={tally.draws} -{tally.losses}", refresh=False)
            bar.update(num)

        result: MatchResult | None
        early_end: Unfinished | Interrupted | None = None
        try:
            result = play_match(one, other, one.game, games, maker.seed, num_plies, test, show)
        except (Unfinished, Interrupted) as error:
            result, early_end = error.result, error
        finally:
            one.close()
            other.close()
    if result:
        print(json.dumps(result.to_json()) if as_json else show_match(result, test))
    if isinstance(early_end, Interrupted):
        raise Stopped(str(early_end))
    if early_end:
        say(str(early_end))
        raise typer.Exit(1)


def _evaluate_on_benchmark(maker: Maker, name: str, benchmark: str, as_json: bool) -> None:
    from tqdm import tqdm

    from azero.arena.agents.names import game_of
    from azero.arena.benchmarks.benchmark import evaluate_on_benchmark
    from azero.arena.benchmarks.files import read_benchmark
    from azero.games import make_game
    from azero.interfaces.terminal.show import show_benchmark

    game = make_game(maker.game) if isinstance(maker.game, str) else game_of(name)
    solved = read_benchmark(benchmark, game)
    agent = maker._replace(game=solved.game).agent(name)
    total = sum(len(each.problems) for each in solved.sets)
    with tqdm(total=total, unit=" positions", desc=name, leave=False, disable=None, file=sys.stderr) as bar:
        try:
            result = evaluate_on_benchmark(agent, solved, bar.update)
        finally:
            agent.close()
    print(json.dumps(result.to_json()) if as_json else show_benchmark(result))


@app.command(epilog="Example:  azero suggest connect_four --moves 4453 --simulations 800")
def suggest(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help=AGENT_HELP)],
    game: GameOption = None,
    position: PositionOption = None,
    moves: Annotated[
        str, typer.Option("--moves", help="Moves before the search, in the game's notation, e.g. 4453.")
    ] = "",
    simulations: Annotated[int | None, typer.Option("--simulations", help="Most simulations of the search.")] = None,
    seconds: Annotated[float | None, typer.Option("--time", metavar="S", help="Most seconds of the search.")] = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
    runtime: RuntimeOption = "auto",
    max_nodes: NodesOption = None,
    top: Annotated[
        int | None, typer.Option("--top", metavar="N", help="Moves to list; 10 by default, all with --json.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask an agent for a move.

    Prints the moves of the position, best first. Each has its visits, value, prior, proven result and principal
    variation.
    """
    from azero.interfaces.terminal.show import MOST_MOVES, show_suggestion

    if top is not None and top < 1:
        raise BadInput(f"--top {top} should be 1 or more")
    device_config = _check_device([agent], device, precision, runtime)
    _check_limit(agent, simulations, seconds)
    chosen = Maker(named_game(game), seed, threads, device_config, max_nodes).agent(agent)
    try:
        state = chosen.game.state_from_moves(moves, start_of(chosen.game, position))
        suggestion = chosen.suggest(state, simulations, seconds)
    finally:
        chosen.close()
    print(json.dumps(suggestion.to_json(top)) if as_json else show_suggestion(suggestion, state, top or MOST_MOVES))
    if suggestion.is_tree_full and as_json:
        say("the search tree reached its limit of nodes and stopped growing")


@app.command(epilog="Example:  azero play connect_four@400 --second")
def play(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help=AGENT_HELP)],
    game: GameOption = None,
    position: PositionOption = None,
    second: Annotated[bool, typer.Option("--second", help="Play second: the agent moves first.")] = False,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
    runtime: RuntimeOption = "auto",
) -> None:
    """Play against an agent in the terminal."""
    from azero.interfaces.terminal.play import play_in_terminal

    device_config = _check_device([agent], device, precision, runtime)
    opponent = Maker(named_game(game), seed, threads, device_config).agent(agent)
    try:
        play_in_terminal(opponent, start_of(opponent.game, position), int(second), input, print)
    finally:
        opponent.close()


def _check_device(names: list[str], device: str, precision: str, runtime: str) -> "DeviceConfig":
    """Returns the settings of where and how nets run.

    Raises:
      BadInput: an option is unknown or not available on this machine, contradicts an agent's name, or no agent has a
        net.
    """
    from azero.arena.agents.names import device_settings_of
    from azero.config.reading import check_device

    given = {"device": device, "precision": precision, "runtime": runtime}
    given = {key: value for key, value in given.items() if value != "auto"}
    config = check_device(device, precision, runtime)
    if not given:
        return config
    from azero.nets.runtimes.choice import wanted_runtimes

    wanted_runtimes(config)
    settings = [device_settings_of(name) for name in names]
    if all(each is None for each in settings):
        raise BadInput(f"--{next(iter(given))} is for nets, and there is no net in {' or '.join(names)}")
    for name, own in zip(names, settings, strict=True):
        for key, value in given.items():
            if (own or {}).get(key, value) != value:
                raise BadInput(f"--{key} {value} contradicts agent {name!r}; give only one of the two")
    return config


def _check_limit(name: str, simulations: int | None, seconds: float | None) -> None:
    """Raises BadInput if the limit of an option contradicts the one in the agent's name."""
    from azero.arena.agents.names import split_name

    base, limit = split_name(name)
    for option, given, own in (("--simulations", simulations, limit.simulations), ("--time", seconds, limit.seconds)):
        if base != name and given is not None and given != own:
            raise BadInput(f"{option} {given} contradicts agent {name!r}; give only one of the two")


def _two_numbers(option: str, text: str) -> tuple[float, float]:
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"{option} {text!r} should be two numbers, e.g. 0,50") from None
    return first, second
