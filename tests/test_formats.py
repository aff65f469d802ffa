"""Tests of files of earlier versions: they load, or are refused in one line with the reason."""

import gzip
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file
from training.test_gate import Silent

from azero.config.reading import load_config
from azero.errors import BadInput
from azero.games import make_game
from azero.mcts.rollouts.weights import load_rollout
from azero.nets.checkpoint import load_checkpoint
from azero.selfplay.data.shard_files import load_shard, save_shard
from azero.selfplay.pool import Pool
from azero.system import formats
from azero.system.tensor_files import read_tensors, write_tensors
from azero.training.learning.trainer import Trainer
from azero.training.loop import train
from azero.training.reanalysis import reanalyse
from azero.training.resumed_settings import open_run
from azero.training.run import Run
from azero.training.state import load_state

FROZEN = Path(__file__).parent / "data" / "formats"
GAME = make_game("tic_tac_toe")
FILES = {
    "run/config.toml": lambda path: load_config(path, is_of_run=True),
    "run/state.safetensors": lambda path: load_run(path.parent),
    "run/best.safetensors": load_checkpoint,
    "run/replay/00002-0000.safetensors": lambda path: load_shard(path, GAME),
    "rollout.safetensors": lambda path: load_rollout(path, GAME),
}


def load_run(folder: Path):
    return load_state(folder, Trainer(open_run(folder, []), GAME))


@pytest.fixture
def frozen(tmp_path) -> Path:
    """A copy of files from before files had format versions. Warnings are printed again."""
    formats.warn_once.cache_clear()
    folder = shutil.copytree(FROZEN, tmp_path / "formats")
    packed = folder / "rollout.safetensors.gz"
    packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
    return folder


def rewrite(path: Path, **said: object) -> None:
    """Rewrites a file with changed metadata."""
    if path.suffix == ".toml":
        path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items()) + path.read_text())
        return
    with safe_open(str(path), framework="numpy") as file:
        card = json.loads(file.metadata()["azero"]) | said
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    save_file(tensors, path, {"azero": json.dumps(card)})


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_an_earlier_version_loads(frozen, capsys, name):
    assert FILES[name](frozen / name)
    assert "replay" in name or capsys.readouterr().err == ""


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_a_later_format_is_refused_in_a_line(frozen, name):
    if name.endswith(".safetensors"):
        card, tensors = read_tensors(frozen / name, "")
        own = {key: value for key, value in card.items() if key != "digest"}
        write_tensors(frozen / name, tensors, own | {"format": 99})
    else:
        rewrite(frozen / name, format=99)
    with pytest.raises(BadInput, match=r"has format 99; this version of azero reads format 1( or 2)?$"):
        FILES[name](frozen / name)


def test_of_shards_without_openings_only_games_from_the_start_are_read(frozen, capsys):
    shard = load_shard(frozen / "run" / "replay" / "00002-0000.safetensors", GAME)
    initial = GAME.new_initial_state().record
    assert all(record == initial for record in shard.states[np.cumsum(shard.lengths) - shard.lengths])
    assert "has an old format; 3 of its 4 games are not used: they have openings" in capsys.readouterr().err


def test_a_run_of_an_earlier_version_goes_on(frozen):
    folder = frozen / "run"
    assert train(folder, open_run(folder, ["training.iterations=3"]), is_resuming=True).iteration == 3
    assert load_config(folder / "config.toml").training.iterations == 3
    assert (folder / "config.toml").read_text().startswith("# Format of this file.\nformat = 1\n")


def test_a_run_of_an_earlier_version_goes_on_within_an_iteration(frozen):
    """It has no notes of what later versions count."""
    folder = frozen / "run"
    run = Run(folder, open_run(folder, []), GAME)
    trainer = Trainer(run.config, GAME)
    progress = replace(load_state(folder, trainer), stage="reanalysis", notes={})
    with Pool(1) as pool:
        done = reanalyse(run, progress, run.load_replay(progress), pool, trainer, Silent())
    assert done.stage == "train" and done.notes["selfplay/worker_deaths"] == 0


def test_what_is_no_longer_known_is_left_out_and_told_once(frozen, capsys):
    path = frozen / "run" / "config.toml"
    path.write_text(path.read_text().replace("[search]\n", "[search]\nforesight = 3\n") + "\n[crystal]\nball = true\n")
    rewrite(frozen / "run" / "state.safetensors", mood="good")
    for _ in range(2):
        assert load_run(frozen / "run").iteration == 3
    told = capsys.readouterr().err.splitlines()
    ending = "which this version of azero does not know and ignores"
    assert told == [
        f"azero: config {str(path)!r} has search.foresight, crystal.ball, {ending}",
        f"azero: the run's state {str(path.with_name('state.safetensors'))!r} has mood, {ending}",
    ]
    with pytest.raises(BadInput, match=r"^unknown setting 'search.foresight'"):
        load_config(path)


def test_a_shard_says_its_format(frozen):
    path = frozen / "run" / "replay" / "00002-0000.safetensors"
    shard = load_shard(path, GAME)
    save_shard(path, shard, GAME)
    with safe_open(str(path), framework="numpy") as file:
        card = json.loads(file.metadata()["azero"])
    assert (card["format"], card["game"]) == (2, "tic_tac_toe")
