"""Another program as an agent, through the protocol of Gomocup and Piskvork, in Gomoku.

The program gets each position whole, by BOARD, so it needs no moves that led to it. It does not tell values.

Options in the agent's name:

gomocup(seconds=2):COMMAND       seconds per move, 1 by default
gomocup(nodes=1000):COMMAND      nodes per move, for programs that know `INFO max_node`, such as Rapfi
gomocup(memory=350):COMMAND      the most memory in MiB
gomocup(patience=10):COMMAND     seconds until a program that does not answer is given up, 60 by default

Source: Gomoku AI protocol, new version (plastovicka.github.io/protocl2en.htm).
"""

import re
import time
from typing import Any

from azero.arena.agents.clock import UNLIMITED, Clock, Limit
from azero.arena.agents.engines.engine import EngineAgent, shorten
from azero.arena.agents.names import Options
from azero.arena.agents.suggestion import Suggestion, check_state, lone_move
from azero.errors import BadInput, EngineFailed
from azero.games import Game, State
from azero.games.gomoku.rules import Gomoku
from azero.games.position_text import text_to_board

_DEFAULT_S = 1.0
_LONGEST_S = 24 * 3600.0
_MOST_MIB = 1 << 20
_SAID = ("MESSAGE", "DEBUG", "UNKNOWN")
"""First words of lines that answer nothing. UNKNOWN answers an INFO that the program does not know."""

_MOVE = re.compile(r"(?:SUGGEST\s+)?([0-9]{1,2})\s*,\s*([0-9]{1,2})", re.IGNORECASE)
"""An answer with a move. What is suggested is played."""


class GomocupAgent(EngineAgent):
    """Plays a program's moves. Raises EngineFailed if it ends, does not answer or breaks the protocol."""

    judges_positions = False
    longest_answer = 10_000_000
    _example = "gomocup:rapfi"

    def __init__(self, name: str, game: Game, options: Options, command: str, seed: int = 0):
        rules: Any = game.rules
        if not isinstance(rules, Gomoku) or rules.k != 5:
            raise BadInput(f"agent {name!r}: Gomocup's protocol is for gomoku with five in a row, not {game}")
        self._rules = rules
        super().__init__(name, game, options, command, seed)
        self._is_begun = False

    def _configure(self, options: Options) -> None:
        super()._configure(options)
        seconds = options.number("seconds", 0.0, 0.001, _LONGEST_S)
        nodes = options.whole("nodes", UNLIMITED, 1, UNLIMITED)
        self._memory_mib = options.whole("memory", 0, 1, _MOST_MIB)
        if options.resign_below() is not None:
            raise BadInput(f"agent {self.name!r}: resign has no effect, since these programs do not tell values")
        options.finish()
        is_default = not seconds and nodes == UNLIMITED
        self.limit = Limit(nodes, seconds or (_DEFAULT_S if is_default else None), is_default)

    def begin_game(self) -> None:
        rules = self._rules
        square = rules.rows == rules.columns
        self._ask_for_ok(f"START {rules.rows}" if square else f"RECTSTART {rules.columns},{rules.rows}")
        self.send(f"INFO rule {int(rules.exact)}")
        self.send(f"INFO max_memory {self._memory_mib << 20}")
        self.send("INFO game_type 1")
        self._is_begun = True

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        check_state(self.game, state)
        limit = self.limit.unless(simulations, seconds)
        with self.waiting_for(limit.seconds):
            return self._move(state, limit, None)

    def suggest_on_clock(self, state: State, clock: Clock) -> Suggestion:
        """Tells the program the time that is left. When the main time is over, the period is the time of the move."""
        limit = self.limit.beside_clock()
        if clock.main_s == 0.0:
            period_s = clock.period_left_s
            return self._move(state, Limit(limit.simulations, min(period_s, limit.seconds or period_s)), None)
        return self._move(state, limit, clock)

    def _move(self, state: State, limit: Limit, clock: Clock | None) -> Suggestion:
        """Returns the program's move, within a limit and the main time of a clock."""
        begin = time.perf_counter()
        if not self._is_begun:
            self.begin_game()
        if limit.simulations != UNLIMITED:
            self.send(f"INFO max_node {limit.simulations}")
        left_ms = _whole_ms(clock.main_s) if clock else None
        turn_ms = _whole_ms(limit.seconds) if limit.seconds else left_ms
        if turn_ms is not None:
            self.send(f"INFO timeout_turn {turn_ms}")
        self.send(f"INFO timeout_match {_whole_ms(clock.control.main_s) if clock else 0}")
        self.send(f"INFO time_left {2147483647 if left_ms is None else left_ms}")
        action = self._ask_for_move(state)
        return lone_move(state, action, time.perf_counter() - begin)

    def _ask_for_move(self, state: State) -> int:
        rules = self._rules
        cells, _ = text_to_board(state.to_text(), rules.rows, rules.columns)
        stones = [(cell, stone) for cell, stone in enumerate(cells) if stone != "."]
        if not stones:
            self.send("BEGIN")
            answer = self._answer("BEGIN")
        else:
            own = "XO"[state.current_player()]
            lines = [
                f"{cell % rules.columns},{cell // rules.columns},{1 if stone == own else 2}" for cell, stone in stones
            ]
            for line in ["BOARD", *_in_order(lines, state, rules.columns), "DONE"]:
                self.send(line)
            answer = self._answer("DONE")
        match = _MOVE.fullmatch(answer)
        cell = int(match[2]) * rules.columns + int(match[1]) if match and int(match[1]) < rules.columns else -1
        if cell not in state.legal_actions():
            raise EngineFailed(f"agent {self.name!r} answered with {shorten(answer)!r}, which is no legal move")
        return cell

    def _ask_for_ok(self, command: str) -> None:
        self.send(command)
        answer = self._answer(command)
        if answer.upper().split(maxsplit=1)[:1] != ["OK"]:
            raise EngineFailed(f"agent {self.name!r}: the engine answered {command!r} with {shorten(answer)!r}")

    def _answer(self, command: str) -> str:
        """Returns the line that answers a command; raises EngineFailed for ERROR."""
        for line in self._read(command):
            word = line.upper().split(maxsplit=1)[:1]
            if word == ["ERROR"]:
                raise EngineFailed(f"agent {self.name!r}: the engine answered {command!r} with {shorten(line)!r}")
            if word and word[0] not in _SAID:
                return line
        raise AssertionError("the engine's lines end with an error")


def _whole_ms(seconds: float) -> int:
    return max(1, round(1000 * seconds))


def _in_order(lines: list[str], state: State, columns: int) -> list[str]:
    """Returns the lines in the order of the moves, if those are known: some programs expect that."""
    history = state.history()
    if len(history) != len(lines) or not state.is_replayable():
        return lines
    places = {f"{action % columns},{action // columns}": ply for ply, action in enumerate(history)}
    return sorted(lines, key=lambda line: places[line.rpartition(",")[0]])
