"""Lessons of a run: solved positions in files of the benchmark format, or positions of games."""

from pathlib import Path

from azero.arena.solved.files import read_benchmark, shipped_benchmarks
from azero.config.training import TrainingConfig
from azero.errors import BadInput
from azero.games import LOSS, Game
from azero.selfplay.data.lessons import Lesson, Lessons
from azero.training.lessons.files import is_lessons, read_lessons_of_games

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
