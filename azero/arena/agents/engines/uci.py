"""Another engine as an agent, through the Universal Chess Interface with the variants of Fairy-Stockfish.

The engine gets each position as FEN, so it needs no moves that led to it. A process plays one game after another.
What the engine tells comes from outside, so each part of its `info` lines may be wrong.

Options in the agent's name:

uci(seconds=2):COMMAND           seconds per move, 1 by default
uci(nodes=10000):COMMAND         nodes per move
uci(patience=10):COMMAND         seconds until an engine that does not answer is given up, 60 by default
uci(resign=-0.9):COMMAND         it resigns if its value of the position is below this
uci(Skill Level=5):COMMAND       one of the engine's own options
"""

import re
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from azero.arena.agents.clock import UNLIMITED, Clock, Limit
from azero.arena.agents.engines.engine import EngineAgent, shorten
from azero.arena.agents.engines.variants import Variant, turns_beginning
from azero.arena.agents.names import Options
from azero.arena.agents.suggestion import Move, Suggestion, check_state
from azero.errors import BadInput, EngineFailed, suggest_nearest
from azero.games import Game, State
from azero.games.position_text import turn_to_text
from azero.games.state import is_forced_pass
from azero.system.console import printable

_MOST_MOVES = 500
_MOST_PLIES = 30  # of a principal variation that are read
_SCORE = re.compile(r"\bscore (cp|mate) (-?[0-9]{1,7})\b(?: (upperbound|lowerbound)\b)?")


class Info(NamedTuple):
    """The last lines about one of the engine's moves.

    Attributes:
      value: in [-1, 1], for the player to move.
      is_bound: whether `value` is only an upper bound.
      pv: principal variation, one text per turn.
    """

    value: float
    is_bound: bool
    pv: list[str]


class Infos:
    """Collects the lines of one search.

    Attributes:
      nodes: the number of searched positions.
    """

    def __init__(self) -> None:
        self.nodes = 0
        self._by_rank: dict[int, Info] = {}  # by `multipv`, 1 for the best

    def add(self, line: str) -> None:
        """Reads a line. What is not understood is left out."""
        facts, _, moves = line.partition(" pv ")
        if not facts.startswith("info ") or facts.startswith("info string"):
            return
        self.nodes = min(max(self.nodes, _number(facts, "nodes")), UNLIMITED)
        score, pv = _SCORE.search(facts), moves.split(maxsplit=_MOST_PLIES)[:_MOST_PLIES]
        if score is None or not pv:
            return
        rank = min(_number(facts, "multipv"), _MOST_MOVES)
        known = self._by_rank.get(rank)
        if score[3] and known and known.pv[0] == pv[0]:
            return  # a bound tells less than the value that the move has already
        self._by_rank[rank] = Info(value_of(score[1], int(score[2])), score[3] == "upperbound", pv)

    def ranked(self) -> list[Info]:
        """Returns the last line about each of the engine's moves, the best first."""
        return [self._by_rank[rank] for rank in sorted(self._by_rank)]


def value_of(kind: str, number: int) -> float:
    """Returns the value in [-1, 1] of a score in centipawns, "cp", or in moves to the end, "mate".

        value = 2 / (1 + 10^(-cp / 400)) - 1                                                   [1]

    A mate is 1 for the player to move, -1 if the number is 0 or less.

    Source:
      [1] Chess Programming Wiki, Pawn Advantage, Win Percentage, and Elo: an advantage of four pawns is as good as 400
          Elo. It was measured in chess, so in other games the values have the right order and sign only.
    """
    if kind == "mate":
        return 1.0 if number > 0 else -1.0
    exponent = min(max(-number / 400.0, -300.0), 300.0)
    return 2.0 / (1.0 + 10.0**exponent) - 1.0


def _number(facts: str, name: str) -> int:
    match = re.search(rf"\b{name} ([0-9]{{1,15}})\b", facts)
    return int(match[1]) if match else 0


_DEFAULT_S = 1.0
_LONGEST_S = 24 * 3600.0
_UNKNOWN = Info(0.0, False, [])  # of a move of which the engine tells nothing
_MARGIN_S = 0.05  # of a period of byo-yomi, for what a move takes outside the engine
_MOST_LINES = 50  # principal variations that are read
_MOST_OPTIONS = 100  # of an engine, in a message


