"""GTP, the Go Text Protocol, version 2, for every game, with the extensions that its clients ask for.

Source: Farneback, Specification of the Go Text Protocol, version 2, draft 2 (2002); KataGo, GTP_Extensions.md; the
manual of GoGui.
"""

import contextlib
import json
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import azero
from azero.arena.agents.clock import Clock, TimeControl
from azero.arena.agents.suggestion import Suggestion
from azero.errors import BadInput
from azero.games import Game, State
from azero.games.defaults import has_own
from azero.games.go.rules import Go
from azero.games.make import make_trusted_game
from azero.games.names import parts_of
from azero.games.position_text import PLAYERS
from azero.games.registry import registered_games
from azero.interfaces.engines.engine import Engine, Report, Search, Task, with_parameters, with_size
from azero.interfaces.engines.gtp_texts import (
    Wanted,
    analysis_line,
    board_of,
    chains_of,
    free_points,
    handicap_points,
    pairs,
    said_of,
)
from azero.interfaces.engines.lines import Lines
from azero.interfaces.engines.positions import (
    POINT_GAMES,
    Vertices,
    actions_of,
    after_move,
    complaint_of_rules,
    has_swapped,
    player_of,
    points_name,
    rules_of,
    stones_of,
    turned_to,
    with_player,
    with_stones,
)
from azero.records import Record, read_records
from azero.records.sgf import records_to_sgf

COLOURS = ("black", "white")
"""The first and the second player."""

