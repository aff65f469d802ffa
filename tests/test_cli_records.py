"""Tests of the commands for records: show, games-of, review, evaluate --record."""

import json

import pytest
from command_line import assert_bad_input
from selfplay.games import TIC_TAC_TOE, some_games
from training.runs import tiny_config

from azero.interfaces.terminal.show_record import step_through
from azero.records import read_records
from azero.runs.folder import RunFolder, shard_name
from azero.runs.settings import write_settings
from azero.runs.shards import save_shard

GAME = ("--game", "tic_tac_toe")

TWO_GAMES = """[Game "tic_tac_toe"]
[First "me"]
[Second "you"]

b2 b1?? {too bold} a1 1-0

[Game "tic_tac_toe"]
c3 *
"""


@pytest.fixture
def run(tmp_path):
    """The folder of a run that has played twelve games."""
    folder = RunFolder(tmp_path / "run")
    write_settings(folder.folder, tiny_config())
    save_shard(folder.shard_path(shard_name(1, 0)), some_games(TIC_TAC_TOE), TIC_TAC_TOE)
    return folder.folder


@pytest.fixture
def games(tmp_path):
    path = tmp_path / "games.txt"
    path.write_text(TWO_GAMES)
    return path


def test_evaluate_adds_the_games_of_a_match_to_a_file(run_azero, tmp_path):
    path = tmp_path / "match.txt"
    for seed in (1, 2):
        code, _, errors = run_azero(
            *("evaluate", "uct@20", "--against", "uct@10", *GAME, "--games", 2, "--record", path, "--json"),
            *("--seed", seed),
        )
        assert code == 0, errors
    records = list(read_records(path))
    assert [record.tags["First"] for record in records] == ["uct@20", "uct@10"] * 2
    for record in records:
        own = record.line()[record.num_opening_plies :]
        assert record.end().is_terminal() and record.num_opening_plies in (3, 4)
        assert all(node.value is not None and node.simulations is not None for node in own)
        assert all(node.value is None for node in record.line()[: record.num_opening_plies])


def test_a_timed_match_tells_seconds(run_azero, tmp_path):
    path = tmp_path / "match.txt"
    run_azero(
        *("evaluate", "uct", "--against", "random", *GAME, "--clock", "1s+0.1s", "--games", 1),
        *("--record", path, "--opening-plies", 0),
    )
    (record,) = read_records(path)
    assert record.line()[0].seconds is not None and record.line()[0].simulations > 0


def test_evaluate_refuses_a_file_of_something_else_before_it_plays(run_azero, tmp_path):
    path = tmp_path / "thesis.txt"
    path.write_text("Chapter 1")
    command = ("evaluate", "uct@20", "--against", "random", *GAME, "--record")
    assert_bad_input(run_azero(*command, path), "is no record of games")
    assert_bad_input(run_azero(*command, tmp_path / "a.sgf"), "SGF does not know tic_tac_toe")
    assert_bad_input(run_azero(*command[:2], "--benchmark", "connect_four_pons", "--record", path), "--record")


def test_show_prints_a_position(run_azero, games):
    code, output, _ = run_azero("show", games)
    assert code == 0 and "me against you, tic_tac_toe: 1-0" in output
    assert "ply 3 of 3: first player a1" in output and "b2 b1?? [a1] 1-0" in output
    code, output, _ = run_azero("show", games, "--ply", 2)
    assert "ply 2 of 3: second player b1??   too bold" in output
    code, output, _ = run_azero("show", games, "--game", 2, "--ply", 0)
    assert "first player against second player, tic_tac_toe: *" in output and "ply 0 of 1" in output


def test_show_refuses_what_is_not_there(run_azero, games, tmp_path):
    assert_bad_input(run_azero("show", games, "--game", 3), "--game 3", "has 2 games")
    assert_bad_input(run_azero("show", games, "--ply", 4), "--ply 4", "has 3 moves")
    assert_bad_input(run_azero("show", games, "--game", 0), "--game 0")
    assert_bad_input(run_azero("show", tmp_path / "none.txt"), "none.txt", "No such file")
    assert_bad_input(run_azero("show", games, "--rules", "connect_four"), "games.txt, line 1", "not of connect_four")
    games.write_text(TWO_GAMES[:-3])
    assert_bad_input(run_azero("show", games), "line 8", "cut short")


def test_stepping_through_games(games):
    records, told = list(read_records(games)), list[str]()
    answers = iter(["b", "n", "s", "", "2", "e", "99", "g 2", "g 3", "x", "q"])
    step_through(records, 1, 2, lambda prompt: next(answers), told.append)
    places = [line for text in told for line in text.splitlines() if line.startswith(("ply", "game", "there", "'x'"))]
    plies = [place.split(":")[0] for place in places if place.startswith("ply")]
    assert plies == [f"ply {k} of 3" for k in (2, 1, 2, 0, 1, 2, 3, 3)] + ["ply 0 of 1"] * 3
    assert any("there are games 1 to 2" in place for place in places) and any("'x' is no" in place for place in places)


