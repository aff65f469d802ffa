"""Tests of agents: their suggestions, their limits, and that a seed determines the answer."""

import importlib
import time

import pytest

from azero.arena.agents.clock import Limit
from azero.arena.agents.make import make_agent
from azero.errors import BadInput
from azero.games import make_game

from .agents import write_checkpoint

GAME, CONNECT_FOUR = make_game("tic_tac_toe"), make_game("connect_four")
START = GAME.new_initial_state()
WON_IN_ONE = GAME.state_from_moves("a1 a2 b1 b2")  # c1 wins; so would c2 for the opponent


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    return str(write_checkpoint(tmp_path_factory.mktemp("agents") / "net.safetensors"))


def agents(net):
    return [make_agent(name, GAME, seed=4) for name in ("uct@60", "mc@60", "random", f"{net}@60")]


@pytest.mark.thorough
def test_suggestions_have_every_legal_move_once_and_can_be_played(net):
    state = GAME.state_from_moves("b2 a1 c1")
    for agent in agents(net):
        suggestion = agent.suggest(state)
        assert (suggestion.game, suggestion.to_move) == ("tic_tac_toe", 1)
        assert sorted(move.action for move in suggestion.moves) == state.legal_actions()
        assert (suggestion.best, suggestion.action) == (suggestion.moves[0].move, suggestion.moves[0].action)
        assert -1 <= suggestion.value <= 1 and suggestion.elapsed_s >= 0
        assert sum(move.prior for move in suggestion.moves) == pytest.approx(1, abs=1e-5)
        for move in suggestion.moves:
            assert GAME.text_to_action(state, move.move) == move.action
            assert move.pv[0] == move.move and -1 <= move.value <= 1
            GAME.state_from_moves(f"b2 a1 c1 {' '.join(move.pv)}")


@pytest.mark.parametrize("wanted", [1, 37, 200])
def test_simulations_are_those_asked_for(net, wanted):
    for agent in (make_agent("uct", GAME), make_agent("mc", GAME), make_agent(net)):
        suggestion = agent.suggest(START, simulations=wanted)
        assert suggestion.simulations == wanted
        assert sum(move.visits for move in suggestion.moves) in (wanted, wanted - 1)  # one may go to the root
        assert not suggestion.is_tree_full


def test_limits_given_take_the_place_of_the_name_s():
    agent = make_agent("uct@50", GAME)
    assert [agent.suggest(START).simulations, agent.suggest(START, simulations=80).simulations] == [50, 80]
    assert agent.suggest(START).simulations == 50
    assert agent.suggest(START, simulations=30, seconds=60).simulations == 30


@pytest.mark.parametrize("name", ["mc", "alphabeta(rollouts=1)"])  # neither proves anything so soon
def test_a_limit_of_seconds_is_kept(name):
    agent, start = make_agent(f"{name}@0.2s", CONNECT_FOUR), CONNECT_FOUR.new_initial_state()
    for limit in ({}, {"seconds": 0.3}):
        begin = time.perf_counter()
        suggestion = agent.suggest(start, **limit)
        assert limit.get("seconds", 0.2) <= suggestion.elapsed_s <= time.perf_counter() - begin
        assert suggestion.elapsed_s < 2 and suggestion.simulations > 400
    agent.player.start(1, [start], 0)
    begin = time.perf_counter()
    agent.player.choose([0])
    assert 0.2 <= time.perf_counter() - begin < 2


