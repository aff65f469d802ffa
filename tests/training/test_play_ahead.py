"""Tests of training.play_ahead: games are those of taking turns, whoever plays them, and whenever a run is killed."""

import signal
import threading
from pathlib import Path

import pytest
from system.fake import FakeCluster

from azero.errors import BadInput
from azero.runs.metrics import read_metrics
from azero.runs.state import Progress
from azero.selfplay.workers import local_pool
from azero.system.worker_pool import Pool, Workers
from azero.training.loop import train_run
from azero.training.resuming import open_run
from azero.training.run import Run

from .runs import (
    TIMEOUT_S,
    figures_of,
    files_of,
    finish_train,
    fork_train,
    nets_of,
    progress_of,
    strike_at_write,
    tiny_config,
    write_config,
)

SMALL = tiny_config(
    selfplay={"games_per_iteration": 4, "games_per_shard": 2},
    training={"iterations": 2, "play_ahead": 1, "batch_size": 16},
    gate={"games": 2, "rating_games": 0, "final_games": 0},
    evaluation={"every": 0},
    device={"runtime": "torch"},
)
TURNS = "azero: training.play_ahead = 1: a single worker is this process, which takes turns\n"


class Beside(Pool):
    """A pool whose work is done by the thread that asks for it, in this process; `asked` has the threads."""

    works_beside = True

    def __init__(self, fails_at: str = ""):
        self.asked: list[tuple[str, bool]] = []
        self._fails_at = fails_at

    def run(self, work, tasks, on_done, shared, title="task"):
        self.asked.append((title, threading.current_thread() is threading.main_thread()))
        if title == self._fails_at:
            raise BadInput("no worker is left")
        yield from super().run(work, tasks, on_done, shared, title)


def play(folder, make_pool=local_pool):
    train_run(folder, SMALL, is_resuming=False, make_pool=make_pool)


@pytest.fixture(scope="module")
def in_turns(tmp_path_factory):
    """The folder of a run of two iterations with play_ahead, by a single worker."""
    folder = tmp_path_factory.mktemp("turns") / "run"
    play(folder)
    return folder


def test_games_are_those_of_taking_turns(in_turns, tmp_path, capsys):
    """Also by a cluster, whose workers play the gate's games at the same time."""
    play(tmp_path / "run", lambda config, tell: Workers(FakeCluster(), tell))
    assert nets_of(tmp_path / "run") == nets_of(in_turns)
    shards = [files_of(each / "replay") for each in (in_turns, tmp_path / "run")]
    assert shards[0] == shards[1] and len(shards[0]) == 4
    figures = [
        {key: value for key, value in line.items() if "cluster/" not in key} for line in figures_of(tmp_path / "run")
    ]
    assert figures == figures_of(in_turns)
    assert TURNS not in capsys.readouterr().err
    first, second = read_metrics(tmp_path / "run" / "metrics.jsonl")
    assert "time/ahead_s" not in first and 0 < second["time/overlap"] <= 1
    assert second["time/iteration_s"] == second["time/play_s"] + second["time/train_s"] + second["time/gate_s"]


def test_an_error_of_the_background_ends_the_run_which_can_go_on(in_turns, tmp_path):
    folder, failing = tmp_path / "run", Beside("self-play, iteration 2")
    with pytest.raises(BadInput, match="^no worker is left$"):
        play(folder, lambda config, tell: failing)
    assert failing.asked == [("self-play, iteration 1", True), ("self-play, iteration 2", False)]
    assert progress_of(folder)["stage"] != "play"
    pool = Beside()
    train_run(folder, open_run(folder, []), is_resuming=True, make_pool=lambda config, tell: pool)
    assert pool.asked == [("self-play, iteration 2", False)] and nets_of(folder) == nets_of(in_turns)


def test_who_plays(tmp_path, in_turns):
    """The player is the best net before the gate; random weights stay behind if a net learns from another's games."""
    assert progress_of(in_turns)["player"] in (0, 1) and progress_of(in_turns)["stage"] == "play"
    for play_ahead, first_games, first_net, expected in (
        (0, "none", "none", [False, False]),
        (1, "none", "none", [True, True]),
        (1, "runs/a", "none", [False, True]),
        (1, "runs/a", "connect_four", [True, True]),
    ):
        training = {"play_ahead": play_ahead, "first_net": first_net}
        run = Run(tmp_path, tiny_config(training=training, replay={"first_games": first_games}), None)
        assert [run.config.plays_ahead(iteration) for iteration in (1, 2)] == expected


