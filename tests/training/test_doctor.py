"""Tests of `azero doctor`: a healthy run, wrong settings and rules of a user, and folders that cannot be judged."""

import json
from pathlib import Path

import pytest
from cases import thorough
from command_line import assert_bad_input
from games.user_games import NIM, forget_files, write_file

from azero.config.reading import load_config
from azero.config.text import config_to_toml
from azero.games.user.trust import trust_file
from azero.training.health import Case, examine
from azero.training.symptoms import OF_SETTINGS

from .test_health import healthy

ROOT = Path(__file__).parents[2]


@pytest.fixture
def make_run(tmp_path):
    """Returns a function that writes a run's settings and metrics, without nets or games; returns its folder."""

    def make(*settings: str, lines: list[dict] | None = None) -> Path:
        folder = tmp_path / "run"
        folder.mkdir(exist_ok=True)
        config = load_config(
            ROOT / "configs" / "tic_tac_toe.toml", ["game.name=connect_four(rows=5,columns=5)", *settings]
        )
        (folder / "config.toml").write_text(config_to_toml(config))
        text = "".join(json.dumps(line) + "\n" for line in (healthy() if lines is None else lines))
        (folder / "metrics.jsonl").write_text(text)
        return folder

    return make


def causes_of(run_azero, run):
    code, output, errors = run_azero("doctor", run, "--json")
    assert code == 0, errors
    return [each["cause"] for each in json.loads(output)["findings"]]


def test_a_healthy_run(run_azero, make_run):
    run = make_run()
    code, output, _ = run_azero("doctor", run)
    assert code == 0 and output.splitlines()[1].startswith("nothing is wrong with it, by ")
    assert causes_of(run_azero, run) == []


def test_findings_are_ranked_and_told_with_what_to_change(run_azero, make_run):
    run = make_run("search.c_puct=0.01", "training.value_lambda=0.1")
    first, second = run_azero("doctor", run)[1].splitlines()[1:]
    assert first.startswith("1. searches hardly explore: search.c_puct is 0.01, and should be at least 0.2; ")
    assert second.startswith("2. values learn too little from results: training.value_lambda is 0.1, ")
    found = json.loads(run_azero("doctor", run, "--json")[1])["findings"]
    assert [each["text"] for each in found] == [first[3:], second[3:]] and found[0]["limit"] == 0.2


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("*.toml")), ids=lambda path: path.stem)
def test_settings_that_are_included_are_not_blamed(path):
    assert examine(Case(load_config(path), []), OF_SETTINGS) == []


WINNER = "return WIN if state.ply & 1 else LOSS"
FAULTS = {
    "nothing": (),
    "the planes hide what matters": ("k < state.left", "k < 2 * (state.left // 2)"),
    "the rules break a law": ("2 * state.left +", "2 * (state.left & 7) +"),
    "the same player wins all games": (WINNER, "return LOSS"),
    "draws leave nothing to learn": (WINNER, "return 0"),
    "the value's sign is wrong": (WINNER, "return LOSS if state.ply & 1 else WIN"),
}


@pytest.mark.parametrize("cause", [*list(FAULTS)[:2], *thorough(*list(FAULTS)[2:])])
def test_rules_of_a_user(run_azero, make_run, tmp_path, monkeypatch, cause):
    forget_files(monkeypatch)
    path = write_file(tmp_path / "nim.py", NIM, *filter(None, [FAULTS[cause]]))
    trust_file(path)
    found = causes_of(run_azero, make_run(f"game.name={path}:Nim(heap=14)", "net.name=dense"))
    assert found == [] if cause == "nothing" else cause in found[:2]


@pytest.mark.parametrize("text", ["", '{"iteration": 1', "[1]\n", "\x00"])
def test_metrics_that_say_nothing(run_azero, make_run, text):
    run = make_run()
    (run / "metrics.jsonl").write_text(text)
    assert_bad_input(run_azero("doctor", run), "line 1" if text else "has ended no iteration yet")


def test_metrics_of_other_kinds_are_passed_over(run_azero, make_run):
    odd = [dict.fromkeys(healthy()[0], kind) | {"iteration": k - 1} for k, kind in enumerate(["x", None, [], 1e300])]
    assert causes_of(run_azero, make_run(lines=odd)) == []


def test_a_folder_without_a_run(run_azero, tmp_path):
    assert_bad_input(run_azero("doctor", tmp_path), "there is no run in")
    assert_bad_input(run_azero("doctor", tmp_path / "none"), "it does not exist")
