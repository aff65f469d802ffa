"""Tests of the experiments at small sizes: tables, plots, rows determined by the seed, and bad input."""

import csv
import shlex
import signal
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from cases import long

from azero import cli
from azero.commands import lab
from azero.lab import amazons, clobber, pgame_growth, pgame_memory
from azero.lab.scaling import steps

pytestmark = pytest.mark.thorough

TINY = {
    "pgame-failure": "--trees 6 --runs 2 --iterations 50",
    "pgame-growth": "--trees 4 --runs 1 --rates 0.5,0.2 --patience 1",
    "pgame-memory": "--trees 6 --runs 2 --iterations 50 --entries 64,16",
    "amazons": "--games 2 --times 0.0001,0.001 --game amazons(size=4)",
    "scaling": "--games 4 --playouts 8 --game tic_tac_toe",
}


@pytest.fixture
def run_lab(monkeypatch, capsys, tmp_path):
    """Returns a function that runs `azero lab` in an empty folder, and returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(line):
        monkeypatch.setattr(sys, "argv", ["azero", "lab", *shlex.split(line, posix=True)])
        return cli.run(), *capsys.readouterr()

    return run


def quoted(line):
    return " ".join(shlex.quote(word) for word in line.split())


def rows(folder):
    with open(Path(folder) / "results.csv", newline="") as file:
        return list(csv.DictReader(file))


def contents(folder):
    return {str(path): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def test_every_experiment_is_listed_with_a_line(run_lab):
    code, output, _ = run_lab("")
    names = [command.name for command in lab.app.registered_commands]
    assert code == 0 and [line.split()[0] for line in output.splitlines()] == names
    for name in names:
        assert name == import_module(f"azero.lab.{name.replace('-', '_')}").EXPERIMENT.name


@pytest.mark.parametrize("name", TINY)
def test_an_experiment_ends_with_rows_a_table_and_a_plot(run_lab, name):
    code, output, errors = run_lab(f"{name} {quoted(TINY[name])} --threads 1")
    assert code == 0, errors
    folder = Path("results") / name
    table = (folder / "table.md").read_text()
    assert output.startswith(table) and "experiment.json, plot.png, results.csv, table.md" in output
    assert (folder / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert all(all(row.values()) or name in ("pgame-growth", "scaling") for row in rows(folder))


@pytest.mark.parametrize("name", ["pgame-failure", "scaling", *long("pgame-growth", "pgame-memory")])
def test_a_seed_settles_the_rows(run_lab, name):
    for out, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert run_lab(f"{name} {quoted(TINY[name])} --threads 1 --seed {seed} --out {out}")[0] == 0
    assert rows("a") == rows("b") != rows("c")


def test_neither_threads_nor_a_break_change_the_rows(run_lab):
    line = f"pgame-failure {TINY['pgame-failure']}"
    assert run_lab(f"{line} --threads 1 --out one")[0] == run_lab(f"{line} --threads 2 --out two")[0] == 0
    assert contents("one").keys() == {path.replace("two", "one") for path in contents("two")}
    whole = Path("one/results.csv").read_bytes()
    assert Path("two/results.csv").read_bytes() == whole
    Path("one/results.csv").write_bytes(whole[: len(whole) // 2])
    assert run_lab(f"{line} --threads 1 --out one")[0] == 0
    assert Path("one/results.csv").read_bytes() == whole


def test_ctrl_c_leaves_one_line_and_the_rows(run_lab, monkeypatch):
    calls = []

    def measure(unit):
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(unit)
        return {}

    experiment = pgame_memory.EXPERIMENT
    work = experiment.work._replace(doing=lambda units: measure)
    monkeypatch.setattr(pgame_memory, "EXPERIMENT", experiment._replace(work=work))
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    code, output, errors = run_lab(f"pgame-memory {TINY['pgame-memory']} --threads 1")
    assert (code, output) == (130, "") and "stopped; run the same command again" in errors
    assert len(rows("results/pgame-memory")) == 3


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("pgame-speed", ["No such command 'pgame-speed'"]),
        ("pgame-failure --trees 0", ["trees = 0 should be from 1"]),
        ("pgame-failure --runs -1", ["runs = -1 should be from 1"]),
        ("pgame-failure --iterations 0", ["iterations = 0 should be from 1"]),
        ("pgame-failure --threads 0", ["threads = 0 should be 1 or more"]),
        ("pgame-failure --seed -1", ["--seed", "0"]),
        ("pgame-failure --uct ucb", ["--uct 'ucb' should be uct"]),
        ("pgame-failure --uct 'uct(bias=greedy)'", ["bias = greedy should be one of ucb1, depth"]),
        ("pgame-growth --rates often", ["--rates 'often' should be numbers separated by commas"]),
        ("pgame-growth --rates 0", ["rate 0 should be between 0 and 1"]),
        ("pgame-growth --patience 0", ["patience = 0 should be from 1"]),
        ("pgame-memory --entries 0", ["--entries 0 should be from 2"]),
        ("pgame-memory --entries 1000,1", ["--entries 1 should be from 2"]),
        ("pgame-memory --entries -5", ["--entries -5 should be from 2"]),
        ("pgame-memory --uct 'uct(table=1MiB)'", ["--uct 'uct(table=1MiB)' should have no table", "--entries"]),
        ("pgame-memory --entries few", ["--entries 'few' should be numbers separated by commas, e.g. 1000,500"]),
        ("amazons --times -0.5", ["time -0.5 should be from"]),
        ("amazons --times 0", ["time 0 should be from"]),
        ("amazons --times nan", ["time nan should be from"]),
        ("amazons --games 0", ["games = 0 should be an even number from 2"]),
        ("amazons --game hex", ["--game 'hex' should be amazons"]),
        ("amazons --root moves", ["--root 'moves' should be one of turns, actions"]),
        ("amazons --uct 'uct(root=turns)'", ["--uct 'uct(root=turns)' should have no root", "--root"]),
        (
            "pgame-memory --uct 'uct(stored_value=0)'",
            ["--uct 'uct(stored_value=0)' should have no stored_value", "--entries"],
        ),
        ("clobber --time -1", ["time -1 should be from"]),
        ("clobber --game hex", ["--game 'hex' should be clobber"]),
        ("scaling --playouts 1", ["--playouts 1 should be from 2"]),
        ("scaling --game chess", ["unknown game 'chess'"]),
        ("scaling --uct uct@100", ["--uct 'uct@100' should be uct"]),
    ],
)
def test_bad_input_is_one_line_that_names_it(run_lab, line, parts):
    code, output, errors = run_lab(line)
    assert (code, output) == (2, "") and errors.startswith("azero: ") and errors.count("\n") == 1, errors
    for part in parts:
        assert part in errors
    assert contents(".") == {}


def test_iterations_are_read_off_between_two_that_were_measured():
    iterations, rates = (1, 10, 100, 1000), (0.5, 0.2, 0.05, 0.0)
    assert pgame_growth.iterations_to_reach(0.1, iterations, rates) == pytest.approx(10**1.5)
    assert pgame_growth.iterations_to_reach(0.01, iterations, rates) == 1000
    assert pgame_growth.iterations_to_reach(0.6, iterations, rates) == 1
    assert np.isnan(pgame_growth.iterations_to_reach(0.01, iterations[:3], rates[:3]))


def test_the_slope_is_that_of_the_logarithms():
    assert pgame_growth.slope([4, 6, 8, 10], np.array([4.0, 8.0, np.nan, 32.0])) == pytest.approx(np.log(2) / 2)


def test_resamples_of_trees_spread_as_means_do():
    rates = np.random.default_rng(0).integers(0, 2, (400, 3)).astype(float)
    samples = pgame_growth.resampled(rates, 0)
    assert samples[0].tolist() == rates.mean(axis=0).tolist()
    assert samples[1:].mean(axis=0) == pytest.approx(rates.mean(axis=0), abs=0.005)
    assert samples[1:].std(axis=0) == pytest.approx(rates.std(axis=0) / 20, rel=0.1)


def test_an_exponent_has_an_interval_of_the_resamples_that_have_one():
    shapes = [(2, 4), (2, 6)]
    samples = [(4.0, 8.0), (4.0, 16.0), (4.0, 4.0), (4.0, np.nan)]
    needed = {(shape, 0.1): np.array(column) for shape, column in zip(shapes, zip(*samples, strict=True), strict=True)}
    exponent, low, high = pgame_growth.exponent([4, 6], shapes, 0.1, needed)
    assert exponent == pytest.approx(np.log(2) / 2)
    assert (low, high) == (pytest.approx(0.025 * np.log(2)), pytest.approx(0.975 * np.log(2)))


@pytest.mark.long
def test_the_paper_s_bias_runs_in_p_games(run_lab):
    tables = []
    for uct in ("uct(bias=depth,prove=false)", "uct(cp=0.707,prove=false)"):
        line = f"pgame-failure --trees 6 --runs 5 --iterations 500 --threads 1 --uct '{uct}' --out '{uct}'"
        code, _, errors = run_lab(line)
        assert code == 0, errors
        tables.append((Path(uct) / "table.md").read_text())
    assert tables[0] != tables[1]


def test_the_speeds_of_amazons_are_those_of_the_first_run(run_lab):
    line = f"amazons {quoted(TINY['amazons'])} --threads 1 --out here"
    first = run_lab(line)
    before = contents("here")
    assert run_lab(line) == first and contents("here") == before


def test_playouts_double_up_to_the_most():
    assert steps(256) == [32, 64, 128, 256] and steps(100) == [50, 100] and steps(8) == [8]


def table_of(experiment, parameters):
    """Returns the table for results that are all draws."""
    row = {"score_first": 0.5, "score_second": 0.5, "simulations_a": 9.0, "simulations_b": 9.0}
    results = SimpleNamespace(
        row=lambda unit: row | {"seconds_a": 1.0, "seconds_b": 1.0},
        measured_once=lambda name, count, measure: [1000, 2000],
        folder=Path(),
        write_table=str,
    )
    return experiment.report(results, experiment.groups(parameters), parameters)


@pytest.mark.parametrize(
    ("changes", "has_paper"),
    [
        ({}, True),
        ({"game": "amazons(size=10)"}, True),
        ({"game": "amazons(size=6)"}, False),
        ({"root": "actions"}, False),
    ],
)
def test_the_paper_s_amazons_stands_beside_its_own_board_and_moves(monkeypatch, changes, has_paper):
    drawn = []
    monkeypatch.setattr(amazons, "draw", lambda panels, path: drawn.extend(panels))
    table = table_of(amazons.EXPERIMENT, amazons.SMALL._replace(games=2, **changes))
    assert ("paper" in table) == ("39.2" in table) == ("15,000" in table) == has_paper
    assert all(("the paper" in [line.label for line in panel.lines]) == has_paper for panel in drawn) and drawn
    assert ("One search chooses a whole move" in table) == ("root" not in changes)


@pytest.mark.parametrize(
    ("changes", "column", "note"),
    [
        ({"time": 30.0}, True, "MILA"),
        (
            {"time": 0.06},
            False,
            "The paper, at 30 s and 5 s and with MILA as alpha-beta: 85.0, 21.5, 26.5, 44.5, 17.5 %.",
        ),
        ({"time": 30.0, "game": "clobber(size=6)"}, False, ""),
        ({"time": 0.06, "game": "clobber(rows=8,columns=6)"}, False, ""),
    ],
)
def test_the_paper_s_clobber_stands_beside_its_own_board_and_times(changes, column, note):
    table = table_of(clobber.EXPERIMENT, clobber.FULL._replace(games=2, **changes))
    assert ("the paper, %" in table) == column and ("MILA" in table) == bool(note) and note in table


def test_amazons_has_the_time_of_a_move_for_a_whole_move_or_in_thirds():
    names = []
    for root in ("turns", "actions"):
        groups = amazons.groups_of(amazons.SMALL._replace(times=(0.03,), root=root))
        names.append(groups[0.03][0][1:3])
    assert names == [
        ("uct(c=1,prove=false,root=turns)@0.03s", "mc(root=turns)@0.03s"),
        ("uct(c=1,prove=false,root=actions)@0.01s", "mc(root=actions)@0.01s"),
    ]


def test_memory_is_measured_with_the_paper_s_second_solution_too():
    players = pgame_memory.players(pgame_memory.SMALL._replace(entries=(64, 16)))
    assert players[-1] == ("16 entries, stored moves", "uct(cp=0.707,prove=false,table=16,stored_value=0)")
    assert [label for label, _ in players[:-1]] == ["whole tree", "64 entries", "16 entries"]


def test_clobber_meets_alpha_beta(run_lab):
    code, output, errors = run_lab("clobber --games 2 --time 0.0006 --game 'clobber(size=4)' --threads 1")
    assert code == 0, errors
    assert output.count("alpha-beta") >= 4
