"""Tests of files of solved positions: what is read, and what is refused with the file and line."""

from pathlib import Path

import pytest

from azero.arena.solved.files import read_benchmark, shipped_benchmark_of, shipped_benchmarks
from azero.errors import BadInput
from azero.exact.connect_four import ConnectFourSolver
from azero.games import make_game

TIC_TAC_TOE, CONNECT_FOUR = make_game("tic_tac_toe"), make_game("connect_four")
PONS = Path(__file__).parents[1] / "data" / "connect4_pons"


def read(folder, text, game=TIC_TAC_TOE):
    """Returns the problems of a file with this text."""
    (folder / "set.txt").write_text(text)
    (only,) = read_benchmark(str(folder / "set.txt"), game).sets
    return only.problems


def named(problem):
    """Returns the moves that keep the result, in the game's notation."""
    return {problem.state.game.action_to_text(problem.state, action) for action in problem.keeping}


def test_comments_blank_lines_and_the_start_of_the_game(tmp_path):
    text = "# ours\n\n- 0  # nobody wins\na1,b1 1\na1,b2,c3 +0.0\n"
    problems = read(tmp_path, text)
    assert [len(each.state.history()) for each in problems] == [0, 2, 3]
    assert [each.score for each in problems] == [0, 1, 0] and [each.result for each in problems] == [0, 1, 0]
    assert all(each.keeping is None for each in problems)


def test_moves_listed_keep_the_result_unless_they_have_scores_of_their_own(tmp_path):
    bare, scored, partly = read(tmp_path, "1 2 3\n1 2 2:5 3:1 4:0 5:-3\n1 2 2 3:7 4:0\n", CONNECT_FOUR)
    assert named(bare) == {"3"} and named(scored) == {"2", "3"} and named(partly) == {"2", "3"}


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("- 1 pass", "pass wins by the listed moves, but then pass wins at once"),
        ("e5,pass 1 d4", "pass is a mistake by the listed moves, but it wins at once"),
    ],
)
def test_moves_listed_are_held_to_the_rules_where_no_search_comes_to_an_end(tmp_path, line, part):
    with pytest.raises(BadInput, match=f"set.txt, line 1: {part}"):
        read(tmp_path, f"{line}\n", make_game("go(size=9)"))


@pytest.mark.parametrize(("mark", "end"), [(b"", b"\r\n"), (b"\xef\xbb\xbf", b"\n"), (b"\xef\xbb\xbf", b"\r\n")])
def test_files_of_other_systems(tmp_path, mark, end):
    (tmp_path / "set.txt").write_bytes(mark + end.join([b"# game: tic_tac_toe", b"a1,b2 0", b"a1 0 b2", b""]))
    (only,) = read_benchmark(str(tmp_path / "set.txt")).sets
    assert [len(each.state.history()) for each in only.problems] == [2, 1]


def test_in_a_lost_position_every_move_keeps_the_result(tmp_path):
    (lost,) = read(tmp_path, "a1,b1,a2,c3,b2 -1\n")
    assert lost.keeping == frozenset(lost.state.legal_actions())


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("a1", "'a1' should be MOVES SCORE"),
        ("a1 much", "score 'much' should be a number"),
        ("a1 nan", "score 'nan' should be a number"),
        ("a1,a1 0", "move 2: 'a1' is not legal here"),
        ("4453 0", "'4453'"),
        ("a1,b1,a2,b2,a3 -1", "the game is over"),
        ("a1,b1,a2,b2,a3,b3 -1", "over after 5 moves"),
        ("a1 0 a1", "'a1' is not legal here"),
        ("a1 0 b2 b2", "'b2' is listed twice"),
        ("b2 0\nb2 0\nb2 -1", "the same position has score 0 in line 3 of "),
        ("a1 0 b2:", "score '' should be a number"),
        ("a1,,b2 0", "'a1,,b2' has a comma without a move before or after it"),
        ("a1, 0", "'a1,' has a comma without a move before or after it"),
        ("a1 0 b2:1", "the player to move draws, but the best of the listed moves wins"),
        ("a1,b1 1 c3:0 b2:-1", "the player to move wins, but the best of the listed moves draws"),
        ("a1,b1,a2,b2 0", "should be positive: a3 wins at once"),
        ("a1,b1 0", "by its score 0 the player to move draws; by a solver the position is worth more"),
        ("a1 1", "by a solver the position is worth less"),
        ("a1,b1,a2,c3 1 b2 c2", "a3 is a mistake by the listed moves, but it wins at once"),
        ("a1,b1 1 a3:2 b2:-1", "a2 is a mistake by the listed moves; by a solver it wins"),
        ("a1,b2,a2 0 a3 c3", "c3 draws by the listed moves, but then a3 wins at once"),
        ("a1 0 b2:0 c3:0", "c3 draws by the listed moves; by a solver it does not"),
        ("a1,b2 0 c3 b1", "c1 is a mistake by the listed moves; by a solver it draws"),
        ("# game: hex", "an earlier header names the game tic_tac_toe, this one hex; use one game per file"),
    ],
)
def test_a_line_that_is_no_good_is_named(tmp_path, line, part):
    with pytest.raises(BadInput) as error:
        read(tmp_path, f"# game: tic_tac_toe\na1,b2 0\n{line}\n")
    assert str(error.value).startswith(f"{tmp_path / 'set.txt'}, line {3 + line.count(chr(10))}: ") and part in str(
        error.value
    )


