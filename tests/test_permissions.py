"""Tests of what the commands run: a user's game that is named or trusted, and a program that is named or allowed."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from arena.agents import write_engine
from command_line import assert_bad_input
from games.user_games import NIM, forget_files
from training.runs import write_config

from azero.games.user import trust
from azero.system.worker_pool import local_workers


@pytest.fixture
def away(monkeypatch, tmp_path):
    """Nothing is trusted. Returns a function that makes this process forget what it trusts, as another one does."""
    monkeypatch.setenv("AZERO_CONFIG_DIR", str(tmp_path / "config"))

    def forget():
        forget_files(monkeypatch)
        monkeypatch.setattr(trust, "_NAMED", set())

    forget()
    return forget


@pytest.fixture
def marked() -> Path:
    """A game in the working folder that leaves the file `ran` when it runs."""
    Path("nim.py").write_text(f"import pathlib; pathlib.Path('ran').touch()\n{NIM.read_text()}")
    return Path("nim.py")


def train_nim(run_azero, *more):
    short = {"training": {"iterations": 1}, "gate": {"games": 2, "final_games": 0}, "evaluation": {"every": 0}}
    write_config(Path("."), game={"name": "nim.py:Nim(heap=5)"}, **short)
    return run_azero("train", "tiny.toml", "--run", "run", *more)


@pytest.mark.slow
def test_training_by_a_config_trusts_its_game_and_another_s_checkpoint_does_not(run_azero, away, marked, tmp_path):
    assert train_nim(run_azero)[0] == 0
    Path("ran").unlink()
    away()
    code, output, _ = run_azero("suggest", "run@20", "--json")
    assert code == 0 and json.loads(output)["game"] == "nim.py:Nim(heap=5)" and Path("ran").exists()
    Path("ran").unlink()
    for entry in (tmp_path / "config" / "trusted").iterdir():
        entry.unlink()
    for words in (
        ["suggest", "run@20"],
        ["play", "run@20"],
        ["evaluate", "run@20", "--against", "random"],
        ["train", "--run", "run", "--resume", "--set", "training.iterations=2"],
        ["train-rollout", "run"],
    ):
        away()
        assert_bad_input(
            run_azero(*words),
            "is code that you have not named, or it has changed since; if you trust it, ",
            "nim.py:Nim(heap=5)",
        )
    assert not Path("ran").exists()
    assert run_azero("suggest", "run@20", "--game", "nim.py:Nim(heap=5)")[0] == 0
    away()
    assert run_azero("train", "--run", "run", "--resume", "--set", "training.iterations=2")[0] == 0


@pytest.mark.slow
def test_a_comment_in_the_game_s_file_changes_nothing(run_azero, away, marked):
    assert train_nim(run_azero)[0] == 0
    away()
    marked.write_text(f"# a comment\n\n{marked.read_text()}# another\n")
    assert run_azero("suggest", "run@20")[::2] == (0, "")
    assert run_azero("train", "--run", "run", "--resume")[0] == 0


def test_only_data_is_read_where_that_is_wanted(run_azero, away, marked, monkeypatch, tmp_path):
    monkeypatch.setenv("AZERO_DATA_ONLY", "0")  # the option sets it
    engine = write_engine(tmp_path)
    for words in (
        ["check-game", "nim.py:Nim"],
        ["suggest", "uct@20", "--game", "nim.py:Nim"],
        ["suggest", engine, "--game", "tic_tac_toe"],
    ):
        assert_bad_input(run_azero("--data-only", *words), "is code, and does not run with --data-only")
    assert not Path("ran").exists()
    assert run_azero("--data-only", "suggest", "uct@20", "--game", "tic_tac_toe")[0] == 0


@pytest.mark.slow
def test_a_program_in_a_config_runs_if_the_command_line_names_or_allows_it(run_azero, tmp_path):
    engine, told = write_engine(tmp_path), tmp_path / "told"
    short = {"training": {"iterations": 1}, "gate": {"games": 2}, "game": {"name": "tic_tac_toe"}}
    write_config(Path("."), **short, evaluation={"opponent": engine, "every": 1, "games": 2})
    assert_bad_input(
        run_azero("train", "tiny.toml", "--run", "run"),
        "the settings name a program, evaluation.opponent = ",
        "it runs only with --allow-commands",
    )
    assert not told.exists() and not Path("run").exists()
    assert run_azero("train", "tiny.toml", "--run", "run", "--allow-commands")[0] == 0
    told.unlink()
    resume = ["train", "--run", "run", "--resume", "--set", "training.iterations=2"]
    assert_bad_input(run_azero(*resume), "--allow-commands")
    assert not told.exists()
    assert run_azero(*resume, "--set", f"evaluation.opponent={engine}")[0] == 0 and told.exists()
    assert run_azero(*resume[:4], "--set", "evaluation.every=0")[0] == 0  # then it names none


@pytest.mark.parametrize(
    "name", ["gtp:touch ran", "uci(nodes=5):touch ran", "gtp(patience=5):touch ran", "gomocup:touch ran"]
)
def test_no_program_in_a_config_runs_unasked(run_azero, monkeypatch, name):
    monkeypatch.setenv("AZERO_DATA_ONLY", "0")  # the option sets it
    game = "gomoku(rows=5,columns=5)" if name.startswith("gomocup") else "tic_tac_toe"
    write_config(Path("."), game={"name": game}, evaluation={"opponent": name, "every": 1, "games": 2})
    words = ["train", "tiny.toml", "--run", "run"]
    assert_bad_input(run_azero(*words), "the settings name a program", name, "it runs only with --allow-commands")
    assert_bad_input(run_azero("--data-only", *words, "--allow-commands"), "is code, and does not run with --data-only")
    assert not Path("ran").exists()


def test_a_lone_checkpoint_runs_nothing_that_is_on_the_disk(run_azero, away, tmp_path):
    """As an attacker would: card and digest are right, and name a file of Python's library."""
    from nets.test_origins import antigravity_file, card_naming

    for file in (antigravity_file(), sys.modules["json"].__file__):
        card_naming(Path("net.safetensors"), f"{file}:Nim(heap=5)", f"{file}")
        assert_bad_input(run_azero("suggest", "net.safetensors"), "--game")


