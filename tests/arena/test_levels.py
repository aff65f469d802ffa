"""Tests of levels: the rule of choice, names and errors, determinism, the tables that ship, and `play --level`."""

import dataclasses
import json

import numpy as np
import pytest

from azero.arena.agents.agent import Agent
from azero.arena.agents.checkpoints import identity_of_agent
from azero.arena.agents.clock import Clock, TimeControl
from azero.arena.agents.levels import ADAPTIVE, Level, LevelAgent, levels_of, parse_level, table_of
from azero.arena.agents.levels import agent as levels_agent
from azero.arena.agents.levels.level import tables
from azero.arena.agents.levels.rule import (
    Judged,
    adapted,
    chances_of,
    draw_move,
    scores_of,
    turns_of_opponent,
    weights_of,
)
from azero.arena.agents.make import make_agent
from azero.arena.matches.match import play_match
from azero.errors import BadInput
from azero.games import make_game
from azero.mcts.proving.wins import LETS_WIN, QUIET, WINS, first_win, wins_in_one
from azero.system.files import PACKAGE

from .agents import write_uci_engine

TIC_TAC_TOE = make_game("tic_tac_toe")
QUIET_MOVES = np.full(4, QUIET, np.int8)


def judged(values, visits=10, is_proven=False, prior_losses=0.0) -> Judged:
    """Returns four moves or so, with values in [-1, 1]."""
    n = len(values)
    proven = np.broadcast_to(is_proven, n)
    return Judged(np.broadcast_to(visits, n), np.array(values, float), proven, np.full(n, 1 / n), prior_losses)


def level(temperature=10.0, cap=100.0, sight=0.0, **fields) -> Level:
    return Level(1, "Test", 10, temperature, cap, sight, **fields)


ALL = np.ones(4, bool)


def test_a_loss_is_weighted_by_the_temperature():
    weights = weights_of(judged([0.4, 0.2, 0.0, -0.2]), level(temperature=10.0), ALL)
    np.testing.assert_allclose(weights / weights[0], np.exp([0.0, -1.0, -2.0, -3.0]))  # 10 points a step


def test_a_loss_above_the_cap_is_never_drawn():
    weights = weights_of(judged([0.4, 0.2, 0.0, -0.2]), level(temperature=1e6, cap=20.0), ALL)
    np.testing.assert_allclose(weights, [1 / 3, 1 / 3, 1 / 3, 0.0], atol=1e-4)


def test_at_temperature_zero_the_best_is_drawn():
    assert weights_of(judged([0.1, 0.3, 0.2, 0.0]), level(temperature=0.0), ALL).tolist() == [0, 1, 0, 0]


def test_few_visits_are_not_taken_at_their_word():
    lucky = judged([1.0, 0.5, 0.0, 0.0], visits=[1, 50, 5, 0], prior_losses=1.0)
    assert np.nanargmax(scores_of(lucky)) == 1
    assert np.isnan(scores_of(lucky)[3]) and weights_of(lucky, level(), ALL)[3] == 0.0
    known = judged([1.0, 0.5, 0.0, 0.0], visits=[0, 50, 5, 0], is_proven=[True, False, False, False], prior_losses=1.0)
    assert scores_of(known)[0] == 100.0


def test_moves_without_any_visit_are_drawn_by_their_priors():
    nothing = judged([0.0] * 4, visits=0)._replace(priors=np.array([0.7, 0.1, 0.1, 0.1]))
    np.testing.assert_allclose(weights_of(nothing, level(), ALL), [0.7, 0.1, 0.1, 0.1])


