"""Reads solved positions from files. docs/solved_positions.md has the format."""

import math
import re
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from azero.arena.solved.judges import RESULT_WORDS, Judge, judge_for, result_of
from azero.errors import BadInput, suggest_nearest
from azero.games import LOSS, Game, State
from azero.games.make import make_trusted_game
from azero.games.names import file_of, without_folder
from azero.system.files import PACKAGE, read_regular

_SHIPPED = PACKAGE / "data" / "benchmarks"
_NO_MOVES = "-"
"""Stands for no moves: the game's initial position."""


@dataclass(frozen=True)
class Problem:
    """A position with its score."""

    state: State
    score: float  # for the player to move: positive is a win, 0 a draw, negative a loss
    keeping: frozenset[int] | None  # the actions that keep the result; None: a judge decides

    @property
    def result(self) -> int:
        """WIN, DRAW or LOSS for the player to move."""
        return result_of(self.score)


@dataclass(frozen=True)
class ProblemSet:
    """The positions of a file."""

    name: str
    problems: list[Problem]


@dataclass(frozen=True)
class Benchmark:
    """Sets of positions of one game."""

    name: str
    game: Game
    sets: list[ProblemSet]

    @property
    def num_positions(self) -> int:
        return sum(len(each.problems) for each in self.sets)


def shipped_benchmarks() -> dict[str, Path]:
    """Returns the folders of the included benchmarks, by name."""
    return {folder.name: folder for folder in sorted(_SHIPPED.iterdir()) if folder.is_dir()}


def shipped_benchmark_of(game: Game) -> str | None:
    """Returns the name of an included benchmark of this game; None if there is none."""
    for name, folder in shipped_benchmarks().items():
        if str(game) == _game_in(_files_in(folder)[0]):
            return name
    return None


