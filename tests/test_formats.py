"""Tests of files of other versions of azero: they are refused in one line that names the file."""

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from selfplay.games import some_games
from training.runs import tiny_config

from azero.games import make_game
from azero.mcts.rollouts.features import NUM_PATTERNS
from azero.mcts.rollouts.weights import RolloutCard, load_rollout, save_rollout
from azero.nets.checkpoint import load_checkpoint
from azero.runs.folder import CONFIG, STATE
from azero.runs.settings import read_settings
from azero.runs.shards import load_shard, save_shard
from azero.runs.state import Progress, read_state
from azero.system.formats import OtherFormat
from azero.system.tensor_files import read_tensors, write_tensors
from azero.training.checking import check_run
from azero.training.learning.trainer import Trainer
from azero.training.resuming import open_run
from azero.training.run import Run, save_state

FROZEN = Path(__file__).parent / "data" / "formats"
GAME = make_game("tic_tac_toe")
READ = {
    "config.toml": lambda path: read_settings(path.parent),
    "state.safetensors": read_state,
    "best.safetensors": load_checkpoint,
    "00001-0000.safetensors": lambda path: load_shard(path, GAME),
    "rollout.safetensors": lambda path: load_rollout(path, GAME),
}


@pytest.fixture
def frozen(tmp_path) -> Path:
    """A copy of files of earlier versions.

    Those in `run` are from before files had format versions. The run `run_2` has settings that no longer exist, and was
    saved before a stage that no longer exists.
    """
    folder = shutil.copytree(FROZEN, tmp_path / "formats")
    packed = folder / "rollout.safetensors.gz"
    packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
    return folder


@pytest.fixture
def present(tmp_path) -> Path:
    """A folder with a file of each kind, of this version."""
    config = tiny_config()
    run, trainer = Run.create(tmp_path / "run", config, GAME), Trainer(config, GAME)
    run.save_net(run.best_path, trainer.candidate(), Progress())
    save_state(run.folder, config, trainer, Progress())
    save_shard(run.folder / "00001-0000.safetensors", some_games(GAME), GAME)
    weights = np.zeros(NUM_PATTERNS, np.float32), np.zeros(GAME.num_actions, np.float32)
    save_rollout(run.folder / "rollout.safetensors", *weights, RolloutCard("tic_tac_toe", "", 9, 3, 1, 0, {}))
    return run.folder


def refusal(read, *arguments) -> str:
    """Returns the line with which another version's file is refused."""
    with pytest.raises(OtherFormat) as error:
        read(*arguments)
    assert "\n" not in str(error.value)
    return str(error.value)


def rewritten(path: Path, **said: object) -> Path:
    """Writes a file again with other metadata, with a right digest."""
    if path.suffix == ".toml":
        text = path.read_text().replace("format = 1\n", "")
        path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items()) + text)
        return path
    card, tensors = read_tensors(path, "")
    write_tensors(path, tensors, {key: value for key, value in (card | said).items() if key != "digest"})
    return path


@pytest.mark.parametrize("name", READ)
def test_a_file_of_this_version_loads_and_one_of_a_later_format_is_refused(present, name):
    path = present / name
    READ[name](path)
    told = refusal(READ[name], rewritten(path, format=99))
    assert repr(str(path)) in told and "has format 99; this version of azero reads format " in told


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("run/config.toml", "has no format; this version of azero reads format 1"),
        ("run/state.safetensors", "has no format; this version of azero reads format 2"),
        ("run/replay/00002-0000.safetensors", "has no format; this version of azero reads format 2"),
        ("rollout.safetensors", "has format 1; this version of azero reads format 2"),
        ("run_2/config.toml", "is of another version of azero: it has selfplay.resign_error, "),
        ("run_2/state.safetensors", "is of another version of azero: it lacks "),
        ("run_2/replay/00001-0000.safetensors", "is of another version of azero: it has "),
    ],
)
def test_a_file_of_an_earlier_version_is_refused_in_a_line_that_names_it(frozen, name, reason):
    path = frozen / name
    read = READ.get(path.name, READ["00001-0000.safetensors"])
    told = refusal(read, path)
    assert f"{str(path)!r} {reason}" in told


@pytest.mark.parametrize("name", ["run", "run_2"])
def test_a_run_of_an_earlier_version_is_refused_and_left_alone(frozen, name):
    folder = frozen / name
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for act in (lambda: open_run(folder, []), lambda: check_run(folder, is_repairing=True)):
        assert repr(str(folder))[:-1] in refusal(act)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.replace("value_lambda = 0.9\n", ""), "it lacks training.value_lambda"),
        (lambda text: text.replace("[gate]\n", "[gate]\nelo0 = 0.0\n"), "it has gate.elo0"),
        (lambda text: text + "[crystal]\nball = 1\n", "it has crystal.ball"),
        (lambda text: text.replace("c_puct = ", "c_plus = "), "it has search.c_plus and lacks search.c_puct"),
        (
            lambda text: text[: text.index("[gate]")],
            "it lacks cluster.cpus_per_worker, cluster.deadline_s, cluster.mixed and 17 more",
        ),
    ],
)
def test_a_run_has_exactly_the_settings_that_this_version_knows(present, change, reason):
    """Otherwise it might go on with a default that it did not begin with."""
    path = present / CONFIG
    path.write_text(change(path.read_text()))
    assert reason in refusal(open_run, present, [])


def test_a_state_has_exactly_the_fields_that_this_version_knows(present):
    path = present / STATE
    card, tensors = read_tensors(path, "")
    del card["digest"]
    for changed, reason in (
        (card | {"mood": "good"}, "it has mood"),
        ({key: value for key, value in card.items() if key != "pool"}, "it lacks pool"),
        ({key: value for key, value in card.items() if key != "settings"}, "it lacks settings"),
        (card | {"settings": card["settings"] | {"crystal": {"ball": 1}}}, "it has crystal.ball"),
    ):
        write_tensors(path, tensors, changed)
        assert refusal(read_state, path) == f"the run's state {str(path)!r} is of another version of azero: {reason}"
