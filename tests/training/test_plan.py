"""Tests of `azero plan`: forecasts from curves that are known, a plan that is measured, and a run under way."""

import json

import numpy as np
import pytest
from command_line import assert_bad_input

from azero.training.forecast import CURVES, Curve, Curves, Point, Scales, Traits, known_curves
from azero.training.plan import plan_run

from .test_doctor import make_run as make_run  # a fixture
from .test_health import healthy

SCALES = Scales(Curve(200, 60, 100), Curve(100, 20, 30), Curve(100, 20, 30), 30, 30, 30, 4, 1)
HEX, GO = Traits("hex", 25, 13, 20, 1e5, 48), Traits("go", 25, 18, 40, 1e5, 48)


def run_of(traits, offset, trend, works=range(3, 9), error=20.0, seed=0):
    """Returns a run whose Elo rises by `trend` with each doubling of work."""
    noise = np.random.default_rng(seed).normal(0.0, error, len(works))
    points = [
        Point(1000.0 * (2**work - 1), 1.0, offset + trend * work + float(each), error)
        for work, each in zip(works, noise, strict=True)
    ]
    return traits, points


def ask(curves, traits, work, known=()):
    [[mean, deviation]] = curves.forecast(traits, [Point(1000.0 * (2**work - 1), 1.0)], known).tolist()
    return mean, deviation


def test_a_game_on_record_is_known_and_another_less():
    """The band holds the truth; it is widest for other rules on another board, and beyond the longest run."""
    curves = Curves([run_of(HEX, -300, 70, seed=seed) for seed in range(4)], SCALES)
    mean, deviation = ask(curves, HEX, 6)
    assert abs(mean - 120) < 2 * deviation and deviation < 60
    elsewhere = ask(curves, GO._replace(cells=361, moves=200, plies=300), 6)[1]
    assert deviation < ask(curves, HEX, 12)[1] < elsewhere and elsewhere > 100


def test_a_run_corrects_its_own_forecast():
    curves = Curves([run_of(HEX, -300, 70, seed=seed) for seed in range(4)], SCALES)
    before, wide = ask(curves, GO, 8)
    known = run_of(GO, 0, 70, works=range(2, 6))[1]
    after, narrow = ask(curves, GO, 8, known)
    assert abs(after - 560) < abs(before - 560) and narrow < 0.8 * wide


def test_likelihood_prefers_the_scales_that_made_the_data():
    random = np.random.default_rng(1)
    runs = [
        run_of(HEX._replace(rules=f"game {number}"), random.normal(0, 200), 60, seed=number) for number in range(12)
    ]
    good, flat = Curves(runs, SCALES).likelihood(), Curve(1, 1, 1)
    assert good > Curves(runs, SCALES._replace(common=Curve(1, 60, 1), of_rules=flat, of_board=flat)).likelihood()
    assert good > Curves(runs, SCALES._replace(common=Curve(200, 1, 1), of_rules=flat, of_board=flat)).likelihood()


def test_what_is_on_record():
    """Boards are small, and each curve begins with a net that has learned nothing. Large boards are unknown."""
    curves, entries = known_curves(), json.loads(CURVES.read_text())["runs"]
    assert curves.strongest > 300 and len(entries) >= 8
    assert all(each["is_large"] or each["traits"]["cells"] <= 36 for each in entries.values())
    assert all(each["points"][0]["samples"] == 0 for each in entries.values())
    assert curves.reaches(HEX, Point(1e5, 1.0), 100.0) and not curves.reaches(HEX, Point(1e5, 1.0), 1000.0)
    assert not curves.reaches(HEX, Point(1e12, 1.0), 10.0)
    assert not curves.reaches(HEX._replace(cells=100), Point(1e5, 1.0), 10.0)


# --- a run under way ---


def test_a_run_is_planned_by_its_own_iterations(make_run):
    lines = [line | {"time/iteration_s": 36.0, "positions": 1000 * line["iteration"]} for line in healthy()]
    done = lines[-1]["iteration"]
    made = plan_run(make_run(f"training.iterations={2 * done}", lines=lines), None)
    assert made.stages[0].iterations == done and made.stages[-1].iterations == 2 * done
    assert made.stages[0].hours == pytest.approx(done / 100) and made.stages[-1].hours == pytest.approx(done / 50)
    assert made.stages[-1].positions == 2000 * done


def test_evaluations_like_those_on_record_narrow_the_forecast(make_run):
    """Those with other simulations, or of a run that began with a trained net, say nothing."""

    def last(*settings):
        lines = [line | {"time/iteration_s": 36.0, "steps": 100 * line["iteration"]} for line in healthy()]
        for line in lines[1::2]:
            line |= {"evaluation/score": 0.7, "evaluation/games": 100}
        return (
            plan_run(make_run("training.iterations=20", "evaluation.opponent=uct@1000", *settings, lines=lines))
            .stages[-1]
            .elo
        )

    others, own = last("evaluation.num_simulations=64"), last("evaluation.num_simulations=200")
    assert own.high - own.low < 0.8 * (others.high - others.low) and abs(own.middle - 147) < abs(others.middle - 147)
    assert last("training.first_net=connect_four") is None


def test_metrics_of_strangers(make_run):
    """What is no number counts as nothing, and a run may have had more iterations than it should have now."""
    strange = [{"iteration": 1, "steps": "many", "selfplay/games": None, "evaluation/score": "good"}]
    strange.append({"iteration": 7, "time/iteration_s": -5, "positions": -3})
    made = plan_run(make_run("training.iterations=5", lines=strange))
    assert [each.iterations for each in made.stages] == [7] and made.stages[0].positions == made.stages[0].games == 0


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["tic_tac_toe", "--hours", "0"], "--hours 0 should be more than 0"),
        (["tic_tac_toe", "--hours", "nan"], "--hours nan should be more than 0"),
        (["tic_tac_toe", "--elo", "9999"], "--elo 9999 is beyond what was ever seen"),
        (
            ["tic_tac_toe", "--hours", "1", "--set", "training.iterations=3"],
            "--hours and --elo set training.iterations",
        ),
        ([], "plan needs either a CONFIG"),
        (["--run", "nowhere"], "there is no run in 'nowhere'"),
        (["--run", "nowhere", "--hours", "1"], "--run has its own settings"),
    ],
)
def test_bad_input(run_azero, words, what):
    assert_bad_input(run_azero("plan", *words), what)


def test_a_run_that_has_just_begun(run_azero, make_run):
    assert_bad_input(run_azero("plan", "--run", make_run(lines=[])), "has ended no iteration yet")


@pytest.mark.thorough
def test_a_plan_is_measured(run_azero):
    """Stages grow, and the last one has the time that was asked for."""
    code, output, errors = run_azero("plan", "tic_tac_toe", "--hours", "0.2", "--json")
    assert code == 0, errors
    made = json.loads(output)
    times, samples = ([each[key] for each in made["stages"]] for key in ("hours", "steps"))
    assert times == sorted(times) and samples == sorted(samples) and 0.15 < times[-1] < 0.201
    assert made["measured"]["evaluations_per_s"] > 0 and made["disk_bytes"] > 1000 and made["memory_bytes"] > 1e8
