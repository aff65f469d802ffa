"""A root strategy of one's own: in a search, in self-play, and as one of those that a run's settings name."""

import subprocess
import sys
from typing import NamedTuple, get_args

import numpy as np

from azero.config.reading import check_config
from azero.config.training import SelfPlayConfig
from azero.games import make_game
from azero.mcts import Puct, Search, Settings
from azero.mcts.roots.choice import BY_RULE
from azero.mcts.roots.gumbel import GumbelRoot
from azero.mcts.roots.strategies import ROOTS, root_from_config
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.tree import children_of
from azero.selfplay.play import SelfPlay, play_games
from azero.selfplay.slots import PlaySettings

from .evaluators import HashEvaluator

GAME = make_game("connect_four(rows=5,columns=4)")


class TurnAbout(NamedTuple):
    """Gives each move of the root `least` visits before the selection rule may choose; teaches all moves alike."""

    least: int = 5

    def begin_search(root, tree, nodes, temperature):
        pass

    def add_noise(root, tree, nodes, weights):
        pass

    def root_child(root, tree, nodes):
        for child in range(nodes[0].first_child, nodes[0].first_child + nodes[0].num_children):
            if root.least > nodes[child].N:
                return np.int64(child)
        return BY_RULE

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


def test_a_search_goes_by_it():
    search = Search(GAME, Puct(), SETTINGS, HashEvaluator(GAME), max_nodes=5_000)
    search.start(0, GAME.new_initial_state(), seed=1)
    search.run([0], 100)
    nodes = search.forest.nodes[0]
    visits = [int(nodes[child].N) for child in children_of(nodes)]
    assert min(visits) == 20 and sum(visits) == 99 and search.choose(0) == 0


def test_self_play_goes_by_it():
    playing = PlaySettings(30, 1.0, 4, 0.0, is_keeping_tree=True)
    shard = play_games(SelfPlay(GAME, Puct(), SETTINGS, playing, HashEvaluator(GAME), 2), [1, 2])
    assert set(np.unique(shard.visits)) == {0, 7} and np.all(shard.root_values == 0.25)
    first = np.argmax(shard.visits > 0, axis=1)
    assert shard.actions.tolist() == first.tolist(), "the first child is the lowest legal action"


def test_a_name_stands_for_each_strategy():
    assert set(ROOTS) == set(get_args(SelfPlayConfig.model_fields["root"].annotation))
    for name, kind in {"noise": VisitsRoot, "gumbel": GumbelRoot}.items():
        config = check_config({"game": {"name": "tic_tac_toe"}, "selfplay": {"root": name}})
        assert isinstance(root_from_config(config), kind)


SCRIPT = """
from azero.games import make_game
from azero.mcts import Puct, Search, Settings, UniformEvaluator
from own import Own

game = make_game("tic_tac_toe")
search = Search(game, Puct(), Settings(root=Own()), UniformEvaluator(9), max_nodes=1000)
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


def test_an_edit_of_its_file_is_seen(tmp_path):
    """Old machine code would play on otherwise."""
    (tmp_path / "script.py").write_text(SCRIPT)
    for place in (3, 6):
        (tmp_path / "own.py").write_text(OWN.replace("PLACE", str(place)))
        done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
        assert done.stdout.strip() == str(place), done.stderr
