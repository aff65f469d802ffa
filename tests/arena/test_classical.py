"""Tests of the names of classical searches: every option, every error."""

import math
import re

import pytest
from cases import thorough

from azero.arena.agents.checkpoints import game_of
from azero.arena.agents.make import make_agent
from azero.arena.agents.names import CLASSICAL, parse_name
from azero.arena.matches.match import play_match
from azero.errors import BadInput
from azero.games import make_game
from azero.mcts import (
    DepthBias,
    EpisodeSearch,
    FlatSearch,
    FlatTurnSearch,
    MinimaxSearch,
    Settings,
    TableSearch,
    TableTurnSearch,
    TreeSearch,
    TurnSearch,
    Uct,
)
from azero.mcts.classical.table import StoredMoves
from azero.mcts.roots.ranking import BY_BOUND, BY_VALUE

GAME = make_game("tic_tac_toe")


def search_of(base: str, num_trees: int = 1, **options) -> TreeSearch:
    """Returns the search of an agent with this name."""
    return make_agent(f"{base}@10", GAME, **options).make_search(num_trees, 100, 1)


@pytest.mark.parametrize(
    ("base", "selection"),
    [
        ("uct", Uct(1.0)),
        ("uct(c=0.7)", Uct(0.7)),
        ("uct(c=0)", Uct(0.0)),
        ("uct(cp=0.5)", Uct(2.0)),
        ("uct(k=1)", Uct(2 / math.sqrt(5))),
        ("uct(bias=ucb1,c=2)", Uct(2.0)),
        ("uct(bias=depth)", DepthBias(2.0)),
        ("uct(bias=depth,c=1)", DepthBias(1.0)),
    ],
)
def test_the_rule(base, selection):
    found = search_of(base).selection
    assert type(found) is type(selection) and found.c == pytest.approx(selection.c)


@pytest.mark.parametrize(
    ("base", "settings"),
    [
        ("uct", Settings()),
        ("uct(by=value)", Settings(chosen_by=BY_VALUE)),
        ("uct(by=bound)", Settings(chosen_by=BY_BOUND)),
        ("uct(by=visits,prove=true)", Settings()),
        ("uct(prove=false)", Settings(is_proving=False)),
        ("uct(min_visits=20)", Settings(min_visits=20)),
        ("uct(table=1000,min_visits=3,by=value)", Settings(min_visits=3, chosen_by=BY_VALUE)),
        ("uct(root=turns,by=value)", Settings(chosen_by=BY_VALUE)),
        ("mc", Settings(is_proving=False, chosen_by=BY_VALUE)),
        ("mmmc", Settings(is_proving=False, chosen_by=BY_VALUE)),
    ],
)
def test_the_settings(base, settings):
    assert search_of(base).settings == settings


@pytest.mark.parametrize(
    ("options", "stored"),
    [
        ("", StoredMoves()),
        (",stored_visits=9", StoredMoves(True, visits=9)),
        (",stored_visits=0", StoredMoves(True)),
        (",stored_value=-0.5", StoredMoves(True, value=-0.5)),
    ],
)
def test_which_stored_moves_are_preferred(options, stored):
    assert search_of(f"uct(table=64{options})").tables.stored == stored


@pytest.mark.parametrize(
    ("base", "kind"),
    [
        ("uct", TreeSearch),
        ("uct(table=1MiB)", TableSearch),
        ("mc", FlatSearch),
        ("mc()", FlatSearch),
        ("mmmc", MinimaxSearch),
        ("mmmc(keep=leaf)", MinimaxSearch),
        ("mmmc(keep=episode)", EpisodeSearch),
        ("uct(root=actions)", TreeSearch),
        ("uct(root=turns)", TurnSearch),
        ("uct(table=1MiB,root=turns)", TableTurnSearch),
        ("mc(root=turns)", FlatTurnSearch),
    ],
)
def test_the_kind_of_search(base, kind):
    assert type(search_of(base)) is kind
    assert parse_name(base).word in CLASSICAL and game_of(f"{base}@5") is None


@pytest.mark.parametrize(("text", "entries"), [("1000", 1000), ("1001", 1000), ("1MiB", 32_768)])
def test_the_table_s_size(text, entries):
    assert search_of(f"uct(table={text})", num_trees=3).tables.entries.shape == (3, entries)


def test_a_limit_on_nodes_is_the_tree_s():
    for base in ("uct", "mc", "mmmc", "mmmc(keep=episode)"):
        assert search_of(base, max_nodes=50).forest.nodes.shape == (1, 50)


def test_whole_episodes_have_room_in_the_tree():
    game = make_game("connect_four")
    agent = make_agent("mmmc(keep=episode)@2000", game)
    assert not agent.suggest(game.new_initial_state()).is_tree_full
    agent.player.start(4, [game.new_initial_state()] * 4, 0)
    agent.player.choose(range(4))
    assert not agent.player.search.forest.trees.is_full.any()


