"""Tests of a user's root strategy: in a search, in self-play, and as a setting of a run."""

import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from azero.config.reading import check_config
from azero.errors import BadInput
from azero.games import make_game
from azero.mcts import Puct, Settings, TreeSearch, UniformEvaluator, rank_moves
from azero.mcts.roots.gumbel import GumbelRoot
from azero.mcts.roots.ranking import LEFT_TO_SELECTION
from azero.mcts.roots.strategies import ROOTS, root_from_config
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.tree import children_of
from azero.selfplay.play import SelfPlay, play_games
from azero.selfplay.slots import PlaySettings

from .evaluators import HashEvaluator

pytestmark = pytest.mark.slow  # it compiles kernels of its own

GAME = make_game("connect_four(rows=5,columns=4)")


class TurnAbout(NamedTuple):
    """Gives each move `least` visits before the selection rule chooses. The target is uniform."""

    least: int = 5

    def begin_search(root, tree, nodes, temperature):
        pass

    def add_noise(root, tree, nodes, weights):
        pass

    def root_child(root, tree, nodes):
        for child in range(nodes[0].first_child, nodes[0].first_child + nodes[0].num_children):
            if root.least > nodes[child].N:
                return np.int64(child)
        return LEFT_TO_SELECTION

    def write_target(root, selection, tree, nodes, visits):
        visits[:] = 0
        for child in range(nodes[0].first_child, nodes[0].first_child + nodes[0].num_children):
            visits[nodes[child].action] = 7
        return 0.25

    def best_child(root, settings, tree, nodes):
        return nodes[0].first_child + nodes[0].num_children - 1

    def child_to_play(root, settings, tree, nodes, temperature):
        return nodes[0].first_child

    def may_keep_tree(root):
        return False


SETTINGS = Settings(is_proving=False, root=TurnAbout(20))
PLAYING = PlaySettings(30, 1.0, 4, 0.0)


def test_a_search_goes_by_it():
    search = TreeSearch(GAME, Puct(), SETTINGS, HashEvaluator(GAME), max_nodes=5_000)
    search.start(0, GAME.new_initial_state(), seed=1)
    search.run([0], 100)
    nodes = search.forest.nodes[0]
    visits = [int(nodes[child].N) for child in children_of(nodes)]
    assert min(visits) == 20 and sum(visits) == 99 and search.choose(0) == 0


def test_self_play_goes_by_it():
    shard = play_games(SelfPlay(GAME, Puct(), SETTINGS, PLAYING, HashEvaluator(GAME), 2), [1, 2])
    assert set(shard.visits) == {7} and np.all(shard.root_values == 0.25)
    policies = shard.policies()
    first = [policies.row(k)[0][0] for k in range(shard.num_positions)]
    assert shard.actions.tolist() == first, "the action should be the lowest legal one, the first child"


class First(VisitsRoot):
    """Always plays the first child."""

    def child_to_play(root, settings, tree, nodes, temperature):
        return nodes[0].first_child


def test_a_proven_line_goes_on_by_what_is_best_whatever_the_root_plays():
    """Lines of proven moves are equal to those of a search with a plain root."""
    game, lines = make_game("connect_four"), []
    for root in (VisitsRoot(), First()):
        settings = Settings(is_looking_ahead=True, proof_nodes=300, root=root)
        search = TreeSearch(game, Puct(), settings, HashEvaluator(game), max_nodes=5_000)
        search.start(0, game.state_from_moves("6366346344"), seed=1)
        search.run([0], 30)
        lines.append([move.pv for move in rank_moves(search) if move.proven])
    assert lines[0] == lines[1] and max(map(len, lines[0])) == 4


@pytest.mark.parametrize("root", [VisitsRoot(dirichlet_epsilon=0.25), GumbelRoot(), First(), TurnAbout()])
def test_with_rollouts_alone_the_root_is_plain(root):
    with pytest.raises(BadInput, match=rf"^{type(root).__name__}\([^\n]*\) as the root needs an evaluator[^\n]*$"):
        TreeSearch(GAME, Puct(), Settings(root=root))


class Nothing(NamedTuple):
    """A strategy without fields."""


class Score(NamedTuple):
    """A strategy with a field named like a method of selection rules."""

    score: float = 0.5


@pytest.mark.parametrize(
    ("root", "message"), [(Nothing(), "Nothing needs a field"), (Score(), "Score.score needs another")]
)
def test_what_kernels_could_not_call_is_told_in_a_line(root, message):
    with pytest.raises(BadInput, match=rf"^{message}[^\n]*$"):
        TreeSearch(GAME, Puct(), Settings(root=root), HashEvaluator(GAME))
    with pytest.raises(BadInput, match=rf"^{message}[^\n]*$"):
        play_games(SelfPlay(GAME, Puct(), Settings(root=root), PLAYING, HashEvaluator(GAME), 1), [1])


@pytest.mark.parametrize("settings", [{"solve_nodes": 10}, {"leaves_per_tree": 4}])
def test_halving_goes_by_the_whole_search(settings):
    """16 simulations on 4 equal moves give 2, 2, 6 and 6 visits, also with a pause or with four leaves at a time."""
    game = make_game("connect_four")
    search = TreeSearch(game, Puct(), Settings(root=GumbelRoot(4), **settings), UniformEvaluator(7), max_nodes=5_000)
    search.start(0, game.new_initial_state(), seed=1)
    search.run([0], 16)
    nodes = search.forest.nodes[0]
    assert sorted(int(nodes[child].N) for child in children_of(nodes)) == [0, 0, 0, 2, 2, 6, 6]


def test_what_cannot_be_gone_on_from_is_not_kept():
    search = TreeSearch(GAME, Puct(), SETTINGS, HashEvaluator(GAME), max_nodes=5_000)
    search.start(0, GAME.new_initial_state(), seed=1)
    search.run([0], 100)
    search.advance(0, 0)
    assert search.forest.trees[0].num_nodes == 1 and search.forest.nodes[0][0].N == 0


def test_a_name_stands_for_each_strategy():
    assert set(ROOTS) == {"noise", "gumbel"}
    for name, kind in {"noise": VisitsRoot, "gumbel": GumbelRoot}.items():
        config = check_config({"game": {"name": "tic_tac_toe"}, "selfplay": {"root": name}})
        assert isinstance(root_from_config(config), kind)


SCRIPT = """
from azero.games import make_game
from azero.mcts import Puct, TreeSearch, Settings, UniformEvaluator
from own import Own

game = make_game("tic_tac_toe")
search = TreeSearch(game, Puct(), Settings(root=Own()), UniformEvaluator(9), max_nodes=1000)
search.start(0, game.new_initial_state(), 1)
search.run([0], 10)
print(search.choose(0))
"""

OWN = """
from azero.mcts.roots.visits import VisitsRoot


class Own(VisitsRoot):
    def child_to_play(root, settings, tree, nodes, temperature):
        return nodes[0].first_child + PLACE
"""


@pytest.mark.long
def test_a_class_that_comes_from_no_file_is_compiled():
    script = SCRIPT.replace("from own import Own", OWN.replace("PLACE", "2"))
    done = subprocess.run([sys.executable, "-"], input=script, capture_output=True, text=True)
    assert done.stdout.strip() == "2", done.stderr


@pytest.mark.long
def test_an_edit_of_its_file_is_seen(tmp_path):
    """Otherwise old machine code would run."""
    (tmp_path / "script.py").write_text(SCRIPT)
    for place in (3, 6):
        (tmp_path / "own.py").write_text(OWN.replace("PLACE", str(place)))
        done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
        assert done.stdout.strip() == str(place), done.stderr
