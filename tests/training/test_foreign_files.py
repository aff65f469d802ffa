"""Tests of whole files of azero's in the wrong place: resume refuses them, `azero check-run` names and mends them."""

import shutil
import signal
from pathlib import Path

import pytest
from command_line import assert_bad_input

from azero.runs.folder import STATE
from azero.system.tensor_files import read_tensors
from azero.training.loop import train_run
from azero.training.resumed_settings import open_run

from .runs import figures_of, files_of, finish_train, nets_of, progress_of, strike, write_config
from .test_checking import broken, check  # noqa: F401, a fixture


@pytest.fixture(scope="session")
def other(tmp_path_factory):
    """A run of another seed that was killed at the same instant as `broken`."""
    folder = tmp_path_factory.mktemp("other")
    assert strike(folder / "run", write_config(folder, seed=6), "state 2 gate 0", "after") == -signal.SIGKILL
    return folder / "run"


@pytest.fixture(scope="session")
def connect_four(tmp_path_factory):
    """A run of another game that was killed in training."""
    folder = tmp_path_factory.mktemp("connect_four")
    config = write_config(folder, game={"name": "connect_four"})
    assert strike(folder / "run", config, "state 1 train 0", "after") == -signal.SIGKILL
    return folder / "run"


BEST, CANDIDATE, NET = "best", "candidate", "checkpoints/00001"
FRESH, OLD = "replay/00002-0001", "replay/00001-0002"

SAME = [
    ("own", "checkpoints/00000", BEST),
    ("other", BEST, BEST),
    ("other", BEST, NET),
    ("own", "checkpoints/00000", NET),
    ("other", CANDIDATE, CANDIDATE),
    ("own", BEST, CANDIDATE),
    ("own", "replay/00002-0000", FRESH),
    ("other", FRESH, FRESH),
    ("connect_four", "replay/00001-0000", FRESH),
    ("own", BEST, FRESH),
    ("own", FRESH, NET),
    ("connect_four", BEST, NET),
    ("connect_four", BEST, BEST),
    ("own", "state", CANDIDATE),
    ("other", "state", "state"),
    ("own", "state_beginning", "state"),
    ("connect_four", "state", "state"),
    ("own", FRESH, "state"),
    ("own", BEST, "state"),
    ("other", "state_beginning", "state_beginning"),
    ("connect_four", "state", "state_beginning"),
    ("own", NET, "state_beginning"),
]
"""Files of runs that are copied over others, after which the run still ends the same."""

QUICK = SAME[1], SAME[3], SAME[6], SAME[9], SAME[14]


def place(request, run: Path, whose: str, source: str, target: str) -> None:
    """Copies a file of a run over one of `run`."""
    folder = run if whose == "own" else request.getfixturevalue(whose)
    shutil.copyfile(folder / f"{source}.safetensors", run / f"{target}.safetensors")


@pytest.mark.parametrize(
    ("whose", "source", "target"),
    [each if each in QUICK else pytest.param(*each, marks=pytest.mark.thorough) for each in SAME],
)
def test_a_whole_file_in_the_wrong_place_is_named_and_mended(
    request, run_azero, broken, whole, config, whose, source, target  # noqa: F811
):  # fmt: skip
    place(request, broken, whose, source, target)
    if target not in (BEST, "state_beginning") and source != "state_beginning":  # these make no difference
        code, _, errors = run_azero("train", "--run", broken, "--resume")
        lines = errors.splitlines()
        assert code == 2 and f"azero check-run {broken} --repair" in lines[-1]
    code, report = check(run_azero, broken)
    if source == "state_beginning" and target == "state":
        assert (code, report["damaged"]) == (0, [])  # the iteration is done again, with the same result
    else:
        assert code == 1 and f"{target}.safetensors" in [each["file"] for each in report["damaged"]]
        assert all(each["repair"] for each in report["damaged"]) and len(report["damaged"]) == 1
    assert check(run_azero, broken, "--repair")[0] == 0 and check(run_azero, broken)[1]["damaged"] == []
    finish_train(broken, config)
    for aside in broken.rglob("*.damaged"):
        aside.unlink()
    assert nets_of(broken) == nets_of(whole) and figures_of(broken) == figures_of(whole)


