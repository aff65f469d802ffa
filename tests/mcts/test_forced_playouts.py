"""Tests of forced playouts: the visits forced for a tried move, and the target without them."""

import math

import numpy as np
import pytest

from azero.games import make_game
from azero.mcts import Puct, Search, Settings
from azero.mcts.roots.forced_playouts import forced_child, forced_visits, prune_forced_visits
from azero.mcts.roots.target import write_policy_target
from azero.mcts.roots.visits import VisitsRoot

from .evaluators import HashEvaluator
from .trees import make_tree

PLAIN_PUCT = Puct(c_puct=1.0, c_puct_factor=0.0)


def pruned(*children: dict, player: int = 0) -> list[int]:
    """Returns the target's visits by place of the child. `children` have N, Q and P."""
    forest, visits = make_tree(*children, player=player), np.zeros(7, np.uint16)
    write_policy_target(forest.nodes[0], visits)
    prune_forced_visits(PLAIN_PUCT, 2.0, forest.trees[0], forest.nodes[0], visits)
    return visits[::-1][: len(children)].tolist()


def test_a_tried_move_is_owed_the_root_of_k_times_its_prior_and_all_visits():
    nodes = make_tree({"N": 90, "P": 0.5}, {"N": 9, "P": 0.36}, {"N": 0, "P": 0.14}, {"N": 1, "P": 0.0}).nodes[0]
    assert forced_visits(2.0, nodes, 2) == pytest.approx(math.sqrt(2 * 0.36 * 100))
    assert forced_visits(0.5, nodes, 1) == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("children", "expected"),
    [
        (({"N": 91, "P": 0.6}, {"N": 8, "P": 0.4}), 2),  # at least 8.9 are forced
        (({"N": 90, "P": 0.6}, {"N": 9, "P": 0.4}), 0),
        (({"N": 99, "P": 0.6}, {"N": 0, "P": 0.4}), 0),  # never tried
        (({"N": 91, "P": 0.6}, {"N": 8, "P": 0.4, "proven": 0}), 0),  # proven moves need no visits
    ],
)
def test_a_visit_is_forced_where_one_is_owed(children, expected):
    assert forced_child(2.0, make_tree(*children).nodes[0]) == expected


@pytest.mark.parametrize("player", [0, 1])
def test_what_puct_would_not_have_given_is_taken_off(player):
    """The best move has the score Q + P sqrt(N) / (1 + n) = 0.5 + 0.6 x 10 / 81.

    The second move's score -0.5 + 3 / (1 + n) is lower while n > 1.79. Of its 15 visits 7.7 were forced, so seven are
    removed. The third move, with Q = -0.9, loses all visits.
    """
    best, weak = {"N": 80, "P": 0.6, "Q": 0.5}, {"N": 15, "P": 0.3, "Q": -0.5}
    assert pruned(best, weak, {"N": 4, "P": 0.1, "Q": -0.9}, player=player) == [80, 8, 0]


def test_a_move_that_earned_its_visits_keeps_them():
    """The second move's score is 0.49 + 3 / (1 + 14), so PUCT would choose it again with one visit less."""
    assert pruned({"N": 85, "P": 0.6, "Q": 0.5}, {"N": 14, "P": 0.3, "Q": 0.49}) == [85, 14]


def test_decided_targets_stay_as_they_are():
    assert pruned({"N": 5, "P": 0.5, "proven": 1}, {"N": 94, "P": 0.5, "Q": 0.3}) == [100, 0]


def test_a_search_pays_what_it_owes():
    game = make_game("connect_four")
    settings = Settings(is_rollout_only=False, is_proving=False)
    owed = {}
    for k in (0.0, 2.0):
        root = VisitsRoot(dirichlet_epsilon=0.25, forced_playouts=k)
        search = Search(game, Puct(), settings._replace(root=root), HashEvaluator(game))
        search.start(0, game.new_initial_state(), seed=3)
        search.run([0], 300)
        nodes = search.forest.nodes[0]
        children = [int(nodes[0].first_child) + k for k in range(nodes[0].num_children)]
        visits = sum(int(nodes[child].N) for child in children)
        assert visits == 299
        short = [math.floor(math.sqrt(2 * nodes[child].P * visits)) - nodes[child].N for child in children]
        owed[k] = max(lack for lack, child in zip(short, children, strict=True) if nodes[child].N)
    assert owed[2.0] <= 0 < owed[0.0]