_DEFAULT_INTERVAL_S = 0.5
_UNSEEN_S = 0.03  # of a move, by the controller's clock: until its command is read, and its answer
_MOST_CENTISECONDS = 10_000_000
_LONGEST_S = 7 * 24 * 3600.0
_INTERRUPT = "# INTERRUPT"
"""A comment with which GoGui ends a search: the move is the best one so far."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,9}(\.[0-9]{0,9})?")


class Refused(Exception):
    """A command fails, with this message."""


class _Analysis(NamedTuple):
    """The arguments of an analysis: whose, how often in seconds, of which actions, and what is told."""

    state: State
    interval: float
    allowed: list[int] | None
    wanted: Wanted


def _syntax_error() -> Refused:
    return Refused("syntax error")


class Gtp:
    """Answers the commands of a controller."""

    def __init__(self, make: Callable, lines: Lines[Report]):
        self._lines = lines
        self._engine = Engine(make, lines)
        self._vertices = Vertices(self._engine.game)
        self._header, self._is_begun = "=", False  # of an answer in parts
        self._exchanges = False  # whether a swap of Hex exchanges the colours
        self._handlers: dict[str, Callable[[list[str]], str | None]] = {
            name.removeprefix("_do_"): getattr(self, name) for name in dir(self) if name.startswith("_do_")
        }
        self._handlers |= {name: self._handlers.pop(name.replace("-", "_")) for name in _WITH_DASHES}
        for program, is_in_parts in (("lz-", False), ("kata-", True), ("", True)):
            self._handlers[f"{program}analyze"] = partial(self._analyse, is_in_parts)
            self._handlers[f"{program}genmove_analyze"] = partial(self._generate_in_view, is_in_parts)
        self._handlers["kgs-genmove_cleanup"] = self._do_genmove
        self._handlers["kgs-rules"] = self._do_kata_set_rules
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
        number = words.pop(0) if words and words[0].isdecimal() and words[0].isascii() else ""
        if not words and not number:
            return
        self._header, self._is_begun = f"={number}", False
        self._vertices.is_exchanged = self._exchanges and has_swapped(self._engine.state)
        try:
            handler = self._handlers.get(words[0]) if words else None
            if handler is None:
                raise Refused("unknown command")
            answer = handler(words[1:])
        except (Refused, BadInput) as error:
            message = " ".join(str(error).split())
            self._lines.write(f"?{number} {message}\n\n")
        else:
            if answer is not None:  # otherwise it is written already
                first, *others = answer.split("\n")
                shown = "\n".join([first, *(each for each in others if each.strip())])  # an empty line ends an answer
                self._lines.write(f"{self._header} {shown}\n\n")

    def _tell(self, part: str) -> None:
        """Writes a part of an answer, the first one below the header."""
        self._lines.write(part if self._is_begun else f"{self._header}\n{part}")
        self._is_begun = True

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
        game = self._engine.game
        left_out = set() if points_name(game) else _FOR_POINTS
        left_out = left_out | (set() if points_name(game) == "Go" else _FOR_GO)
        return [name for name in self._handlers if name not in left_out]

    def _do_quit(self, words: list[str]) -> str:
        self._is_over = True
        return ""

    # --- setting up ---

    def _do_boardsize(self, words: list[str]) -> str:
        numbers = [_whole(word) for word in words[:2]]
        if not numbers:
            raise _syntax_error()
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
            raise _syntax_error()
        return self._do_boardsize(words)

    def _set_game(self, game: Game) -> None:
        self._engine.set_game(game)
        skips_i, self._vertices = self._vertices.skips_i, Vertices(self._engine.game)
        self._vertices.skips_i = skips_i

    def _do_clear_board(self, words: list[str]) -> str:
        self._engine.begin_game()
        return ""

    def _do_komi(self, words: list[str]) -> str:
        komi = _number(words[0] if words else "")
        game = self._engine.game
        if isinstance(game.rules, Go) and komi != game.rules.komi:
            self._engine.change_rules(with_parameters(game, komi=komi))
        return ""

    def _do_kata_get_rules(self, words: list[str]) -> str:
        return json.dumps(rules_of(self._engine.game))

    def _do_kata_set_rules(self, words: list[str]) -> str:
        """Agrees to rules that are azero's, or nearly so."""
        if complaint := complaint_of_rules(" ".join(words)):
            raise Refused(complaint)
        return ""

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

    def _do_fixed_handicap(self, words: list[str]) -> str:
        return self._place(handicap_points(self._size(), _whole(words[0] if words else "")))

    def _do_place_free_handicap(self, words: list[str]) -> str:
        return self._place(free_points(self._size(), _whole(words[0] if words else "")))

    def _do_set_free_handicap(self, words: list[str]) -> str:
        self._size()
        if len(words) < 2:
            raise Refused("bad vertex list")
        return self._place(words) and ""

    def _size(self) -> int:
        if points_name(self._engine.game) != "Go":
            raise Refused("this game has no handicap")
        if set(stones_of(self._engine.state)) != {"."}:
            raise Refused("board not empty")
        return self._engine.game.planes_shape[1]

    def _place(self, points: Sequence[str]) -> str:
        """Puts Black's handicap stones on the empty board, White to move; returns their points."""
        game = self._engine.game
        cells = stones_of(self._engine.state)
        for point in points:
            try:
                action = game.rules.text_to_action(self._engine.state.record, self._vertices.read(point))
            except BadInput:
                action = len(cells)
            if action >= len(cells) or cells[action] != ".":
                raise Refused("bad vertex list")
            cells[action] = PLAYERS[0]
        self._engine.set_up(with_stones(game, cells, 1))
        return " ".join(self._vertices.write(point.lower()) for point in points)

    # --- playing ---

    def _do_play(self, words: list[str]) -> str:
        if len(words) < 2:
            raise _syntax_error()
        player, text = self._player(words[0]), "".join(words[1:])
        if text.lower() == "resign":
            return ""
        self._engine.set_up(after_move(turned_to(self._engine.state, player, text), text, self._vertices))
        return ""

    def _do_genmove(self, words: list[str]) -> str:
        move, after = self._generate(self._searched(words[:1]))
        if after is not None:
            self._engine.set_up(after)
        return move

    def _do_reg_genmove(self, words: list[str]) -> str:
        state = self._searched(words[:1])
        if state.is_terminal():
            return "pass"
        task = Task(self._engine.agent.limit, keeps_tree=False)
        found = self._finish(self._engine.start(task, state))
        return self._move_of(state, found.moves[0].action)

    def _searched(self, words: Sequence[str]) -> State:
        """Returns the position with the player to move whom the words name; without words, as it is."""
        player = self._player(words[0]) if words else player_of(self._engine.state)
        return turned_to(self._engine.state, player)

    def _player(self, word: str) -> int:
        """Returns the player whom a colour names. After a swap, it tells whether the players exchange their colours."""
        player, state = _colour(word), self._engine.state
        if has_swapped(state) and len(state.history()) == 2:
            self._exchanges = player == 1
        self._vertices.is_exchanged = self._exchanges and has_swapped(state)
        return player ^ self._vertices.is_exchanged

    def _generate(self, state: State, analysis: _Analysis | None = None) -> tuple[str, State | None]:
        """Returns the agent's move and the position after it; None if it resigns or the game is over."""
        if state.is_terminal():
            if points_name(state.game) == "Go":
                return "pass", None
            raise Refused("the game is over")
        clock, agent = self._engine.clocks[state.current_player()], self._engine.agent
        task = Task(agent.limit, clock, keeps_tree=analysis is not None)
        if analysis is not None:
            task = task._replace(interval=analysis.interval, allowed=analysis.allowed)
        search = self._engine.start(task, state)
        found = self._finish(search, analysis)
        if clock is not None:
            clock.spend(time.perf_counter() - search.begin_s + min(_UNSEEN_S, clock.main_s))
        if not found.moves or agent.resigns(found.value):
            return "resign", None
        after = state.clone()
        after.apply_action(found.moves[0].action)
        return self._move_of(state, found.moves[0].action), after

    def _move_of(self, state: State, action: int) -> str:
        return self._vertices.write(state.game.action_to_text(state, action))

    def _finish(self, search: Search, analysis: _Analysis | None = None) -> Suggestion:
        """Returns what a search finds. Meanwhile lines wait; the end of the input ends it soon, if nothing follows."""

        def take(report: Report) -> None:
            if report.error is not None:
                raise report.error
            assert report.found is not None, "it has found something"
            if analysis is not None and report.found.moves:
                self._tell(f"{analysis_line(report, analysis.wanted, self._vertices)}\n")

        def is_left() -> bool:
            if self._lines.take(_INTERRUPT):
                search.stop()
            return self._is_left()

        report = self._engine.wait(search, take, is_left)
        if report is None:
            raise EOFError
        assert report.found is not None, "it has found something"
        return report.found

    def _is_left(self) -> bool:
        return self._lines.is_abandoned

    def _do_undo(self, words: list[str]) -> str:
        return self._undo(1)

    def _do_gg_undo(self, words: list[str]) -> str:
        return self._undo(_whole(words[0]) if words else 1)

    def _undo(self, number: int) -> str:
        if number > len(self._engine.past):
            raise Refused("cannot undo")
        for _ in range(number):
            self._engine.undo()
        return ""

    # --- clocks ---

    def _do_time_settings(self, words: list[str]) -> str:
        if len(words) != 3:
            raise _syntax_error()
        main_s, byo_yomi_s, stones = (_seconds(word) for word in words)
        if main_s == byo_yomi_s == 0 or (byo_yomi_s > 0 and stones == 0):
            return self._set_clocks(None)
        if byo_yomi_s == 0:
            return self._set_clocks(TimeControl(main_s))
        return self._set_clocks(_canadian(byo_yomi_s, stones, main_s))

    def _do_kgs_time_settings(self, words: list[str]) -> str:
        kind, numbers = words[0].lower() if words else "", [_seconds(word) for word in words[1:]]
        if (kind, len(numbers)) not in {("none", 0), ("absolute", 1), ("byoyomi", 3), ("canadian", 3)}:
            raise _syntax_error()
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
            raise _syntax_error()
        player = _colour(words[0]) ^ self._vertices.is_exchanged
        left_s, stones = _seconds(words[1]), _whole(words[2])
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
            raise _syntax_error()
        if words[0] != "alive":  # azero plays to the end
            return ""
        chains = chains_of(self._engine.state)
        return "\n".join(" ".join(self._vertices.write(point) for point in chain) for chain in chains)

    def _do_loadsgf(self, words: list[str]) -> str:
        if not words:
            raise _syntax_error()
        before = _whole(words.pop()) - 1 if len(words) > 1 and words[-1].isdecimal() else None
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
        return f"\n{self._engine.state.draw()}"

    # --- analyses ---

    def _analysis(self, words: list[str], is_in_parts: bool) -> _Analysis:
        """Reads the arguments of an analysis: colour, interval, and pairs of keys and values."""
        left = list(words)
        state = self._searched([left.pop(0)] if left and left[0].lower() in _COLOUR_WORDS else [])
        interval = _interval(left.pop(0)) if left and left[0].replace(".", "", 1).isdecimal() else _DEFAULT_INTERVAL_S
        wanted, allowed, avoided = Wanted(is_in_parts), None, set[int]()
        while left:
            key = left.pop(0).lower()
            if key in ("allow", "avoid") and len(left) >= 3:
                player = _colour(left.pop(0)) ^ self._vertices.is_exchanged
                points, _ = left.pop(0).split(","), _whole(left.pop(0))
                actions = actions_of(state, points, self._vertices)
                if player == state.current_player():
                    allowed = actions if key == "allow" else allowed
                    avoided |= actions if key == "avoid" else set()
            elif not left:
                raise _syntax_error()
            elif key == "interval":
                interval = _interval(left.pop(0))
            elif key in _NUMBERS:
                fields: dict[str, Any] = {_NUMBERS[key]: _whole(left.pop(0))}
                wanted = wanted._replace(**fields)
            elif key in _FLAGS:
                fields = {_FLAGS[key]: left.pop(0).lower() == "true"}
                wanted = wanted._replace(**fields)
            elif key in _WITHOUT_EFFECT:
                left.pop(0)
            else:
                raise _syntax_error()
        if allowed is None and not avoided:
            return _Analysis(state, interval, None, wanted)
        legal = set(state.legal_actions())
        chosen = sorted((legal if allowed is None else allowed & legal) - avoided)
        if not chosen:
            raise Refused("no move is left")
        return _Analysis(state, interval, chosen, wanted)

    def _analyse(self, is_in_parts: bool, words: list[str]) -> None:
        """Writes lines until input comes, or nothing more to say. Then it waits for input without a search."""
        analysis = self._analysis(words, is_in_parts)
        if analysis.state.is_terminal():
            raise Refused("the game is over")
        limit = self._engine.agent.limit.beside_clock()
        search = self._engine.start(Task(limit, interval=analysis.interval, allowed=analysis.allowed), analysis.state)
        is_over = False
        while True:
            event = self._lines.next()
            if not isinstance(event, Report):
                break
            if event.search is not search:
                continue
            is_over = event.is_last
            if event.error is not None and not self._is_begun:
                raise event.error
            if event.found is not None and event.found.moves:
                self._tell(f"{analysis_line(event, analysis.wanted, self._vertices)}\n")
        search.stop()
        self._tell("\n")
        if event is not None:
            self._lines.put_back(event)
        if not is_over and self._engine.wait(search, lambda report: None, self._is_left) is None:
            raise EOFError

    def _generate_in_view(self, is_in_parts: bool, words: list[str]) -> None:
        """Writes lines while the agent chooses its move, then the move."""
        analysis = self._analysis(words, is_in_parts)
        if analysis.state.is_terminal() and points_name(analysis.state.game) != "Go":
            raise Refused("the game is over")
        try:
            move, after = self._generate(analysis.state, analysis)
        except BadInput as error:
            if not self._is_begun:
                raise
            self._lines.log.note("#", str(error))
            move, after = "resign", None
        if after is not None:
            self._engine.set_up(after)
        self._tell(f"play {move}\n\n")

    # --- GoGui, HexGui ---

    def _do_gogui_rules_game_id(self, words: list[str]) -> str:
        return self._ruled()

    def _do_gogui_rules_board(self, words: list[str]) -> str:
        self._ruled()
        return f"\n{board_of(self._engine.state, self._is_top_first())}"

    def _do_gogui_rules_board_size(self, words: list[str]) -> str:
        kind = self._ruled()
        _, height, width = self._engine.game.planes_shape
        size = str(width) if width == height else f"{width} {height}"
        return f"{size} hex" if kind == "Hex" else size if width == height else f"{size} rect"

    def _do_gogui_rules_legal_moves(self, words: list[str]) -> str:
        self._ruled()
        state = self._engine.state
        texts = [state.game.action_to_text(state, action) for action in state.legal_actions()]
        return " ".join(self._vertices.write(text) for text in texts if text != "swap")

    def _do_gogui_rules_side_to_move(self, words: list[str]) -> str:
        self._ruled()
        return COLOURS[player_of(self._engine.state) ^ self._vertices.is_exchanged]

    def _do_gogui_rules_final_result(self, words: list[str]) -> str:
        self._ruled()
        state = self._engine.state
        if not state.is_terminal():
            return "The game is not over."
        score = state.final_score() * (-1 if self._vertices.is_exchanged else 1)
        by = f" by {abs(score):g}" if has_own(state.game.rules, "final_score") else ""
        return "Draw." if score == 0 else f"{'Black' if score > 0 else 'White'} wins{by}."

    def _ruled(self) -> str:
        """Returns GoGui's name of the game. GoGui's columns have no I in any game, so from now on ours have none."""
        name = points_name(self._engine.game)
        if name is None:
            raise Refused("the moves of this game are no points")
        self._vertices.skips_i = True
        return name

    def _is_top_first(self) -> bool:
        """Returns whether a1 is the top left cell in azero's notation."""
        _, _, width = self._engine.game.planes_shape
        return self._engine.game.rules.text_to_action(self._engine.state.record, "a1") < width

    def _do_gogui_play_sequence(self, words: list[str]) -> str:
        if len(words) % 2:
            raise _syntax_error()
        before = len(self._engine.past)
        try:
            for colour, vertex in zip(words[::2], words[1::2], strict=True):
                self._do_play([colour, vertex])
        except (Refused, BadInput):
            self._undo(len(self._engine.past) - before)
            raise
        return ""

    def _do_gogui_setup(self, words: list[str]) -> str:
        """Puts stones, pairs of colours and points, on the board as it is."""
        state, game = self._engine.state, self._engine.game
        if points_name(game) is None or len(words) % 2:
            raise _syntax_error()
        cells = stones_of(state)
        for colour, vertex in zip(words[::2], words[1::2], strict=True):
            try:
                cell = game.rules.text_to_action(state.record, self._vertices.read(vertex))
                cells[cell] = "." if colour.lower() in ("e", "empty") else PLAYERS[_colour(colour)]
            except (BadInput, IndexError):
                raise _syntax_error() from None
        self._engine.set_up(with_stones(game, cells, player_of(state)))
        return ""

    def _do_gogui_setup_player(self, words: list[str]) -> str:
        player = _colour(words[0] if words else "")
        if player != self._engine.state.current_player():
            self._engine.set_up(with_player(self._engine.state, player))
        return ""

    def _do_gogui_interrupt(self, words: list[str]) -> str:
        return ""

    def _do_gogui_analyze_commands(self, words: list[str]) -> str:
        own = ["dboard/azero ownership/azero-ownership %c"] if self._keeps_ownership() else []
        score = ["string/azero score/final_score"] if points_name(self._engine.game) == "Go" else []
        return "\n".join([*_ANALYZE_COMMANDS, *own, *score])

    def _do_hexgui_analyze_commands(self, words: list[str]) -> str:
        return "\n".join(_ANALYZE_COMMANDS).replace("varc/", "var/")  # HexGui has no variations for a colour

    def _keeps_ownership(self) -> bool:
        return "ownership" in self._engine.agent.at_full_strength.heads_of(self._engine.state)

    def _do_azero_values(self, words: list[str]) -> str:
        found = self._suggest(words)
        values = {move.action: f"{100 * move.value:+.0f}" for move in found.moves if move.visits or move.proven}
        return pairs(found.moves, values, self._vertices)

    def _do_azero_visits(self, words: list[str]) -> str:
        found = self._suggest(words)
        return pairs(
            found.moves, {move.action: str(move.visits) for move in found.moves if move.visits}, self._vertices
        )

    def _do_azero_pv(self, words: list[str]) -> str:
        found = self._suggest(words)
        return " ".join(self._vertices.write(text) for text in found.moves[0].pv)

    def _do_azero_value(self, words: list[str]) -> str:
        return said_of(self._suggest(words))

    def _do_azero_ownership(self, words: list[str]) -> str:
        found = self._suggest(words)
        if found.ownership is None:
            raise Refused("the net keeps no ownership")
        sign = 1 if found.to_move == 0 else -1  # GoGui's numbers are Black's
        rows = [" ".join(f"{sign * owner:.2f}" for owner in row) for row in found.ownership]
        return "\n" + "\n".join(rows)

    def _suggest(self, words: list[str]) -> Suggestion:
        state = self._searched(words[:1])
        if state.is_terminal():
            raise Refused("the game is over")
        found = self._finish(self._engine.start(Task(self._engine.agent.limit, keeps_tree=False), state))
        if not found.moves:
            raise Refused("the agent resigns")
        return found


