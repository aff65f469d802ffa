"""Published agents in node, against the same agents here."""

import json

import numpy as np
import pytest

from azero.arena.agents.make import make_agent
from azero.games import Game, make_game
from azero.mcts import TreeSearch, rank_moves, root_value
from azero.publishing.build import build
from tests.publishing.published import (
    NetEvaluator,
    TableEvaluator,
    ask,
    described,
    needs_node,
    positions_of,
    random_games,
    state_after,
    visits_in,
    visits_of,
    write,
)

pytestmark = needs_node

NETS = [pytest.param(each, marks=pytest.mark.long) for each in ("connect_four", "go_9x9", "othello_6x6", "amazons_8x8")]


@pytest.fixture(scope="module", params=[pytest.param("uct", marks=pytest.mark.slow), *NETS])
def agent(request, tmp_path_factory):
    """A published agent, and its name; `uct` plays the smallest game."""
    game = "tic_tac_toe" if request.param == "uct" else None
    return write(build(request.param, game), tmp_path_factory.mktemp("published") / "agent"), request.param


with_nets = pytest.mark.parametrize("agent", NETS, indirect=True)


def played_by(name: str) -> Game:
    return make_game("tic_tac_toe") if name == "uct" else make_agent(name).game


def test_rules_agree_byte_by_byte(agent):
    stem, name = agent
    game = played_by(name)
    games = random_games(game, 100)
    for actions, answer in zip(games, ask(stem, [{"ask": "game", "actions": each} for each in games]), strict=True):
        state = game.new_initial_state()
        assert answer[0] == described(state)
        for ply, action in enumerate(actions, 1):
            state.apply_action(action)
            assert answer[ply] == described(state), actions[:ply]


@with_nets
@pytest.mark.parametrize("leaves", [1, 4])
def test_searches_with_a_table_agree(agent, leaves):
    stem, name = agent
    made = make_agent(name)
    own = made.new_search()
    settings = own.settings._replace(leaves_per_tree=leaves, visits_per_leaf=0)
    search = TreeSearch(made.game, own.selection, settings, TableEvaluator(made.game.num_actions), max_nodes=1 << 18)
    published = {**azero_settings(stem), "leaves_per_tree": leaves}
    asked = [
        {"ask": "search", "actions": actions, "isTable": True, "simulations": 300, "seed": k, "settings": published}
        for k, actions in enumerate(positions_of(made.game, 30))
    ]
    for question, answer in zip(asked, ask(stem, asked), strict=True):
        search.start(0, state_after(made.game, question["actions"]), question["seed"])
        search.run([0], 300)
        search.choose(0)
        assert visits_in(answer) == visits_of(search)
        assert answer["value"] == root_value(search)
        assert [each["action"] for each in answer["moves"]] == [each.action for each in rank_moves(search)]


def azero_settings(stem) -> dict:
    return json.loads(stem.with_suffix(".json").read_text())["settings"]["full"]


def test_searches_by_rollouts_agree(agent):
    stem, name = agent
    game = played_by(name)
    search = make_agent("uct", game).new_search()
    asked = [
        {
            "ask": "search",
            "actions": actions,
            "method": "uct",
            "simulations": 1000,
            "seed": k,
            "settings": {**azero_settings(stem), "c_uct": 1.0, "solve_nodes": 0},
        }
        for k, actions in enumerate(positions_of(game, 10))
    ]
    search = TreeSearch(game, search.selection, search.settings, max_nodes=1 << 18)
    for question, answer in zip(asked, ask(stem, asked), strict=True):
        search.start(0, state_after(game, question["actions"]), question["seed"])
        search.run([0], 1000)
        search.choose(0)
        assert visits_in(answer) == visits_of(search)


@pytest.mark.parametrize("agent", [pytest.param("uct", marks=pytest.mark.slow)], indirect=True)
def test_an_analysis_solves_the_root(agent):
    stem, _ = agent
    asked = {"ask": "search", "actions": [], "settings": "analysis"}
    early, late = ask(stem, [{**asked, "simulations": each} for each in (499, 600)])
    assert early["proven"] is None and late["proven"] == "draw"
    assert {each["proven"] for each in late["moves"]} == {"draw"} and late["simulations"] == 600


@with_nets
def test_the_net_agrees_with_torch(agent):
    stem, name = agent
    net = NetEvaluator(name)
    asked = [{"ask": "judge", "actions": actions} for actions in positions_of(net.game, 30)]
    for question, answer in zip(asked, ask(stem, asked), strict=True):
        policy, results = net.judge(state_after(net.game, question["actions"]).planes()[None])
        np.testing.assert_allclose(answer["policy"], policy[0], atol=1e-3)
        np.testing.assert_allclose(answer["results"], results[0], atol=1e-4)