@pytest.mark.parametrize("play_ahead", [0, 1])
def test_shards_played_ahead_stay_only_while_they_are_wanted(tmp_path, play_ahead):
    run = Run(tmp_path, tiny_config(training={"play_ahead": play_ahead}), None)
    (tmp_path / "replay").mkdir()
    for name in ("00001-0000", "00002-0000", "00003-0000"):
        run.shard_path(name).touch()
    run.remove_old_shards(Progress(iteration=2, stage="gate", shards=["00002-0000"]))
    assert (
        sorted(files_of(tmp_path / "replay")) == ["00002-0000.safetensors", "00003-0000.safetensors"][: 1 + play_ahead]
    )


# --- killed ---


def strike_beside(run, write, moment, sign):
    """As `strike_at_write`; the only worker is a thread, which is ready at once."""
    Pool.works_beside = True
    strike_at_write(run, write, moment, sign)


def strike(run, config, write, moment, sign=signal.SIGKILL):
    """Trains until the run signals itself; returns the exit code."""
    process = fork_train(run, config, strike_beside, write, moment, int(sign))
    process.join(TIMEOUT_S)
    return process.exitcode


@pytest.fixture(scope="session")
def ahead_config(tmp_path_factory):
    """The file of tiny settings with play_ahead."""
    return write_config(tmp_path_factory.mktemp("config"), training={"play_ahead": 1})


@pytest.fixture(scope="session")
def ahead(ahead_config, tmp_path_factory):
    """The folder of an unbroken run of these settings, in turns."""
    run = tmp_path_factory.mktemp("ahead") / "run"
    finish_train(run, ahead_config)
    assert TURNS in Path(f"{run}.err").read_text()
    return run


STRIKES = [
    ("state 1 train 0", "after"),  # self-play ahead is about to begin
    ("replay/00002-0000", "before"),  # in training or the gate
    ("replay/00002-0001", "after"),
    ("state 2 play 0", "before"),  # the gate is over, and its result is lost
    ("state 2 play 0", "after"),
    ("replay/00003-0000", "after"),
]


@pytest.mark.long
@pytest.mark.parametrize(("write", "moment"), STRIKES)
def test_killed_in_every_stage_it_ends_the_same(ahead, ahead_config, whole, tmp_path, write, moment):
    run = tmp_path / "run"
    assert strike(run, ahead_config, write, moment) == -signal.SIGKILL
    finish_train(run, ahead_config)
    assert nets_of(run) == nets_of(ahead) != nets_of(whole)
    assert figures_without_times(run) == figures_without_times(ahead)


def figures_without_times(run):
    return [{key: line[key] for key in line if not key.startswith("time/")} for line in figures_of(run)]


@pytest.mark.long
@pytest.mark.parametrize("write", ["replay/00002-0000", "state 1 train 4", "state 2 play 0"])
def test_interrupted_it_says_how_to_go_on_and_ends_the_same(ahead, ahead_config, tmp_path, write):
    run = tmp_path / "run"
    assert strike(run, ahead_config, write, "after", signal.SIGINT) == 130
    errors = Path(f"{run}.err").read_text()
    assert errors.splitlines()[-1] == f"azero: stopped; go on with: azero train --run {run} --resume"
    assert "Traceback" not in errors
    finish_train(run, ahead_config)
    assert nets_of(run) == nets_of(ahead)


@pytest.mark.long
def test_a_full_disk_in_the_background_ends_in_one_line(ahead, ahead_config, tmp_path):
    run = tmp_path / "run"
    assert strike(run, ahead_config, "replay/00002-0000", "before", sign=0) == 2
    assert Path(f"{run}.err").read_text().splitlines()[-1].startswith("azero: No space left on device")
    finish_train(run, ahead_config)
    assert nets_of(run) == nets_of(ahead)


@pytest.mark.long
def test_resumed_in_turns_it_learns_from_no_game_that_only_playing_ahead_would_play(ahead_config, tmp_path):
    """A run whose second iteration was played ahead in part ends as one in which nothing was."""
    for number in range(5):  # the kill comes during the first iteration, or, rarely, after its gate
        ahead = tmp_path / f"ahead{number}"
        assert strike(ahead, ahead_config, "replay/00002-0000", "after") == -signal.SIGKILL
        if progress_of(ahead)["iteration"] == 1:
            break
    assert progress_of(ahead)["iteration"] == 1, "the net of the second iteration should still be open"
    train_run(ahead, open_run(ahead, ["training.play_ahead=0"]), is_resuming=True)
    finish_train(turns := tmp_path / "turns", write_config(tmp_path, training={"play_ahead": 0}))
    assert nets_of(ahead) == nets_of(turns)


# --- two worker processes ---


@pytest.mark.long
def test_two_workers_play_the_same_games(ahead, tmp_path):
    config = write_config(tmp_path, training={"play_ahead": 1}, selfplay={"num_workers": 2})
    finish_train(tmp_path / "run", config)
    assert nets_of(tmp_path / "run") == nets_of(ahead)
    assert TURNS not in Path(f"{tmp_path / 'run'}.err").read_text()
