"""Tests that a lesson shows the real search: the simulations of the agents themselves, term by term."""

import math

import pytest
from cases import thorough

from azero.arena.agents.make import make_agent
from azero.compiler.jit import IS_COMPILED, _Subroutine
from azero.games import compile_game, make_game, without_compiling
from azero.mcts import Puct, Settings, TreeSearch
from azero.mcts.reference.shown import ShownSearch, recording_of
from tests.mcts.evaluators import HashEvaluator

NUM_SIMULATIONS = 40
WITHOUT_THE_REST = "(look_ahead=false,proof_nodes=0,solve_nodes=0,stop_early=false,cache_mib=0)"
POSITIONS = [
    ("connect_four", "443"),
    ("tic_tac_toe", "b2 a1"),
    ("tic_tac_toe", "b2 a1 b1 c1"),
    ("hex(size=3)", ""),
    ("clobber(rows=3,columns=4)", ""),
    ("go(size=3)", "b2"),
]


def lesson_of(name, moves="", search=None, c=None, seed=0):
    return ShownSearch(recording_of(make_game(name).state_from_moves(moves), search, c, seed))


def run(lesson, count=NUM_SIMULATIONS):
    """Returns up to `count` simulations, run as the server runs them before anything is compiled."""
    with without_compiling(lesson.recording.state.game.rules):
        return [done for _ in range(count) if (done := lesson.next())]


def root_of(lesson):
    """Returns visits and Q, for the player to move, of the root's visited moves."""
    recorder = lesson.recording
    return {
        recorder.state.game.action_to_text(recorder.state, child.action): (
            child.N,
            recorder.root.sign * child.W / child.N,
        )
        for child in recorder.root.children
        if child.N
    }


def check_suggestion(lesson, suggestion):
    """Checks that visits and values of a suggestion are those of a lesson. Proven values replace means there."""
    root, moves = root_of(lesson), [move for move in suggestion.moves if move.visits]
    assert {move.move: move.visits for move in moves} == {move: N for move, (N, _) in root.items()}
    for move in moves:
        assert move.proven or move.value == pytest.approx(root[move.move][1], abs=1e-6)


@pytest.mark.parametrize(("name", "moves"), POSITIONS)
def test_uct_is_what_the_agent_searches(name, moves):
    lesson = lesson_of(name, moves, seed=7)
    done = run(lesson)
    agent = make_agent(f"uct@{NUM_SIMULATIONS}", lesson.recording.state.game, seed=7)
    suggestion = agent.suggest(lesson.recording.state)
    check_suggestion(lesson, suggestion)
    assert len(done) == suggestion.simulations


def test_uct_with_another_constant():
    lesson = lesson_of("connect_four", "44", c=0.3, seed=1)
    run(lesson)
    agent = make_agent(f"uct(c=0.3)@{NUM_SIMULATIONS}", lesson.recording.state.game, seed=1)
    check_suggestion(lesson, agent.suggest(lesson.recording.state))


def test_puct_is_what_the_net_searches():
    agent = make_agent(f"tic_tac_toe{WITHOUT_THE_REST}@{NUM_SIMULATIONS}")
    state = agent.game.state_from_moves("b2 a1")
    lesson = ShownSearch(recording_of(state.clone(), agent.new_search(), None, 0))
    run(lesson)
    check_suggestion(lesson, agent.suggest(state))


@pytest.mark.parametrize(("name", "moves"), [*POSITIONS[1:3], *thorough(POSITIONS[0])])
def test_puct_is_the_search_whatever_its_settings(name, moves):
    state = make_game(name).state_from_moves(moves)
    rule = Puct(c_puct=1.7)
    own = Settings(is_looking_ahead=True, proof_nodes=20, leaves_per_tree=4, cache_mib=1, is_stopping_early=True)
    lesson = ShownSearch(
        recording_of(state.clone(), TreeSearch(state.game, rule, own, HashEvaluator(state.game)), None, 5)
    )
    done = run(lesson)
    search = TreeSearch(state.game, rule, Settings(), HashEvaluator(state.game))
    search.start(0, state, seed=5)
    search.run([0], NUM_SIMULATIONS)
    nodes = search.forest.nodes[0]
    children = nodes[nodes[0].first_child : nodes[0].first_child + nodes[0].num_children]
    expected = {(child.action, child.N, child.W) for child in children}
    assert {(child.action, child.N, child.W) for child in lesson.recording.root.children} == expected
    assert len(done) == nodes[0].N


