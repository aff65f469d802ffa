"""Tests of rollout policies in files: they load unchanged, and unsuitable files are refused in one line."""

import json

import numpy as np
import pytest
from games.user_games import NIM, forget_files, write_file
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from azero.config.schema import SearchConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.games.names import source_digest_of
from azero.mcts import LinearSoftmax, OwnRollout, UniformRollout, rollout_from_config, rollout_named
from azero.mcts.rollouts.features import NUM_PATTERNS
from azero.mcts.rollouts.weights import RolloutCard, check_board, load_rollout, save_rollout

GAME = make_game("tic_tac_toe")
CARD = RolloutCard("tic_tac_toe", "", positions=80, games=12, epochs=3, seed=4, held_out={"cross_entropy": 1.5})


@pytest.fixture
def saved(tmp_path):
    path, rng = tmp_path / "run" / "rollout.safetensors", np.random.default_rng(0)
    save_rollout(path, rng.normal(size=NUM_PATTERNS), rng.normal(size=9), CARD)
    return path


def refusal(path, game=GAME) -> str:
    """Returns the error, one line, with which a file is refused, without its name."""
    with pytest.raises(BadInput) as error:
        rollout_named(str(path), game)
    message = str(error.value)
    assert len(message.splitlines()) == 1 and message.startswith(f"rollout policy {str(path)!r} ")
    return message.removeprefix(f"rollout policy {str(path)!r} ")


def write_card(path, **changes) -> None:
    """Rewrites the file with changed fields in its metadata."""
    with safe_open(str(path), framework="numpy") as file:
        fields = json.loads(file.metadata()["azero"])
    save_file(load_file(path), path, {"azero": json.dumps(fields | changes)})


def test_a_policy_comes_back_as_it_was(saved):
    policy, tensors = load_rollout(saved, GAME), load_file(saved)
    assert policy.patterns.dtype == policy.actions.dtype == np.float32
    assert np.allclose(np.log(policy.patterns), tensors["patterns"], atol=1e-5)
    assert np.allclose(np.log(policy.actions), tensors["actions"], atol=1e-5)
    assert [each.name for each in saved.parent.iterdir()] == [saved.name]


def test_policies_have_names(saved):
    assert rollout_named("own", GAME) == OwnRollout() and rollout_named("uniform", GAME) == UniformRollout()
    assert isinstance(rollout_named(str(saved), GAME), LinearSoftmax)
    with pytest.raises(
        BadInput, match=r"^rollout policy 'best' should be own, uniform or a file, e\.g\. .*safetensors$"
    ):
        rollout_named("best", GAME)


def test_settings_name_a_policy_that_is_read_where_it_has_weight(saved):
    assert isinstance(rollout_from_config(SearchConfig(rollout=str(saved), rollout_weight=0.5), GAME), LinearSoftmax)
    assert rollout_from_config(SearchConfig(rollout="nowhere.safetensors"), GAME) == OwnRollout()
    with pytest.raises(BadInput, match="does not exist"):
        rollout_from_config(SearchConfig(rollout="nowhere.safetensors", rollout_weight=0.5), GAME)


def test_a_file_that_is_missing_or_of_another_game_is_refused(saved, tmp_path):
    assert refusal(tmp_path / "no.safetensors") == "does not exist; azero train-rollout makes one"
    assert refusal(saved, make_game("connect_four")) == "plays tic_tac_toe, not connect_four"


def test_a_flipped_bit_anywhere_is_noticed(saved):
    data = saved.read_bytes()
    for place in [0, 8, 9, 200, len(data) // 2, len(data) - 1]:
        saved.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        assert refusal(saved)
    saved.write_bytes(data)
    assert load_rollout(saved, GAME)


@pytest.mark.parametrize("data", [b"", b"x", b"PK\x03\x04", b"\x80\x04", b"\xff" * 64])
def test_what_is_no_safetensors_file_is_refused(saved, data):
    saved.write_bytes(data)
    assert refusal(saved).startswith(("is empty", "is a pickle, which", "is not a .safetensors file"))


def test_other_safetensors_files_are_refused(saved):
    save_file({"w": np.zeros(3)}, saved)
    assert refusal(saved) == "is a safetensors file, but not one of azero's: it has no card"
    save_file({"w": np.zeros(3)}, saved, {"azero": "{}"})
    assert refusal(saved) == "holds no rollout policy; azero train-rollout makes one"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 3}, "has format 3; this version of azero reads format 2"),
        ({"positions": 81}, "is damaged: its contents do not match their digest"),
        ({"digest": 5}, "is damaged: its contents do not match their digest"),
    ],
)
def test_a_card_that_was_changed_is_refused(saved, changes, message):
    write_card(saved, **changes)
    assert refusal(saved) == message


def test_weights_of_other_sizes_are_refused(saved):
    save_rollout(saved, np.zeros(NUM_PATTERNS), np.zeros(8), CARD)
    assert refusal(saved) == "has actions that are not 9 finite float32 numbers"


def test_a_policy_of_rules_that_have_changed_is_refused(saved):
    card = RolloutCard("tic_tac_toe", "abc", positions=80, games=12, epochs=3, seed=4, held_out={})
    save_rollout(saved, np.zeros(NUM_PATTERNS), np.zeros(9), card)
    assert refusal(saved) == "is for an earlier version of the file of tic_tac_toe; train it again"


def test_boards_can_be_too_wide():
    check_board(make_game("p_game(branching=30,depth=2)"))
    with pytest.raises(BadInput, match="is 31 cells wide; rollout policies are for 30 at most"):
        check_board(make_game("p_game(branching=31,depth=2)"))


def test_a_policy_of_a_moved_game_file_is_read(tmp_path, monkeypatch):
    forget_files(monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moved").mkdir()
    write_file(tmp_path / "moved" / "nim.py", NIM)
    game = make_game("moved/nim.py:Nim(heap=5)")
    for saved_game in ("nim.py:Nim(heap=5)", "/elsewhere/nim.py:Nim(heap=5)"):
        card = RolloutCard(saved_game, source_digest_of(game.rules), 80, 12, 3, 4, {"cross_entropy": 1.5})
        save_rollout(tmp_path / "policy.safetensors", np.zeros(NUM_PATTERNS), np.zeros(game.num_actions), card)
        assert load_rollout(tmp_path / "policy.safetensors", game).actions.tolist() == [1.0] * game.num_actions
    assert "heap is 5, not 6" in refusal(tmp_path / "policy.safetensors", make_game("moved/nim.py:Nim(heap=6)"))
