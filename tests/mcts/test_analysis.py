"""Tests of the results of a search: the ranking, its values and proofs, and playable variations."""

import numpy as np
import pytest

from azero.games import make_game
from azero.mcts import Puct, Settings, TreeSearch, Uct, rank_moves, root_value
from azero.mcts.search.analysis import principal_variations

from .evaluators import FixedEvaluator, HashEvaluator
from .trees import child_of, make_tree

GAME = make_game("connect_four")
AHEAD = Settings(is_looking_ahead=True, proof_nodes=1000)
JUDGES = {
    "rollouts": (Uct(), None, Settings()),
    "evaluator": (Puct(), HashEvaluator(GAME), Settings()),
    "evaluator, looking ahead": (Puct(), HashEvaluator(GAME), AHEAD),
}


def analyse(moves, judge="rollouts", num_simulations=1000, **settings):
    selection, evaluator, defaults = JUDGES[judge]
    state = GAME.state_from_moves(moves)
    search = TreeSearch(GAME, selection, defaults._replace(**settings), evaluator, max_nodes=20_000)
    search.start(0, state, seed=2)
    search.run([0], num_simulations)
    return search, state, rank_moves(search)


def follow(state, actions):
    """Returns the position after `actions`, which must all be legal."""
    after = state.clone()
    for action in actions:
        after.apply_action(action)
    return after


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("moves", ["", "4", "17171", "4433", "74137", "44332"])
def test_moves_are_the_legal_ones_with_their_statistics(moves, judge):
    search, state, ranked = analyse(moves, judge)
    sign = 1 - 2 * state.current_player()
    assert sorted(move.action for move in ranked) == state.legal_actions()
    assert ranked[0].action == search.choose(0)
    assert sum(move.prior for move in ranked) == pytest.approx(1, abs=1e-6)
    for move in ranked:
        node = child_of(search, move.action)
        assert (move.visits, move.prior) == (node.N, node.P)
        assert -1 <= move.value <= 1
        if move.proven is None and move.visits:
            assert move.value == sign * node.W / node.N and move.proven_plies is None


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("moves", ["", "4", "17171", "4433", "74137", "44332", "1233324741"])
def test_variations_can_be_played_and_proven_ones_end_the_game(moves, judge):
    _, state, ranked = analyse(moves, judge)
    for move in ranked:
        assert move.pv[0] == move.action
        after = follow(state, move.pv)
        if move.proven in ("win", "loss"):
            assert after.is_terminal() and len(move.pv) == move.proven_plies
            assert after.returns()[state.current_player()] == move.value == {"win": 1, "loss": -1}[move.proven]


def test_losses_stand_last():
    _, _, ranked = analyse("17171", num_simulations=3000)
    assert [move.proven for move in ranked] == [None] + ["loss"] * 6
    assert all(move.proven_plies == 2 and move.pv == [move.action, 0] for move in ranked[1:])
    assert ranked[0].action == 0 and len(ranked[0].pv) > 2


def test_a_lost_root_is_worth_a_loss():
    search, _, ranked = analyse("44332")
    assert root_value(search) == -1 and {move.proven for move in ranked} == {"loss"}


def test_values_are_for_the_player_to_move():
    """The first player's open two, and then three, are good for that player and bad for the second."""
    values = {}
    for moves in ("4152", "41526"):
        search, _, ranked = analyse(moves, is_proving=False)
        root = search.forest.nodes[0][0]
        values[moves] = root_value(search)
        assert values[moves] == (1 - 2 * root.player) * root.W / root.N
        assert ranked[0].value == pytest.approx(values[moves], abs=0.3)
    assert values["4152"] > 0.3 and values["41526"] < -0.3


def test_lines_that_are_not_proven_are_not_looked_at_again(monkeypatch):
    search = TreeSearch(GAME, Uct(), AHEAD, max_nodes=20_000)
    search.start(0, GAME.state_from_moves("444"), seed=0)
    search.run([0], 100)

    def fail(*_):
        raise AssertionError("it looks ahead again")

    monkeypatch.setattr(TreeSearch, "run", fail)
    assert {move.proven for move in rank_moves(search)} == {None}


def test_before_any_search_there_are_no_moves_and_no_value():
    search = TreeSearch(GAME, Uct(), Settings(), max_nodes=100)
    search.start(0, GAME.new_initial_state(), seed=0)
    assert rank_moves(search) == [] and root_value(search) == 0


def test_an_unvisited_move_has_its_prior_only():
    search = TreeSearch(GAME, Puct(), Settings(), FixedEvaluator([0.0] * 6 + [1.0]), max_nodes=100)
    search.start(0, GAME.new_initial_state(), seed=0)
    search.run([0], 1)
    best = rank_moves(search)[0]
    assert (best.action, best.visits, best.value, best.proven, best.pv) == (6, 0, 0.0, None, [6])
    assert best.prior == pytest.approx(np.e / (np.e + 6))


def test_other_trees_have_rankings_of_their_own():
    search = TreeSearch(GAME, Uct(), Settings(), num_trees=2, max_nodes=20_000)
    search.start(0, GAME.state_from_moves("171717"), seed=0)
    search.start(1, GAME.state_from_moves("1717172"), seed=0)
    search.run([0, 1], 500)
    assert [rank_moves(search, b)[0].action for b in (0, 1)] == [0, 6]
    assert [root_value(search, b) for b in (0, 1)] == [1, 1]


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("children", "best"),
    [
        ([{"N": 9}, {"N": 2, "proven": 1, "plies": 4}, {"N": 1, "proven": 1, "plies": 2}], 2),
        ([{"N": 9, "proven": -1, "plies": 1}, {"N": 2, "proven": -1, "plies": 3}], 1),
        ([{"N": 9, "proven": -1, "plies": 1}, {"N": 1, "Q": -0.9}], 1),
        ([{"N": 5, "Q": 0.9}, {"N": 6, "Q": -0.9}, {"N": 6, "Q": -0.8}], 2),
        ([{"N": 5, "proven": 0, "plies": 3}, {"N": 6, "Q": 0.1}], 1),
        ([{"N": 7, "proven": 0, "plies": 3}, {"N": 6, "Q": 0.1}], 0),
        ([{"N": 0}, {"N": 0}], None),
        ([{"N": 0}, {"N": 0, "proven": 1}], 1),
    ],
)
def test_a_variation_follows_the_shortest_win_or_the_most_visits_or_the_longest_loss(children, best, player):
    nodes = make_tree(*children, player=player).nodes[0]
    (line,) = principal_variations(nodes, np.zeros(1, np.int32), len(nodes))
    assert line[1:] == ([] if best is None else [int(nodes[1 + best].action)])
