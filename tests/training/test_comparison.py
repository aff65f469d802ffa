"""Tests of the comparison of runs: groups, curves, table, plot, JSON, and bad input."""

import json
import math
import os

import pytest
from command_line import assert_bad_input

from azero.config.text import config_to_toml
from azero.errors import BadInput, Damaged
from azero.training.compared_runs import SCORE
from azero.training.comparison import compare_runs, describe

from .runs import files_of, tiny_config

GUMBEL = {"selfplay": {"root": "gumbel"}}
CLUSTER = {"trainers": 2, "cpus_per_worker": 2.0, "deadline_s": 60.0}


def metrics_of(scores, positions=100, seconds=60.0):
    """Returns the lines of a run with a score at each iteration, or None where there was no evaluation."""
    lines = []
    for k, score in enumerate(scores, start=1):
        line = {"iteration": k, "positions": positions * k, "steps": 9 * k, "train/value_loss": 1 / k}
        line |= {"time/play_s": seconds / 2, "time/train_s": seconds / 4, "time/gate_s": seconds / 4}
        lines.append(line | ({} if score is None else {"evaluation/score": score, "time/evaluation_s": 1000.0}))
    return lines


def write_run(folder, scores, seed=0, positions=100, seconds=60.0, **sections):
    folder.mkdir()
    config = tiny_config(**sections).model_copy(update={"seed": seed})
    (folder / "config.toml").write_text(config_to_toml(config))
    lines = metrics_of(scores, positions, seconds)
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.fixture
def runs(tmp_path):
    """Two seeds with noise at the root, the second on other hardware, and one with Gumbel."""
    return [
        write_run(tmp_path / "noise_1", [0.2, 0.6, 0.5], seed=1),
        write_run(
            tmp_path / "noise_2", [0.4, 0.8, 0.9], seed=2, device={"threads": 2, "precision": "fp32"}, cluster=CLUSTER
        ),
        write_run(tmp_path / "gumbel_1", [None, 0.7], seed=1, **GUMBEL),
    ]


def names_of(runs):
    return [group.name for group in compare_runs(runs).groups]


def test_runs_that_differ_in_the_seed_are_a_group_and_groups_are_named_by_what_differs(runs):
    first, second = compare_runs(runs).groups
    assert (first.name, first.seeds) == ("selfplay.root=noise", [1, 2])
    assert (second.name, second.seeds) == ("selfplay.root=gumbel", [1])
    assert second.settings == {"selfplay.root": "gumbel"}


def test_a_setting_that_most_groups_share_is_in_no_name(runs, tmp_path):
    runs.append(write_run(tmp_path / "other", [0.5], training={"ema_decay": 0}))
    assert names_of(runs) == ["base", "selfplay.root=gumbel", "training.ema_decay=0.0"]


def test_one_group_or_groups_of_many_differences_are_named_by_folders(runs, tmp_path):
    assert names_of(runs[:2]) == ["noise_1, noise_2"]
    different = {"num_simulations": 7, "fast_simulations": 2, "root": "gumbel"}
    far = write_run(tmp_path / "far", [0.5], selfplay=different)
    assert names_of([runs[0], far]) == ["noise_1", "far"]
    (tmp_path / "more").mkdir()
    namesake = write_run(tmp_path / "more" / "far", [0.5])
    assert names_of([namesake, far]) == [str(namesake), str(far)]
    near = write_run(tmp_path / "near", [0.5], selfplay=different | {"temperature": 0.5})
    assert names_of([runs[0], far, near]) == ["noise_1", "base", "selfplay.temperature=0.5"]
    many = [write_run(tmp_path / f"seed_{seed}", [0.5], seed) for seed in range(5)]
    assert names_of(many) == ["seed_0 and 4 more"]


def test_a_curve_is_the_mean_with_the_lowest_and_the_highest_run(runs):
    first, second = compare_runs(runs).groups
    curve = first.curve("evaluation/score", "iteration")
    assert curve.xs == [1, 2, 3] and curve.means == pytest.approx([0.3, 0.7, 0.7])
    assert curve.lows == [0.2, 0.6, 0.5] and curve.highs == [0.4, 0.8, 0.9]
    assert second.curve("evaluation/score", "time_s") == ([120.0], [0.7], [0.7], [0.7])
    assert second.curve("gate/rating", "time_s").xs == []


