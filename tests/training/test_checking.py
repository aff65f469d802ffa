"""Tests of `azero check-run`: damage of each kind of file is found, told with its cost, and mended where it can be."""

import json
import shutil
import signal
from pathlib import Path

import pytest
from cases import long, thorough
from command_line import assert_bad_input
from games.user_games import NIM, forget_files, write_file

from azero.games.user import trust
from azero.games.user.trust import trust_file
from azero.runs.folder import STATE
from azero.runs.state import shards_at_beginning
from azero.system.tensor_files import read_tensors, write_tensors
from azero.training.loop import train_run
from azero.training.resuming import open_run

from .runs import check, figures_of, files_of, finish_train, flip, nets_of, progress_of, strike, write_config


@pytest.fixture
def run(whole, tmp_path) -> Path:
    """A copy of a finished run."""
    return Path(shutil.copytree(whole, tmp_path / "run"))


def test_a_whole_run_is_whole(run_azero, run):
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    code, report = check(run_azero, run)
    assert (code, report["is_whole"], report["damaged"]) == (0, True, []) and report["files"] > 8
    assert run_azero("check-run", run, "--repair")[0] == 0
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
    assert run_azero("check-run", run)[1] == f"{run}: all {report['files']} files are whole\n"


def test_a_run_that_was_killed_is_whole(run_azero, broken, config, tmp_path):
    assert check(run_azero, broken)[1]["damaged"] == []
    assert strike(tmp_path / "new", config, "checkpoints/00000", "before") == -signal.SIGKILL
    assert check(run_azero, tmp_path / "new")[1]["damaged"] == []


EXACT = [
    "config.toml",
    "state.safetensors",
    "state_beginning.safetensors",
    "best.safetensors",
    "candidate.safetensors",
    "replay/00002-0001.safetensors",
]


@pytest.mark.parametrize(
    ("file", "how"),
    [
        *thorough(*((file, "changed") for file in EXACT if file != "candidate.safetensors"), (EXACT[1], "missing")),
        *long(("candidate.safetensors", "changed"), *((file, "missing") for file in EXACT if file != EXACT[1])),
        *long(*((file, "a folder") for file in EXACT)),
    ],
)
def test_what_can_be_made_again_is_and_the_run_ends_the_same(run_azero, broken, whole, config, file, how):
    path = broken / file
    if how != "changed":
        path.unlink()
        if how == "a folder":
            path.mkdir()
    elif file == "config.toml":
        path.write_text(path.read_text().replace("num_simulations = 6", "num_simulations = 7"))
    else:
        flip(path)
    code, report = check(run_azero, broken)
    if how == "missing" and file == "state_beginning.safetensors":
        assert (code, report["damaged"]) == (0, [])
    else:
        assert code == 1 and not report["is_whole"]
        (damage,) = report["damaged"]
        assert damage["file"] == file and damage["repair"] and not damage["is_repaired"]
    code, report = check(run_azero, broken, "--repair")
    assert code == 0 and all(each["is_repaired"] for each in report["damaged"])
    assert check(run_azero, broken)[1]["damaged"] == []
    finish_train(broken, config)
    for aside in broken.rglob("*.damaged"):
        shutil.rmtree(aside) if aside.is_dir() else aside.unlink()
    assert nets_of(broken) == nets_of(whole) and figures_of(broken) == figures_of(whole)


@pytest.mark.thorough
@pytest.mark.parametrize("write", ["state 1 play 0", "state 1 train 0"])
def test_the_first_net_is_made_again(run_azero, whole, tmp_path, config, write):
    run = tmp_path / "run"
    assert strike(run, config, write, "after") == -signal.SIGKILL
    nets = [run / "checkpoints" / "00000.safetensors", run / "best.safetensors"]
    for net in nets:
        net.unlink(missing_ok=True)
    code, report = check(run_azero, run, "--repair")
    assert code == 0 and report["damaged"][0]["repair"] == "it is made again from the state"
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole) and figures_of(run) == figures_of(whole)


@pytest.mark.slow
def test_no_run_goes_back_to_where_a_shard_is_lost(run_azero, config, tmp_path):
    run = tmp_path / "run"
    assert strike(run, config, "state 3 gate 0", "after") == -signal.SIGKILL
    old = sorted({*shards_at_beginning(run)} - {*progress_of(run)["shards"]})[0]
    flip(run / "replay" / f"{old}.safetensors")
    assert check(run_azero, run, "--repair")[1]["damaged"][0]["cost"] == "none, while the state is whole"
    flip(run / "replay" / "00003-0001.safetensors")
    (damage,) = check(run_azero, run, "--repair")[1]["damaged"]
    assert damage["cost"] == "its games; the run goes on, but not as without the damage"
    assert check(run_azero, run)[1]["damaged"] == []
    finish_train(run, config)