def test_workers_import_nothing_from_the_working_folder(run_azero, monkeypatch):
    """Python runs `-c` with the working folder first on its path; a run's folder may come from anyone."""
    for name in ("multiprocessing", "numpy", "json"):
        Path(f"{name}.py").write_text("import pathlib; pathlib.Path('ran').touch()\n")
    with local_workers(1) as workers:
        assert list(workers.run(_answer, [7])) == [(0, 7)]
    assert not Path("ran").exists() and os.environ.get("PYTHONSAFEPATH") is None


def _answer(shared, task, report):
    return task


def test_a_run_s_folder_with_the_name_of_an_agent_is_a_folder(run_azero, monkeypatch):
    write_config(Path("."), training={"iterations": 1}, gate={"games": 2})
    for folder in ("gtp:touch ran", "uct(c=2)"):
        assert run_azero("train", "tiny.toml", "--run", folder)[0] == 0
    assert not Path("ran").exists()


def test_an_included_config_is_not_replaced_by_a_file_in_the_working_folder(run_azero, away):
    Path("evil.py").write_text("open('ran', 'w')")
    Path("connect_four").write_text('[game]\nname = "evil.py:G"\n')
    assert run_azero("bench", "--only", "kernels", "--seconds", "0.01")[0] == 0 and not Path("ran").exists()


@pytest.mark.parametrize("part", ["checkpoints", "replay", "tensorboard"])
def test_nothing_is_changed_through_a_link(run_azero, tmp_path, part):
    write_config(Path("."), training={"iterations": 1}, gate={"games": 2})
    assert run_azero("train", "tiny.toml", "--run", "run")[0] == 0
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "mine.safetensors").write_text("mine")
    shutil.rmtree(f"run/{part}")
    Path(f"run/{part}").symlink_to(tmp_path / "precious")
    for words in (["check-run", "run", "--repair"], ["train", "--run", "run", "--resume"]):
        assert_bad_input(run_azero(*words), f"{part} is a link, and azero changes no files elsewhere")
    assert [path.name for path in (tmp_path / "precious").iterdir()] == ["mine.safetensors"]
