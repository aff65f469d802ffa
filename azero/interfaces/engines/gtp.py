"""GTP, the Go Text Protocol, version 2, for every game, with the extensions that its clients ask for.

Source: Farneback, Specification of the Go Text Protocol, version 2, draft 2 (2002); KataGo, GTP_Extensions.md; the
manual of GoGui.
"""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import azero
from azero.arena.agents.clock import Clock, TimeControl
from azero.errors import BadInput
from azero.games import State
from azero.games.go.rules import Go
from azero.games.make import make_trusted_game
from azero.games.names import parts_of
from azero.games.registry import registered_games
from azero.interfaces.engines.engine import Report, with_parameters, with_size
from azero.interfaces.engines.gtp_analysis import Analyses
from azero.interfaces.engines.gtp_gogui import COLOURS, GoGui
from azero.interfaces.engines.gtp_handicap import Handicap
from azero.interfaces.engines.gtp_table import Refused, colour, number, whole
from azero.interfaces.engines.lines import Lines
from azero.interfaces.engines.positions import POINT_GAMES, chains_of, complaint_of_rules, points_name, rules_of
from azero.records import Record, read_records
from azero.records.sgf import records_to_sgf

_LONGEST_S = 7 * 24 * 3600.0

_FOR_GO = {
    *("fixed_handicap", "place_free_handicap", "set_free_handicap", "final_status_list"),
    *("kata-get-rules", "kata-set-rules", "kgs-rules"),
}
_FOR_POINTS = ("gogui-rules_", "gogui-setup")
"""Beginnings of commands."""


