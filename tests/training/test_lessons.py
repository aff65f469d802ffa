"""Tests of lessons from files: what is read, what is refused, and that a net learns them."""

import pytest
import torch

from azero.arena.solved.files import shipped_benchmarks
from azero.errors import BadInput
from azero.games import make_game
from azero.nets.architectures.contract import Prediction
from azero.training.learning.losses import losses_of
from azero.training.lessons import files
from azero.training.lessons.files import read_lessons

from .runs import tiny_config

GAME = make_game("tic_tac_toe")
SHIPPED = shipped_benchmarks()["connect_four_pons"]


def config_of(path, share=0.5):
    return tiny_config(training={"lessons": str(path), "lessons_share": share, "learning_rate": 0.02}).training


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "lessons.txt"
    path.write_text("# game: tic_tac_toe\na1,b1 1\na1,b2,c3 0 b1 b3 a2 c2\n")
    return path


def test_lessons_are_read_from_a_file(file):
    lessons = read_lessons(config_of(file, 0.3), GAME)
    assert len(lessons) == 2 and lessons.share == 0.3
    assert lessons.results.tolist() == [1, 0]
    listed = [GAME.text_to_action(GAME.state_from_moves("a1,b2,c3"), move) for move in ("b1", "b3", "a2", "c2")]
    keeping = [lessons.policies.row(k) for k in range(2)]
    assert not len(keeping[0][0]) and keeping[1][0].tolist() == sorted(listed) and (keeping[1][1] == 1).all()


@pytest.mark.parametrize("line", ["a1,b1,b2 -1", "a1,b1,b2 -1 a2 c3"])
def test_of_a_lost_position_no_move_is_learnt(tmp_path, line):
    path = tmp_path / "lost.txt"
    path.write_text(f"{line}\n")
    lessons = read_lessons(config_of(path), GAME)
    assert lessons.results.tolist() == [-1] and not len(lessons.policies.actions)


def test_there_are_none_unless_asked_for():
    assert read_lessons(tiny_config().training, GAME) is None


def test_only_the_first_of_each_file_are_checked(file, monkeypatch):
    text = file.read_text() + "a1,b1,a2 1\n"
    file.write_text(text)
    (file.parent / "more.txt").write_text("a1,b1 1\na1,b2,c3 0\n")
    monkeypatch.setattr(files, "CHECKED", 2)
    assert len(read_lessons(config_of(file.parent), GAME)) == 5
    monkeypatch.setattr(files, "CHECKED", 3)
    with pytest.raises(BadInput, match=r"^training\.lessons: .*lessons\.txt, line 4: .*by a solver the position"):
        read_lessons(config_of(file), GAME)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no/such.txt", r"^training\.lessons = 'no/such.txt': there is no such file or folder$"),
        ("connect_four_pons", "there is no such file or folder"),
        (SHIPPED, "is a shipped benchmark"),
        (f"{SHIPPED}/../{SHIPPED.name}/L3_R1_end_easy.txt", "is a shipped benchmark"),
    ],
)
def test_what_is_no_lesson_is_refused(name, message):
    with pytest.raises(BadInput, match=message):
        read_lessons(config_of(name), GAME)


def test_lessons_of_another_game_are_refused(tmp_path):
    (tmp_path / "other.txt").write_text("# game: connect_four\n444444 1\n")
    with pytest.raises(BadInput, match=r"^training\.lessons: .*has positions of connect_four"):
        read_lessons(config_of(tmp_path), GAME)


def test_two_files_cannot_contradict_each_other(file, monkeypatch):
    (file.parent / "other.txt").write_text("a1,b1 0\n")
    monkeypatch.setattr(files, "CHECKED", 0)
    with pytest.raises(BadInput, match=r"other\.txt, line 1: the same position has score 1 in line 2 of lessons\.txt"):
        read_lessons(config_of(file.parent), GAME)


def test_what_has_no_policy_costs_none_and_does_not_thin_the_others(file):
    prediction = Prediction(torch.randn(4, 9, generator=torch.Generator().manual_seed(0)), torch.zeros(4, 3))
    policies, results = torch.full((4, 9), 1 / 9), torch.eye(3)[[0, 1, 2, 0]]
    policies[2:] = 0
    both, alone = (losses_of(Prediction(*(p[:n] for p in prediction)), policies[:n], results[:n]) for n in (4, 2))
    for name in ("policy", "policy_entropy", "target_entropy"):
        torch.testing.assert_close(getattr(both, name), getattr(alone, name))
    none = losses_of(prediction, torch.zeros(4, 9), results)
    assert float(none.policy) == float(none.policy_entropy) == 0 and none.value.isfinite()