_WITH_DASHES = [
    *("kgs-time_settings", "kata-get-rules", "kata-set-rules", "gg-undo"),
    *("gogui-rules_game_id", "gogui-rules_board", "gogui-rules_board_size", "gogui-rules_legal_moves"),
    *("gogui-rules_side_to_move", "gogui-rules_final_result", "gogui-play_sequence", "gogui-setup"),
    *("gogui-setup_player", "gogui-interrupt", "gogui-analyze_commands", "hexgui-analyze_commands"),
    *("azero-values", "azero-visits", "azero-pv", "azero-value", "azero-ownership"),
]
"""Commands with dashes, as they are written."""

_FOR_GO = {
    *("fixed_handicap", "place_free_handicap", "set_free_handicap", "final_status_list"),
    *("kata-get-rules", "kata-set-rules", "kgs-rules"),
}
_FOR_POINTS = {
    *("gogui-rules_game_id", "gogui-rules_board", "gogui-rules_board_size", "gogui-rules_legal_moves"),
    *("gogui-rules_side_to_move", "gogui-rules_final_result", "gogui-setup", "gogui-setup_player"),
}

_ANALYZE_COMMANDS = [
    "pspairs/azero values/azero-values %c",
    "pspairs/azero visits/azero-visits %c",
    "varc/azero principal variation/azero-pv %c",
    "string/azero value/azero-value %c",
]
"""Commands that GoGui and HexGui show in a menu: the type of the answer, the label and the command."""

