"""Tests of runs that begin after the server's start."""

import shutil

import pytest

from azero.interfaces.web.offered.catalogue import Catalogue
from azero.interfaces.web.offered.runs import runs_in
from tests.interfaces.web.runs.conftest import serving


@pytest.fixture
def above(tmp_path):
    """Returns a folder of runs that has none."""
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder


def ids(client):
    return [each["id"] for each in client.look("runs")]


def test_a_run_is_found_when_it_begins(above, trained):
    with serving(above) as client:
        assert ids(client) == []
        client.look("runs/later/metrics", 404)
        shutil.copytree(trained, above / "later")
        (above / "no run").mkdir()
        (above / "file").touch()
        assert "run:later" in [each["id"] for each in client.look("agents?game=tic_tac_toe")]
        assert ids(client) == ["later"] and client.look("runs/later/metrics")["rows"]


def test_ids_stay_while_runs_come_and_go(above, trained):
    for name in ("b", "c"):
        shutil.copytree(trained, above / name)
    with serving(above) as client:
        assert ids(client) == ["b", "c"]
        shutil.copytree(trained, above / "a")
        assert ids(client) == ["b", "c", "a"]
        shutil.rmtree(above / "b")
        assert ids(client) == ["c", "a"]
        client.look("runs/b/metrics", 404)
        assert "run:b" not in [each["id"] for each in client.look("agents")]
        shutil.copytree(trained, above / "b")
        assert ids(client) == ["b", "c", "a"]


def test_links_that_lead_elsewhere_are_not_followed(above, trained, tmp_path):
    shutil.copytree(trained, above / "own")
    (above / "outside").symlink_to(trained)
    (above / "inside").symlink_to("own")
    (above / "circle").symlink_to("circle")
    assert runs_in(above) == [above / "inside", above / "own"]
    catalogue = Catalogue(["random"], runs=[above])
    assert catalogue.runs.ids() == ["own"], "both names are of the same run"
    shutil.rmtree(above / "own")
    (above / "own").symlink_to(trained)
    catalogue.look_for_runs()
    assert catalogue.runs.ids() == [] and catalogue.agents_for(None) == [
        catalogue.agent(each) for each in catalogue.agents
    ]


def test_a_folder_that_is_a_link_itself_was_named_by_the_user(above, trained, tmp_path):
    shutil.copytree(trained, above / "own")
    (tmp_path / "link").symlink_to(above)
    with serving(tmp_path / "link") as client:
        assert ids(client) == ["own"]