def test_sight_takes_a_win_and_avoids_what_lets_the_opponent_win():
    moves, rng = judged([0.9, 0.0, 0.0, 0.0]), np.random.default_rng(0)
    for kinds, seen in (((LETS_WIN, QUIET, WINS, QUIET), {2}), ((LETS_WIN, QUIET, QUIET, QUIET), {1, 2, 3})):
        drawn = {draw_move(moves, level(1e6, 100, sight=1.0), np.array(kinds, np.int8), rng) for _ in range(60)}
        assert drawn == seen
    blind = {
        draw_move(moves, level(1.0, 100, sight=0.0), np.array([LETS_WIN, 0, 1, 0], np.int8), rng) for _ in range(20)
    }
    assert blind == {0}
    lost = np.full(4, LETS_WIN, np.int8)
    assert draw_move(moves, level(0.0, 100, sight=1.0), lost, rng) == 0


@pytest.mark.parametrize(
    ("moves", "kinds"),
    [
        ("a1 a2 b1 b2", {"c1": WINS, "c2": QUIET, "c3": LETS_WIN, "a3": LETS_WIN, "b3": LETS_WIN}),
        ("a1 b2", dict.fromkeys(("b1", "c1", "a2", "c2", "a3", "b3", "c3"), QUIET)),
    ],
)
def test_wins_in_one_are_seen(moves, kinds):
    state = TIC_TAC_TOE.state_from_moves(moves)
    texts = [TIC_TAC_TOE.action_to_text(state, action) for action in state.legal_actions()]
    assert dict(zip(texts, wins_in_one(state).tolist(), strict=True)) == kinds
    wins = [action for action, text in zip(state.legal_actions(), texts, strict=True) if kinds[text] == WINS]
    assert first_win(state) == (wins or [-1])[0]


def test_sight_mixes_what_is_seen_and_what_is_not():
    kinds = np.array([LETS_WIN, QUIET, QUIET, QUIET], np.int8)
    chances = chances_of(judged([0.0] * 4), level(sight=0.7), kinds)
    np.testing.assert_allclose(chances, [0.3 / 4, *[0.3 / 4 + 0.7 / 3] * 3])


@pytest.mark.parametrize(("value", "expected"), [(-0.9, (1, 2)), (0.9, (6, 7, 8))])
def test_the_adaptive_level_is_that_of_the_opponents_moves(value, expected):
    game = make_game("connect_four")
    levels = table_of(game).levels

    def judge(position) -> Judged:
        return judged([value, *[0.0] * 6])  # of the first column, in which the opponent plays

    assert adapted(levels, game.new_initial_state(), judge).number in (4, 5)
    assert adapted(levels, game.state_from_moves("12121"), judge).number in expected


def test_the_opponents_turns_are_those_of_the_other_player():
    state = TIC_TAC_TOE.state_from_moves("a1 b1 a2 b2")
    assert [turn.action for turn in turns_of_opponent(state)] == state.history()[1::2]
    assert [turn.action for turn in turns_of_opponent(state, 2)] == state.history()[3::2]
    assert turns_of_opponent(TIC_TAC_TOE.state_from_text(state.to_text())) == []  # its moves are not known


@pytest.mark.slow
def test_the_adaptive_level_knows_positions_by_their_past_where_it_counts():
    """In Go, boards that are equal may have different legal moves, and the search judges only these."""
    game, rng, seen = make_game("go(size=2)"), np.random.default_rng(0), {}
    player = make_agent("uct(level=adaptive)", game)
    while True:
        state = game.new_initial_state()
        while not state.is_terminal():
            before = seen.setdefault(state.hash_key(), state.clone())
            if before.legal_actions() != state.legal_actions():
                for each in (before, state, before):
                    assert len(player._remembered(each, 0).visits) == len(each.legal_actions())
                return
            state.apply_action(int(rng.choice(state.legal_actions())))


def test_the_random_opening_of_a_match_is_no_move_of_the_opponent(monkeypatch):
    """A random opening looks like the moves of a beginner."""
    openings = set()

    def adapted_and_noted(levels, state, judge, since):
        openings.add(since)
        return levels[0]

    monkeypatch.setattr(levels_agent, "adapted", adapted_and_noted)
    adaptive = make_agent("uct(level=adaptive)", TIC_TAC_TOE)
    result = play_match(adaptive, make_agent("random", TIC_TAC_TOE), TIC_TAC_TOE, 8, opening_plies=2)
    assert openings == {each.opening_plies for each in result.results} and max(openings) == 2


