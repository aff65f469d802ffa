"""Tests of the route of lessons: its answers, its limits, and what it refuses."""

import pytest

from azero.interfaces.web.routes.learn import MOST_SIMULATIONS
from azero.interfaces.web.settings import ServeSettings
from tests.interfaces.web.conftest import client_of

TIC_TAC_TOE = {"game": "tic_tac_toe", "moves": "b2 a1"}


def test_answers_go_on_where_the_last_one_ended(client):
    first = client.ask("simulations", **TIC_TAC_TOE, method="uct", count=6, seed=3)
    second = client.ask("simulations", **TIC_TAC_TOE, method="uct", count=6, seed=3, first=7)
    both = client.ask("simulations", **TIC_TAC_TOE, method="uct", count=12, seed=3)
    assert first["simulations"] + second["simulations"] == both["simulations"]
    assert [each["number"] for each in both["simulations"]] == list(range(1, 13))
    assert (both["ended"], both["num_simulations"], both["to_move"]) == ("count", 12, 0)
    assert both["rule"] == {"name": "uct", "c": 1.0}


def test_seeds_and_constants_change_the_search(client):
    answers = [
        client.ask("simulations", **TIC_TAC_TOE, method="uct", count=20, **wanted)["simulations"]
        for wanted in ({}, {"seed": 1}, {"c": 0.1}, {})
    ]
    assert answers[0] == answers[3]
    assert answers[0] != answers[1] and answers[0] != answers[2]


def test_net_gives_priors_and_values(client):
    answer = client.ask("simulations", **TIC_TAC_TOE, method="puct", agent="tic_tac_toe", count=5)
    first = answer["simulations"][0]
    assert answer["rule"]["name"] == "puct"
    assert first["path"] == [] and first["evaluation"]["kind"] == "net"
    assert sum(child["P"] for child in first["expansion"]["children"]) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("wanted", [{"method": "uct"}, {"method": "puct", "agent": "tic_tac_toe"}], ids=["uct", "puct"])
def test_lessons_count_as_searches(wanted):
    with client_of(ServeSettings(most_searches=1)) as client:
        searches = client.app.state.context.searches
        with searches.agents.searching():
            assert client.ask("simulations", 429, **TIC_TAC_TOE, **wanted)["error"]["code"] == "busy"
        client.ask("simulations", **TIC_TAC_TOE, **wanted, count=1)
        assert searches.agents.num_searches == 0
        searches.close()


def test_lesson_of_a_proven_root_is_short(client):
    answer = client.ask("simulations", game="tic_tac_toe", moves="b2 a1 b1 c1", method="uct", count=100)
    assert answer["ended"] == "proven" and answer["num_simulations"] < 100


def test_last_simulations(client):
    answer = client.ask("simulations", **TIC_TAC_TOE, method="uct", count=100, first=MOST_SIMULATIONS)
    assert [each["number"] for each in answer["simulations"]] == [MOST_SIMULATIONS] or answer["ended"] == "proven"


@pytest.mark.parametrize(
    ("status", "code", "wanted"),
    [
        (422, "agent_needed", {"method": "puct"}),
        (422, "no_agent_needed", {"method": "uct", "agent": "tic_tac_toe"}),
        (404, "unknown_agent", {"method": "puct", "agent": "gtp:sh"}),
        (409, "no_net", {"method": "puct", "agent": "uct@1000"}),
        (409, "other_game", {"method": "puct", "agent": "connect_four"}),
        (409, "game_over", {"method": "uct", "moves": "b2 a1 b1 c1 b3"}),
        (422, "illegal_move", {"method": "uct", "moves": "b2 b2"}),
        (422, "invalid", {"method": "uct", "count": 101}),
        (422, "invalid", {"method": "uct", "first": MOST_SIMULATIONS + 1}),
        (422, "invalid", {"method": "uct", "c": -1.0}),
        (422, "invalid", {"method": "gumbel"}),
    ],
)
def test_bad_requests(client, status, code, wanted):
    assert client.ask("simulations", status, **{**TIC_TAC_TOE, **wanted})["error"]["code"] == code
