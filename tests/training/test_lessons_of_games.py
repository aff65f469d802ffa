"""Tests of lessons from games: what they teach, their files, and that a net learns them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from azero.arena.agents.make import make_agent
from azero.errors import BadInput
from azero.games import make_game
from azero.records import Record
from azero.selfplay.data.lessons import Lesson
from azero.selfplay.data.samples import draw_lessons, sample_lessons
from azero.training.learning.trainer import Trainer
from azero.training.lessons.files import is_lessons, read_lessons, read_lessons_of_games, write_lessons
from azero.training.lessons.from_games import lessons_by_agent, lessons_of_results

from .runs import tiny_config

GAME = make_game("tic_tac_toe")
HEAD = "# azero lessons 1\n# game: tic_tac_toe\n"


def record_of(moves, **tags):
    return Record.of_game(GAME.new_initial_state(), GAME.state_from_moves(moves).history(), **tags)


def test_values_are_for_the_player_to_move_and_openings_are_left_out():
    won, unknown = record_of("b2 b1 a1 c3 a3 c1 a2", OpeningPlies="2"), record_of("b2 b1")
    lessons = list(lessons_of_results([won, unknown]))
    assert [each.value for each in lessons] == [1.0, -1.0, 1.0, -1.0, 1.0]
    assert [list(each.policy) for each in lessons] == [[action] for action in won.actions()[2:]]
    assert len(list(lessons_of_results([won, won], per_game=2))) == 4


def test_the_visits_of_whole_turns_with_one_first_action_are_added_up():
    game = make_game("amazons(rows=4,columns=4)")
    state = game.new_initial_state()
    agent = make_agent("uct(root=turns)@300", game)
    record = Record.of_game(state, agent.suggest(state).actions)
    lesson = next(lessons_by_agent([record], agent))
    assert sum(lesson.policy.values()) == pytest.approx(300, abs=10)


@pytest.mark.parametrize("leaves", [30, 100_000])
def test_of_alphabeta_only_the_best_move_is_learnt(leaves):
    """Its visits say how hard a move was to refute; with many leaves it proves the draw."""
    agent = make_agent(f"alphabeta@{leaves}", GAME)
    lesson = next(lessons_by_agent([record_of("b2 a1")], agent, 1, seed=3))
    found = agent.suggest(lesson.state)
    assert lesson.policy == {found.action: 1} and len(found.moves) > 1


def test_lessons_of_a_level_are_those_of_its_full_strength():
    named, full = make_agent("uct(level=1)", GAME), make_agent("uct", GAME)
    record = record_of("b2 b1 a1 c3 a3 c1 a2")
    assert list(lessons_by_agent([record], named, 2)) == list(lessons_by_agent([record], full, 2))


def test_files_read_back(tmp_path):
    path = tmp_path / "lessons.txt"
    states = [GAME.state_from_moves(moves) for moves in ("", "b2", "b2 a1", "a1")]
    lessons = [Lesson(state, value, policy) for state, value, policy in zip(
        states, (0.25, -1.0, 0.0, 1.0), ({4: 3, 0: 1}, {0: 1}, {}, {8: 65535}), strict=True
    )]  # fmt: skip
    assert write_lessons(path, GAME, lessons) == 4 and is_lessons(path)
    assert read_lessons_of_games(path, GAME) == lessons


@pytest.mark.parametrize(
    "line, part",
    [
        ("z9 1", "'z9'"),
        ("b2,b2 1", "not legal"),
        ("b2", "the value ''"),
        ("b2 2", "the value '2'"),
        ("b2 nan", "the value 'nan'"),
        ("b2 1 a1", "'a1' should be a move and its count"),
        ("b2 1 a1:0", "'a1:0'"),
        ("b2 1 a1:70000", "'a1:70000'"),
        ("b2 1 b2:1", "not legal"),
        ("a1,a2,b1,b2,c1 1", "the game is over"),
        ("# game: othello", "not of tic_tac_toe"),
        ("", "no lessons"),
    ],
)
def test_wrong_files_are_refused_with_their_line(tmp_path, line, part):
    path = tmp_path / "lessons.txt"
    path.write_text(f"{HEAD}{line}\n")
    with pytest.raises(BadInput) as caught:
        read_lessons_of_games(path, GAME)
    assert part in str(caught.value) and (not line or "line 3" in str(caught.value))


def test_a_net_learns_what_games_teach(tmp_path):
    """Both values and policies of three positions are learned, an expectation as well as results."""
    path = tmp_path / "lessons.txt"
    path.write_text(f"{HEAD}- 0.5 b2:3 a1:1\nb2 -1 b1:1\nb2,a1 0 c3:1\n")
    config = tiny_config(training={"lessons": str(path), "lessons_share": 0.5, "learning_rate": 0.02})
    lessons = read_lessons(config.training, GAME)
    assert lessons.results_to_learn(np.arange(3)).tolist() == [[0.75, 0, 0.25], [0, 0, 1], [0, 1, 0]]
    trainer, rng = Trainer(config, GAME), np.random.default_rng(0)
    for _ in range(150):
        trainer.step(sample_lessons(lessons, *draw_lessons(lessons, 32, rng), ()), 0.0)
    planes = np.stack([GAME.state_from_moves(moves).planes() for moves in ("", "b2")])
    with torch.inference_mode():
        prediction = trainer.net.eval()(torch.from_numpy(planes))
    values = prediction.value().tolist()
    assert abs(values[0] - 0.5) < 0.2 and values[1] < -0.7
    assert prediction.policy_logits[0].argmax() == 4


def test_positions_that_no_moves_lead_to_are_written_as_text(tmp_path):
    game, path = make_game("connect_four"), tmp_path / "lessons.txt"
    start = game.state_from_text("7/7/7/7/7/XO5 X")
    lessons = list(lessons_of_results([Record(start, Record.of_game(start, [2, 3]).root, "1-0")]))
    write_lessons(path, game, lessons)
    assert path.read_text().splitlines()[2] == '"7/7/7/7/7/XO5 X" 1 3:1'
    back = read_lessons_of_games(path, game)
    assert [each.state for each in back] == [each.state for each in lessons] and back[1].policy == {3: 1}
    path.write_text('# azero lessons 1\n"7/7/7 1 3:1\n')
    with pytest.raises(BadInput, match="line 2: the position in double quotes is not complete"):
        read_lessons_of_games(path, game)


def test_a_header_of_spaces_is_read_at_once(tmp_path):
    path = tmp_path / "lessons.txt"
    path.write_text(f"# azero lessons 1\n# game:{' ' * 1_000_000}\n- 0\n")
    assert len(read_lessons_of_games(path, GAME)) == 1


def test_only_version_1_is_known(tmp_path):
    path = tmp_path / "lessons.txt"
    path.write_text("# azero lessons 10\n")
    assert not is_lessons(path)


@pytest.mark.parametrize("value, proven, chances", [(0.0, None, 0.0), (0.0, "draw", 1.0)])
def test_only_a_proven_draw_is_a_draw_for_certain(monkeypatch, tmp_path, value, proven, chances):
    """A search's value may be exactly 0, as of rollouts of which half are won."""
    agent, path = make_agent("uct@20", GAME), tmp_path / "lessons.txt"
    suggest = agent.suggest
    monkeypatch.setattr(agent, "suggest", lambda state: replace(suggest(state), value=value, proven=proven))
    write_lessons(path, GAME, list(lessons_by_agent([record_of("b2 a1")], agent, 1)))
    lessons = read_lessons(tiny_config(training={"lessons": str(path)}).training, GAME)
    assert lessons.results_to_learn(np.array([0]))[0, 1] == chances
