"""Tests of a run's state: it comes back whole, and what no run can have written is refused in one line."""

import numpy as np
import pytest
from training.runs import tiny_config

from azero.errors import BadInput
from azero.runs.folder import STATE
from azero.runs.state import NOTES_OF_PLAY, Progress, read_state, write_state

CONFIG = tiny_config()
TENSORS = {"weight": np.arange(6, dtype=np.float32)}
NOTES = dict.fromkeys(NOTES_OF_PLAY, 1)
IN_TRAINING = Progress(
    stage="train",
    steps=9,
    steps_this_iteration=4,
    shards=["00001-0000"],
    pool=[[3, 2, 3.0, 1.75, 1.3125]],
    anchor=1,
    anchor_rating=7.25,
    notes=NOTES,
    sums={"steps": 4, "seconds": 1.0, "policy": 2.0},
)


def write(folder, **changes):
    """Writes the state of a run that is in training, with other values of some fields; returns its path."""
    write_state(folder, CONFIG, TENSORS, IN_TRAINING.model_copy(update=changes))
    return folder / STATE


@pytest.mark.parametrize("final", ["", "00003", "mean"])
def test_a_state_comes_back(tmp_path, final):
    state = read_state(write(tmp_path, final=final))
    assert state.progress == IN_TRAINING.changed(final=final) and state.settings == [CONFIG]
    assert np.array_equal(state.tensors["weight"], TENSORS["weight"])


@pytest.mark.parametrize("size", [0, 5, 100, -1])
def test_a_state_that_is_cut_short_is_refused(tmp_path, size):
    path = write(tmp_path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(BadInput, match=r"^the run's state '.*state\.safetensors' is (empty|damaged or not|not) ?"):
        read_state(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rating", 1e299),
        ("rating", float("nan")),
        ("anchor_rating", "0"),
        ("anchor", -1),
        ("pool", {}),
        ("pool", [[1, 0, 2, 1]]),
        ("pool", [[1, 1, 2.0, 1.0, 0.5]]),
        ("pool", [[1, 0, 2.0, 3.0, 0.5]]),
        ("pool", [[1, 0, 2.0, 1.0, -0.5]]),
        ("pool", [[1.0, 0, 2.0, 1.0, 0.5]]),
        ("notes", NOTES | {"\ud800": 1}),
        ("notes", NOTES | {"time/play_s": 1e299}),
        ("notes", NOTES | {"a": float("nan")}),
        ("sums", {"policy": 1.0}),
        ("sums", {"steps": 5, "seconds": 1.0}),
        ("sums", {"steps": 4, "seconds": 0.0}),
        ("steps_this_iteration", 10),
        ("promoted", [0, 2]),
        ("promoted", [1, 0]),
        ("promoted", ["0"]),
        ("final", "../../secret"),  # it would publish any file
        ("final", "mean.safetensors"),
        ("final", 3),
        ("final", None),
    ],
)
def test_a_signed_state_with_impossible_values_is_refused(tmp_path, name, value):
    path = write(tmp_path, **{name: value})
    said = rf"^the run's state '[^\n]*' cannot be read: (sums|{name}) = [^\n]* is not valid$"
    with pytest.raises(BadInput, match=said):
        read_state(path)
