"""Tests of the release: version and date are the same in all files."""

import re
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import azero

ROOT = Path(__file__).parent.parent
CITATION = dict(re.findall(r"^([\w-]+): (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE))
HEADINGS = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_the_version_has_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "azero/__init__.py"


def test_the_citation_and_the_newest_release_have_the_version_and_one_date():
    assert HEADINGS[0] == "[Unreleased]"
    version, date = re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)", HEADINGS[1]).groups()
    assert version == azero.__version__ == CITATION["version"]
    assert date == CITATION["date-released"]


def test_the_citation_is_of_this_project():
    assert (CITATION["cff-version"], CITATION["license"]) == ("1.2.0", "MIT")
    assert "The azero developers" in (ROOT / "LICENSE").read_text()
    assert "  - name: The azero developers\n" in (ROOT / "CITATION.cff").read_text()


def test_a_wheel_has_libraries_for_every_shipped_net_and_every_game():
    source = spec_from_file_location("make_libraries", ROOT / "wheel" / "make_libraries.py")
    script = module_from_spec(source)
    source.loader.exec_module(script)
    nets = {path.stem: str(azero.load_checkpoint(path).game) for path in (ROOT / "checkpoints").glob("*.safetensors")}
    made = script.boards()
    assert set(nets) <= set(made)
    games = {nets.get(each) or str(azero.make_game(each)) for each in made}
    assert len(games) == len(made) and {str(azero.make_game(each)) for each in azero.registered_games()} <= games
