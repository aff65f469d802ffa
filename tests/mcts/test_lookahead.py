"""Tests of look-ahead: its proofs are true, their lengths are those of best play, and a move is always found."""

from pathlib import Path

import numpy as np
import pytest
from cases import long
from exact.test_solver import random_positions

from azero.arena.agents.suggestion import suggestion_of
from azero.compiler.jit import IS_COMPILED
from azero.games import make_game
from azero.games.contract import sign_of
from azero.mcts import Puct, Settings, TableSearch, TreeSearch, Uct, UniformEvaluator
from azero.mcts.proving.lookahead import LONGEST_LINE, NEAR_END_POSITIONS
from azero.mcts.reference.search import look_ahead
from azero.mcts.roots.gumbel import GumbelRoot
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.search.kernels import VISITS_BEFORE_REPLIES
from azero.mcts.tree import UNPROVEN

from .evaluators import FixedEvaluator, HashEvaluator
from .minimax import Minimax, moves_of
from .trees import children_of

pytestmark = pytest.mark.slow  # it compiles kernels of its own

NIM = (Path(__file__).parents[1] / "data" / "nim.py").read_text()
NUM_POSITIONS = 40 if IS_COMPILED else 4


def proofs_of(state, proof_nodes: int) -> dict[int, tuple[int, int]]:
    """Returns the proofs of a position's moves after one simulation: result and plies, by action."""
    settings = Settings(is_looking_ahead=True, proof_nodes=proof_nodes)
    search = TreeSearch(state.game, Puct(), settings, UniformEvaluator(state.game.num_actions), max_nodes=500)
    search.start(0, state, seed=1)
    search.run([0], 1)
    nodes = search.forest.nodes[0]
    children = [nodes[child] for child in children_of(nodes, 0)]
    return {int(c.action): (int(c.proven), int(c.proven_plies)) for c in children if c.proven != UNPROVEN}


def two_moves_a_turn(folder) -> str:
    """Writes Nim with two moves per turn; returns the game's name."""
    text = NIM.replace("return state.ply & 1", "return state.ply // 2 & 1")
    text = text.replace("WIN if state.ply & 1", "WIN if state.ply - 1 & 2 == 0")
    (folder / "nim_twice.py").write_text(
        text.replace("(state.ply & 1)", "(state.ply & 3)").replace("2 * state.left", "4 * state.left")
    )
    return f"{folder / 'nim_twice.py'}:Nim(heap=11)"


@pytest.mark.parametrize("proof_nodes", [5, 37, 300])
@pytest.mark.parametrize(
    "name",
    ["nim", "connect_four(rows=4,columns=4)", *long("breakthrough(rows=4,columns=3)", "hex(size=3,swap=true)")],
)
def test_it_is_what_the_reference_says(name, proof_nodes, tmp_path):
    """In this Nim each player moves twice, so best play is not simple."""
    game, best = make_game(two_moves_a_turn(tmp_path) if name == "nim" else name), Minimax()
    num_proven = 0
    for state in random_positions(game, NUM_POSITIONS, 3, seed=proof_nodes):
        proofs, after = proofs_of(state, proof_nodes), dict(moves_of(state))
        assert proofs == look_ahead(state, proof_nodes)
        if name == "nim":
            assert all(proof == best.solve(after[action]) for action, proof in proofs.items())
        num_proven += len(proofs)
    assert num_proven > 0