class Gtp(Analyses, GoGui, Handicap):
    """Answers the commands of a controller."""

    def __init__(self, make: Callable, lines: Lines[Report]):
        super().__init__(make, lines)
        names = [name for name in dir(self) if name.startswith("_do_")]
        self._handlers: dict[str, Callable[[list[str]], str | None]] = {}  # of commands, by their names
        self._handlers |= {name.removeprefix("_do_").replace("__", "-"): getattr(self, name) for name in names}
        self._is_over = False

    def run(self) -> None:
        """Answers until `quit` or the end of the input."""
        with contextlib.suppress(EOFError):  # in a search that cannot be ended
            while not self._is_over and (line := self._lines.next()) is not None:
                if isinstance(line, str):  # otherwise the end of a search that nobody waits for
                    self._answer(line)

    def close(self) -> bool:
        """Ends searches; returns whether they have ended."""
        return self._engine.close()

    def _answer(self, line: str) -> None:
        text = "".join(each for each in line.replace("\t", " ") if each >= " " and each != "\x7f")
        words = text.partition("#")[0].split()
        own = words.pop(0) if words and words[0].isdecimal() and words[0].isascii() else ""  # number of the command
        if not words and not own:
            return
        self._header, self._is_begun = f"={own}", False
        self._look()
        try:
            handler = self._handlers.get(words[0]) if words else None
            if handler is None:
                raise Refused("unknown command")
            answer = handler(words[1:])
        except (Refused, BadInput) as error:
            message = " ".join(str(error).split())
            self._lines.write(f"?{own} {message}\n\n")
        else:
            if answer is not None:  # otherwise it is written already
                first, *others = answer.split("\n")
                shown = "\n".join([first, *(each for each in others if each.strip())])  # an empty line ends an answer
                self._lines.write(f"{self._header} {shown}\n\n")

    # --- administration ---

    def _do_protocol_version(self, words: list[str]) -> str:
        return "2"

    def _do_name(self, words: list[str]) -> str:
        return "azero"

    def _do_version(self, words: list[str]) -> str:
        return azero.__version__

    def _do_known_command(self, words: list[str]) -> str:
        return "true" if words and words[0] in self._known() else "false"

    def _do_list_commands(self, words: list[str]) -> str:
        return "\n".join(sorted(self._known()))

    def _known(self) -> list[str]:
        """Returns the commands that have a meaning in this game. Others answer all the same."""
        kind = points_name(self._engine.game)
        known = [name for name in self._handlers if kind or not name.startswith(_FOR_POINTS)]
        return [name for name in known if kind == "Go" or name not in _FOR_GO]

    def _do_quit(self, words: list[str]) -> str:
        self._is_over = True
        return ""

    # --- setting up ---

    def _do_boardsize(self, words: list[str]) -> str:
        numbers = [whole(word) for word in words[:2]]
        if not numbers:
            raise Refused
        columns, rows = numbers[0], numbers[-1]
        _, height, width = self._engine.game.planes_shape
        if len(numbers) == 1 and columns == width:  # controllers with square boards name the columns of others
            rows = height
        try:
            self._set_game(with_size(self._engine.game, columns, rows))
        except BadInput as error:
            self._lines.log.note("#", str(error))
            raise Refused("unacceptable size") from None
        return ""

    def _do_rectangular_boardsize(self, words: list[str]) -> str:
        if len(words) != 2:
            raise Refused
        return self._do_boardsize(words)

    def _do_clear_board(self, words: list[str]) -> str:
        self._engine.begin_game()
        return ""

    def _do_komi(self, words: list[str]) -> str:
        komi = number(words[0] if words else "")
        game = self._engine.game
        if isinstance(game.rules, Go) and komi != game.rules.komi:
            self._engine.change_rules(with_parameters(game, komi=komi))
        return ""

    def _do_kata__get__rules(self, words: list[str]) -> str:
        return json.dumps(rules_of(self._engine.game))

    def _do_kata__set__rules(self, words: list[str]) -> str:
        """Agrees to rules that are azero's, or nearly so."""
        if complaint := complaint_of_rules(" ".join(words)):
            raise Refused(complaint)
        return ""

    _do_kgs__rules = _do_kata__set__rules

    def _do_list_games(self, words: list[str]) -> str:
        """Lists the games whose moves are points: quarry knows no moves of several actions but whole ones."""
        names = {_title(self._engine.game.name)}
        if self._engine.agent.at_full_strength.net_alone is None:
            names |= {_title(name) for name in POINT_GAMES}
        return "\n".join(sorted(names))

    def _do_set_game(self, words: list[str]) -> str:
        wanted = " ".join(words).lower()
        known = {_title(name).lower(): name for name in registered_games()}
        if wanted == _title(self._engine.game.name).lower():
            self._engine.begin_game()
            return ""
        if wanted not in known:
            raise Refused("unsupported game")
        try:
            self._set_game(make_trusted_game(known[wanted]))
        except BadInput:
            raise Refused("unsupported game") from None
        return ""

    # --- playing ---

    def _do_genmove(self, words: list[str]) -> str:
        return self._generate(self._searched(words[:1]), keeps_tree=False)

    _do_kgs__genmove_cleanup = _do_genmove

    def _do_reg_genmove(self, words: list[str]) -> str:
        state = self._searched(words[:1])
        if state.is_terminal():
            return "pass"
        return self._move_of(state, self._suggest(state))

    def _do_undo(self, words: list[str]) -> str:
        return self._undo(1)

    def _do_gg__undo(self, words: list[str]) -> str:
        return self._undo(whole(words[0]) if words else 1)

    # --- clocks ---

    def _do_time_settings(self, words: list[str]) -> str:
        if len(words) != 3:
            raise Refused
        main_s, byo_yomi_s, stones = (_seconds(word) for word in words)
        if main_s == byo_yomi_s == 0 or (byo_yomi_s > 0 and stones == 0):
            return self._set_clocks(None)
        if byo_yomi_s == 0:
            return self._set_clocks(TimeControl(main_s))
        return self._set_clocks(_canadian(byo_yomi_s, stones, main_s))

    def _do_kgs__time_settings(self, words: list[str]) -> str:
        kind, numbers = words[0].lower() if words else "", [_seconds(word) for word in words[1:]]
        if (kind, len(numbers)) not in {("none", 0), ("absolute", 1), ("byoyomi", 3), ("canadian", 3)}:
            raise Refused
        if kind == "byoyomi" and numbers[1] > 0 and numbers[2] >= 1:
            return self._set_clocks(TimeControl(numbers[0], periods=int(numbers[2]), period_s=numbers[1]))
        if kind == "canadian":
            return self._do_time_settings(words[1:])
        return self._set_clocks(TimeControl(numbers[0]) if numbers and numbers[0] > 0 else None)

    def _set_clocks(self, control: TimeControl | None) -> str:
        self._engine.clocks = [control and Clock(control), control and Clock(control)]
        return ""

    def _do_time_left(self, words: list[str]) -> str:
        """Sets a clock. Controllers count in whole seconds, so a time that is about the known one changes nothing."""
        if len(words) != 3:
            raise Refused
        player = colour(words[0]) ^ self._vertices.is_exchanged
        left_s, stones = _seconds(words[1]), whole(words[2])
        clock = self._engine.clocks[player]
        if clock is None:
            if left_s > 0:
                self._engine.give_clock(player, _canadian(left_s, stones) if stones else TimeControl(left_s))
            return ""
        control = clock.control
        if stones:  # in byo-yomi: the periods that are left on KGS, elsewhere the stones of this period
            if not control.periods or (control.periods == 1 and left_s > control.period_s):
                control = _canadian(left_s, stones)
            clock = self._engine.give_clock(player, control)  # the old one may have fallen
            clock.periods = min(stones, control.periods)
            clock.set_period(left_s, stones if control.periods == 1 else 1)
            return ""
        told_s = left_s if abs(left_s - clock.main_s) > 1.0 else min(left_s, clock.main_s)
        gone_s = max(0.0, clock.main_s - told_s)
        clock = self._engine.give_clock(player, control)
        clock.main_s, clock.used_s = told_s, clock.used_s + gone_s
        return ""

    # --- results, records, boards ---

    def _do_final_score(self, words: list[str]) -> str:
        state = self._engine.state
        if not state.is_terminal() and points_name(state.game) != "Go":
            raise Refused("cannot score")
        score = state.final_score() * (-1 if self._vertices.is_exchanged else 1)
        return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"

    def _do_final_status_list(self, words: list[str]) -> str:
        if not words or words[0] not in ("alive", "dead", "seki"):
            raise Refused
        if words[0] != "alive":  # azero plays to the end
            return ""
        chains = chains_of(self._engine.state)
        return "\n".join(" ".join(self._vertices.write(point) for point in chain) for chain in chains)

    def _do_loadsgf(self, words: list[str]) -> str:
        if not words:
            raise Refused
        before = whole(words.pop()) - 1 if len(words) > 1 and words[-1].isdecimal() else None
        try:
            record = self._read(" ".join(words))
        except BadInput as error:
            self._lines.log.note("#", str(error))
            raise Refused("cannot load file") from None
        states = list(record.states())
        states = states if before is None else states[: max(0, before) + 1]
        try:
            self._set_game(record.game)
        except BadInput as error:
            raise Refused(f"cannot load file: {error}") from None
        for state in states:
            if state != self._engine.state:
                self._engine.set_up(state)
        return COLOURS[states[-1].current_player()] if not states[-1].is_terminal() else ""

    def _read(self, path: str) -> Record:
        """Returns the first record of a file, with the engine's rules but for its size, and its komi if it has one."""
        game = self._engine.game
        record = next(iter(read_records(path)))
        if parts_of(record.game.name)[1] != parts_of(game.name)[1]:
            raise BadInput(f"{path} is of {record.game}")
        return next(iter(read_records(path, with_size(game, *record.game.planes_shape[:0:-1]), keeps_komi=True)))

    def _do_printsgf(self, words: list[str]) -> str:
        state, start = self._engine.state, None
        for each in [*self._engine.past, state]:  # the moves since the last position that was set up
            if start is None or each.history()[: len(start.history())] != start.history() or not _follows(each, start):
                start = each
        assert start is not None, "there is a position"
        actions = state.history()[len(start.history()) :]
        text = records_to_sgf([Record.of_game(start, actions)]).decode()
        if not words:
            return text
        path = Path(" ".join(words))
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            raise Refused("file exists") from None
        except (OSError, ValueError) as error:
            raise Refused(f"cannot write file: {getattr(error, 'strerror', None) or error}") from None
        return ""

    def _do_showboard(self, words: list[str]) -> str:
        return f"\n{self._shown().draw()}"


def _canadian(period_s: float, stones: float, main_s: float = 0.0) -> TimeControl:
    """Returns a time control with a period for so many moves."""
    moves = max(1, int(stones))
    return TimeControl(main_s, periods=1, period_s=period_s, moves=moves)


def _seconds(word: str) -> float:
    return min(max(number(word), 0.0), _LONGEST_S)


def _title(name: str) -> str:
    """Returns a game's name as quarry writes it, e.g. `Tic Tac Toe`."""
    file, base, _ = parts_of(name)
    return base if file else base.replace("_", " ").title()


def _follows(state: State, start: State) -> bool:
    """Returns whether moves lead from one position to the other."""
    reached = start.clone()
    for action in state.history()[len(start.history()) :]:
        if action not in reached.legal_actions():
            return False
        reached.apply_action(action)
    return reached == state
