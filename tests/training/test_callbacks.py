"""Tests of `azero.train` with callbacks: what they see, how often they are called, and that they change no byte."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from cases import long

import azero

from .runs import nets_of, tiny_config, write_config

SHORT = {"iterations": 2}
METHODS = [name for name in vars(azero.Callback) if name.startswith("after_")]


class Notes(azero.Callback):
    """Notes its calls, draws random numbers, and may fail in one of them."""

    def __init__(self, fails_at=None, error=None):
        self.calls, self.views, self._fails_at, self._error = [], [], fails_at, error or RuntimeError("full")

    def note(self, method, run):
        self.calls.append((run.iteration, method))
        self.views.append(run)
        torch.rand(3), np.random.rand(3)
        if self.calls[-1] == self._fails_at:
            raise self._error


for method in METHODS:
    setattr(Notes, method, lambda self, run, method=method: self.note(method, run))

STAGES = ["after_selfplay", "after_training", "after_gate", "after_iteration"]
ALL = [(iteration, stage) for iteration in (1, 2) for stage in STAGES]


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """An unbroken run of two iterations without callbacks."""
    folder = tmp_path_factory.mktemp("short") / "run"
    return azero.train(tiny_config(training=SHORT), folder)


def test_each_stage_is_called_once_and_no_byte_changes(short, tmp_path):
    notes = Notes()
    done = azero.train(tiny_config(training=SHORT), tmp_path / "run", callbacks=[notes])
    assert notes.calls == ALL
    assert nets_of(tmp_path / "run") == nets_of(short.folder)
    assert done.iteration == 2 and done.best_path == tmp_path / "run" / "best.safetensors" and done.best_path.is_file()
    assert (done.rating, done.promotions, done.final) == (short.rating, short.promotions, short.final)
    assert [row["iteration"] for row in done.history()] == [1, 2] and done.history()[-1] == done.metrics


def test_views_show_the_stage(tmp_path):
    class Looks(azero.Callback):
        def after_selfplay(self, run):
            games = run.games()
            assert set(games.iterations) == {run.iteration} and len(games.lengths) == run.metrics["selfplay/games"]
            assert round(games.weights.sum()) == run.metrics["selfplay/positions"]
            assert "train/policy_loss" not in run.metrics and run.game == games.game

        def after_training(self, run):
            assert 0 < run.metrics["train/policy_loss"] < 3 and "gate/score" not in run.metrics
            assert run.steps > 0 and run.config.training.iterations == 2

        def after_gate(self, run):
            assert 0 <= run.metrics["gate/score"] <= 1
            assert azero.load_checkpoint(run.best_path).game == run.game

        def after_iteration(self, run):
            assert len(run.history()) == run.iteration and run.history()[-1] == run.metrics
            with pytest.raises(TypeError):
                run.metrics["gate/score"] = 1

    azero.train(tiny_config(training=SHORT), tmp_path / "run", callbacks=[Looks()])


@pytest.mark.slow
@pytest.mark.parametrize(
    "at", [(1, "after_training"), (2, "after_iteration"), *long(((1, "after_selfplay"),), ((1, "after_gate"),))]
)
def test_a_callback_that_raises_ends_the_run_and_nothing_is_lost(short, tmp_path, at):
    notes = Notes(fails_at=at)
    with pytest.raises(RuntimeError, match="full") as caught:
        azero.train(tiny_config(training=SHORT), tmp_path / "run", callbacks=[notes])
    assert caught.value.__notes__[-1].startswith(f"raised by Notes.{at[1]} in iteration {at[0]} of run ")
    assert notes.calls == ALL[: ALL.index(at) + 1]
    again = Notes()
    azero.train(run=tmp_path / "run", resume=True, callbacks=[again])
    first = (at[0], "after_gate") if at[1] == "after_iteration" else at
    assert again.calls == ALL[ALL.index(first) :], "the last finished stage is repeated, and no other"
    assert again.views[0] == notes.views[ALL.index(first)]
    assert nets_of(tmp_path / "run") == nets_of(short.folder)


def test_within_training_the_view_is_that_of_the_stage_before(short, tmp_path, monkeypatch):
    """After Ctrl-C between two steps, the repeated call has the same view as the first."""
    from azero.training.learning.trainer import Trainer

    folder, notes, step = tmp_path / "run", Notes(), Trainer.step
    with monkeypatch.context() as patched:

        def stops(self, sample, share):
            if self.steps == 6:
                raise KeyboardInterrupt
            return step(self, sample, share)

        patched.setattr(Trainer, "step", stops)
        with pytest.raises(KeyboardInterrupt):
            azero.train(tiny_config(training=SHORT), folder, callbacks=[notes])
    again = Notes()
    azero.train(run=folder, resume=True, callbacks=[again])
    assert again.calls == ALL and again.views[0] == notes.views[0] and again.views[0].steps == 0
    assert nets_of(folder) == nets_of(short.folder)


def test_a_callback_may_end_the_run_in_good_order(short, tmp_path):
    notes, after = Notes(fails_at=(1, "after_iteration"), error=azero.StopTraining()), Notes()
    done = azero.train(tiny_config(training=SHORT), tmp_path / "run", callbacks=[notes, after])
    assert (done.iteration, len(done.history())) == (1, 1)
    assert notes.calls == ALL[:4] and after.calls == ALL[:3]
    done = azero.train(run=tmp_path / "run", resume=True)
    assert done.iteration == 2 and nets_of(tmp_path / "run") == nets_of(short.folder)


def test_a_finished_run_is_returned_again(short):
    notes = Notes()
    assert azero.train(run=short.folder, resume=True, callbacks=[notes]) == short
    assert notes.calls == ALL[-2:]


def test_a_config_by_path_and_settings_as_a_dict(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_config(tmp_path)
    done = azero.train(path, settings={"training.iterations": 1, "gate.final_games": 0, "evaluation.opponent": "uct@9"})
    assert done.folder.as_posix() == "runs/tiny" and done.iteration == 1 and done.config.evaluation.opponent == "uct@9"
    assert azero.train(str(path), resume=True, settings=["training.iterations=2"]).iteration == 2


class Typo(azero.Callback):
    def after_train(self, run):
        pass


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda folder: azero.train(), "train needs a config"),
        (lambda folder: azero.train(resume=True), "train needs a config"),
        (lambda folder: azero.train("tictactoe", folder), "'tictactoe' is not a file and not an included config"),
        (lambda folder: azero.train(tiny_config()), "a config that is loaded needs run=FOLDER"),
        (lambda folder: azero.train(tiny_config(), folder, settings={"seed": 1}), "give these to load_config"),
        (lambda folder: azero.train("smoke", folder, settings={"seed": "x"}), "setting seed = 'x'"),
        (lambda folder: azero.train("smoke", folder, settings="seed=1"), "settings = 'seed=1' should be like"),
        (lambda folder: azero.train("smoke", folder, settings={"seed": {1}}), "settings = .* should be like"),
        (lambda folder: azero.train(run=folder, resume=True), "there is no run in"),
        (
            lambda folder: azero.train("smoke", folder, callbacks=[Typo()]),
            "Typo.after_train would never be called; did",
        ),
        (
            lambda folder: azero.train("smoke", folder, callbacks=[Notes]),
            "should be an object with one of the methods after_selfplay",
        ),
        (lambda folder: azero.load_config("smoke", {"training.iteration": 3}), "unknown setting 'training.iteration'"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_folder(tmp_path, act, message):
    with pytest.raises(azero.BadInput, match=rf"^[^\n]*{message}[^\n]*$"):
        act(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_any_object_with_a_method_is_a_callback(tmp_path):
    seen = []
    azero.train(
        tiny_config(), tmp_path / "run", callbacks=[SimpleNamespace(after_gate=lambda run: seen.append(run.iteration))]
    )
    assert seen == [1, 2, 3]


def test_settings_are_the_same_as_text_and_as_values():
    changes = {"training.iterations": 3, "game.name": "hex(size=3)", "search.prove": False, "search.c_puct": 2}
    texts = ["training.iterations=3", "game.name=hex(size=3)", "search.prove=false", "search.c_puct=2"]
    assert azero.load_config("smoke", changes) == azero.load_config("smoke", texts)


# --- games of a run ---


def test_games_are_arrays(short):
    games = azero.load_games(short.folder)
    n, A = len(games.players), games.game.num_actions
    assert games.lengths.sum() == n and set(games.iterations) <= {1, 2}
    assert games.policies.shape == (n, A) and games.planes().shape == (n, *games.game.planes_shape)
    np.testing.assert_allclose(games.policies[games.weights > 0].sum(axis=1), 1, rtol=1e-5)
    assert (np.diff(games.iterations) >= 0).all()
    begins = np.cumsum(games.lengths) - games.lengths
    for number in (0, len(begins) - 1):
        begin, end = begins[number], begins[number] + games.lengths[number]
        state = games.state(int(end - 1))
        assert games.game.new_initial_state().legal_actions() and state.current_player() == games.players[end - 1]
        assert np.array_equal(games.planes([end - 1])[0], state.planes())
        replayed = games.game.new_initial_state()
        for action in state.history():
            replayed.apply_action(action)
        assert np.array_equal(replayed.planes(), state.planes())
        assert state.history()[-(end - 1 - begin) :] == games.actions[begin : end - 1].tolist() or end - 1 == begin
        state.apply_action(int(games.actions[end - 1]))
        assert state.is_terminal() and state.returns()[0] == games.outcomes[number]
        signs = 1 - 2 * games.players[begin:end]
        assert np.array_equal(games.results[begin:end], games.outcomes[number] * signs)
    assert set(azero.load_games(str(short.folder), iteration=2).iterations) == {2}


def test_positions_are_chosen_by_number_slice_or_mask(short):
    games = azero.load_games(short.folder)
    planes = games.planes()
    assert np.array_equal(games.planes(games.players == 1), planes[games.players == 1])
    assert np.array_equal(games.planes(slice(2, 5)), planes[2:5]) and np.array_equal(games.planes([-1]), planes[-1:])
    for wrong in ([len(planes)], [0.5], np.ones(3, bool)):
        with pytest.raises(azero.BadInput, match=r"^positions: [^\n]*$"):
            games.planes(wrong)
    with pytest.raises(azero.BadInput, match="there is no position -1"):
        games.state(-1)


def test_damaged_and_foreign_games_are_refused(short, tmp_path):
    shutil.copytree(short.folder, folder := tmp_path / "run")
    with pytest.raises(azero.BadInput, match="has no games of iteration 7"):
        azero.load_games(folder, iteration=7)
    with pytest.raises(azero.BadInput, match="there is no run in"):
        azero.load_games(tmp_path / "none")
    path = next((folder / "replay").iterdir())
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(azero.BadInput, match="is damaged"):
        azero.load_games(folder)
    path.rename(path.with_name("mine.safetensors"))
    with pytest.raises(azero.BadInput, match="not a replay file of azero"):
        azero.load_games(folder)


def test_callbacks_are_a_list():
    class Watch(azero.Callback):
        pass

    with pytest.raises(azero.BadInput, match=r"^callbacks = .* should be a list of objects, e\.g\. \[Watch\(\)\]$"):
        azero.train("tic_tac_toe", callbacks=Watch())
