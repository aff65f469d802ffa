"""Tests of the final: its participants, the mean of nets, and that the winner is published."""

import itertools
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from azero.arena.matches.results import GameResult
from azero.nets.checkpoint import load_checkpoint
from azero.runs.folder import nets_in
from azero.runs.state import NUM_PROMOTED, Progress
from azero.training import final, rating
from azero.training.learning.trainer import Trainer
from azero.training.run import Run

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
    """Holds a final that `winner` wins while other games are drawn; returns progress, notes, and pairs by pairing."""
    met = Counter()

    def play(meetings, pool, on_games, agents):
        return [SimpleNamespace(results=results_of(meeting)) for meeting in meetings]

    def results_of(meeting):
        names = [Path(each.checkpoint).stem for each in (meeting.a, meeting.b)]
        assert meeting.num_games % 2 == 0 and meeting.first_pair == met[tuple(names)]
        met[tuple(names)] += meeting.num_games // 2
        score = 1.0 if names[0] == winner else 0.0 if names[1] == winner else 0.5
        games = range(2 * meeting.first_pair, 2 * meeting.first_pair + meeting.num_games)
        return [GameResult(k // 2, k % 2 == 0, (k,), score) for k in games]

    monkeypatch.setattr(final, "play_matches", play)
    report = Silent()
    progress = Progress(iteration=iteration, best=best)
    promoted = [net.iteration for net in nets_in(run.folder) if net.iteration <= iteration][-NUM_PROMOTED:]
    return *final.hold_final(run, progress.changed(promoted=promoted), report, None), met


@pytest.mark.parametrize("winner", ["00002", "00005", "candidate", "mean"])
def test_the_last_three_the_candidate_and_their_mean_meet_and_the_winner_stays(monkeypatch, run, winner):
    progress, notes, met = hold(monkeypatch, run, winner)
    assert progress.final == winner and notes["final/nets"] == 5 and notes["final/score"] == 1.0
    assert {*met} <= {*itertools.combinations(["candidate", "00005", "00003", "00002", "mean"], 2)}
    assert {name for pair in met for name in pair} == {"candidate", "00005", "00003", "00002", "mean"}
    assert notes["final/games"] == 2 * met.total() <= 10 * run.config.gate.final_games
    kept = {path.stem for path in run.checkpoint_path(0).parent.iterdir()}
    assert kept == {"00000", "00002", "00003", "00005", winner}
    run.publish_best(Progress(iteration=7, best=5, final=progress.final))
    assert run.best_path.read_bytes() == run.checkpoint_file(progress.final).read_bytes()


def test_if_all_draw_the_newest_net_wins(monkeypatch, run):
    assert hold(monkeypatch, run, "nobody")[0].final == "candidate"
    assert hold(monkeypatch, run, "nobody", best=5, iteration=5)[0].final == "00005"


def test_a_candidate_that_was_promoted_takes_part_once(monkeypatch, run):
    *_, met = hold(monkeypatch, run, "00003", best=5, iteration=5)
    assert {name for pair in met for name in pair} == {"00002", "00003", "00005", "mean"}


def test_a_net_that_is_clearly_weaker_plays_no_more_and_a_clear_winner_ends_the_final(monkeypatch, run):
    run.config = run.config.model_copy(update={"gate": run.config.gate.model_copy(update={"final_games": 40})})
    _, notes, met = hold(monkeypatch, run, "00003")
    assert notes["final/games"] < 400 / 2 and notes["final/games"] == 2 * met.total()
    _, notes, _ = hold(monkeypatch, run, "nobody")
    assert notes["final/games"] == 400, "the choice stays open"


def test_the_games_enter_the_pool_of_the_run_except_those_of_the_mean(monkeypatch, run):
    progress, _, met = hold(monkeypatch, run, "00002")
    nets = {"candidate": 6, "00005": 5, "00003": 3, "00002": 2}
    rows = {(nets[a], nets[b]): pairs for (a, b), pairs in met.items() if "mean" not in (a, b)}
    assert {(a, b): pairs for a, b, pairs, *_ in progress.pool} == rows
    assert all(points == pairs * (a == 2) + pairs / 2 * (2 not in (a, b)) for a, b, pairs, points, _ in progress.pool)


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


@pytest.mark.parametrize("winner", ["00002", "candidate", "mean"])
def test_the_rating_is_that_of_the_winner(monkeypatch, run, winner):
    """It had been that of the net promoted last, which has lost to the winner here."""
    progress, *_ = hold(monkeypatch, run, winner)
    assert progress.rating > rating.rated(progress).rating + 50
