"""The lessons that a run learns, and their files: a header, then one position a line, `MOVES VALUE MOVE:COUNT ...`.

    # azero lessons 1
    # game: connect_four
    - 0.2 4:1
    4,4 -1 4:310 5:90

MOVES lead to the position, separated by commas, or `-`. A position that no moves lead to is written as its text in
double quotes. VALUE is for the player to move, in [-1, 1]. Exactly 1, 0 and
-1 are a win, a draw and a loss, other numbers are expectations. The counts are the policy target. There may be none.
"""

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from azero.arena.solved.files import read_benchmark, shipped_benchmarks
from azero.config.schema import TrainingConfig
from azero.errors import BadInput
from azero.games import LOSS, Game, State
from azero.games.names import without_folder
from azero.selfplay.data.lessons import Lesson, Lessons
from azero.system.files import read_regular, write_whole

HEADER = "# azero lessons 1"
_LARGEST = 256 << 20  # bytes
_MOST_COUNT = 0xFFFF
_NO_MOVES = "-"


def write_lessons(path: Path, game: Game, lessons: Iterable[Lesson]) -> int:
    """Writes a file of lessons; returns their number. Raises BadInput if a move's text has spaces or a colon."""
    lines = [_line_of(each) for each in lessons]
    write_whole(path, "\n".join([HEADER, f"# game: {without_folder(str(game))}", *lines, ""]).encode())
    return len(lines)


def _line_of(lesson: Lesson) -> str:
    game, state = lesson.state.game, lesson.state
    history = state.history()
    moves = game.lines_to_text(game.new_initial_state(), [history])[0] if history else []
    place = ",".join(moves) or _NO_MOVES
    if not history and state != game.new_initial_state():
        place = json.dumps(state.to_text(), ensure_ascii=False)
    targets = [(game.action_to_text(state, action), count) for action, count in lesson.policy.items()]
    for text in [*moves, *(text for text, _ in targets)]:
        if (
            text == _NO_MOVES
            or text[:1] in '#"'
            or re.search(r"[\s,:]", text)
            or game.rules.split_moves(text) != [text]
        ):
            raise BadInput(f"the move {text!r} of {game} cannot be written in a file of lessons")
    told = " ".join([f"{lesson.value:.4g}", *(f"{text}:{count}" for text, count in targets)])
    return f"{place} {told}"


def is_lessons(path: Path) -> bool:
    """Returns whether a file has the header of lessons from games."""
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.readline(len(HEADER) + 2).rstrip() == HEADER.encode()


def read_lessons_of_games(path: Path, game: Game) -> list[Lesson]:
    """Returns the lessons in a file. Every move is checked by the rules.

    Raises BadInput if the file cannot be read, is of another game or has an error. The message has the file and line.
    """
    try:
        lines = read_regular(path, _LARGEST).decode().splitlines()
    except OSError as error:
        raise BadInput(f"{str(path)!r} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{str(path)!r} is not a text file") from None
    lessons, reader = list[Lesson](), _Positions(game)
    for number, line in enumerate(lines, start=1):
        try:
            if header := re.fullmatch(r"#\s*game:\s*(\S.*)", line.strip()):
                if header[1] != without_folder(str(game)):
                    raise BadInput(f"the lessons are of {header[1]}, not of {game}")
            elif line.strip() and not line.startswith("#"):
                lessons.append(_read_line(line, reader))
        except BadInput as error:
            raise BadInput(f"{path}, line {number}: {error}") from None
    if not lessons:
        raise BadInput(f"{str(path)!r} has no lessons")
    return lessons


class _Positions:
    """Finds positions by their moves. A line that continues the one before begins at its position."""

    def __init__(self, game: Game):
        self.game = game
        self._moves: list[str] = []
        self._states = [game.new_initial_state()]  # after each of the moves

    def after(self, moves: list[str]) -> State:
        """Returns the position after some moves; raises BadInput if one of them is not legal."""
        shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(moves, self._moves)))  # noqa: B905
        del self._moves[shared:], self._states[shared + 1 :]
        for move in moves[shared:]:
            state = self._states[-1].clone()
            state.apply_action(state.game.text_to_action(state, move))
            self._moves.append(move)
            self._states.append(state)
        return self._states[-1]


def _read_line(line: str, positions: _Positions) -> Lesson:
    if line.startswith('"'):
        moves, rest = _read_quoted(line)
        state = positions.game.state_from_text(moves)
    else:
        moves, *rest = line.split()
        state = positions.after([] if moves == _NO_MOVES else moves.split(","))
    if state.is_terminal():
        raise BadInput(f"the game is over after {moves}; a position should have a move to choose")
    if not rest or not re.fullmatch(r"[+-]?\d(\.\d*)?(e-\d{1,2})?", rest[0]) or abs(float(rest[0])) > 1.0:
        raise BadInput(f"the value {rest[0] if rest else ''!r} should be a number from -1 to 1")
    return Lesson(state, float(rest[0]), dict(_targets(state, rest[1:])))


def _read_quoted(line: str) -> tuple[str, list[str]]:
    """Returns the text in double quotes at the beginning of a line, and the words after it."""
    try:
        text, end = json.JSONDecoder().raw_decode(line)
    except ValueError:
        raise BadInput("the position in double quotes is not complete") from None
    return text, line[end:].split()


def _targets(state: State, words: list[str]) -> Iterator[tuple[int, int]]:
    for word in words:
        move, _, count = word.rpartition(":")
        if not re.fullmatch(r"\d{1,5}", count) or not 1 <= int(count) <= _MOST_COUNT:
            raise BadInput(f"{word!r} should be a move and its count from 1 to {_MOST_COUNT}, e.g. 4:1")
        yield state.game.text_to_action(state, move), int(count)


CHECKED = 100
"""Number of solved positions checked per file, the first ones. Checking a hundred thousand would take minutes."""


def read_lessons(config: TrainingConfig, game: Game) -> Lessons | None:
    """Returns the lessons that the settings name, if any; raises BadInput if they cannot be read or are a benchmark."""
    if config.lessons == "none":
        return None
    path = Path(config.lessons)
    if not path.exists():
        raise BadInput(f"training.lessons = {config.lessons!r}: there is no such file or folder")
    if {path.resolve(), path.resolve().parent} & {folder.resolve() for folder in shipped_benchmarks().values()}:
        raise BadInput(f"training.lessons = {config.lessons!r} is a shipped benchmark; nets must not learn from it")
    try:
        lessons = read_lessons_of_games(path, game) if is_lessons(path) else _solved_positions(path, game)
    except BadInput as error:
        raise BadInput(f"training.lessons: {error}") from None
    return Lessons(game, lessons, config.lessons_share)


def _solved_positions(path: Path, game: Game) -> list[Lesson]:
    """Returns solved positions, with the moves that keep their results as policy targets, if these moves are listed."""
    if path.is_file() and path.read_bytes()[:1] in (b"[", b"("):
        raise BadInput(f"{str(path)!r} is a file of games; azero lessons makes lessons of it")
    benchmark = read_benchmark(str(path), game, num_checked=CHECKED)
    problems = (problem for each in benchmark.sets for problem in each.problems)
    return [
        Lesson(each.state, each.result, dict.fromkeys(each.keeping or (), 1) if each.result > LOSS else {})
        for each in problems
    ]