@pytest.mark.parametrize("number", [1, 3, ADAPTIVE])
def test_a_suggestion_is_determined_by_seed_and_position(number):
    """Level 3 is full strength."""
    level, state = table_of(TIC_TAC_TOE).level(number), TIC_TAC_TOE.state_from_moves("a1 b1 a2")
    player, again = (LevelAgent(make_agent("uct", TIC_TAC_TOE), level) for _ in range(2))
    first = [player.suggest_by(state, seed).moves for seed in range(12)]
    assert first[::-1] == [again.suggest_by(state, seed).moves for seed in reversed(range(12))]
    assert len({moves[0].visits for moves in first}) > 1
    suggestion = player.suggest(state)
    assert suggestion.best == suggestion.moves[0].move and len(suggestion.moves) == 6


class Twice(Agent):
    """Names the best move again, at the end, with a bad value: as the first action of another turn."""

    def suggest(self, state, simulations=None, seconds=None):
        found = make_agent("uct", TIC_TAC_TOE).suggest(state)
        return dataclasses.replace(found, moves=[*found.moves, found.moves[0]._replace(visits=90, value=-1.0)])


def test_a_move_that_begins_several_turns_is_judged_by_the_best_of_them():
    state = TIC_TAC_TOE.new_initial_state()
    player = LevelAgent(Twice("twice", TIC_TAC_TOE), level(temperature=0.0, sight=1.0))
    assert player.suggest(state).best == make_agent("uct", TIC_TAC_TOE).suggest(state).best


def test_a_match_at_levels_repeats():
    def games():
        agents = [make_agent(f"uct(level={number})", TIC_TAC_TOE, seed) for seed, number in enumerate((1, ADAPTIVE))]
        result = play_match(*agents, TIC_TAC_TOE, 4, opening_plies=0)
        return [each.actions for each in result.results], result.simulations_a

    first, simulations = games()
    assert (first, simulations) == games() and len(set(first)) > 1
    assert 0 < simulations <= table_of(TIC_TAC_TOE).level(1).simulations


@pytest.mark.parametrize("name", ["mmmc(level=1)", "mc(level=1)"])
def test_any_agent_that_judges_plays_at_a_level(name):
    agent = make_agent(name, TIC_TAC_TOE)
    result = play_match(agent, make_agent("random", TIC_TAC_TOE), TIC_TAC_TOE, 2)
    assert result.tally.games == 2 and isinstance(agent, LevelAgent)


def test_what_values_its_best_moves_alone_has_no_levels(tmp_path):
    """An engine tells of no others, and alpha-beta has upper bounds for them."""
    game = make_game("breakthrough(rows=4,columns=3)")
    engine = make_agent(write_uci_engine(tmp_path), game)
    for inner in (engine, make_agent("alphabeta@10", game)):
        with pytest.raises(BadInput, match="values its best moves alone, so it has no levels"):
            LevelAgent(inner, level())
    engine.close()


@pytest.mark.parametrize("name", ["uct(level=1)", "uct(level=3)", "mc(level=1)", "uct(level=adaptive)"])
def test_on_a_clock_all_is_prepared_before_the_first_move(name, monkeypatch):
    """Level 3 is full strength."""
    agent = make_agent(name, TIC_TAC_TOE)
    agent.player.start_clock()
    monkeypatch.setattr(agent.inner, "make_search", lambda *_: pytest.fail("too late"))
    assert agent.player.play(TIC_TAC_TOE.new_initial_state(), Clock(TimeControl(60.0))).moves


