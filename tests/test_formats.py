"""Tests of files of earlier versions: they load, or are refused in one line with the reason."""

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from azero.config.reading import load_config
from azero.config.schema import NetConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.mcts.rollouts.weights import load_rollout
from azero.nets.checkpoint import load_checkpoint
from azero.nets.growth import net_grown_from
from azero.selfplay.data.shard_files import load_shard, save_shard
from azero.system import formats
from azero.system.tensor_files import read_tensors, write_tensors
from azero.training.checking.check_run import check_run
from azero.training.learning.trainer import Trainer
from azero.training.loop import train
from azero.training.resumed_settings import open_run
from azero.training.state import load_state

FROZEN = Path(__file__).parent / "data" / "formats"
GAME = make_game("tic_tac_toe")
FILES = {
    "run/config.toml": lambda path: load_config(path, is_of_run=True),
    "run/state.safetensors": lambda path: load_run(path.parent),
    "run/best.safetensors": load_checkpoint,
    "run/replay/00002-0000.safetensors": lambda path: load_shard(path, GAME),
    "run_2/state.safetensors": lambda path: load_run(path.parent),
    "run_2/replay/00001-0000.safetensors": lambda path: load_shard(path, GAME),
    "rollout.safetensors": lambda path: load_rollout(path, GAME),
}


def load_run(folder: Path):
    return load_state(folder, Trainer(open_run(folder, []), GAME))


@pytest.fixture
def frozen(tmp_path) -> Path:
    """A copy of files of earlier versions. Warnings are printed again.

    Those in `run` are from before files had format versions. The run `run_2` used many of the settings that no longer
    exist, and was saved before its stage of reanalysis.
    """
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


LEARN_PROVEN = "azero: setting training.learn_proven = True no longer exists and is ignored: "
"""A line about the frozen runs."""


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_an_earlier_version_loads(frozen, capsys, name):
    assert FILES[name](frozen / name)
    told = [line for line in capsys.readouterr().err.splitlines() if not line.startswith(LEARN_PROVEN)]
    assert "replay" in name or "run_2" in name or told == []


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
    assert (
        "was written by an earlier version; 3 of its 4 games are not used: they have openings"
        in capsys.readouterr().err
    )


def test_a_run_of_an_earlier_version_goes_on(frozen):
    folder = frozen / "run"
    assert train(folder, open_run(folder, ["training.iterations=3"]), is_resuming=True).iteration == 3
    assert load_config(folder / "config.toml").training.iterations == 3
    assert (folder / "config.toml").read_text().startswith("# Format of this file.\nformat = 1\n")


def test_a_run_that_was_about_to_reanalyse_trains_instead(frozen, capsys):
    """It says once which settings it ignores, and which games it leaves out."""
    folder = frozen / "run_2"
    state = folder / "state.safetensors"
    assert read_tensors(state, "")[0]["stage"] == "reanalysis"
    config = open_run(folder, [])
    progress = load_state(folder, Trainer(config, GAME))
    assert (progress.iteration, progress.stage) == (3, "train")
    assert train(folder, config, is_resuming=True).iteration == 3
    told = capsys.readouterr().err.splitlines()
    ignored = "no longer exists and is ignored: "
    assert [line for line in told if "setting" in line] == [
        f"azero: setting selfplay.resign_error = 0.6 {ignored}it showed no gain (docs/learning.md)",
        f"azero: setting selfplay.resign_played_on_share = 0.5 {ignored}it showed no gain (docs/learning.md)",
        f"azero: setting selfplay.forced_playouts = 2.0 {ignored}it showed no gain (docs/learning.md)",
        f"azero: setting selfplay.keep_tree = False {ignored}it is always true (docs/learning.md)",
        f"azero: setting selfplay.random_symmetry = False {ignored}it is always true (docs/learning.md)",
        f"azero: setting replay.reanalysed_share = 0.5 {ignored}it showed no gain (docs/learning.md)",
        f"{LEARN_PROVEN}it showed no gain (docs/learning.md)",
        f"azero: setting gate.method = 'sprt' {ignored}the gate decides by gate.win_rate_threshold (docs/learning.md)",
    ]
    left_out = "was written by an earlier version; 2 of its 4 games are not used: they were resigned"
    shard = folder / "replay" / "00002-0001.safetensors"
    assert [line for line in told if "games are not used" in line] == [f"azero: replay file {str(shard)!r} {left_out}"]