def test_review_prints_what_moves_lost(run_azero, games):
    code, output, _ = run_azero("review", games, "uct@50")
    assert code == 0
    assert "game 1: me against you" in output and "b1??" in output and "2 games, 4 moves" in output


def test_review_as_json(run_azero, games, tmp_path):
    path = tmp_path / "reviewed.txt"
    code, output, _ = run_azero("review", games, games, "uct", "--simulations", 30, "--json", "--record", path)
    found = json.loads(output)
    assert code == 0 and len(found["games"]) == 4 and found["games"][0] == found["games"][2]
    (first, _, _, _) = found["games"]
    assert [move["move"] for move in first["moves"]] == ["b2", "b1", "a1"]
    assert first["moves"][1]["loss"] == 1.0 and first["blunders"] == [0, 1] and len(first["accuracy"]) == 2
    assert found["searched"] < 15
    assert [record.line()[1].mark for record in read_records(path) if len(record.line()) == 3] == ["??", "??"]


def test_review_refuses_what_it_cannot_judge(run_azero, games, tmp_path):
    assert_bad_input(run_azero("review", games), "needs a file of games and an agent")
    assert_bad_input(run_azero("review", games, "random"), "does not judge positions")
    assert_bad_input(run_azero("review", games, "connect_four"), "not of connect_four")
    assert_bad_input(run_azero("review", games, "uct", "--simulations", 0), "simulations = 0")
    games.write_text('[Game "tic_tac_toe"] *')
    assert_bad_input(run_azero("review", games, "uct"), "nothing to review")


@pytest.mark.thorough
def test_a_net_reviews_a_game_with_the_game_s_own_komi(run_azero, tmp_path):
    path = tmp_path / "a.sgf"
    path.write_text("(;GM[1]SZ[7]KM[6.5];B[dd];W[cc])")
    code, output, errors = run_azero("review", path, "go_7x7", "--simulations", 2)
    assert code == 0 and "go(size=7,komi=6.5)" in output
    assert "was trained with komi 8.5; it plays go(size=7,komi=6.5)" in errors and errors.count("\n") == 1
    code, output, errors = run_azero("review", path, "go_7x7", "--simulations", 2, "--game", "go(size=7,komi=8.5)")
    assert code == 0 and "a record has komi 6.5; it is read as of go(size=7,komi=8.5)" in errors


def test_games_of_a_run(run_azero, run, tmp_path):
    path = tmp_path / "selfplay.txt"
    code, _, errors = run_azero("games-of", run, "--games", 3, "--record", path)
    assert code == 0 and "3 of" in errors
    records = list(read_records(path))
    assert len(records) == 3 and all(record.end().is_terminal() for record in records)
    assert all(node.value is not None for record in records for node in record.line()[record.num_opening_plies :])
    assert run_azero("games-of", run, "--games", 3, "--record", tmp_path / "again.txt")[0] == 0
    assert (tmp_path / "again.txt").read_text() == path.read_text(), "the same seed draws the same games"


def test_games_of_what_is_no_run(run_azero, run, tmp_path):
    path = tmp_path / "out.txt"
    assert_bad_input(run_azero("games-of", tmp_path, "--record", path), "run")
    assert_bad_input(run_azero("games-of", run, "--games", 0, "--record", path), "--games 0")
    assert_bad_input(run_azero("games-of", run, "--iteration", 99, "--record", path), "iteration 99")
    assert not path.exists()


def test_lessons_from_results_and_by_an_agent(run_azero, games, tmp_path):
    path = tmp_path / "lessons.txt"
    code, _, errors = run_azero("lessons", games, "--out", path)
    assert code == 0 and "3 lessons of 2 games" in errors
    assert path.read_text().splitlines() == [
        *("# azero lessons 1", "# game: tic_tac_toe"),
        *("- 1 b2:1", "b2 -1 b1:1", "b2,b1 1 a1:1"),
    ]
    code, _, errors = run_azero("lessons", games, "--out", tmp_path / "by.txt", "--by", "uct@100")
    lines = (tmp_path / "by.txt").read_text().splitlines()[2:]
    assert code == 0 and "3 lessons" in errors, "the initial position is in both games"
    assert lines[2].startswith("b2,b1 0.") and lines[1].count(":") > 1


def test_lessons_refuse_bad_input(run_azero, games, tmp_path):
    out = tmp_path / "lessons.txt"
    assert_bad_input(run_azero("lessons", games, "--out", games), "exists")
    assert_bad_input(run_azero("lessons", games, "--out", out, "--per-game", 0), "--per-game 0")
    assert_bad_input(run_azero("lessons", games, "--out", out, "--by", "random"), "does not judge")
    games.write_text('[Game "tic_tac_toe"] b2 *')
    assert_bad_input(run_azero("lessons", games, "--out", out), "nothing to learn")
    assert not out.exists()