@pytest.mark.slow
def test_a_thousand_simulations_are_the_same():
    state = make_game("connect_four").state_from_moves("443")
    search = TreeSearch(state.game, Puct(), Settings(), HashEvaluator(state.game))
    lesson = ShownSearch(recording_of(state.clone(), search, None, 5))
    run(lesson, 1000)
    search.start(0, state, seed=5)
    search.run([0], 1000)
    nodes = search.forest.nodes[0]
    children = nodes[nodes[0].first_child : nodes[0].first_child + nodes[0].num_children]
    shown = {(child.action, child.N, child.W) for child in lesson.recording.root.children}
    assert shown == {(child.action, child.N, child.W) for child in children} and nodes[0].N > 900


@pytest.mark.parametrize("method", ["uct", "puct"])
def test_terms_add_up_to_the_score_that_selects(method):
    game = make_game("connect_four")
    search = None if method == "uct" else TreeSearch(game, Puct(), Settings(), HashEvaluator(game))
    reasons = set()
    for done in run(lesson_of("connect_four", "44", search)):
        for at, selection in enumerate(done["selections"]):
            check_selection(method, selection)
            reasons.add(selection["reason"])
            assert selection["children"][selection["chosen"]]["move"] == done["path"][at]
    assert reasons >= ({"unvisited", "greatest"} if method == "uct" else {"greatest"})


def check_selection(method, selection):
    """Computes every term again, as the page explains it."""
    N, c, children = selection["N"], selection["constant"], selection["children"]
    chosen = children[selection["chosen"]]
    if selection["reason"] == "unvisited":
        assert chosen["N"] == 0 and selection["num_equal"] == sum(child["N"] == 0 for child in children)
        return
    for child in children:
        U = c * (
            math.sqrt(math.log(N) / child["N"]) if method == "uct" else child["P"] * math.sqrt(N) / (1 + child["N"])
        )
        assert child["U"] == pytest.approx(U, abs=1e-5)
        assert child["score"] == pytest.approx(child["Q"] + child["U"], abs=1e-5)
    assert chosen["score"] == max(child["score"] for child in children if not child["is_left_out"])


def test_backup_adds_the_value_to_the_path_and_nothing_else():
    counts = {}
    for done in run(lesson_of("connect_four", "44")):
        value = done["evaluation"]["value"]
        for node in done["backup"]:
            place = tuple(done["path"][: node["depth"]])
            assert node["N"][0] == counts.get(place, 0) and node["N"][1] == node["N"][0] + 1
            assert node["W"][1] == pytest.approx(node["W"][0] + value, abs=1e-5)
            counts[place] = node["N"][1]


def test_rollout_ends_with_the_result_that_is_backed_up():
    for name in ("connect_four", "go(size=3)", "tic_tac_toe"):
        for done in run(lesson_of(name), 20):
            if done["evaluation"]["kind"] != "rollout":
                continue
            end = make_game(name).new_initial_state()
            for move in [*done["path"], *done["evaluation"]["rollout"]]:
                end.apply_action(end.game.text_to_action(end, move))
            assert end.returns()[0] == done["evaluation"]["value"]


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_lesson_of_a_compiled_game_compiles_nothing_in_each_process(monkeypatch):
    """In Go, the first lesson of a process took 5 seconds, in which a server answered nobody."""
    plain, game = run(lesson_of("connect_four", "443"), 5), make_game("connect_four")
    compile_game(game)
    monkeypatch.setattr(_Subroutine, "_for_python", property(lambda self: pytest.fail("it is compiled for Python")))
    assert repr(run(lesson_of("connect_four", "443"), 5)) == repr(plain)


def test_rollout_that_plays_no_moves_has_none():
    evaluation = run(lesson_of("hex(size=3)"), 1)[0]["evaluation"]
    assert evaluation["kind"] == "rollout" and evaluation["rollout"] is None and abs(evaluation["value"]) == 1


def test_search_ends_with_a_proof():
    done = run(lesson_of("tic_tac_toe", "b2 a1 b1 c1"), 100)
    assert len(done) < 100
    assert done[-1]["backup"][0]["proven"] == [None, {"result": 1, "plies": 1}]
    assert any(each["evaluation"]["kind"] == "over" for each in done)