def test_a_run_with_a_head_that_no_longer_exists_cannot_continue_but_its_net_can_be_used(frozen, tmp_path):
    folder = frozen / "run_2"
    path = folder / "state.safetensors"
    card, tensors = read_tensors(path, "")
    del card["digest"]
    card["settings"]["training"]["reply_loss_weight"] = 0.15
    write_tensors(path, tensors | {"heads.reply.0.weight": np.zeros(3, np.float32)}, card)
    before = {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()}
    message = (
        rf"^the run's state '.*' has a head that no longer exists, training.reply_loss_weight \(docs/learning.md\), "
        rf"so the run cannot continue; begin another with --from {folder}, which takes its net, and "
        rf"--games-of {folder}$"
    )
    for act in (lambda: open_run(folder, []), lambda: load_run(folder), lambda: check_run(folder, True)):
        with pytest.raises(BadInput, match=message):
            act()
    assert {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()} == before
    changes = [f"training.first_net={folder}", f"replay.first_games={folder}", "training.iterations=1"]
    config = load_config(folder / "config.toml", changes, is_of_run=True)
    assert train(tmp_path / "new", config, is_resuming=False).iteration == 1


def with_net_that_no_longer_exists(folder: Path) -> Path:
    """Returns a run's folder after its settings have been given such a net."""
    path, state = folder / "config.toml", folder / "state.safetensors"
    path.write_text(path.read_text().replace('global_context = "none"', 'global_context = "se_bias"'))
    card, tensors = read_tensors(state, "")
    del card["digest"]
    card["settings"]["net"]["global_context"] = "se_bias"
    write_tensors(state, tensors, card)
    return folder


WITHOUT_NET = (
    "has net.global_context = 'se_bias', which no longer exists (docs/learning.md), so the run cannot continue; begin "
    "another, which can learn from its games with --games-of"
)


def test_a_run_whose_net_no_longer_exists_says_why_it_cannot_continue(frozen):
    folder = with_net_that_no_longer_exists(frozen / "run_2")
    for act in (lambda: open_run(folder, []), lambda: check_run(folder, True)):
        with pytest.raises(BadInput) as error:
            act()
        assert str(error.value) == f"the run's state {str(folder / 'state.safetensors')!r} {WITHOUT_NET}"
    (folder / "state.safetensors").unlink()
    message = f"config {str(folder / 'config.toml')!r} {WITHOUT_NET}"
    with pytest.raises(BadInput) as error:
        open_run(folder, [])
    (damage,) = check_run(folder, True).damaged
    assert str(error.value) == damage.what == message and damage.repair == ""


def test_a_checkpoint_whose_net_no_longer_exists_is_refused_in_a_line(frozen):
    path = frozen / "run_2" / "best.safetensors"
    card, tensors = read_tensors(path, "")
    del card["digest"]
    card["net"]["global_context"] = "se_bias"
    write_tensors(path, tensors, card)
    message = "cannot be used: net.global_context = 'se_bias' no longer exists (docs/learning.md)"
    for act in (load_checkpoint, lambda path: net_grown_from(path, NetConfig(), GAME, 0)):
        with pytest.raises(BadInput) as error:
            act(path)
        assert str(error.value) == f"checkpoint {str(path)!r} {message}"


def test_what_is_no_longer_known_is_left_out_and_told_once(frozen, capsys):
    path = frozen / "run" / "config.toml"
    path.write_text(path.read_text().replace("[search]\n", "[search]\nforesight = 3\n") + "\n[crystal]\nball = true\n")
    rewrite(frozen / "run" / "state.safetensors", mood="good")
    for _ in range(2):
        assert load_run(frozen / "run").iteration == 3
    told = [line for line in capsys.readouterr().err.splitlines() if not line.startswith(LEARN_PROVEN)]
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
