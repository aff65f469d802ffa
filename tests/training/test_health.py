"""Tests of a run's health: each symptom is found in its own history, and none in a healthy one."""

import re
from pathlib import Path

import pytest

from azero.config.schema import Config
from azero.games import make_game
from azero.runs.state import Progress
from azero.selfplay.workers import Pool
from azero.training import health, stages
from azero.training.gate import Verdict
from azero.training.health import EARLY, LASTING, REPEATED_AFTER, STALLED, SYMPTOMS, find_symptoms
from azero.training.learning.trainer import Trainer
from azero.training.report import Report
from azero.training.run import Run

from .runs import tiny_config

GAME = make_game("tic_tac_toe")
SHOWN = {
    "selfplay/mean_plies": 8.0,
    "fresh/policy_agreement": 0.5,
    "time/play_s": 1.0,
    "time/train_s": 1.0,
    "selfplay/positions": 9,
}
FIGURES = (
    *("selfplay/distinct_games", "selfplay/draws", "selfplay/first_player_score"),
    *("train/policy_loss", "train/value_loss", "train/policy_entropy", "train/target_entropy"),
    *("fresh/policy_loss", "fresh/value_loss", "fresh/calibration_error", "gate/score", "gate/promotions"),
)
HEALTHY = [  # 16 iterations of configs/smoke.toml
    (0.97, 0.19, 0.72, 2.17, 1.08, 2.19, 0.79, 2.20, 1.10, 0.08, 0.56, 1),
    (1.00, 0.22, 0.80, 2.12, 1.02, 2.16, 0.83, 2.19, 1.09, 0.06, 0.56, 2),
    (1.00, 0.44, 0.75, 2.07, 1.05, 2.15, 0.77, 2.18, 1.13, 0.07, 0.50, 2),
    (1.00, 0.56, 0.66, 2.00, 1.06, 2.13, 0.85, 2.09, 1.13, 0.06, 0.31, 2),
    (1.00, 0.62, 0.62, 1.90, 0.99, 2.09, 0.78, 1.98, 1.06, 0.11, 0.31, 2),
    (1.00, 0.50, 0.72, 1.82, 0.89, 2.05, 0.80, 1.92, 0.99, 0.12, 0.56, 3),
    (0.94, 0.34, 0.77, 1.76, 0.92, 1.99, 0.75, 1.86, 1.00, 0.20, 0.44, 3),
    (0.91, 0.44, 0.66, 1.69, 0.87, 1.96, 0.74, 1.78, 0.91, 0.14, 0.44, 3),
    (0.81, 0.47, 0.73, 1.64, 0.82, 1.91, 0.77, 1.69, 0.85, 0.09, 0.44, 3),
    (0.97, 0.47, 0.64, 1.60, 0.76, 1.87, 0.76, 1.65, 0.78, 0.13, 0.56, 4),
    (0.84, 0.56, 0.69, 1.51, 0.68, 1.83, 0.72, 1.56, 0.74, 0.11, 0.50, 4),
    (0.84, 0.47, 0.73, 1.48, 0.67, 1.80, 0.71, 1.55, 0.74, 0.13, 0.50, 4),
    (0.97, 0.56, 0.72, 1.46, 0.64, 1.78, 0.71, 1.46, 0.60, 0.11, 0.50, 4),
    (0.97, 0.59, 0.67, 1.41, 0.62, 1.76, 0.67, 1.49, 0.70, 0.09, 0.50, 4),
    (0.88, 0.56, 0.69, 1.38, 0.64, 1.74, 0.67, 1.46, 0.66, 0.06, 0.50, 4),
    (0.91, 0.44, 0.78, 1.38, 0.60, 1.72, 0.70, 1.44, 0.58, 0.14, 0.56, 5),
]


def healthy(num=16):
    """Returns the first lines of a healthy run."""
    rows = enumerate(HEALTHY[:num], 1)
    return [{"iteration": k, **dict(zip(FIGURES, row, strict=True))} for k, row in rows]


def ill(num=16, lasting=LASTING, **figures):
    """Returns lines of a healthy run; the last ones have changed figures, e.g. `train__value_loss=0.01`."""
    lines = healthy(num)
    for line in lines[-lasting:]:
        line |= {name.replace("__", "/"): value for name, value in figures.items()}
    return lines


ILL = {
    "net_is_overconfident": ill(train__policy_entropy=0.1),
    "search_is_certain_early": ill(num=5, train__target_entropy=0.01),
    "games_are_alike": ill(selfplay__distinct_games=0.05),
    "games_end_alike": ill(selfplay__draws=1.0, train__value_loss=0.01),
    "values_are_miscalibrated": ill(fresh__calibration_error=0.4),
}


def stalled(score):
    """Returns lines of a run whose last promotion is just long enough ago to be a symptom."""
    lines = healthy() + [dict(healthy()[-1]) for _ in range(STALLED)]
    for k, line in enumerate(lines, 1):
        line |= {"iteration": k, "gate/score": score}
    return lines


def test_a_healthy_run_is_told_nothing():
    lines = healthy()
    assert [find_symptoms(lines[:num]) for num in range(len(lines) + 1)] == [{}] * (len(lines) + 1)