_COLOUR_WORDS = {"b": 0, "black": 0, "w": 1, "white": 1}
_NUMBERS = {"minmoves": "fewest", "maxmoves": "most"}
_FLAGS = {"rootinfo": "has_root", "ownership": "has_ownership", "movesownership": "has_ownership_of_moves"}
_WITHOUT_EFFECT = {"ownershipstdev", "movesownershipstdev", "pvvisits", "pvedgevisits", "noresultvalue"}
"""Keys of KataGo's analyses that ask for what azero's search does not know."""


def _colour(word: str) -> int:
    if word.lower() not in _COLOUR_WORDS:
        raise Refused("invalid color")
    return _COLOUR_WORDS[word.lower()]


def _whole(word: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", word):
        raise _syntax_error()
    return int(word)


def _number(word: str) -> float:
    if not _NUMBER.fullmatch(word):
        raise _syntax_error()
    return float(word)


def _canadian(period_s: float, stones: float, main_s: float = 0.0) -> TimeControl:
    """Returns a time control with a period for so many moves."""
    moves = max(1, int(stones))
    return TimeControl(main_s, periods=1, period_s=period_s, moves=moves)


def _seconds(word: str) -> float:
    return min(max(_number(word), 0.0), _LONGEST_S)


def _interval(word: str) -> float:
    """Returns the seconds of an interval in hundredths of them."""
    hundredths = _number(word)
    return min(max(hundredths, 1.0), _MOST_CENTISECONDS) / 100


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