@pytest.mark.parametrize(
    ("name", "last_step"), [("uct@50", "search_agent.suggestion_of"), ("alphabeta@50", "alphabeta.describe_moves")]
)
def test_the_time_of_a_suggestion_is_that_of_the_whole_call(monkeypatch, name, last_step):
    module, _, function = last_step.partition(".")
    module = importlib.import_module(f"azero.arena.agents.{module}")
    original = getattr(module, function)

    def slowly(*arguments):
        time.sleep(0.3)
        return original(*arguments)

    agent = make_agent(name, GAME)
    agent.suggest(START)
    monkeypatch.setattr(module, function, slowly)
    assert agent.suggest(START).elapsed_s >= 0.3


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["uct@50", "uct(table=1000)@50", "alphabeta@50"])
def test_kernels_are_compiled_before_the_clock_of_a_suggestion_runs(monkeypatch, name):
    """The kernels of a first suggestion have run once before the agent reads the clock."""
    agent, calls = make_agent(name, GAME), []
    for module in (importlib.import_module(f"azero.arena.agents.{each}") for each in ("search_agent", "alphabeta")):
        monkeypatch.setattr(module.time, "perf_counter", lambda: calls.append("clock") or 0.0)
        for function in {"suggestion_of", "describe_moves"} & set(vars(module)):
            original = getattr(module, function)
            monkeypatch.setattr(
                module, function, lambda *each, original=original: calls.append("kernels") or original(*each)
            )
    agent.suggest(START)
    assert calls.count("kernels") == 2 and "clock" in calls[calls.index("kernels") :]


def test_the_same_seed_gives_the_same_answer_and_another_seed_another(net):
    for name in ("uct@50", "mc@50", "random", f"{net}@50"):
        agent, twin = (make_agent(name, GAME, seed=7) for _ in range(2))
        assert agent.suggest(START).moves == agent.suggest(START).moves == twin.suggest(START).moves
    for name in ("uct@50", "mc@50", "random"):
        one, other = (make_agent(name, GAME, seed=seed) for seed in (7, 8))
        assert one.suggest(START).moves != other.suggest(START).moves


def test_a_win_in_hand_is_found_and_proven(net):
    for agent in (make_agent("uct@100", GAME), make_agent(f"{net}@100")):
        suggestion = agent.suggest(WON_IN_ONE)
        best = suggestion.moves[0]
        assert (best.move, best.proven, best.proven_plies, best.pv) == ("c1", "win", 1, ["c1"])
        assert suggestion.value == best.value == 1 and suggestion.simulations < 100


def test_a_full_tree_is_told():
    suggestion = make_agent("uct@200", GAME, max_nodes=20).suggest(START)
    assert suggestion.is_tree_full and suggestion.simulations == 200


def test_a_suggestion_in_slices_is_the_same_whatever_comes_in_between(net, monkeypatch):
    monkeypatch.setattr("azero.arena.agents.search_agent.SLICE_S", 0.001)
    for name in (f"{net}(solve_nodes=100)@60", "uct@20000", "mc@2000"):
        agent = make_agent(name, GAME, seed=4)
        whole, slices, num_slices = agent.suggest(START), agent.apart().suggesting(START), 1
        while True:
            try:
                next(slices)
            except StopIteration as end:
                found = end.value
                break
            num_slices += 1
            agent.suggest(WON_IN_ONE)
        assert (found.moves, found.value, found.simulations) == (whole.moves, whole.value, whole.simulations), name
        assert num_slices > 1 or name == "mc@2000", "it may be quick"


def test_random_gives_every_move_a_chance():
    suggestion = make_agent("random", GAME).suggest(START)
    assert {move.prior for move in suggestion.moves} == {1 / 9}
    assert {(move.visits, move.value, move.proven) for move in suggestion.moves} == {(0, 0.0, None)}
    assert len({make_agent("random", GAME, seed=seed).suggest(START).best for seed in range(60)}) == 9


def test_random_suggests_another_place_in_another_position():
    """Behind a clock and in a game with a person it plays what it suggests."""
    agent, state, places = make_agent("random", make_game("connect_four")), None, []
    state = agent.game.new_initial_state()
    for _ in range(7):
        legal = state.legal_actions()
        places.append(legal.index(agent.suggest(state).action))
        state.apply_action(legal[places[-1]])
    assert len(set(places)) > 2


@pytest.mark.parametrize("name", ["alphabeta", "uct@20"])
def test_an_analysis_is_of_the_position_that_was_given(name):
    agent, state = make_agent(name, GAME), GAME.new_initial_state()
    with agent.analyse(state, simulations=20) as analysis:
        state.apply_action(4)
        *_, last = analysis
    assert (last.to_move, len(last.moves)) == (0, 9)