def test_between_their_points_lines_are_straight_and_the_mean_ends_with_the_shortest_run(tmp_path):
    slow = write_run(tmp_path / "slow", [0.0, 1.0], seed=0, seconds=90)
    fast = write_run(tmp_path / "fast", [0.0, 0.5, 0.6, 0.7], seed=1)
    (group,) = compare_runs([slow, fast]).groups
    curve = group.curve("evaluation/score", "time_s")
    assert curve.xs == [90, 120, 180]
    assert curve.lows == pytest.approx([0, 1 / 3, 0.6]) and curve.highs == pytest.approx([0.25, 0.5, 1])
    late = write_run(tmp_path / "late", [0.5], seed=2, seconds=1000)
    (group,) = compare_runs([fast, late]).groups
    assert group.curve("evaluation/score", "time_s").xs == []


def test_last_and_best_values_and_when_a_score_was_reached(runs):
    comparison = compare_runs(runs)
    first, second = comparison.to_json(score=0.6)["groups"]
    assert first["last"]["evaluation/score"] == {"mean": pytest.approx(0.7), "low": 0.5, "high": 0.9}
    assert first["best"] == {"evaluation/score": {"mean": pytest.approx(0.75), "low": 0.6, "high": 0.9}}
    assert first["reached"]["runs"] == 2 and first["reached"]["time_s"] == {"mean": 120, "low": 120, "high": 120}
    assert second["reached"]["positions"] == {"mean": 200, "low": 200, "high": 200}
    never, _ = comparison.to_json(score=0.85)["groups"]
    assert never["reached"]["runs"] == 1
    lines = describe(comparison, 0.85).splitlines()
    assert " ".join(lines[2].split()) == "selfplay.root=noise 1 2 3 300 3.0 70 (75) 0.333 1 of 2 1 of 2"
    assert " ".join(lines[3].split()) == "selfplay.root=gumbel 1 2 200 2.0 70 (70) 0.500 - -"
    assert lines[-1] == "tic_tac_toe: means over seeds; last value, and the best in brackets; score: against uct@20"


