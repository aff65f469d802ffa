"""Tests of the alpha-beta agent: its name, its suggestions, and its limit in leaves."""

import re
import time

import pytest

from azero.arena.agents.alphabeta import DEFAULT_ROLLOUTS, AlphaBetaAgent
from azero.arena.agents.checkpoints import game_of
from azero.arena.agents.clock import Limit
from azero.arena.agents.make import make_agent
from azero.arena.agents.suggestion import RESIGN
from azero.arena.matches.match import play_match
from azero.errors import BadInput
from azero.games import make_game
from azero.interfaces.terminal.results import show_suggestion

GAME, TIC_TAC_TOE = make_game("connect_four"), make_game("tic_tac_toe")
START = GAME.new_initial_state()
FORCED = make_game("clobber(rows=2,columns=2)").state_from_moves("a1a2")


@pytest.mark.parametrize(
    ("name", "limit", "rollouts", "entries"),
    [
        ("alphabeta", Limit(400, is_default=True), DEFAULT_ROLLOUTS, None),
        ("alphabeta@1000", Limit(1000), DEFAULT_ROLLOUTS, None),
        ("alphabeta(rollouts=0)@2s", Limit(seconds=2.0), 0, None),
        ("alphabeta(rollouts=7,table=100000)@1s", Limit(seconds=1.0), 7, 100_000),
        ("alphabeta(table=64MiB)@9", Limit(9), DEFAULT_ROLLOUTS, 1 << 21),
        ("alphabeta(table=1GiB)@9", Limit(9), DEFAULT_ROLLOUTS, 1 << 25),
    ],
)
def test_a_name_tells_all(name, limit, rollouts, entries):
    agent = make_agent(name, GAME, seed=3)
    assert type(agent) is AlphaBetaAgent and game_of(name) is None
    assert (agent.name, agent.game, agent.seed, agent.limit) == (name, GAME, 3, limit)
    assert (agent.num_rollouts, agent.max_table_entries) == (rollouts, entries)


def test_the_values_of_refuted_moves_are_bounds():
    """The best move is searched first, with an open window. A refuted move has only an upper bound."""
    suggestion = make_agent("alphabeta(rollouts=1)@500", GAME).suggest(START)
    best, *others = suggestion.moves
    bounds = [move for move in others if move.is_bound]
    assert not best.is_bound and bounds and all(move.value <= best.value for move in bounds)
    assert f" <{bounds[0].value:+.3f} " in show_suggestion(suggestion, START)
    assert {move["move"]: move["is_bound"] for move in suggestion.to_json()["moves"]}[bounds[0].move] is True


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("table=0", "table = 0 should be from 2 to 134,217,728 entries, or memory, e.g. 64MiB"),
        ("table=5GiB", "table = 5GiB should be "),
        ("rollouts=-1", "rollouts = -1 should be a whole number from 0 to 1,000"),
        ("rollouts=1001", "rollouts = 1001 should be "),
        ("rolouts=2", "unknown option 'rolouts'; did you mean 'rollouts'?"),
    ],
)
def test_what_is_wrong_with_an_option_is_named_in_one_line(options, message):
    name = f"alphabeta({options})"
    with pytest.raises(BadInput, match=f"^{re.escape(f'agent {name!r}: {message}')}") as error:
        make_agent(f"{name}@1s", GAME)
    assert "\n" not in str(error.value)


def test_suggestions_count_leaves_and_can_be_shown():
    agent = make_agent("alphabeta@700", GAME, seed=1)
    state = GAME.state_from_moves("4453")
    suggestion = agent.suggest(state)
    assert suggestion.simulations == 700 == sum(move.visits for move in suggestion.moves)
    assert (suggestion.game, suggestion.to_move, suggestion.best) == ("connect_four", 0, suggestion.moves[0].move)
    assert suggestion.value == suggestion.moves[0].value
    assert sum(move.prior for move in suggestion.moves) == pytest.approx(1)
    assert agent.suggest(state, simulations=50).simulations == 50
    assert agent.suggest(state).moves == suggestion.moves
    assert f"best: {suggestion.best}   (700 simulations in" in show_suggestion(suggestion, state)


def test_proofs_are_shown_without_a_length():
    state = GAME.state_from_moves("4455")
    suggestion = make_agent("alphabeta@5000", GAME).suggest(state)
    assert (suggestion.moves[0].proven, suggestion.moves[0].proven_plies, suggestion.value) == ("win", None, 1)
    assert "  win         " in show_suggestion(suggestion, state) and "None" not in show_suggestion(suggestion, state)


@pytest.mark.thorough
def test_a_move_without_an_alternative_is_played_at_once():
    agent = make_agent("alphabeta@5s", FORCED.game)
    agent.player.start(1, [FORCED], 0)
    begin = time.perf_counter()
    assert agent.player.choose([0]) == FORCED.legal_actions()
    assert time.perf_counter() - begin < 1 and agent.player.simulations == 0


@pytest.mark.parametrize(("below", "is_resigned"), [(-0.5, True), (-1.0, False)])
def test_it_resigns_a_lost_game_of_a_match(below, is_resigned):
    lost = TIC_TAC_TOE.state_from_moves("a1 b1 a2 a3 b2")  # c2 and c3 both win
    agent = make_agent(f"alphabeta(resign={below})@1000", TIC_TAC_TOE)
    agent.player.start(1, [lost], 0)
    assert (agent.player.choose([0]) == [RESIGN]) is is_resigned
    assert agent.player.thought(0).value == -1 and agent.player.thought(0).simulations == agent.player.simulations > 0


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["connect_four", "clobber(size=5)", "breakthrough(size=5)", "go(size=3)"])
def test_it_beats_random_play(name):
    game = make_game(name)
    agent = make_agent("alphabeta@300", game)
    result = play_match(agent, make_agent("random", game), game, 10)
    assert result.tally.wins >= 9
    assert 0 < agent.player.simulations <= 300 * agent.player.moves


def test_the_table_is_as_large_as_the_search_may_need():
    agent = make_agent("alphabeta", GAME)
    sizes = [agent._entries_for(limit) for limit in (Limit(1), Limit(1 << 30), Limit(50_000), Limit(seconds=0.5))]
    assert sizes == [1 << 10, 1 << 21, 100_000, 1 << 19]
    assert make_agent("alphabeta(table=64)", GAME)._entries_for(Limit(1 << 30)) == 64