@pytest.mark.parametrize("score", ["22", "-22", "0.5"])
def test_a_score_that_no_game_of_connect_four_can_have(tmp_path, score):
    with pytest.raises(BadInput, match=f"line 1: score {score} is impossible: .* from -21 to 21"):
        read(tmp_path, f"- {score}\n", CONNECT_FOUR)


@pytest.mark.parametrize("text", ["", "\n\n", "# game: tic_tac_toe\n"])
def test_a_file_without_positions(tmp_path, text):
    with pytest.raises(BadInput, match=r"set.txt' has no positions"):
        read(tmp_path, text)


def test_the_header_names_the_game(tmp_path):
    (tmp_path / "set.txt").write_text("# game: connect_four(columns=7,rows=6)\n44 1\n")
    assert read_benchmark(str(tmp_path / "set.txt")).game == CONNECT_FOUR
    with pytest.raises(BadInput, match="has positions of connect_four, not of tic_tac_toe"):
        read_benchmark(str(tmp_path), TIC_TAC_TOE)
    (tmp_path / "set.txt").write_text("44 1\n")
    with pytest.raises(BadInput, match="does not name its game; .* --game connect_four"):
        read_benchmark(str(tmp_path))
    (tmp_path / "set.txt").write_text("\n# game: conect_four\n44 1\n")
    with pytest.raises(BadInput, match="line 2: unknown game 'conect_four'"):
        read_benchmark(str(tmp_path))


def test_a_header_has_no_code_run(tmp_path):
    (tmp_path / "bad.py").write_text("raise SystemExit('run')\n")
    (tmp_path / "set.txt").write_text(f"# game: {tmp_path / 'bad.py'}:Bad\n- 0\n")
    with pytest.raises(BadInput, match="runs only if you name it: --game .*bad.py:Bad"):
        read_benchmark(str(tmp_path / "set.txt"))
    with pytest.raises(BadInput, match="not of tic_tac_toe"):
        read_benchmark(str(tmp_path / "set.txt"), TIC_TAC_TOE)


def test_a_folder_is_its_files_in_order(tmp_path):
    for name in ("b.txt", "a", ".hidden", "README.md"):
        (tmp_path / name).write_text("a1 0\n")
    assert [each.name for each in read_benchmark(str(tmp_path), TIC_TAC_TOE).sets] == ["a", "b"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="has no file of positions"):
        read_benchmark(str(tmp_path / "empty"), TIC_TAC_TOE)


def test_what_is_no_benchmark(tmp_path):
    with pytest.raises(BadInput, match="unknown benchmark 'connect_for_pons'.*did you mean 'connect_four_pons'"):
        read_benchmark("connect_for_pons")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="is not a text file"):
        read_benchmark(str(tmp_path / "binary"), TIC_TAC_TOE)


def test_a_sample_is_the_first_positions_of_each_set(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("a1 0\nb2 0\nc3 0\n")
    whole, sample = (read_benchmark(str(tmp_path), TIC_TAC_TOE, num) for num in (None, 4))
    for one, other in zip(whole.sets, sample.sets, strict=True):
        assert [p.state.history() for p in other.problems] == [p.state.history() for p in one.problems][:2]


# --- the shipped benchmark ---


def test_a_game_has_the_benchmark_that_comes_with_azero():
    assert all((folder / "README.md").is_file() for folder in shipped_benchmarks().values())
    assert shipped_benchmark_of(CONNECT_FOUR) == "connect_four_pons" and shipped_benchmark_of(TIC_TAC_TOE) is None
    assert shipped_benchmark_of(make_game("connect_four(rows=5)")) is None


@pytest.mark.long
def test_the_shipped_positions_are_those_of_pons_with_moves_that_keep_their_results():
    """All late positions are solved again, and the first of the others."""
    sets = {each.name: each.problems for each in read_benchmark("connect_four_pons").sets}
    assert len(sets) == 6 == len(list(shipped_benchmarks()["connect_four_pons"].glob("*.txt")))
    solver = ConnectFourSolver(CONNECT_FOUR.rules)
    for name, problems in sets.items():
        lines = [line.split() for line in (PONS / f"Test_{name[:5]}").read_text().splitlines()]
        for (moves, score), problem in zip(lines, problems, strict=True):
            assert [int(move) - 1 for move in moves] == problem.state.history() and problem.score == int(score)
            assert problem.keeping
        again = problems[: {"L3_R1": 1000, "L2_R1": 500, "L2_R2": 50, "L1_R1": 5}.get(name[:5], 0)]
        for problem in again:
            if problem.result >= 0:
                assert problem.keeping == {a for a in problem.state.legal_actions() if keeps(solver, problem, a)}


def keeps(solver, problem, action):
    """Returns whether an action keeps the result, by solving the position after it."""
    after = problem.state.clone()
    player = after.current_player()
    after.apply_action(action)
    left = after.returns()[player] if after.is_terminal() else -solver.solve(after)
    return left >= problem.result