def test_values_that_are_no_numbers_are_left_out(runs):
    lines = metrics_of([0.5, 0.6, 0.7, 0.8])
    for line, value in zip(lines, ["much", math.nan, None, 0.8], strict=True):
        line |= {"evaluation/score": value, "selfplay/positions_per_s": 0}
    (runs[0] / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    comparison = compare_runs(runs[:1])
    (group,) = comparison.groups
    assert group.runs[0].values("evaluation/score") == [None, None, None, 0.8]
    assert [each.key for each in comparison.measures] == ["evaluation/score", "train/value_loss"]
    assert "NaN" not in json.dumps(comparison.to_json())


@pytest.mark.parametrize("over", ["time", "positions", "iterations"])
def test_the_command_draws_prints_and_leaves_the_runs_alone(runs, run_azero, over, tmp_path):
    before = [files_of(run) for run in runs]
    plot = tmp_path / "new" / "$x$_.png"
    code, output, errors = run_azero("compare", *runs, "--plot", plot, "--over", over)
    assert (code, errors) == (0, "") and "selfplay.root=gumbel" in output
    assert plot.read_bytes().startswith(b"\x89PNG") and 10_000 < plot.stat().st_size < 300_000
    code, output, errors = run_azero("compare", *runs, "--json", "--score", "0.6")
    assert (code, errors) == (0, "")
    found = json.loads(output)
    assert found["game"] == "tic_tac_toe" and found["opponents"] == ["uct@20"]
    series = found["groups"][0]["runs"][1]["series"]
    assert series["time_s"] == [60, 120, 180] and series["positions"] == [100, 200, 300]
    assert series["evaluation/score"] == [0.4, 0.8, 0.9] and series["steps"] == [9, 18, 27]
    assert found["groups"][1]["curves"]["evaluation/score"]["positions"]["xs"] == [200]
    assert [files_of(run) for run in runs] == before


def test_many_groups_have_no_bands(tmp_path):
    runs = [
        write_run(tmp_path / f"{k}_{seed}", [0.5, 0.1 * k + seed / 9], seed, training={"ema_decay": k / 9})
        for k in range(8)
        for seed in (0, 1)
    ]
    for count, has_bands in ((7, True), (8, False)):
        panel = compare_runs(runs[: 2 * count])._panel(SCORE, "positions", 1e3, "")
        assert [line.intervals is not None for line in panel.lines] == [has_bands] * count
        assert panel.lines[3].ys == pytest.approx([50, 100 * (0.3 + 1 / 18)])


def test_names_that_are_hard_to_draw_are_drawn(tmp_path):
    names, keys = ["_hidden", "$\\frac$", "網", "x" * 200], ("blocks", "channels", "value_hidden", "value_channels")
    runs = [write_run(tmp_path / name, [0.5], net=dict.fromkeys(keys, 2 + k)) for k, name in enumerate(names)]
    comparison = compare_runs(runs)
    comparison.draw(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").exists() and [group.name for group in comparison.groups] == names
    assert comparison.groups[3].short_name == "x" * 57 + "..."


def test_a_run_of_azero_is_compared(whole):
    comparison = compare_runs([whole])
    (group,) = comparison.groups
    assert (comparison.game, group.seeds, group.runs[0].axes["iteration"]) == ("tic_tac_toe", [5], [1, 2, 3])
    shown = {each.key for each in comparison.measures}
    assert shown >= {"evaluation/score", "gate/rating", "fresh/policy_agreement", "train/policy_loss"}


def test_bad_input_is_one_line(runs, run_azero, tmp_path):
    first, *_ = map(str, runs)
    (tmp_path / "link").symlink_to(first)
    new = write_run(tmp_path / "new", [])
    (tmp_path / "here" / "file").touch()
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for words, parts in [
        ([first, tmp_path / "none"], ["there is no run in", "none': it does not exist"]),
        (["file"], ["there is no run in 'file': it is a file"]),
        ([tmp_path / "circle"], ["there is no run in", "circle': it does not exist"]),
        (["."], ["there is no run in '.': it has no config.toml"]),
        ([first, new], ["new' has no metrics yet"]),
        ([first, first], [f"run {first!r} is given twice; name each run once"]),
        ([first, tmp_path / "link"], ["is given twice, as", "link'"]),
        ([first, "--over", "epochs"], ["--over 'epochs' should be time, positions, iterations"]),
        ([first, "--score", "90"], ["--score 90 should be above 0 and at most 1"]),
        ([first, "--score", "nan"], ["--score nan should be"]),
        ([first, "--plot", "plot.svg"], ["--plot 'plot.svg' should end in .png"]),
        ([first, "--plot", f"{first}/plot.png"], ["is in the folder of run", "name a file outside of it"]),
        ([first, "--plot", "file/plot.png"], ["--plot 'file/plot.png' cannot be written: "]),
        ([], ["Missing argument 'RUN'"]),
    ]:
        assert_bad_input(run_azero("compare", *words), *parts)
    assert os.listdir(".") == ["file"]


def test_what_cannot_be_compared_or_drawn_is_refused(runs, tmp_path):
    other = write_run(tmp_path / "other", [0.5], game={"name": "connect_four(rows=4)"})
    with pytest.raises(BadInput, match=r"plays tic_tac_toe, and '.*other' plays connect_four\(rows=4\); scores, Elo"):
        compare_runs([*runs, other])
    with pytest.raises(BadInput, match="there is no run to compare"):
        compare_runs([])
    bare = write_run(tmp_path / "bare", [])
    (bare / "metrics.jsonl").write_text('{"iteration": 1, "positions": 9}\n')
    with pytest.raises(BadInput, match="there is nothing to draw: no run has one of evaluation/score, gate/rating"):
        compare_runs([bare]).draw(tmp_path / "plot.png")
    with pytest.raises(BadInput, match="over = 'epochs' should be one of iteration, positions, time_s"):
        compare_runs(runs).draw(tmp_path / "plot.png", over="epochs")


def test_a_game_of_a_user_s_is_not_run(tmp_path):
    names = ["a/bomb.py:Bomb", "b/bomb.py:Bomb"]
    runs = [write_run(tmp_path / str(k), [0.5], k, game={"name": name}) for k, name in enumerate(names)]
    (group,) = compare_runs(runs).groups
    assert group.seeds == [0, 1] and group.runs[0].game == "bomb.py:Bomb"


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"positions": "many"}, "has positions = 'many'; it should be a number of at least 100"),
        ({"positions": 1}, "has positions = 1; it should be a number of at least 100"),
        ({"iteration": 1}, "has iteration = 1; it should be a number above 1"),
        ({"time/train_s": -1}, "has time/train_s = -1; it should be a number of at least 0"),
        ({"time/play_s": math.inf}, "has time/play_s = inf; it should be a number"),
        ({"positions": 10**400}, "has positions = 1000"),
        ({"iteration": None}, "is broken; it should be a JSON object"),
    ],
)
def test_damaged_metrics_are_refused(runs, change, part):
    lines = metrics_of([0.5, 0.6])
    lines[1] |= change
    (runs[1] / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(Damaged, match="line 2 of") as error:
        compare_runs(runs)
    assert part in str(error.value) and len(str(error.value)) < 300