class UciAgent(EngineAgent):
    """Plays a UCI engine's moves. Raises EngineFailed if the engine ends, does not answer or breaks the protocol."""

    longest_answer = 10_000_000
    _example = "uci:fairy-stockfish"

    def __init__(self, name: str, game: Game, options: Options, command: str, seed: int = 0):
        self._variant = Variant(game)
        super().__init__(name, game, options, command, seed)
        self._is_introduced = False
        self._chosen: list[int] = []  # the moves up to the last position, and the turn that was chosen in it
        self._info = _UNKNOWN  # what the engine said of that turn

    def _configure(self, options: Options) -> None:
        super()._configure(options)
        seconds = options.number("seconds", 0.0, 0.001, _LONGEST_S)
        nodes = options.whole("nodes", UNLIMITED, 1, UNLIMITED)
        is_default = not seconds and nodes == UNLIMITED
        self.limit = Limit(nodes, seconds or (_DEFAULT_S if is_default else None), is_default)
        self.resign_below = options.resign_below()
        self._engine_options = options.rest()

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        check_state(self.game, state)
        limit = self.limit.unless(simulations, seconds)
        if limit == Limit():
            limit = Limit(seconds=_DEFAULT_S)
        if not self._is_introduced:
            self.begin_game()
        with self.waiting_for(limit.seconds):
            return self._search(state, _limits(limit))

    def suggest_on_clock(self, state: State, clock: Clock) -> Suggestion:
        """Tells the engine the player's time, also as the opponent's, which is not known here.

        UCI has no byo-yomi. When the main time is over, the period is the time of the move.
        """
        limit = self.limit.beside_clock()
        if clock.main_s == 0.0:
            left_s = max(clock.period_left_s - _MARGIN_S, clock.period_left_s / 2, 0.001)
            return self._search(state, _limits(Limit(limit.simulations, min(left_s, limit.seconds or left_s))))
        left, more = max(1, round(1000 * clock.main_s)), round(1000 * clock.control.increment_s)
        return self._search(state, f"wtime {left} btime {left} winc {more} binc {more} {_limits(limit)}".strip())

    def _search(self, state: State, limits: str) -> Suggestion:
        """Returns the engine's move. It is not asked for a forced pass, and only once for the actions of a turn."""
        begin, infos = time.perf_counter(), Infos()
        first, made = self._variant.notation.turn_of(state)
        history = state.history()
        if is_forced_pass(state):
            moves = [self._move(first, made, [state.legal_actions()], _UNKNOWN)]
        elif made and history == self._chosen[: len(history)] != self._chosen:
            moves = [self._move(first, made, [made + self._chosen[len(history) :]], self._info)]
        else:
            moves = self._ask_for_moves(first, made, limits, infos)
        best = moves[0]
        self._chosen, self._info = [*history, *best.actions], Info(best.value, best.is_bound, [])
        elapsed_s = time.perf_counter() - begin
        name, player = str(self.game), state.current_player()
        return Suggestion(name, player, infos.nodes, elapsed_s, best.value, best.move, moves)

    def _ask_for_moves(self, first: State, made: list[int], limits: str, infos: Infos) -> list[Move]:
        """Returns the moves that the engine tells, its choice first.

        Args:
          first: the position in which the turn began.
          made: the actions made since.
          infos: collects what the engine tells.
        """
        notation, command = self._variant.notation, f"go {limits}"
        if made:
            command += " searchmoves " + " ".join(notation.write(first, turns_beginning(first, made)))
        self.send(f"position fen {self._variant.fen(first)}")
        self.ask("isready", "readyok")  # what the engine wrote before is no answer
        answer = self.ask(command, "bestmove", infos.add)
        try:
            turn = notation.read(first, shorten(" ".join(answer.split()[1:2])))
            if turn[: len(made)] != made:
                raise BadInput("it does not continue the turn")
        except BadInput as error:
            raise EngineFailed(f"agent {self.name!r} answered {shorten(answer)!r}: {error}") from None
        told: dict[tuple[int, ...], tuple[list[list[int]], Info]] = {}
        for info in infos.ranked()[:_MOST_LINES]:
            line = self._read_line(first, info.pv)
            if line and line[0][: len(made)] == made:
                told.setdefault(tuple(line[0]), (line, info))
        chosen = told.pop(tuple(turn), ([turn], _UNKNOWN))
        visits = infos.nodes // (1 + len(told))
        return [self._move(first, made, line, info, visits) for line, info in (chosen, *told.values())]

    def _read_line(self, first: State, texts: list[str]) -> list[list[int]]:
        """Returns the turns of a principal variation, up to a text that is no legal move."""
        turns: list[list[int]] = []
        reached = first.clone()
        for text in texts:
            try:
                turns.append(self._variant.notation.read(reached, text))
            except BadInput:
                break
            for action in turns[-1]:
                reached.apply_action(action)
        return turns

    def _move(self, first: State, made: list[int], line: list[list[int]], info: Info, visits: int = 0) -> Move:
        """Returns the rest of the turn `line[0]`, which begins with the actions `made`; the other turns may follow."""
        action, *following = line[0][len(made) :]
        pv = self.game.lines_to_text(first, [[each for turn in line for each in turn]])[0][len(made) :]
        text = turn_to_text(self.game.rules, pv[: 1 + len(following)]) if following else pv[0]
        visits = visits if info.pv else 0  # without a line, the engine has told no value
        return Move(action, text, visits, info.value, 0.0, None, None, pv, info.is_bound, tuple(following))

    def begin_game(self) -> None:
        if not self._is_introduced:
            self._introduce()
            self._is_introduced = True
        self.send("ucinewgame")
        self.ask("isready", "readyok")  # an engine may take time to clear its memory

    def _introduce(self) -> None:
        """Chooses the variant, and sets the options of the agent's name."""
        variant, offered = self._variant, self._ask_for_options()
        name = variant.known
        if "VariantPath" in offered and variant.parent in ("", *_variants_of(offered)):
            name = variant.name
            with TemporaryDirectory(prefix="azero-") as folder:
                file = Path(folder) / "variants.ini"
                file.write_text(variant.ini(), encoding="utf-8")
                self.send(f"setoption name VariantPath value {file}")
                offered = self._ask_for_options()  # with the new variant, so the file has been read
        elif variant.name in _variants_of(offered):  # azero itself, with a game of its own size
            name = variant.name
        if name not in _variants_of(offered):
            raise BadInput(
                f"agent {self.name!r}: the engine does not know {self.game}; "
                "a Fairy-Stockfish with large boards and all variants has up to 12 columns and 10 rows"
            )
        for key, value in self._engine_options.items():
            if key.lower() not in map(str.lower, offered):
                known = ["nodes", "patience", "resign", "seconds", *list(offered)[:_MOST_OPTIONS]]
                raise BadInput(printable(f"agent {self.name!r}: unknown option {key!r}; {suggest_nearest(key, known)}"))
            self.send(f"setoption name {key} value {value}")
        self.send(f"setoption name UCI_Variant value {name}")
        self.ask("isready", "readyok", self._check_board)

    def _ask_for_options(self) -> dict[str, str]:
        """Returns the engine's options: their types, defaults and choices, by name."""
        options: dict[str, str] = {}

        def note(line: str) -> None:
            if match := re.fullmatch(r"option name (.{1,100}?) type (\w.*)", line):
                options[match[1]] = match[2]

        self.ask("uci", "uciok", note)
        return options

    def _check_board(self, line: str) -> None:
        """Raises BadInput if the engine tells another size of the board, as one without large boards may."""
        match = re.match(r"info string variant \S+ files ([0-9]{1,3}) ranks ([0-9]{1,3}) ", line)
        if match and (int(match[1]), int(match[2])) != (self._variant.files, self._variant.ranks):
            raise BadInput(f"agent {self.name!r}: the engine plays on {match[1]} x {match[2]} cells, not {self.game}")

    def ask(self, command: str, last: str, on_line: Callable[[str], None] = lambda line: None) -> str:
        """Sends a command; returns the last line of the answer, whose first word is `last`. Others go to `on_line`."""
        self.send(command)
        for line in self._read(command):
            if line.split(maxsplit=1)[:1] == [last]:
                return line
            on_line(line)
        raise AssertionError("the engine's lines end with an error")


def _variants_of(offered: dict[str, str]) -> list[str]:
    """Returns the variants that an engine knows, given its options."""
    return re.findall(r"\bvar (\S+)", offered.get("UCI_Variant", ""))


def _limits(limit: Limit) -> str:
    """Returns the arguments of `go`."""
    nodes = [] if limit.simulations == UNLIMITED else [f"nodes {limit.simulations}"]
    return " ".join(nodes + ([f"movetime {max(1, round(1000 * limit.seconds))}"] if limit.seconds else []))