@pytest.mark.parametrize(
    ("whose", "source", "target", "cost"),
    [
        ("own", FRESH, OLD, "its games; the run goes on, but not as without the damage"),
        ("own", BEST, "checkpoints/00000", "this net is lost, and the next final is held without it"),
        ("other", BEST, "checkpoints/00007", "none: the run does not use it"),
    ],
)
def test_what_is_lost_is_said_before_it_is_mended(request, run_azero, broken, config, whose, source, target, cost):  # noqa: F811
    place(request, broken, whose, source, target)
    (damage,) = check(run_azero, broken)[1]["damaged"]
    assert (damage["file"], damage["cost"]) == (f"{target}.safetensors", cost)
    assert check(run_azero, broken, "--repair")[0] == 0 and check(run_azero, broken)[1]["damaged"] == []
    finish_train(broken, config)


def test_an_earlier_state_of_the_run_is_no_state_of_it(run_azero, config, whole, tmp_path):
    run = tmp_path / "run"
    assert strike(run, config, "state 1 gate 0", "after") == -signal.SIGKILL
    shutil.copyfile(run / STATE, tmp_path / "early")
    assert strike(run, config, "state 3 train 0", "after") == -signal.SIGKILL
    shutil.copyfile(tmp_path / "early", run / STATE)
    (damage,) = check(run_azero, run, "--repair")[1]["damaged"]
    assert damage["file"] == STATE and damage["what"].startswith("it is of iteration 1, and ")
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole)


@pytest.mark.parametrize("whose", ["own", "other"])
def test_a_shard_that_no_state_names_yet_is_known_by_its_task(request, run_azero, config, whole, tmp_path, whose):
    run = tmp_path / "run"
    assert strike(run, config, "replay/00002-0001", "after") == -signal.SIGKILL
    assert check(run_azero, run)[1]["damaged"] == []
    place(request, run, whose, "replay/00002-0000" if whose == "own" else FRESH, FRESH)
    (damage,) = check(run_azero, run)[1]["damaged"]
    assert damage["file"] == f"{FRESH}.safetensors" and damage["cost"] == "none: its games are played again"
    finish_train(run, config)
    assert "00002-0001 in " in Path(f"{run}.err").read_text() and check(run_azero, run)[1]["damaged"] == []
    assert nets_of(run) == nets_of(whole) and files_of(run / "replay") == files_of(whole / "replay")


def test_another_best_net_is_replaced_and_resume_says_which_file_is_another(request, run_azero, broken):  # noqa: F811
    place(request, broken, "own", "checkpoints/00000", NET)
    message = "checkpoints/00001.safetensors' is another file than the one that the run's state names; azero check-run"
    assert_bad_input(run_azero("train", "--run", broken, "--resume"), message)


def test_the_state_names_what_the_run_needs(broken):  # noqa: F811
    progress = progress_of(broken)
    shards = {f"replay/{name}" for name in progress["shards"]}
    assert {*progress["digests"]} == {"checkpoints/00000", "checkpoints/00001", "candidate", *shards}
    for name, digest in progress["digests"].items():
        assert read_tensors(broken / f"{name}.safetensors", name)[0]["digest"] == digest


def test_a_run_that_was_extended_forgets_the_net_of_its_final(run_azero, config, whole, tmp_path, capsys):
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    assert f"checkpoints/{progress_of(run)['final']}" in progress_of(run)["digests"]
    train_run(run, open_run(run, ["training.iterations=4"]), is_resuming=True)
    capsys.readouterr()
    assert check(run_azero, run)[1]["damaged"] == []
    assert f"checkpoints/{progress_of(run)['final']}" in progress_of(run)["digests"]
