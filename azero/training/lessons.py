"""Lessons of a run: read from files of solved positions, as benchmarks are."""

from azero.arena.benchmark_files import read_benchmark, shipped_benchmarks
from azero.config_training import TrainingConfig
from azero.errors import BadInput
from azero.games import LOSS, Game
from azero.selfplay.lessons import Lesson, Lessons

_HELD_TO_A_SOLVER = 100  # of each file: all of a hundred thousand would take minutes whenever a run goes on


def read_lessons(config: TrainingConfig, game: Game) -> Lessons | None:
    """Returns the lessons that the settings name, None for none; raises BadInput where they are not to be had."""
    if config.lessons == "none":
        return None
    if config.lessons in shipped_benchmarks():
        raise BadInput(
            f"training.lessons = {config.lessons!r} is what nets are held to; what they learn is to be another"
        )
    try:
        benchmark = read_benchmark(config.lessons, game, num_solved=_HELD_TO_A_SOLVER)
    except BadInput as error:
        raise BadInput(f"training.lessons: {error}") from None
    problems = [problem for each in benchmark.sets for problem in each.problems]
    lessons = (
        Lesson(each.state, each.result, each.keeping if each.keeping and each.result > LOSS else frozenset())
        for each in problems
    )
    return Lessons(game, lessons, config.lessons_share)
