"""Lessons of a run: solved positions, read from files of the benchmark format."""

from pathlib import Path

from azero.arena.benchmarks.files import read_benchmark, shipped_benchmarks
from azero.config.training import TrainingConfig
from azero.errors import BadInput
from azero.games import LOSS, Game
from azero.selfplay.data.lessons import Lesson, Lessons

CHECKED = 100
"""Number of positions checked per file, the first ones. Checking a hundred thousand would take minutes."""


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
        benchmark = read_benchmark(config.lessons, game, num_checked=CHECKED)
    except BadInput as error:
        raise BadInput(f"training.lessons: {error}") from None
    problems = (problem for each in benchmark.sets for problem in each.problems)
    lessons = (
        Lesson(each.state, each.result, each.keeping if each.keeping and each.result > LOSS else frozenset())
        for each in problems
    )
    return Lessons(game, lessons, config.lessons_share)