def test_rollouts_that_lose_are_not_taken_at_their_word():
    state = TIC_TAC_TOE.new_initial_state()
    _, judged = make_agent("mc(level=1)", TIC_TAC_TOE).judge(state, 0, 20)
    assert judged.prior_losses == 1.0


def test_full_strength_is_the_agent_itself():
    table = table_of(TIC_TAC_TOE)
    full = table.levels[-1]
    named = make_agent(f"uct(level={full.number})", TIC_TAC_TOE)
    state = TIC_TAC_TOE.state_from_moves("a1")
    assert named.suggest(state).moves == make_agent(f"uct@{full.simulations}", TIC_TAC_TOE).suggest(state).moves


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("uct(level=0)", "level = 0 should be a whole number from 1 to 8, or adaptive"),
        ("uct(level=9)", "level = 9 should be"),
        ("uct(level=best)", "level = best should be"),
        ("uct(level=8)", "level = 8 should be from 1 to 3 in tic_tac_toe"),
        ("uct(level=1)@800", "has a limit and a level"),
        ("random(level=1)", "random has no limit and no options|does not judge"),
        ("uct(level=1,level=2)", "sets level twice"),
    ],
)
def test_errors(name, message):
    with pytest.raises(BadInput, match=message):
        make_agent(name, TIC_TAC_TOE)


def test_errors_of_limits():
    agent = make_agent("uct(level=1)", TIC_TAC_TOE)
    with pytest.raises(BadInput, match="takes no other limit"):
        agent.suggest(TIC_TAC_TOE.new_initial_state(), simulations=7)
    with pytest.raises(BadInput, match="plays at a level already"):
        LevelAgent(agent, level())
    assert parse_level(" 3 ") == 3 and parse_level("adaptive") == ADAPTIVE


@pytest.mark.parametrize("table", [pytest.param(each, id=name) for name, each in tables().items()])
def test_tables_are_whole_and_rise(table):
    assert str(make_game(table.game)) == table.game and table.agent and table.date
    assert 3 <= len(table.levels) <= 8, "a new player begins at level 2, which is not full strength"
    assert [each.number for each in table.levels] == [*range(1, len(table.levels) + 1)]
    assert [each.is_full for each in table.levels] == [False] * (len(table.levels) - 1) + [True]
    for one, other in zip(table.levels, table.levels[1:], strict=False):
        assert one.elo is not None and other.elo is not None and one.elo < other.elo
        assert one.simulations <= other.simulations and one.temperature >= other.temperature and one.cap >= other.cap
    for each in table.levels:
        assert each.games >= 24 and each.elo_ci95[0] < each.elo < each.elo_ci95[1]
        assert str(each.simulations) in each.text and each.to_json()["elo"] == each.elo
    assert table.anchors[0].name == "random" and table.anchors[0].elo == 0
    assert table.adaptive.is_adaptive and table.adaptive.levels == table.levels


def test_tables_of_shipped_nets_are_of_their_present_weights():
    found = [json.loads(path.read_text()) for path in (PACKAGE / "data" / "levels").glob("*.json")]
    of_nets = {each["name"]: each["agent"] for each in found if each["agent"].startswith("net:")}
    assert len(of_nets) >= 4
    for name, identity in of_nets.items():
        assert identity_of_agent(name) == identity, f"calibrate it anew: python benchmarks/levels.py calibrate {name}"


def test_the_elo_of_another_agent_is_unknown():
    known, other = (levels_of(TIC_TAC_TOE, identity_of_agent(name)) for name in ("tic_tac_toe", "uct"))
    assert known.levels[0].elo is not None and known.levels[0].games > 0
    assert other.levels[0].elo is None and other.levels[0].simulations == known.levels[0].simulations


def test_a_game_without_a_table_has_eight_levels_without_elo():
    table = table_of(make_game("hex(size=3)"))
    assert len(table.levels) == 8 and table.agent == "" and all(each.elo is None for each in table.levels)
    assert table.levels[0].name == "Beginner" and table.levels[-1].name == "Full strength"
