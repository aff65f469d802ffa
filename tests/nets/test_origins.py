"""Tests that the file of a user's game is found beside its run, from any working folder, if it is unchanged."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from games.user_games import NIM, forget_files, write_file

from azero.errors import BadInput
from azero.games import make_game
from azero.games.names import source_digest_of
from azero.nets.checkpoint import load_checkpoint, write_checkpoint
from azero.nets.origins import place_of

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
        write_checkpoint(folder / path, make_net(game, TINY), card)
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
    with pytest.raises(BadInput, match=r"name the file's place, e.g. --game 'path/to/nim.py:Nim\(heap=5\)'$"):
        load_checkpoint(Path("best.safetensors"))


# --- cards from anywhere ---


def card_naming(path: Path, game: str, file: str = "") -> Path:
    """Writes a checkpoint for Nim whose card names a game and a file as its author likes; returns its path."""
    nim = make_game(NIM_NAME)
    digest = source_digest_of(nim.rules)
    write_checkpoint(path, make_net(nim, TINY), replace(CARD, game=game, game_digest=digest, game_file=file))
    return path


NIM_NAME = f"{NIM}:Nim(heap=5)"


def test_an_absolute_path_is_not_taken_from_a_card(tmp_path, monkeypatch):
    forget_files(monkeypatch)  # a class that has been loaded keeps its path
    monkeypatch.chdir(tmp_path)
    net = card_naming(tmp_path / "net.safetensors", NIM_NAME, str(NIM))
    with pytest.raises(
        BadInput, match=r"game file 'nim.py' cannot be read: .*; name the file's place, e.g. --game 'path"
    ):
        load_checkpoint(net)
    assert str(load_checkpoint(net, make_game(NIM_NAME)).game) == NIM_NAME


@pytest.mark.parametrize("path", ["C:/nim.py", "C:nim.py", r"\\host\share\nim.py", "/nim.py", r"\nim.py"])
def test_a_path_that_another_system_calls_absolute_is_not_taken_from_a_card_either(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    Path(path.replace("/", "_")).write_text("open('was_run', 'w')\n")
    with pytest.raises(BadInput, match="game file 'nim.py' cannot be read"):
        load_checkpoint(card_naming(tmp_path / "net.safetensors", f"{path}:Nim(heap=5)", path))


@pytest.mark.parametrize("is_beside", [False, True])
def test_a_link_is_not_taken_from_a_card(tmp_path, monkeypatch, is_beside):
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(NIM, tmp_path / "elsewhere" / "nim.py")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "games").symlink_to(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path / ("elsewhere" if is_beside else "here"))
    name = "away/nim.py:Nim(heap=5)" if is_beside else "games/nim.py:Nim(heap=5)"
    net = card_naming(tmp_path / "here" / "net.safetensors", name, "games/nim.py")
    with pytest.raises(BadInput, match="cannot be read|is installed or behind a link, and is not taken from a check"):
        load_checkpoint(net)


def test_a_library_is_not_taken_from_a_card(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    library = os.path.relpath(antigravity_file(), tmp_path)
    with pytest.raises(BadInput, match="is installed or behind a link|cannot be read"):
        load_checkpoint(card_naming(tmp_path / "net.safetensors", f"{library}:Nim(heap=5)", library))


def antigravity_file() -> str:
    """Returns the file of a module of Python that opens a browser when it is imported."""
    return str(Path(os.__file__).resolve().parent / "antigravity.py")
