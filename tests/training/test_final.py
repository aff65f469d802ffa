"""Tests of the final: its participants, the mean of nets, and that the winner is published."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from azero.nets.checkpoint import load_checkpoint
from azero.training import final
from azero.training.learning.trainer import Trainer
from azero.training.run import Run
from azero.training.state import Progress

from .runs import tiny_config
from .test_gate import GAME, Silent


@pytest.fixture
def run(tmp_path):
    """A run with nets of iterations 0, 2, 3 and 5, and a candidate of iteration 6, all different."""
    config = tiny_config()
    run = Run.create(tmp_path / "run", config, GAME)
    for seed, path in enumerate([*(run.checkpoint_path(k) for k in (0, 2, 3, 5)), run.candidate_path]):
        net = Trainer(config.model_copy(update={"seed": seed}), GAME).candidate()
        run.save_net(path, net, Progress(iteration=6))
    return run


def hold(monkeypatch, run, winner, best=5, iteration=6):
    """Holds a final that `winner` wins while other matches are drawn; returns its result and the pairings."""
    met = []

    def play_match(a, b, game, num_games, seed, opening_plies, on_games):
        assert num_games == run.config.gate.final_games
        names = [agent.name.rpartition("/")[2].partition(".")[0] for agent in (a, b)]
        met.append(tuple(names))
        score = 1.0 if names[0] == winner else 0.0 if names[1] == winner else 0.5
        return SimpleNamespace(tally=SimpleNamespace(score=score))

    monkeypatch.setattr(final, "play_match", play_match)
    report = Silent()
    progress = Progress(iteration=iteration, best=best)
    promoted = run.promoted(replace(progress, iteration=iteration + 1))
    return final.hold_final(run, replace(progress, promoted=promoted), report), met


@pytest.mark.parametrize("winner", ["00002", "00005", "candidate", "mean"])
def test_the_last_three_the_candidate_and_their_mean_meet_and_the_winner_stays(monkeypatch, run, winner):
    (name, notes), met = hold(monkeypatch, run, winner)
    assert name == winner and notes == {"final/score": 1.0, "final/nets": 5}
    assert met == list(itertools.combinations(["candidate", "00005", "00003", "00002", "mean"], 2))
    kept = {path.stem for path in run.checkpoint_path(0).parent.iterdir()}
    assert kept == {"00000", "00002", "00003", "00005", winner}
    run.publish_best(replace(Progress(iteration=7, best=5), final=name))
    assert run.best_path.read_bytes() == run.checkpoint_file(name).read_bytes()


def test_if_all_draw_the_newest_net_wins(monkeypatch, run):
    assert hold(monkeypatch, run, "nobody")[0][0] == "candidate"
    assert hold(monkeypatch, run, "nobody", best=5, iteration=5)[0][0] == "00005"


def test_a_candidate_that_was_promoted_takes_part_once(monkeypatch, run):
    _, met = hold(monkeypatch, run, "00003", best=5, iteration=5)
    assert {name for pair in met for name in pair} == {"00002", "00003", "00005", "mean"}


def test_the_mean_is_that_of_weights_and_running_statistics(monkeypatch, run):
    hold(monkeypatch, run, "mean")
    paths = [*(run.checkpoint_path(k) for k in (2, 3, 5)), run.candidate_path]
    states = [load_checkpoint(path, GAME).net.state_dict() for path in paths]
    mean = load_checkpoint(run.checkpoint_file("mean"), GAME).net.state_dict()
    assert len({float(state["stem.convolution.weight"].sum()) for state in states}) == 4
    for name, tensor in mean.items():
        if tensor.is_floating_point():
            torch.testing.assert_close(tensor, sum(state[name] for state in states) / 4)


def test_a_run_that_goes_on_publishes_what_is_promoted(run):
    assert run.published_path(Progress(best=3)) == run.checkpoint_path(3)
    assert run.published_path(Progress(best=3, final="mean")) == run.checkpoint_file("mean")
