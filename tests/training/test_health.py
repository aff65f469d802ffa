"""Tests of a run's health: each symptom is found in its own history, and none in a healthy one."""

import re

import pytest

from azero.config.reading import check_config
from azero.config.schema import Config
from azero.games import make_game
from azero.runs.state import Progress
from azero.selfplay.workers import Pool
from azero.training import report, stages
from azero.training.gate import Verdict
from azero.training.health import EARLY, LASTING, STALLED, Case, Figure, Finding, Side, examine
from azero.training.learning.trainer import Trainer
from azero.training.report import Report
from azero.training.run import Run
from azero.training.symptoms import FIGURES, OF_METRICS, OF_SETTINGS

from .runs import tiny_config

GAME = make_game("tic_tac_toe")
SHOWN = {
    "selfplay/mean_plies": 8.0,
    "fresh/policy_agreement": 0.5,
    "time/play_s": 1.0,
    "time/train_s": 1.0,
    "selfplay/positions": 9,
}
COLUMNS = (
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
    return [{"iteration": k, **dict(zip(COLUMNS, row, strict=True))} for k, row in rows]


def ill(num=16, lasting=LASTING, **figures):
    """Returns lines of a healthy run; the last ones have changed figures, e.g. `train__value_loss=0.01`."""
    lines = healthy(num)
    for line in lines[-lasting:]:
        line |= {name.replace("__", "/"): value for name, value in figures.items()}
    return lines


CONFIG = Config(game={"name": "tic_tac_toe"})
ILL = {
    "the net's policy collapses": ill(train__policy_entropy=0.1),
    "searches hardly explore": ill(num=5, train__target_entropy=0.01),
    "games are alike": ill(selfplay__distinct_games=0.05),
    "all games end alike": ill(selfplay__draws=1.0, train__value_loss=0.01),
    "draws leave nothing to learn": ill(num=6, selfplay__draws=0.97),
    "values are far from results": ill(fresh__calibration_error=0.4),
    "an iteration has too few steps": ill(train__steps=2),
    "search trees are full": ill(selfplay__full_trees=3, selfplay__positions=99),
    "workers die": ill(selfplay__worker_deaths=1),
}


def causes(lines, figures=OF_METRICS, config=CONFIG):
    return [finding.cause for finding in examine(Case(config, lines), figures)]


def stalled(score):
    """Returns lines of a run whose last promotion is just long enough ago to be a symptom."""
    lines = healthy() + [dict(healthy()[-1]) for _ in range(STALLED)]
    for k, line in enumerate(lines, 1):
        line |= {"iteration": k, "gate/score": score}
    return lines


def test_a_healthy_run_is_told_nothing():
    lines = healthy()
    assert [causes(lines[:num], FIGURES) for num in range(len(lines) + 1)] == [[]] * (len(lines) + 1)


@pytest.mark.parametrize("cause", ILL)
def test_a_symptom_is_told_once_it_lasts(cause):
    assert causes(ILL[cause]) == [cause]
    assert causes(ILL[cause][:-1]) == []


def test_losses_that_explode_are_told_at_once():
    found, *_ = examine(Case(CONFIG, ill(lasting=1, train__value_loss=92.5)), OF_METRICS)
    assert str(found).startswith("the learning rate is too high: train/value_loss over the first net's is 84.09, and")
    assert causes(ill(lasting=1, train__policy_loss=3.4))[0] == "the learning rate is too high"
    assert "the learning rate is too high" not in causes(ill(lasting=1, train__policy_loss=3.2, train__value_loss=1.6))


def test_what_is_right_later_is_no_symptom_later():
    assert len(HEALTHY) > EARLY
    assert not causes(ill(train__target_entropy=0.01, train__policy_entropy=0.0)) and not causes(
        ill(selfplay__draws=1.0)
    )


@pytest.mark.parametrize(("first", "draws"), [(0.5, 1.0), (1.0, 0.0), (0.0, 0.0)])
def test_games_that_end_alike_are_told_where_the_value_has_learned_it(first, draws):
    figures = {"selfplay__first_player_score": first, "selfplay__draws": draws}
    assert causes(ill(train__value_loss=0.01, **figures)) == ["all games end alike"]
    assert not causes(ill(**figures)) and not causes(ill(train__value_loss=0.01))


def test_no_promotion_for_long():
    assert causes(stalled(0.5)) == ["no candidate is promoted"] and not causes(stalled(0.5)[:-1])


@pytest.mark.parametrize("name", ["policy_loss", "value_loss"])
def test_a_net_that_overfits(name):
    lines = healthy()
    for k, line in enumerate(lines[-2 * LASTING :]):
        line |= {f"train/{name}": 0.6 - 0.02 * k, f"fresh/{name}": 0.8 + 0.1 * k}
    (found,) = examine(Case(CONFIG, lines), OF_METRICS)
    assert found.cause == "the net overfits" and f"fresh/{name}" in found.name
    for line in lines[-2 * LASTING :]:
        line[f"fresh/{name}"] = 0.8  # high, but constant
    assert not causes(lines)


def test_an_iteration_without_steps_is_passed_over():
    lines = ILL["games are alike"]
    unlearned = {key: value for key, value in lines[-1].items() if not key.startswith("train/")}
    assert causes([*lines, unlearned]) == causes(lines)


def settings_beyond():
    """Yields a setting, a value beyond each of its limits, a value at the limit, and the cause."""
    for figure in OF_SETTINGS:
        section, _, key = figure.name.partition(".")
        if section not in Config.model_fields or " " in key:
            continue
        for side, by in ((figure.low, -1), (figure.high, 1)):
            if side:
                is_whole = isinstance(getattr(getattr(CONFIG, section), key), int)
                yield section, key, side.limit + by if is_whole else side.limit * (1 + 0.1 * by), side.limit, side.cause


WHERE_IT_IS_READ = {
    "gradient_clip": {"optimizer": "sgd", "learning_rate": 0.05},
    "lessons_share": {"lessons": "positions.jsonl"},
    "c_uct": {"selection": "uct"},
    "fpu_value": {"fpu": "absolute"},
    "gumbel_considered": {"root": "gumbel"},
    "gumbel_scale": {"root": "gumbel"},
}


@pytest.mark.parametrize(("section", "key", "beyond", "limit", "cause"), [*settings_beyond()])
def test_a_setting_far_from_what_is_usual(section, key, beyond, limit, cause):
    def config_with(value):
        one = type(getattr(CONFIG, section)).model_validate({key: value, **WHERE_IT_IS_READ.get(key, {})})
        return CONFIG.model_copy(update={section: one})

    assert causes([], OF_SETTINGS, config_with(beyond)) == [cause]
    assert causes([], OF_SETTINGS, config_with(limit)) == []


PLAYED = SHOWN | {"steps": 1000, "positions": 20_000, "selfplay/positions": 2000, "replay/positions": 6000}
COMPUTED = {
    "the warm-up is too long": {"training": {"warmup_steps": 980, "iterations": 10}},
    "the window is too short": {"replay": {"window": 2500}},
    "the window is too long": {"replay": {"window": 2500}},
    "searches are too small": {"selfplay": {"dirichlet_alpha": 0.2}},
    "the noise at the root falls on one move": {"selfplay": {"dirichlet_alpha": 0.001}},
    "the noise at the root is the same for all moves": {"selfplay": {"dirichlet_alpha": 2}},
    "opening moves are not sampled": {"selfplay": {"temperature_plies": 1, "final_temperature": 0}},
    "openings are too long": {"selfplay": {"random_opening_share": 0.5, "random_opening_plies": 60}},
    "the net is too small": {"net": {"blocks": 1, "channels": 4}},
    "the net is too large for so few games": {"net": {"blocks": 20}, "training": {"iterations": 10}},
    "the net's batches are almost empty": {"selfplay": {"games_per_shard": 1}},
}
CHANGED = {
    "the window is too short": {"replay/positions": 2500},
    "the window is too long": {"replay/positions": 82_000},
}
MOVES = {"searches are too small": 500, "the noise at the root is the same for all moves": 130}


@pytest.mark.parametrize("cause", COMPUTED)
def test_a_figure_that_is_computed(cause):
    lines = ill(num=10, **PLAYED | CHANGED.get(cause, {}))
    config = check_config({"game": {"name": "tic_tac_toe"}} | COMPUTED[cause])
    found = examine(Case(config, lines, moves=MOVES.get(cause, 9.0)), FIGURES)
    assert [each.cause for each in found] == [cause]


LEGITIMATE = {
    "an hour on a GPU": {"selfplay": {"num_simulations": 800}, "training": {"batch_size": 4096}},
    "sgd of AlphaZero": {"training": {"optimizer": "sgd", "learning_rate": 0.2, "ema_decay": 0.0}},
    "a trained net goes on": {"training": {"first_net": "hex_6x6", "muon_learning_rate": 0.001}, "net": {"blocks": 20}},
    "games of another run": {"replay": {"first_games": "runs/other"}},
    "no gate": {"gate": {"games": 2, "num_simulations": 1, "opening_plies": 0, "win_rate_threshold": 0.01}},
    "few simulations of Gumbel's root": {"selfplay": {"root": "gumbel", "num_simulations": 4}},
    "best moves after random openings": {"selfplay": {"temperature": 0.0, "random_opening_share": 0.5}},
    "a growing window": {"replay": {"window": 2000, "window_growth": 1.0}},
    "a net of one's own": {"net": {"name": "my_net.py:MyNet", "blocks": 1, "channels": 1}},
}


@pytest.mark.parametrize("name", LEGITIMATE)
def test_what_is_unusual_is_not_wrong(name):
    config = check_config({"game": {"name": "hex(size=6)"}} | LEGITIMATE[name])
    lines = ill(num=10, **PLAYED | {"replay/positions": 100_000 if "games of" in name else 6000})
    assert examine(Case(config, lines, moves=18.0), FIGURES) == []


@pytest.mark.parametrize("key", sorted({*COLUMNS, *PLAYED}))
def test_metrics_that_are_zero_stop_no_run(key):
    for lines in (ill(num=10, lasting=10, **{key: 0.0}), ill(num=10, lasting=3, **{key: 0.0})):
        examine(Case(CONFIG, lines, moves=0.0), FIGURES)


def test_what_is_farthest_beyond_comes_first_and_each_cause_once():
    figures = [
        Figure("a", lambda case: [0.5], Side(1.0, "one", "do")),
        Figure("b", lambda case: [8.0], None, Side(1.0, "other", "do")),
        Figure("c", lambda case: [0.1], Side(1.0, "one", "do")),
        Figure("d", lambda case: [0.0], Side(1.0, "none at all", "do")),
        Figure("e", lambda case: [0.5, 1.0], Side(1.0, "not in each iteration", "do")),
        Figure("f", lambda case: [], Side(1.0, "unknown", "do")),
    ]
    found = examine(Case(CONFIG, []), figures)
    assert [(each.cause, each.name) for each in found] == [("none at all", "d"), ("one", "c"), ("other", "b")]


def test_what_is_told_is_a_line_and_names_settings_that_there_are():
    sides = [side for figure in FIGURES for side in (figure.low, figure.high) if side]
    texts = [f"{side.cause} {side.advice}" for side in sides] + [figure.name for figure in FIGURES]
    assert not any("\n" in text for text in texts)
    sections = {name: field.annotation for name, field in Config.model_fields.items() if name != "seed"}
    named = re.findall(rf"\b({'|'.join(sections)})\.(\w+)", " ".join(texts))
    assert len(named) >= len(FIGURES) and all(name in sections[section].model_fields for section, name in named)


def finding(cause):
    return Finding(cause, "change it", "a figure", 2.0, 1.0)


def test_a_warning_comes_once_and_again_after_long(tmp_path, capsys):
    run, after = Run(tmp_path, tiny_config(), None), report._REPEATED_AFTER
    with Report(run, Progress()) as shown:
        for iteration in range(1, 2 * after + 1):
            shown.health(iteration, [finding("this")] if iteration != 2 else [])
        shown.health(iteration, [finding("this"), finding("that")])
    output, errors = capsys.readouterr()
    what = "a figure is 2, and should be at most 1; change it"
    told = [f"azero: iteration {iteration}: this: {what}" for iteration in (1, 1 + after)]
    assert output == "" and errors.splitlines() == [*told, f"azero: iteration {iteration}: that: {what}"]


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
    assert output.count("\n") == 3 and errors.count("\n") == 1
    assert errors.startswith("azero: iteration 1: the learning rate is too high: ")