@pytest.mark.thorough
def test_the_rest_of_a_whole_turn_has_no_thought_of_its_own():
    game = make_game("amazons(rows=4,columns=4)")
    agent, state = make_agent("uct(root=turns)@50", game), game.new_initial_state()
    agent.player.start(1, [state], 0)
    thoughts = []
    for _ in range(4):
        [action] = agent.player.choose([0])
        thoughts.append(agent.player.thought(0))
        agent.player.advance(0, action)
    assert [thought is None for thought in thoughts] == [False, True, True, False]
    assert thoughts[0].simulations == 50


def test_random_plays_legal_moves_slot_by_slot():
    agent = make_agent("random", GAME)
    agent.player.start(2, [START, WON_IN_ONE], 0)
    one, other = agent.player.choose([0, 1])
    assert one in START.legal_actions() and other in WON_IN_ONE.legal_actions()
    agent.player.advance(1, other)
    assert agent.player.choose([1])[0] != other
    assert agent.player.moves == 3 and agent.player.seconds > 0


def test_mc_prefers_what_wins_most_random_games():
    suggestion = make_agent("mc@2000", GAME).suggest(START)
    assert suggestion.best == "b2"
    values = {move.move: move.value for move in suggestion.moves}
    assert min(values[corner] for corner in ("a1", "c1", "a3", "c3")) > max(values[edge] for edge in ("b1", "b3"))
    assert {move.proven for move in make_agent("mc@100", GAME).suggest(WON_IN_ONE).moves} == {None}


@pytest.mark.parametrize("name", ["uct@40", "alphabeta@40", "random", "uct(level=1)"])
def test_slots_of_a_match_do_not_touch_each_other(name):
    """The moves of a game depend on its number, not on the games in other slots."""

    def moves(numbers):
        agent = make_agent(name, CONNECT_FOUR, seed=2)
        agent.player.start(len(numbers), [CONNECT_FOUR.new_initial_state()] * len(numbers), numbers[0])
        return agent.player.choose(range(len(numbers)))

    assert moves([0, 1, 2, 3])[2:] == moves([2, 3]) and moves([3]) == moves([0, 1, 2, 3])[3:]
    assert len(set(moves(range(20)))) > 1


@pytest.mark.parametrize("name", ["uct@5", "random"])
def test_there_is_nothing_to_say_of_a_game_that_is_over_or_of_another_game(name):
    agent = make_agent(name, GAME)
    for ask in (agent.suggest, agent.analyse):
        with pytest.raises(BadInput, match=r"^there is nothing to suggest: the game is over$"):
            ask(GAME.state_from_moves("a1 a2 b1 b2 c1"))
    with pytest.raises(BadInput, match=r"^the position is of connect_four, but this agent plays tic_tac_toe$"):
        agent.suggest(make_game("connect_four").new_initial_state())


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"simulations": 0}, "simulations = 0 should be 1 or more"),
        ({"simulations": -1}, "simulations = -1 should be 1 or more"),
        ({"seconds": 0.0}, "seconds = 0.0 should be a number greater than 0"),
        ({"seconds": float("nan")}, "seconds = nan should be a number greater than 0"),
        ({"seconds": float("inf")}, "seconds = inf should be a number greater than 0"),
        ({"simulations": 10, "seconds": -1.0}, "seconds = -1.0 should be a number greater than 0"),
    ],
)
def test_limits_out_of_range_are_refused(limits, message):
    for attempt in (lambda: Limit(**limits), lambda: make_agent("uct", GAME).suggest(START, **limits)):
        with pytest.raises(BadInput, match=f"^{message}$"):
            attempt()


@pytest.mark.thorough
def test_a_net_s_agent_may_solve_the_position(net):
    drawn = make_agent(f"{net}(solve_nodes=10000)@20", GAME).suggest(START)
    assert (drawn.value, drawn.simulations, {move.proven for move in drawn.moves}) == (0.0, 20, {"draw"})
    won = make_agent(f"{net}(solve_nodes=10000,look_ahead=false)@20", GAME).suggest(WON_IN_ONE)
    assert (won.best, won.value, won.moves[0].proven) == ("c1", 1.0, "win") and won.simulations <= 10
    assert {move.proven for move in make_agent(f"{net}(solve_nodes=0)@20", GAME).suggest(START).moves} == {None}
