"""Tests of `azero rate` on the command line."""

import json
from pathlib import Path

import pytest
from arena.agents import write_checkpoint, write_engine
from command_line import assert_bad_input
from training.runs import tiny_config

from azero.arena.ratings import rating_pool
from azero.games import make_game
from azero.training.run import Run

GAME = ["--game", "tic_tac_toe"]
RATE = ["rate", "uct@300", "random", "uct@2", *GAME, "--games", "30"]


def test_it_prints_a_table_or_json_and_goes_on(run_azero):
    code, output, _ = run_azero(*RATE)
    lines = output.splitlines()
    assert code == 0 and lines[0].startswith("tic_tac_toe: 30 games, first player's score ")
    assert [line.split()[0] for line in lines[2:]] == ["uct@300", "uct@2", "random"] and "anchor" in lines[2]
    code, again, errors = run_azero(*RATE, "--json", "--anchor", "random=-100")
    fields = json.loads(again)
    assert (code, errors, again.count("\n")) == (0, "", 1)
    assert (fields["game"], fields["anchor"], fields["games"]) == ("tic_tac_toe", "random", 30)
    assert [each["name"] for each in fields["agents"]] == ["uct@300", "uct@2", "random"]
    assert [*fields["agents"][0]] == ["name", "elo", "elo_ci95", "games"]
    assert fields["agents"][2]["elo"] == -100 and fields["agents"][2]["elo_ci95"] == [-100, -100]
    assert [str(path) for path in Path().rglob("*.json")] == ["results/ratings-tic_tac_toe.json"]
    assert json.loads(run_azero(*RATE[:-1], "40", "--json")[1])["games"] == 40
    assert json.loads(run_azero(*RATE, "--seed", "1", "--json")[1])["games"] == 30, "a seed has games of its own"


def test_out_and_plot_name_files(run_azero):
    assert run_azero(*RATE[:-1], "4", "--out", "own/r.json", "--plot", "r.png")[0] == 0
    assert sorted(str(path) for path in Path().rglob("*.*")) == ["own/r.json", "r.png"]
    assert Path("r.png").read_bytes().startswith(b"\x89PNG")


def test_an_odd_number_of_games_is_said(run_azero):
    code, output, errors = run_azero(*RATE[:-1], "5")
    assert code == 0 and "6 games" in output and errors.startswith("azero: --games 5 is odd: ")


def test_a_run_is_rated_with_its_opponent(run_azero):
    config = tiny_config(evaluation={"opponent": "uct@3", "num_simulations": 2})
    run = Run.create(Path("run"), config, make_game("tic_tac_toe"))
    for k in (0, 3):
        write_checkpoint(run.checkpoint_path(k), seed=k)
    nets = [str(run.checkpoint_path(k).absolute()) for k in (0, 3)]
    code, output, _ = run_azero("rate", "random", "--run", "run", "--games", "12", "--json")
    fields = json.loads(output)
    names = sorted(each["name"] for each in fields["agents"])
    assert code == 0 and names == sorted(["random", "uct@3", *(f"{net}(solve_nodes=0)@2" for net in nets)])
    assert Path("run/ratings.json").is_file() and not Path("results").exists()
    for net in nets:
        Path(net).unlink()
    assert_bad_input(run_azero("rate", "random", "--run", "run"), "run 'run' has no checkpoints")


def test_an_engine_that_fails_ends_it_with_the_ratings_so_far(run_azero, tmp_path):
    words = ["rate", "random", "uct@2", write_engine(tmp_path, "dies@2"), *GAME, "--games", "60"]
    code, output, errors = run_azero(*words)
    assert code == 1 and "95 % interval" in output
    assert "the match ended after" in errors and "goes on from results/ratings-tic_tac_toe.json" in errors


def test_ctrl_c_ends_it_with_the_ratings_so_far(run_azero, monkeypatch):
    played, play_matches = [], rating_pool.play_matches

    def play(*given):
        if len(played) == 2:
            raise KeyboardInterrupt
        played.append(given)
        return play_matches(*given)

    monkeypatch.setattr(rating_pool, "play_matches", play)
    monkeypatch.setattr("signal.signal", lambda *given: None)
    code, output, errors = run_azero(*RATE)
    assert code == 130 and "95 % interval" in output and "stopped after" in errors
    monkeypatch.setattr(rating_pool, "play_matches", play_matches)
    assert "30 games" in run_azero(*RATE)[1]


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ([], ["a pool needs two agents or more", "none"]),
        (["uct@5"], ["a pool needs two agents or more", "uct@5"]),
        (["uct@5", "random", "uct@5"], ["agent 'uct@5' is named twice"]),
        (["uct@5", "utc@5"], ["unknown agent 'utc'", "did you mean 'uct'?"]),
        (["uct@5", "random", "--games", "0"], ["--games 0 should be 1 or more"]),
        (["uct@5", "random", "--anchor", "mc=0"], ["--anchor 'mc=0'", "an agent of the pool: uct@5, random"]),
        (["uct@5", "random", "--anchor", "random=strong"], ["'strong' should be a number", "random=0"]),
        (["uct@5", "random", "--anchor", "random=nan"], ["'nan' should be a number"]),
        (["uct@5", "random", "--run", "nowhere"], ["there is no run in 'nowhere'"]),
        (["uct@5", "random", "--out", "here.txt"], ["ratings 'here.txt' is damaged, or no file of ratings"]),
        (["uct@5", "random", "--out", "."], ["ratings '.' cannot be read: Is a directory"]),
        (["uct@5", "random", "--runtime", "torch"], ["--runtime is for nets", "no net in uct@5 or random"]),
    ],
)
def test_bad_input_is_one_line(run_azero, words, parts):
    Path("here.txt").write_text("mine")
    assert_bad_input(run_azero("rate", *words, *GAME), *parts)
    assert Path("here.txt").read_text() == "mine" and not Path("results").exists()


def test_agents_of_different_games_and_of_none_are_refused(run_azero):
    nets = [write_checkpoint(Path(f"{game}.safetensors"), game) for game in ("tic_tac_toe", "connect_four")]
    assert_bad_input(run_azero("rate", *nets), "plays connect_four", "not tic_tac_toe")
    assert_bad_input(run_azero("rate", "uct@5", "random"), "uct@5 and random can play any game", "--game")


def test_an_anchor_may_have_an_equals_sign_in_its_name(run_azero):
    words = ["rate", "uct(c=2)@5", "random", *GAME, "--games", "2", "--json", "--anchor"]
    for anchor, elo in (("uct(c=2)@5", 0), ("uct(c=2)@5=7.5", 7.5)):
        fields = json.loads(run_azero(*words, anchor)[1])
        assert fields["anchor"] == "uct(c=2)@5"
        assert {each["name"]: each["elo"] for each in fields["agents"]}["uct(c=2)@5"] == elo
