"""Commands that make azero the engine of another program: `azero gtp` and its like."""

import contextlib
import io
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from azero.commands.makers import Maker, device_of_options
from azero.commands.options import (
    AGENT_HELP,
    DeviceOption,
    GameOption,
    PrecisionOption,
    RuntimeOption,
    SeedOption,
    ThreadsOption,
    as_new_file,
    named_game,
)
from azero.system.console import say

if TYPE_CHECKING:
    from azero.arena.agents.agent import Agent
    from azero.games import Game
    from azero.interfaces.engines.lines import Lines

app = typer.Typer()

AgentArgument = Annotated[str, typer.Argument(metavar="AGENT", help=AGENT_HELP)]
LogOption = Annotated[
    Path | None,
    typer.Option(
        "--log", metavar="FILE", parser=as_new_file, help="Add what goes in and out to this file, with times."
    ),
]


class _Messages(io.TextIOBase):
    """A stderr for managers of Gomoku, which read it as if it were stdout: each line becomes a MESSAGE."""

    def __init__(self, lines: "Lines"):
        self._lines = lines
        self._begun = ""  # a line without its end

    def write(self, text: str) -> int:
        *lines, self._begun = (self._begun + text).split("\n")
        for line in filter(None, (" ".join(each.split()) for each in lines)):
            self._lines.write(f"MESSAGE {line}\n")
        return len(text)


class _EngineCommand(TyperCommand):
    """A command whose help ends with the line for the program that starts it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta["words"] = [word for word in args if word not in ("-h", "--help")]
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        super().format_epilog(ctx, formatter)
        if words := ctx.meta.get("words"):
            line = shlex.join([shutil.which("azero") or os.path.abspath(sys.argv[0]), str(self.name), *words])
            formatter.write(f"\nThe line for the program that starts it:\n  {line}\n")


def _serve(protocol: Callable, make: Callable, log: Path | None, *more: Any, errors: Callable | None = None) -> None:
    """Answers a program on stdin and stdout by a protocol, until that program has had enough.

    `errors` makes of the lines a stderr, which takes the place of one that is no terminal.
    """
    from azero.interfaces.engines.lines import PART, Lines, Log

    typed = None if sys.stdin is sys.__stdin__ else io.BytesIO(sys.stdin.read().encode())  # a test's input
    lines: Lines = Lines(typed.read if typed else lambda: os.read(0, PART), sys.stdout, Log(log))
    with contextlib.redirect_stderr(errors(lines) if errors and not sys.stderr.isatty() else sys.stderr):
        spoken = protocol(make, lines, *more)
        try:
            spoken.run()
        finally:
            spoken.close()  # a search that cannot be stopped ends with the process


def _maker(
    agent: str, game: "Game | str | None", seed: int, threads: int | None, device: str, precision: str, runtime: str
) -> "Callable[[Game | None], Agent]":
    """Returns what makes the agent of a command, for its own game or another one."""
    config = device_of_options([agent], device, precision, runtime)
    maker = Maker(game, seed, threads, config)
    return lambda other: (maker if other is None else maker._replace(game=other)).agent(agent)


@app.command(cls=_EngineCommand, epilog="Example:  azero gtp go_9x9@400 --log gtp.log")
def gtp(
    agent: AgentArgument,
    game: GameOption = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
    runtime: RuntimeOption = "auto",
    log: LogOption = None,
) -> None:
    """Serve as an engine for Sabaki, GoGui, Lizzie, HexGui and others, by the Go Text Protocol.

    Plays any game. --game also sets the size to begin with; the program may set another one.
    """
    make = _maker(agent, named_game(game), seed, threads, device, precision, runtime)
    from azero.interfaces.engines.gtp import Gtp

    _serve(Gtp, make, log)


@app.command(cls=_EngineCommand, epilog="Example:  azero gomocup gomoku_15x15")
def gomocup(
    agent: AgentArgument,
    game: GameOption = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
    runtime: RuntimeOption = "auto",
    log: LogOption = None,
) -> None:
    """Serve as an engine for Piskvork and other managers of Gomoku, by the protocol of Gomocup.

    The manager sets the size of the board and the limits of time and memory.
    """
    from azero.arena.agents.checkpoints import game_of
    from azero.interfaces.engines.gomocup import Gomocup

    played = named_game(game) or (None if game_of(agent) else "gomoku")
    make = _maker(agent, played, seed, threads, device, precision, runtime)
    _serve(Gomocup, make, log, errors=_Messages)


@app.command(cls=_EngineCommand, epilog="Example:  azero uci breakthrough_8x8")
def uci(
    agent: AgentArgument,
    game: GameOption = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
    runtime: RuntimeOption = "auto",
    log: LogOption = None,
) -> None:
    """Serve as an engine for programs that play chess variants, by the Universal Chess Interface.

    Plays the games that are known as variants: Amazons, Breakthrough, Clobber, Connect Four, Gomoku, Othello and
    tic-tac-toe, with the moves of Fairy-Stockfish.
    """
    from azero.interfaces.engines.uci import Uci

    _serve(Uci, _maker(agent, named_game(game), seed, threads, device, precision, runtime), log)


def _katago(name: str) -> Any:
    return typer.Option(name, metavar="X", hidden=True, help="KataGo's own argument, without effect here.")


@app.command(cls=_EngineCommand, epilog="Example:  azero analysis go_9x9")
def analysis(
    agent: AgentArgument,
    game: GameOption = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
    runtime: RuntimeOption = "auto",
    log: LogOption = None,
    quits_at_once: Annotated[
        bool, typer.Option("-quit-without-waiting", help="Leave queries unanswered when the input ends.")
    ] = False,
    config: Annotated[str | None, _katago("-config")] = None,
    model: Annotated[str | None, _katago("-model")] = None,
    human_model: Annotated[str | None, _katago("-human-model")] = None,
    override: Annotated[str | None, _katago("-override-config")] = None,
    analysis_threads: Annotated[str | None, _katago("-analysis-threads")] = None,
) -> None:
    """Serve as an engine for KaTrain and scripts, by the protocol of KataGo's analysis engine, in every game.

    Accepts KataGo's own arguments, too, such as -model and -config, and ignores them.
    """
    given = {
        "-config": config,
        "-model": model,
        "-human-model": human_model,
        "-override-config": override,
        "-analysis-threads": analysis_threads,
    }
    if ignored := [name for name, value in given.items() if value is not None]:
        say(f"{', '.join(ignored)}: KataGo's own, without effect here")
    from azero.interfaces.engines.analysis import Analysis

    make = _maker(agent, named_game(game), seed, threads, device, precision, runtime)
    _serve(Analysis, make, log, quits_at_once)
