"""Tests of `azero blindspots`: a net that always expects a win, what is written, and bad input."""

import json
from contextlib import closing

import numpy as np
import pytest
from command_line import assert_bad_input

from azero.arena.agents.make import make_agent
from azero.arena.solved.blindspots import benchmark_of, describe, find_blindspots, starts_of
from azero.arena.solved.files import read_benchmark
from azero.games import WIN
from azero.games.position_files import read_position_texts
from azero.publishing.plain import html_of_blindspots


def hopeful(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A net whose first choice is the first legal action, and that expects a win everywhere."""
    actions = np.tile(-np.arange(9.0, dtype=np.float32), (len(planes), 1))
    return actions, np.tile(np.float32([1, 0, 0]), (len(planes), 1))


@pytest.fixture(scope="module")
def found():
    with closing(make_agent("tic_tac_toe@30")) as agent:
        agent.net_alone = hopeful
        return find_blindspots(agent, 12, seed=3)


def test_what_a_hopeful_net_does_not_see(found):
    """Blind spots are the positions that are not won, and those whose win the first move gives away."""
    assert found.solved == found.positions > 30 and found.searched == 0
    assert all(each.result != WIN or each.gives_away for each in found.spots)
    sums = {what: len(own) for what, own in found.groups()}
    assert sum(sums.values()) == len(found.spots) and list(sums.values()) == sorted(sums.values(), reverse=True)
    assert any("it expects a win, and draws" in what for what in sums)
    assert f"misjudges {len(found.spots)} of {found.positions}" in describe(found)[0]


def test_what_is_written_can_be_read(found, tmp_path):
    """The benchmark passes the checks of its reader, starts are positions, and the page shows boards."""
    file = tmp_path / "blindspots.txt"
    file.write_text(benchmark_of(found))
    benchmark = read_benchmark(str(file))
    assert [each.state for each in benchmark.sets[0].problems] == [each.state for each in found.spots]
    file.write_text(starts_of(found))
    starts = read_position_texts("starts", file, benchmark.game.state_from_text, "")
    assert starts == [each.state.to_text() for each in found.spots]
    page = html_of_blindspots(found)
    assert page.count("<figure>") == min(60, len(found.spots)) and "src=" not in page
    assert benchmark_of(found._replace(spots=[])) == ""


def test_command(run_azero):
    code, output, errors = run_azero("blindspots", "tic_tac_toe@10", "--games", "4", "--out", "spots", "--json")
    assert code == 0, errors
    made = json.loads(output)
    assert made["positions"] == made["solved"] and made["spots"] == sum(len(each["spots"]) for each in made["groups"])
    assert made["games"] == 4
    assert_bad_input(run_azero("blindspots", "tic_tac_toe@10", "--out", "spots"), "is there already; name a new folder")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["tic_tac_toe", "--games", "0"], "--games 0 should be 1 or more"),
        (["tic_tac_toe@1s"], "should be limited by simulations alone"),
        (["tic_tac_toe(level=2)"], "should be limited by simulations alone"),
        (["nowhere"], "nowhere"),
        (["uct@10"], "'uct@10' has no net; name a checkpoint or a run"),
    ],
)
def test_bad_input(run_azero, words, what):
    assert_bad_input(run_azero("blindspots", *words), what)
