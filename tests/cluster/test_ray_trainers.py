"""Tests of a trainer whose processes are on the nodes of a Ray cluster: the weights are those of one process."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from training.runs import nets_of, wait_until

from azero.cluster.fingerprint import Fingerprint
from azero.errors import BadInput
from azero.selfplay.workers import local_pool
from azero.training.learning import trainer as trainer_of
from azero.training.train import train

from .shared import config_of

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]  # Ray's own code warns


def test_processes_are_where_most_cores_are():
    from azero.cluster.ray_backend import shared_out  # it imports Ray

    assert shared_out({"own": 0, "a": 4, "b": 4}, "own", 3, 8) == (["a", "b"], 4)
    assert shared_out({"own": 2}, "own", 2, 2) == (["own"], 1)
    assert shared_out({"own": 0}, "own", 2, 2) == (["own"], 1)
    places, num_threads = shared_out({"own": 4, "a": 12}, "own", 4, 4)
    assert places == ["a", "a", "a"] and num_threads == 4


def test_on_gpus_one_is_left_for_self_play():
    from azero.cluster.ray_backend import gpus_for

    assert gpus_for({"a": 1, "b": 3, "c": 0}, 4) == ["b", "b", "a"]
    with pytest.raises(BadInput, match="needs 4 GPUs beside that of this process, and self-play needs one; .* has 4$"):
        gpus_for({"a": 1, "b": 3}, 5)


@pytest.mark.slow
def test_several_processes_give_the_weights_of_one(cluster, whole, tmp_path):
    train(config_of(3), tmp_path / "run", make_pool=cluster.pool)
    assert nets_of(tmp_path / "run") == whole


@pytest.mark.slow
def test_a_user_s_game_travels_to_the_trainers(cluster, tmp_path, monkeypatch):
    """Their working folder is another one, in which there is no such file."""
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[1] / "data" / "nim.py").read_text()
    Path("nim.py").write_text(text.replace("= 21", "= 9"))
    sections = {"game": {"name": "nim.py:Nim"}, "evaluation": {"every": 0}}
    for name, trainers, make_pool in (("one", 1, local_pool), ("two", 2, cluster.pool)):
        train(config_of(trainers, **sections), name, make_pool=make_pool)
    assert nets_of(Path("two")) == nets_of(Path("one"))


@pytest.mark.slow
def test_a_process_that_is_killed_ends_the_run_which_goes_on(cluster, whole, tmp_path, monkeypatch):
    step = trainer_of.Trainer.step

    def step_after_a_death(self, *arguments):
        if self.steps == 2:
            os.kill(int(trainers_here()[0]), signal.SIGKILL)
        return step(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(trainer_of.Trainer, "step", step_after_a_death)
        with pytest.raises(
            BadInput, match="^process 1 of the trainer has ended, or its node has .*; the run is saved: "
        ):
            train(config_of(2), tmp_path / "run", make_pool=cluster.pool)
    wait_until(lambda: not trainers_here())
    train(None, tmp_path / "run", resume=True, make_pool=cluster.pool)
    assert nets_of(tmp_path / "run") == whole


def trainers_here():
    """Returns the process ids of trainers' further processes on this machine."""
    found = subprocess.run(["pgrep", "-f", "^ray::azero_trainer"], capture_output=True, text=True).stdout
    return found.split()


def test_a_node_with_another_azero_is_refused(cluster, tmp_path, monkeypatch):
    here = Fingerprint.here()
    monkeypatch.setattr(Fingerprint, "here", classmethod(lambda cls: here._replace(code="other")))
    with pytest.raises(BadInput, match="^the trainer cannot use a node: .* has another code of azero "):
        train(config_of(2), tmp_path / "run", make_pool=cluster.pool)