def test_a_shard_of_older_games_is_dropped_and_the_run_goes_on_without_it(run_azero, broken, config):
    flip(broken / "replay" / "00001-0001.safetensors")
    code, report = check(run_azero, broken)
    (damage,) = report["damaged"]
    assert code == 1 and "is damaged" in damage["what"] and "the run goes on, but not as without" in damage["cost"]
    text = run_azero("check-run", broken, "--repair")[1].splitlines()
    assert text[0].startswith("replay/00001-0001.safetensors: replay file '") and text[1].startswith(
        "  cost: its games"
    )
    assert text[2].startswith("  mended: ") and text[3].endswith(
        f"the run goes on with: azero train --run {broken} --resume"
    )
    assert check(run_azero, broken)[1]["damaged"] == []
    finish_train(broken, config)
    assert check(run_azero, broken)[1]["damaged"] == []


def test_a_promoted_net_that_the_final_needs_is_missed(run_azero, broken, config):
    assert progress_of(broken)["promoted"] == [0, 1]
    (broken / "checkpoints" / "00000.safetensors").unlink()
    code, report = check(run_azero, broken)
    (damage,) = report["damaged"]
    assert (code, damage["cost"]) == (1, "this net is lost, and the next final is held without it")
    assert check(run_azero, broken, "--repair")[0] == 0 and progress_of(broken)["promoted"] == [1]
    finish_train(broken, config)
    assert check(run_azero, broken)[1]["damaged"] == []


def test_a_net_that_is_lost_is_removed_unless_the_run_needs_it(run_azero, run, whole):
    state = json.loads(run_azero("check-run", run, "--json")[1])
    nets = sorted((run / "checkpoints").iterdir())
    original = next(path for path in nets if path.read_bytes() == (run / "best.safetensors").read_bytes())
    other = next(path for path in nets if path != original)
    for path in (original, other):
        flip(path)
    code, report = check(run_azero, run, "--repair")
    assert {each["file"]: each["repair"] for each in report["damaged"]} == {
        f"checkpoints/{original.name}": "it is copied from best.safetensors",
        f"checkpoints/{other.name}": f"it is renamed to {other.name}.damaged",
    }
    assert code == 0 and state["is_whole"] and not other.exists()
    assert original.read_bytes() == (whole / "checkpoints" / original.name).read_bytes()


def test_without_both_copies_of_the_best_net_the_run_cannot_go_on(run_azero, broken):
    flip(broken / "best.safetensors")
    nets = sorted((broken / "checkpoints").iterdir())
    for path in nets:
        flip(path)
    code, report = check(run_azero, broken, "--repair")
    assert code == 1 and not report["is_whole"]
    assert any(each["cost"] == "the run cannot continue: its best net is lost" for each in report["damaged"])


def test_what_is_no_folder_or_no_file_is_put_aside(run_azero, run, whole, config):
    shutil.rmtree(run / "tensorboard")
    (run / "tensorboard").touch()
    (run / ".lock").unlink(missing_ok=True)
    (run / ".lock").mkdir()
    (run / "metrics.jsonl").unlink()
    (run / "metrics.jsonl").mkdir()
    code, report = check(run_azero, run)
    assert code == 1 and {each["file"] for each in report["damaged"]} == {"tensorboard", ".lock", "metrics.jsonl"}
    assert check(run_azero, run, "--repair")[0] == 0 and check(run_azero, run)[0] == 0
    finish_train(run, config)


def test_a_checkpoint_of_a_later_format_is_no_damage_of_the_settings(run_azero, run):
    settings = run / "config.toml"
    settings.write_text(f"# mine\n{settings.read_text()}")
    before, path = settings.read_bytes(), run / "checkpoints" / "00009.safetensors"
    card, tensors = read_tensors(run / "best.safetensors", "")
    write_tensors(path, tensors, {key: value for key, value in card.items() if key != "digest"} | {"format": 2})
    assert_bad_input(run_azero("check-run", run, "--repair"), "has format 2")
    assert settings.read_bytes() == before


def test_a_state_that_was_deleted_is_missed_and_its_settings_are_compared(run_azero, broken, config):
    (broken / "state.safetensors").unlink()
    (broken / "metrics.jsonl").unlink()
    settings = broken / "config.toml"
    settings.write_text(settings.read_text().replace("learning_rate = 0.02", "learning_rate = 0.5"))
    assert_bad_input(
        run_azero("train", "--run", broken, "--resume"),
        f"its state.safetensors is missing; azero check-run {broken} --repair may mend it",
    )
    (damage,) = check(run_azero, broken)[1]["damaged"]
    assert damage["cost"].endswith("the result is the same, if --set has changed training.learning_rate in it")
    settings.unlink()
    assert_bad_input(run_azero("train", "--run", broken, "--resume"), "has no config.toml; azero check-run")
    assert check(run_azero, broken, "--repair")[0] == 0


def test_damage_that_stops_a_run_names_what_may_mend_it(run_azero, broken):
    flip(broken / "candidate.safetensors")
    advice = f"; azero check-run {broken} --repair may mend it"
    assert_bad_input(run_azero("train", "--run", broken, "--resume"), "do not match their digest", advice)
    shutil.rmtree(broken / "checkpoints")
    assert_bad_input(run_azero("train", "--run", broken, "--resume"), " is missing", advice)