def read_benchmark(
    name: str, game: Game | None = None, sample: int | None = None, num_checked: int | None = None
) -> Benchmark:
    """Returns an included benchmark by its name, or the benchmark in a file or folder.

    The scores of a user's own benchmark are checked against the rules, and against a solver with a small limit.

    Args:
      game: the positions' game; None: the first file's header names it.
      sample: about how many positions to read in all, the first ones of each set; by default all.
      num_checked: how many positions of each set are checked, the first ones; by default all.

    Raises:
      BadInput: there is no such benchmark, or a file has an error. The message has the file and line.
    """
    path, shipped = Path(name), shipped_benchmarks()
    is_shipped = not name or not path.exists()
    if is_shipped:
        if name not in shipped:
            raise BadInput(
                f"unknown benchmark {name!r}: not a file, a folder or a name; {suggest_nearest(name, shipped)}"
            )
        path = shipped[name]
    files = _files_in(path)
    game = game or _game_told(files[0])
    judge = None if is_shipped else judge_for(game)
    most = None if sample is None else max(1, sample // len(files))
    reader = _Reader(game, judge, most, num_checked, {})
    sets = [ProblemSet(file.name.removesuffix(".txt"), reader.read(file)) for file in files]
    return Benchmark(name, game, sets)


def _files_in(path: Path) -> list[Path]:
    """Returns the file itself, or a folder's files in alphabetical order, without hidden and Markdown files."""
    if not path.is_dir():
        return [path]
    files = [each for each in sorted(path.iterdir()) if each.is_file() and each.suffix != ".md" and each.name[0] != "."]
    if not files:
        raise BadInput(f"folder {str(path)!r} has no file of positions")
    return files


_LARGEST = 256 << 20  # bytes of a file


def _lines_of(file: Path) -> list[str]:
    try:
        return read_regular(file, _LARGEST).decode("utf-8-sig").splitlines()
    except OSError as error:
        raise BadInput(f"benchmark {str(file)!r} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadInput(f"benchmark {str(file)!r} is not a text file") from None


def _game_in(file: Path) -> str | None:
    """Returns the game in the file's header, with parameters as azero writes them; None without a header.

    Raises BadInput if two headers name different games.
    """
    told: str | None = None
    for number, line in enumerate(_lines_of(file), start=1):
        header = re.fullmatch(r"#\s*game:\s*(\S.*)", line.strip())
        if header:
            try:  # a user's game is compared by name: a file of positions must not make azero run code
                name = header[1] if file_of(header[1]) else str(make_trusted_game(header[1]))
                if told not in (None, name):
                    raise BadInput(f"an earlier header names the game {told}, this one {name}; use one game per file")
            except BadInput as error:
                raise BadInput(f"{file}, line {number}: {error}") from None
            told = name
    return told


def _game_told(file: Path) -> Game:
    """Returns the game in the file's header; raises BadInput if there is none or it is a user's own game."""
    name = _game_in(file)
    if name is None:
        raise BadInput(f"benchmark {str(file)!r} does not name its game; name it with --game, e.g. --game connect_four")
    if file_of(name):
        raise BadInput(f"benchmark {str(file)!r} is for a user's game, which runs only if you name it: --game {name!r}")
    return make_trusted_game(name)


@dataclass(frozen=True)
class _Reader:
    """Reads the files of a benchmark. `most` and `num_checked` are limits per file."""

    game: Game
    judge: Judge | None
    most: int | None  # positions to read
    num_checked: int | None  # positions that the judge checks
    places: dict[int | bytes, tuple[str, float]]  # of each position: its first place in the files, and its score

    def read(self, file: Path) -> list[Problem]:
        """Returns the first positions of a file; raises BadInput."""
        told = _game_in(file)
        if told is not None and without_folder(told) != without_folder(str(self.game)):
            raise BadInput(f"benchmark {str(file)!r} has positions of {told}, not of {self.game}")
        problems: list[Problem] = []
        lines = tqdm(_lines_of(file), desc=f"reading {file.name}", unit=" lines", leave=False, disable=None, delay=0.5)
        for number, line in enumerate(lines, start=1):
            text = line.partition("#")[0].strip()
            if text and (self.most is None or len(problems) < self.most):
                try:
                    problem = _read_line(text, self.game)
                    self._check(problem, f"line {number} of {file.name}", len(problems))
                except BadInput as error:
                    raise BadInput(f"{file}, line {number}: {error}") from None
                problems.append(problem)
        if not problems:
            raise BadInput(f"benchmark {str(file)!r} has no positions; a line should be MOVES SCORE, e.g. 4453 -1")
        return problems

    def _check(self, problem: Problem, place: str, num_before: int) -> None:
        before, score = self.places.setdefault(problem.state.position_key(), (place, problem.score))
        if score != problem.score:
            raise BadInput(f"the same position has score {score:g} in {before}")
        if self.judge and (self.num_checked is None or num_before < self.num_checked):
            self.judge.check(problem.state, problem.score)
            if problem.keeping is not None and problem.result > LOSS:
                self.judge.check_moves(problem.state, problem.result, problem.keeping)


def _read_line(text: str, game: Game) -> Problem:
    """Reads `MOVES SCORE`, followed by moves that keep the result, or by moves with scores; raises BadInput."""
    moves, *rest = text.split()
    if not rest:
        raise BadInput(f"{text!r} should be MOVES SCORE, e.g. 4453 -1")
    score = _number(rest[0])
    if "" in moves.split(","):
        raise BadInput(f"{moves!r} has a comma without a move before or after it")
    state = game.state_from_moves("" if moves == _NO_MOVES else moves)
    if state.is_terminal():
        raise BadInput(f"the game is over after {moves}; a position should have a move to choose")
    problem = Problem(state, score, None)
    listed: dict[int, int] = {}
    for word in rest[1:]:
        move, colon, own = word.rpartition(":") if ":" in word else (word, "", "")
        action = game.text_to_action(state, move)
        if action in listed:
            raise BadInput(f"move {move!r} is listed twice")
        listed[action] = result_of(_number(own)) if colon else problem.result
    if listed and max(listed.values()) != problem.result:
        says, best = RESULT_WORDS[problem.result], RESULT_WORDS[max(listed.values())]
        raise BadInput(f"by its score {score:g} the player to move {says}, but the best of the listed moves {best}")
    if problem.result < 0:
        return Problem(state, score, frozenset(state.legal_actions()))
    keeping = frozenset(action for action, result in listed.items() if result == problem.result)
    return Problem(state, score, keeping or None)


def _number(text: str) -> float:
    if not re.fullmatch(r"[+-]?\d+(\.\d*)?", text) or not math.isfinite(float(text)):
        raise BadInput(f"score {text!r} should be a number, e.g. -1")
    return float(text)