@pytest.mark.parametrize("name", ILL)
def test_a_symptom_is_told_once_it_lasts(name):
    assert list(find_symptoms(ILL[name])) == [name]
    assert find_symptoms(ILL[name][:-1]) == {}


def test_losses_that_explode_are_told_at_once():
    text = find_symptoms(ill(lasting=1, train__value_loss=92.5))["losses_explode"]  # e.g. with learning_rate = 10
    assert text.startswith("losses explode: train/value_loss is 92.5, but the first net's was 1.1;")
    assert list(find_symptoms(ill(lasting=1, train__policy_loss=3.4))) == ["losses_explode"]
    assert not find_symptoms(ill(lasting=1, train__policy_loss=3.2, train__value_loss=1.6))


def test_a_certain_search_is_no_symptom_later_nor_of_a_certain_net():
    assert len(HEALTHY) > EARLY and not find_symptoms(ill(train__target_entropy=0.01))
    assert not find_symptoms(ill(train__target_entropy=0.01, train__policy_entropy=0.0))


@pytest.mark.parametrize(
    ("first", "draws", "end"),
    [(0.5, 1.0, "a draw"), (1.0, 0.0, "the first player's"), (0.0, 0.0, "the second player's")],
)
def test_games_that_end_alike_are_told_where_the_value_has_learned_it(first, draws, end):
    figures = {"selfplay__first_player_score": first, "selfplay__draws": draws}
    assert end in find_symptoms(ill(train__value_loss=0.01, **figures))["games_end_alike"]
    assert not find_symptoms(ill(**figures)) and not find_symptoms(ill(train__value_loss=0.01))


def test_no_promotion_for_long():
    assert "candidates are as good" in find_symptoms(stalled(0.5))["no_candidate_is_promoted"]
    assert "mean gate score of 30%; candidates are worse" in find_symptoms(stalled(0.3))["no_candidate_is_promoted"]
    assert not find_symptoms(stalled(0.5)[:-1])


@pytest.mark.parametrize("name", ["policy_loss", "value_loss"])
def test_a_net_that_overfits(name):
    lines = healthy()
    for k, line in enumerate(lines[-2 * LASTING :]):
        line |= {f"train/{name}": 0.6 - 0.02 * k, f"fresh/{name}": 0.8 + 0.1 * k}
    assert list(find_symptoms(lines)) == ["net_overfits"] and name in find_symptoms(lines)["net_overfits"]
    for line in lines[-2 * LASTING :]:
        line[f"fresh/{name}"] = 0.8  # high, but constant
    assert not find_symptoms(lines)


def test_an_iteration_without_steps_is_passed_over():
    lines = ILL["games_are_alike"]
    unlearned = {key: value for key, value in lines[-1].items() if not key.startswith("train/")}
    assert find_symptoms([*lines, unlearned]) == find_symptoms(lines)


def test_what_is_told_is_a_line_and_names_settings_that_there_are():
    texts = [text for lines in [*ILL.values(), stalled(0.5), stalled(0.3)] for text in find_symptoms(lines).values()]
    assert len(texts) == len(ILL) + 2 and not any("\n" in text for text in texts)
    sections = {name: field.annotation for name, field in Config.model_fields.items() if name != "seed"}
    source = Path(health.__file__).read_text()
    named = re.findall(rf"\b({'|'.join(sections)})\.(\w+)", source)
    assert len(named) >= len(SYMPTOMS)
    assert all(name in sections[section].model_fields for section, name in named)


def test_a_warning_comes_once_and_again_after_long(tmp_path, capsys):
    run = Run(tmp_path, tiny_config(), None)
    with Report(run, Progress()) as report:
        for iteration in range(1, 2 * REPEATED_AFTER + 1):
            report.health(iteration, {"one": "this is wrong"} if iteration != 2 else {})
        report.health(iteration, {"one": "this is wrong", "other": "that is wrong"})
    output, errors = capsys.readouterr()
    told = [f"azero: iteration {iteration}: this is wrong" for iteration in (1, 1 + REPEATED_AFTER)]
    assert output == "" and errors.splitlines() == [*told, f"azero: iteration {iteration}: that is wrong"]


def test_an_iteration_ends_with_what_is_wrong_with_it(tmp_path, capsys, monkeypatch):
    config = tiny_config(evaluation={"every": 0})
    run, trainer = Run.create(tmp_path / "run", config, GAME), Trainer(config, GAME)
    progress = Progress(
        stage="gate", shards=["00001-0000"], notes=ill(num=1, lasting=1, train__value_loss=92.5)[0] | SHOWN
    )
    run.save_net(run.checkpoint_path(0), trainer.candidate(), progress)
    verdict = Verdict(False, [], {"gate/score": 0.5, "gate/is_promoted": False})
    monkeypatch.setattr(stages, "hold_gate", lambda run, progress, report, pool: verdict)
    with Report(run, progress) as report:
        stages.promote(run, progress, trainer, report, Pool())
    output, errors = capsys.readouterr()
    assert (
        output.count("\n") == 3 and errors.startswith("azero: iteration 1: losses explode") and errors.count("\n") == 1
    )