def test_without_both_states_the_nets_are_left(run_azero, run):
    for name in ("state.safetensors", "state_beginning.safetensors"):
        flip(run / name)
    code, report = check(run_azero, run, "--repair")
    state = next(each for each in report["damaged"] if each["file"] == "state.safetensors")
    assert code == 1 and state["cost"] == "the run cannot continue; its nets can be used" and not state["is_repaired"]
    assert "  it cannot be mended" in run_azero("check-run", run)[1]


def test_broken_lines_of_the_metrics_are_removed(run_azero, run):
    lines = (run / "metrics.jsonl").read_text().splitlines(keepends=True)
    (run / "metrics.jsonl").write_text("".join([lines[0], "{broken\n", *lines[1:]]))
    code, report = check(run_azero, run, "--repair")
    assert code == 0 and report["damaged"][0]["file"] == "metrics.jsonl"
    assert (run / "metrics.jsonl").read_text() == "".join(lines)


def test_where_there_is_no_run_that_is_said(run_azero, tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        assert_bad_input(run_azero("check-run", folder), f"there is no run in '{folder}': it has neither config.toml")


def test_without_settings_and_states_nothing_can_be_read(run_azero, run):
    (run / "config.toml").write_text("=")
    for path in run.glob("state*"):
        path.unlink()
    code, report = check(run_azero, run)
    assert code == 1 and [each["file"] for each in report["damaged"]] == ["config.toml"]


# --- what is no damage ---


@pytest.mark.slow
def test_a_game_that_has_changed_is_no_damage_of_its_run(run_azero, monkeypatch):
    forget_files(monkeypatch)
    monkeypatch.setenv("AZERO_CONFIG_DIR", str(Path("config").resolve()))
    monkeypatch.setattr(trust, "_NAMED", set())
    write_config(Path("."), game={"name": "nim.py:Nim(heap=5)"}, training={"iterations": 1}, gate={"games": 2})
    write_file(Path("nim.py"), NIM)
    assert run_azero("train", "tiny.toml", "--run", "run")[0] == 0
    assert check(run_azero, Path("run"))[0] == 0
    write_file(Path("nim.py"), NIM, ("return 3", "return 4"))
    assert_bad_input(
        run_azero("check-run", "run", "--repair"), "or it has changed since; if you trust it, name it first"
    )
    trust_file("nim.py")
    before = {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}
    code, output, errors = run_azero("check-run", "run", "--repair")
    assert ((code, output) == (2, "") and "cannot be used" in errors) or "does not fit" in errors
    assert {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()} == before
    write_file(Path("nim.py"), NIM)
    Path("away").mkdir()
    monkeypatch.chdir("away")  # from another folder the game's file is found beside the run
    assert check(run_azero, Path("../run"))[0] == 0


def test_settings_that_were_changed_by_set_stay_when_the_state_is_damaged(run_azero, broken):
    config = (broken / "config.toml").read_text().replace("temperature_plies = ", "temperature_plies = 1")
    flip(broken / "state.safetensors")
    (broken / "config.toml").write_text(config)
    code, report = check(run_azero, broken, "--repair")
    assert code == 0 and [each["file"] for each in report["damaged"]] == ["state.safetensors"]
    assert (broken / "config.toml").read_text() == config


# --- whole files in the wrong place ---


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

IN_CI = [SAME[k] for k in (1, 3, 6, 9, 14, 19)]


def place(request, run: Path, whose: str, source: str, target: str) -> None:
    """Copies a file of a run over one of `run`."""
    folder = run if whose == "own" else request.getfixturevalue(whose)
    shutil.copyfile(folder / f"{source}.safetensors", run / f"{target}.safetensors")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("whose", "source", "target"),
    [*IN_CI, *long(*(each for each in SAME if each not in IN_CI))],
)
def test_a_whole_file_in_the_wrong_place_is_named_and_mended(
    request, run_azero, broken, whole, config, whose, source, target
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("whose", "source", "target", "cost"),
    [
        ("own", FRESH, OLD, "its games; the run goes on, but not as without the damage"),
        ("own", BEST, "checkpoints/00000", "this net is lost, and the next final is held without it"),
        ("other", BEST, "checkpoints/00007", "none: the run does not use it"),
    ],
)
def test_what_is_lost_is_said_before_it_is_mended(request, run_azero, broken, config, whose, source, target, cost):
    place(request, broken, whose, source, target)
    (damage,) = check(run_azero, broken)[1]["damaged"]
    assert (damage["file"], damage["cost"]) == (f"{target}.safetensors", cost)
    assert check(run_azero, broken, "--repair")[0] == 0 and check(run_azero, broken)[1]["damaged"] == []
    finish_train(broken, config)


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_another_best_net_is_replaced_and_resume_says_which_file_is_another(request, run_azero, broken):
    place(request, broken, "own", "checkpoints/00000", NET)
    message = "checkpoints/00001.safetensors' is another file than the one that the run's state names; azero check-run"
    assert_bad_input(run_azero("train", "--run", broken, "--resume"), message)


def test_the_state_names_what_the_run_needs(broken):
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