@pytest.mark.thorough
@pytest.mark.parametrize("base", ["uct(root=turns)", "uct(root=turns,table=1000)", "mc(root=turns)"])
def test_a_match_has_one_search_for_a_whole_turn(base):
    game = make_game("amazons(size=4)")
    agent, other = make_agent(f"{base}@40", game, seed=1), make_agent("random", game, seed=2)
    result = play_match(agent, other, game, 8, opening_plies=0)
    assert result.tally.score > 0.5
    num_turns = 0
    for played in result.results:  # a turn is three actions, and the first player begins
        turns = len(played.actions) // 3
        num_turns += (turns + 1) // 2 if played.a_is_first else turns // 2
    assert agent.player.moves == num_turns and agent.player.simulations <= 40 * num_turns
    assert base != "mc(root=turns)" or result.simulations_a == 40


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("uct(c=-1)", "c = -1 should be a number from 0 to 10000"),
        ("uct(cp=much)", "cp = much should be a number from 0 to 10000"),
        ("uct(k=10001)", "k = 10001 should be a number from 0 to 10000"),
        ("uct(c=1,cp=1)", "c, cp and k are the same constant; give only one of them"),
        ("uct(cp=0,k=0)", "c, cp and k are the same constant; give only one of them"),
        ("uct(bias=depth,cp=1)", "bias=depth takes c, not cp or k"),
        ("uct(bias=depth,k=0)", "bias=depth takes c, not cp or k"),
        ("uct(bias=width)", "bias = width should be one of ucb1, depth"),
        ("uct(by=prior)", "by = prior should be one of visits, value"),
        ("uct(prove=maybe)", "prove = maybe should be one of true, false"),
        ("uct(min_visits=-1)", "min_visits = -1 should be a whole number from 0 to 1,073,741,824"),
        ("uct(table=1)", "table = 1 should be from 2 to 268,435,456 entries, or memory, e.g. 64MiB"),
        ("uct(table=9000MiB)", "table = 9000MiB should be from 2 to 268,435,456 entries, or memory, e.g. 64MiB"),
        ("uct(tabel=5)", "unknown option 'tabel'; did you mean 'table'? known: "),
        ("uct(stored_visits=3)", "stored_visits and stored_value need a table: add e.g. table=64MiB"),
        ("uct(table=64,stored_visits=-1)", "stored_visits = -1 should be a whole number from 0 to 1,073,741,824"),
        ("uct(table=64,stored_value=1.5)", "stored_value = 1.5 should be a number from -1 to 1"),
        ("uct(root=moves)", "root = moves should be one of actions, turns"),
        ("mc(root=moves)", "root = moves should be one of actions, turns"),
        ("mmmc(keep=all)", "keep = all should be one of leaf, episode"),
        ("mmmc(keep=episode,rollout=own)", "rollout has no effect with keep=episode; give only one of the two"),
        ("mmmc(root=turns)", "unknown option 'root'; did you mean 'rollout'? known: "),
        ("mc(c=1)", "unknown option 'c'; known: "),
        ("mmmc(table=5)", "unknown option 'table'; known: "),
    ],
)
def test_what_is_wrong_is_named_in_one_line(base, message):
    with pytest.raises(BadInput, match=f"^{re.escape(f'agent {base!r}: {message}')}[^\n]*$"):
        make_agent(f"{base}@10", GAME)


@pytest.mark.parametrize(
    "base",
    [
        "uct(cp=0.7,min_visits=5)",
        "uct(root=turns)",
        "mmmc",
        "mmmc(keep=episode)",
        "mc",
        *thorough("uct(bias=depth)", "uct(table=500,by=value)", "uct(table=50,stored_visits=2,stored_value=0)"),
    ],
)
def test_they_play_and_suggest(base):
    agent, other = make_agent(f"{base}@60", GAME, seed=1), make_agent("random", GAME, seed=2)
    result = play_match(agent, other, GAME, 20, opening_plies=2)
    assert result.tally.games == 20 and result.tally.score > 0.5
    suggestion = agent.suggest(GAME.state_from_moves("b2 a1 b1 a2"))
    assert suggestion.best == "b3" and suggestion.moves[0].pv[0] == "b3"
    assert suggestion.simulations <= 60


@pytest.mark.long
def test_a_table_is_no_weaker_than_a_tree():
    game = make_game("connect_four")
    a, b = make_agent("uct(table=1000000)@500", game, seed=1, threads=2), make_agent("uct@500", game, seed=2, threads=2)
    _, upper = play_match(a, b, game, 200, seed=3).to_json()["score_ci95"]
    assert upper >= 0.5