@pytest.mark.thorough
@pytest.mark.parametrize("proof_nodes", [5, 50, 500])
@pytest.mark.parametrize(
    ("name", "min_plies"),
    [
        ("tic_tac_toe", 2),
        ("connect_four(rows=4,columns=4)", 9),
        ("othello(size=4)", 3),
        pytest.param("clobber(rows=3,columns=4)", 3, marks=pytest.mark.long),
    ],
)
def test_what_is_proven_is_so(name, min_plies, proof_nodes):
    game, best = make_game(name), Minimax()
    for state in random_positions(game, NUM_POSITIONS, min_plies, seed=proof_nodes):
        after = dict(moves_of(state))
        for action, (result, plies) in proofs_of(state, proof_nodes).items():
            expected, length = best.solve(after[action])
            assert result == expected
            is_exact = result != 0 and "othello" not in name  # keys of othello omit passes, which count as plies
            assert plies == length or not is_exact


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four(rows=4,columns=4)"])
def test_the_more_positions_the_more_is_proven(name):
    game = make_game(name)
    numbers = []
    for state in random_positions(game, NUM_POSITIONS // 4, 8 if "four" in name else 3):
        few, some, many = (proofs_of(state, number) for number in (0, 20, 60_000))
        assert few.items() <= some.items() <= many.items()
        won = 1 - 2 * state.current_player()
        assert len(many) == len(state.legal_actions()) or won in [result for result, _ in many.values()]
        numbers.append((len(few), len(some), len(many)))
    assert np.all(np.diff(np.sum(numbers, axis=0)) > 0)


def test_a_win_in_three_is_seen_at_the_first_simulation():
    state = make_game("connect_four").state_from_moves("4455")  # 3 or 6 makes an open three
    assert proofs_of(state, 0) == {}
    assert (1, 2) in proofs_of(state, 1000).values()
    settings = Settings(is_looking_ahead=True, proof_nodes=1000)
    search = TreeSearch(state.game, Puct(), settings, HashEvaluator(state.game))
    search.start(0, state, seed=1)
    search.run([0], 600)
    root = search.forest.nodes[0][0]
    assert (root.N, root.W, root.proven, root.proven_plies) == (1, 1.0, 1, 3)
    assert search.choose(0) in (2, 5)


def test_a_move_is_found_after_one_whose_result_was_proven_without_a_visit():
    game = make_game("connect_four")
    settings = Settings(is_looking_ahead=True, proof_nodes=1000)
    search = TreeSearch(game, Puct(), settings, HashEvaluator(game))
    state = game.state_from_moves("4455")
    search.start(0, state, seed=1)
    while not state.is_terminal():
        search.run([0], 50)
        action = search.choose(0)
        assert action in state.legal_actions()
        state.apply_action(action)
        search.advance(0, action)
    assert len(state.history()) == 7 and state.returns()[0] == 1


@pytest.mark.parametrize("is_one_too_long", [True, *long(False)])
def test_a_line_has_its_longest_length(is_one_too_long):
    """The tree has no branches. Its end is as far from the first move as the longest line."""
    state = make_game(f"p_game(branching=1,depth={LONGEST_LINE + 1 + is_one_too_long})").new_initial_state()
    proofs = proofs_of(state, 100_000)
    assert [plies for _, plies in proofs.values()] == ([] if is_one_too_long else [LONGEST_LINE])


REPLIES = {
    "go(size=4,komi=2.5)": Settings(),
    "hex(size=3)": Settings(),
    "connect_four(rows=4,columns=4)": Settings(is_looking_ahead=True),
}


@pytest.mark.parametrize(
    ("name", "judge"),
    [
        *((name, "puct") for name in REPLIES),
        ("hex(size=3)", "uct"),
        ("hex(size=3)", "gumbel"),
        *long(*((name, "uct") for name in REPLIES if name != "hex(size=3)"), ("go(size=4,komi=2.5)", "gumbel")),
        ("hex(size=3)", "uct on a table"),  # a table proves nothing in Go, whose history counts
    ],
)
def test_no_move_is_played_that_a_reply_refutes_at_once(name, judge):
    """Priors and values are random, so that a search is often fond of such a move, at temperature 0 and 1."""
    game, num_refutable = make_game(name), 0
    search = search_of(game, judge, REPLIES[name])
    for number, state in enumerate(random_positions(game, NUM_POSITIONS, 1, seed=2)):
        refuted = {action for action, after in moves_of(state) if loses_at_once(after, state.current_player())}
        num_refutable += len(refuted)
        for temperature in (0.0, 1.0):
            search.start(0, state, seed=number)
            search.run([0], 16, temperature=temperature)
            played = search.choose(0, temperature)
            nodes, lost = search.forest.nodes[0], -sign_of(state.current_player())
            is_lost = {int(nodes[child].action): nodes[child].proven == lost for child in children_of(nodes, 0)}
            assert played not in refuted or all(is_lost.values())
    assert num_refutable > 0


def loses_at_once(state, mover: int) -> bool:
    """Returns whether one reply in `state` ends the game with the loss of `mover`, who has just moved."""
    if state.is_terminal() or state.current_player() == mover:
        return False
    return any(after.is_terminal() and after.returns()[mover] < 0 for _, after in moves_of(state))


def search_of(game, judge: str, settings: Settings) -> TreeSearch:
    if judge == "uct on a table":
        return TableSearch(game, Uct(), Settings(), 1 << 12)
    if judge == "uct":
        return TreeSearch(game, Uct(), Settings(), max_nodes=10_000)
    settings = settings._replace(root=GumbelRoot() if judge == "gumbel" else VisitsRoot())
    return TreeSearch(game, Puct(), settings, HashEvaluator(game), max_nodes=10_000)


def test_a_pass_that_loses_gets_few_visits_and_is_not_suggested():
    """Black is behind by the komi, but this net is sure that a pass wins."""
    game = make_game("go(size=4,komi=2.5)")
    evaluator = FixedEvaluator([0.0] * 16 + [8.0])
    state = game.state_from_moves("b2 c3 b3 c2")
    for is_proving in (True, False):
        search = TreeSearch(game, Puct(), Settings(is_proving=is_proving), evaluator, max_nodes=10_000)
        search.start(0, state, seed=1)
        search.run([0], 100)
        suggestion = suggestion_of(search, state)
        passes = next(move for move in suggestion.moves if move.move == "pass")
        if is_proving:
            assert suggestion.best != "pass" and passes.proven == "loss" and passes.visits <= VISITS_BEFORE_REPLIES + 1
        else:
            assert suggestion.best == "pass" and passes.proven is None and passes.visits > 50


def test_choosing_in_an_empty_tree_changes_nothing():
    """Agents do so to compile the kernel."""
    game = make_game("go(size=4)")
    chosen, other = (search_of(game, "puct", Settings()) for _ in range(2))
    for search in (chosen, other):
        search.start(0, game.new_initial_state(), seed=1)
    chosen.choose(0)
    assert chosen.forest.nodes[0][:1].tobytes() == other.forest.nodes[0][:1].tobytes()
    assert chosen.forest.root_states.tobytes() == other.forest.root_states.tobytes()


def test_near_the_end_more_positions_are_visited():
    """In Othello a player with few stones may lose all of them; rules say so by `is_near_end`."""
    near, far = (make_game("othello").state_from_moves(moves) for moves in ("e6f6c4c5c6e3e2", "f5d6c3d3c4f4c5b3c2e3d2"))
    assert far.game.text_to_action(near, "d6") in proofs_of(near, 0)
    assert proofs_of(near, 0) == look_ahead(near, NEAR_END_POSITIONS) != look_ahead(near, 0)
    assert proofs_of(far, 0) == look_ahead(far, 0)
