"""Tests that the file of a user's game is found beside its run, from any working folder, if it is unchanged."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from games.user_games import NIM, forget_files, write_file

from azero.errors import BadInput
from azero.games import make_game
from azero.games.names import source_digest_of
from azero.nets.checkpoint import load_checkpoint, save_checkpoint
from azero.nets.game_file import place_of

from .test_checkpoint import CARD, LAST_LOSES, TINY
from .towers import make_net

NAME = "games/nim.py:Nim(heap=5)"


@pytest.fixture
def run(monkeypatch, tmp_path) -> Path:
    """A run's folder, project/runs/x, with a net for the game in project/games. The working folder is elsewhere."""
    forget_files(monkeypatch)
    for folder in ("project/games", "project/runs/x/checkpoints", "other"):
        (tmp_path / folder).mkdir(parents=True)
    write_file(tmp_path / "project" / "games" / "nim.py", NIM)
    monkeypatch.chdir(tmp_path / "project")
    game, folder = make_game(NAME), Path("runs/x")
    digest, place = source_digest_of(game.rules), place_of(NAME, folder)
    card = replace(CARD, game=NAME, game_digest=digest, game_file=place)
    for path in ("best.safetensors", "checkpoints/00001.safetensors"):
        save_checkpoint(folder / path, make_net(game, TINY), card)
    monkeypatch.chdir(tmp_path / "other")
    forget_files(monkeypatch)
    return tmp_path / "project" / "runs" / "x"


def test_places_are_seen_from_the_run(run):
    assert place_of("../project/games/nim.py:Nim", run) == "../../games/nim.py"
    assert place_of(f"{run.parents[1]}/games/nim.py:Nim(heap=3)", run) == "../../games/nim.py"
    assert place_of("connect_four(rows=5)", run) == ""


@pytest.mark.parametrize("path", ["best.safetensors", "checkpoints/00001.safetensors"])
def test_the_file_is_found_from_another_folder(run, path):
    assert str(load_checkpoint(run / path).game) == f"{run.parents[1]}/{NAME}"


def test_the_file_is_found_where_the_project_was_moved(run, tmp_path):
    (tmp_path / "project").rename(tmp_path / "moved")
    assert str(load_checkpoint(tmp_path / "moved/runs/x/best.safetensors").game) == f"{tmp_path}/moved/{NAME}"


def test_the_name_stays_where_the_file_is_there_too(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "project")
    assert str(load_checkpoint(Path("runs/x/best.safetensors")).game) == NAME
    monkeypatch.chdir(tmp_path / "other")
    shutil.copytree(tmp_path / "project" / "games", "games")
    forget_files(monkeypatch)
    assert str(load_checkpoint(run / "best.safetensors").game) == NAME  # the copy has the same bytes


def test_another_file_of_that_name_in_the_working_folder_is_not_run(run, tmp_path):
    (tmp_path / "other" / "games").mkdir()
    (tmp_path / "other" / "games" / "nim.py").write_text("open('was_run', 'w')\n")
    assert str(load_checkpoint(run / "best.safetensors").game) == f"{run.parents[1]}/{NAME}"
    assert not Path("was_run").exists()


def test_a_file_that_has_changed_is_not_run(run):
    file = write_file(run.parents[1] / "games" / "nim.py", NIM, LAST_LOSES)
    with pytest.raises(
        BadInput, match=r"and that file has changed since; to use the changed file, name it with"
    ) as error:
        load_checkpoint(run / "best.safetensors")
    assert f"--game '{file}:Nim(heap=5)'" in str(error.value)


def test_a_checkpoint_that_was_copied_away_names_the_game_to_give(run, tmp_path):
    shutil.copy(run / "best.safetensors", tmp_path / "other")
    with pytest.raises(BadInput, match=r"name the file's place, e.g. --game path/to/nim.py:Nim\(heap=5\)$"):
        load_checkpoint(Path("best.safetensors"))
