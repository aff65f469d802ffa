"""Tests of runs with a user's net: they learn, resume to the same bytes, and refuse another net's file."""

import shutil
import signal
from pathlib import Path

import pytest
from cases import long
from command_line import assert_bad_input

from azero.games.user import trust
from azero.nets.checkpoint_file import read_card

from .runs import figures_of, finish_train, nets_of, strike, write_config

EXAMPLE = Path(__file__).parents[2] / "examples" / "transformer.py"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with a net's file, a config that names it, and an unbroken run."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(EXAMPLE, folder / "net.py")
    name = "net.py:Transformer(width=8,blocks=1,heads=2)"
    config = write_config(
        folder, net={"name": name}, game={"name": "othello(size=4)"}, training={"score_loss_weight": 0.1}
    )
    finish_train(folder / "whole", config)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("write", ["state 1 train 4", *long("checkpoints/00000", "state 2 gate 0")])
def test_a_run_with_a_user_s_net_is_resumed_to_the_same_bytes(project, write):
    run, config = project / f"run-{write.replace('/', '-')}", project / "tiny.toml"
    assert strike(run, config, write, "after") == -signal.SIGKILL
    finish_train(run, config)
    assert figures_of(run) == figures_of(project / "whole")
    assert nets_of(run) == nets_of(project / "whole") and len(nets_of(run)) >= 3
    card = read_card(project / "whole" / "best.safetensors")
    assert card.net_file == "../net.py" and len(card.net_digest) == 16


@pytest.mark.slow
def test_its_checkpoint_plays_only_with_its_file_and_where_that_is_trusted(project, run_azero, tmp_path, monkeypatch):
    monkeypatch.setattr(trust, "_NAMED", set())
    shutil.copytree(project, tmp_path / "moved")
    run = tmp_path / "moved" / "whole"
    path = tmp_path / "moved" / "net.py"
    suggest = "suggest", f"{run}@20", "--json"
    monkeypatch.setenv("AZERO_CONFIG_DIR", str(tmp_path / "nobody"))
    assert_bad_input(run_azero(*suggest), "is code that you have not named", "azero check-net")
    assert run_azero("check-net", f"{path}:Transformer", "--game", "tic_tac_toe")[0] == 0
    assert run_azero(*suggest)[0] == 0
    assert run_azero("evaluate", f"{run}@9", "--against", "random", "--games", "2")[0] == 0
    assert run_azero("check-run", run)[0] == 0
    text = path.read_text()
    path.write_text(f"# a comment\n{text}")
    assert run_azero(*suggest)[0] == 0
    path.write_text(text.replace("nn.GELU()", "nn.ReLU()"))
    assert_bad_input(run_azero(*suggest), "has changed since it was made; it needs the file as it was")
    more = "train", "--run", run, "--resume", "--set", "training.iterations=4"
    assert_bad_input(run_azero(*more), "has changed since it was made")
    path.unlink()
    assert_bad_input(run_azero(*suggest), "net file", "cannot be read: No such file or directory")


def test_azero_s_nets_are_trained_by_name(tmp_path):
    finish_train(tmp_path / "run", write_config(tmp_path, net={"name": "dense"}, training={"iterations": 1}))
    assert read_card(tmp_path / "run" / "best.safetensors").net["name"] == "dense"


def test_a_head_that_a_net_has_no_features_for_is_refused_before_the_run_begins(run_azero, tmp_path):
    settings = "net.name=dense", "training.ownership_loss_weight=0.1", "game.name=othello(size=4)"
    words = [word for setting in settings for word in ("--set", setting)]
    assert_bad_input(
        run_azero("train", "tic_tac_toe", "--run", tmp_path / "run", *words),
        "ownership needs a net with features for each cell, e.g. net.name = tower",
    )
    assert not (tmp_path / "run").exists()
