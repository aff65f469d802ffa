"""Tests of agents on solved positions: mistakes, judges and reports."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from mcts.minimax import Minimax, moves_of

from azero.arena.agents.agent import Agent
from azero.arena.agents.make import make_agent
from azero.arena.agents.specs import spec_of
from azero.arena.agents.suggestion import RESIGN, lone_move, resigned
from azero.arena.solved import mistakes
from azero.arena.solved.files import Benchmark, Problem, ProblemSet, read_benchmark
from azero.arena.solved.judges import AlphaBetaJudge, ConnectFourJudge, judge_for
from azero.arena.solved.mistakes import Share, evaluate_on_benchmark, evaluate_spec, mistakes_in
from azero.compiler.jit import IS_COMPILED
from azero.errors import BadInput
from azero.games import DRAW, WIN, make_game
from azero.interfaces.terminal.results import show_benchmark

from .agents import write_checkpoint
from .pools import Shuffled

GAME, CONNECT_FOUR = make_game("tic_tac_toe"), make_game("connect_four")
MINIMAX = Minimax()


class Scripted(Agent):
    """Chooses actions by a function of the position."""

    def __init__(self, choose):
        super().__init__("scripted", GAME)
        self._choose = choose

    def suggest(self, state, simulations=None, seconds=None):
        action = self._choose(state)
        return resigned(lone_move(state, 0)) if action == RESIGN else lone_move(state, action)


def positions(num, seed=0):
    """Returns positions of random games of tic-tac-toe that are not terminal."""
    source, found = random.Random(seed), []
    while len(found) < num:
        state = GAME.new_initial_state()
        for _ in range(source.randrange(8)):
            if not state.is_terminal():
                state.apply_action(source.choice(state.legal_actions()))
        if not state.is_terminal():
            found.append(state)
    return found


def line_of(state, is_listed):
    """Returns a line with a position, its score by minimax and, if `is_listed`, the score after each move."""
    sign, walked, moves = 1 - 2 * state.current_player(), GAME.new_initial_state(), []
    for action in state.history():
        moves.append(GAME.action_to_text(walked, action))
        walked.apply_action(action)
    values = {GAME.action_to_text(state, action): sign * MINIMAX.solve(after)[0] for action, after in moves_of(state)}
    own = [f"{move}:{value}" for move, value in values.items()] if is_listed else []
    return " ".join([",".join(moves) or "-", str(max(values.values())), *own])


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    return str(write_checkpoint(tmp_path_factory.mktemp("benchmark") / "net.safetensors"))


@pytest.fixture(scope="module")
def folder_of_solved(tmp_path_factory):
    """Returns a folder with two files of the same 60 positions: without and with the scores of all moves."""
    folder = tmp_path_factory.mktemp("solved")
    for name in ("judged", "listed"):
        lines = [line_of(state, name == "listed") for state in positions(60)]
        (folder / f"{name}.txt").write_text("\n".join(["# game: tic_tac_toe", *lines]))
    return str(folder)


@pytest.fixture(scope="module")
def solved(folder_of_solved):
    return read_benchmark(folder_of_solved, GAME)


def test_who_plays_the_best_moves_makes_no_mistakes_and_who_plays_others_does(solved):
    states = [each.state for each in solved.sets[0].problems]
    worse = [next((a for a in s.legal_actions() if a not in MINIMAX.best_actions(s)), None) for s in states]
    expected = sum(action is not None for action in worse) / len(states)
    assert 0.2 < expected < 1.0
    worst = {s.hash_key(): s.legal_actions()[0] if a is None else a for s, a in zip(states, worse, strict=True)}
    for each in evaluate_on_benchmark(Scripted(lambda s: MINIMAX.best_actions(s)[0]), solved).sets:
        assert (each.positions, each.not_judged, each.search_mistakes.share) == (60, 0, 0.0)
    for each in evaluate_on_benchmark(Scripted(lambda s: worst[s.hash_key()]), solved).sets:
        assert each.search_mistakes.share == expected


def test_who_resigns_errs_unless_the_position_is_lost(solved):
    for each, problems in zip(
        evaluate_on_benchmark(Scripted(lambda state: RESIGN), solved).sets, solved.sets, strict=True
    ):
        assert each.search_mistakes.cases == tuple(problem.result >= DRAW for problem in problems.problems)


def test_a_net_is_heard_alone_and_with_search(solved, net):
    agent, benchmark = make_agent(f"{net}@100"), solved
    seen = []
    result = evaluate_on_benchmark(agent, benchmark, seen.append)
    assert sum(seen) == 120 and result.agent == f"{net}@100"
    judged, listed = result.sets
    assert judged.net_mistakes == listed.net_mistakes and judged.net_wrong_values == listed.net_wrong_values
    assert judged.net_mistakes.share > 0.2 > judged.search_mistakes.share and 0 < judged.simulations <= 100


def test_the_net_alone_takes_the_legal_move_of_highest_prior_and_the_most_likely_result():
    states = [GAME.state_from_moves(moves) for moves in ("", "a1 b1", "a1 b2 c3")]
    logits, results = np.zeros((3, 9)), np.array([[0, 1, 0], [3, 1, 2], [0, 1, 2]])
    logits[:, 0], logits[:, 4] = 9.0, 5.0  # a1 if it is free, else b2
    agent = Scripted(lambda state: state.legal_actions()[0])
    agent.net_alone = lambda planes: (logits, results) if len(planes) == 3 else None
    problems = [
        Problem(states[0], 0, frozenset([0])),
        Problem(states[1], 1, frozenset([4])),
        Problem(states[2], 0, frozenset([3])),
    ]
    (only,) = evaluate_on_benchmark(agent, Benchmark("ours", GAME, [ProblemSet("set", problems)])).sets
    assert only.net_mistakes.cases == (False, False, True) and only.net_wrong_values.cases == (False, False, True)


def test_what_cannot_be_judged_is_told_and_is_no_mistake(solved, monkeypatch):
    monkeypatch.setattr(AlphaBetaJudge, "node_limit", 20)
    result = evaluate_on_benchmark(make_agent("random", GAME), solved)
    judged, listed = result.sets
    assert 0 < judged.not_judged < 60 and listed.not_judged == 0
    assert len(judged.search_mistakes.cases) == 60 - judged.not_judged
    assert f"{judged.not_judged} not judged" in show_benchmark(result)


def test_the_same_seed_gives_the_same_answers_however_many_positions_are_searched_at_once(solved, net, monkeypatch):
    for name in ("uct@30", "random", f"{net}@20"):
        one = evaluate_on_benchmark(make_agent(name, GAME, 3), solved)
        with monkeypatch.context() as context:
            context.setattr(mistakes, "_SIDE_BY_SIDE_FOR_A_NET", 7)
            context.setattr(mistakes, "_SIDE_BY_SIDE", 9)
            assert evaluate_on_benchmark(make_agent(name, GAME, 3), solved).sets == one.sets


def test_another_game_is_refused(solved):
    with pytest.raises(BadInput, match="has positions of tic_tac_toe, but uct@5 plays connect_four"):
        evaluate_on_benchmark(make_agent("uct@5", CONNECT_FOUR), solved)


def test_the_object_for_json_and_the_table(solved, net):
    found = evaluate_on_benchmark(make_agent(f"{net}@5"), solved)
    table = show_benchmark(found)
    assert "net alone" in table and table.count("%") == 2 * 3
    fields = json.loads(json.dumps(found.to_json()))
    assert list(fields) == ["agent", "game", "benchmark", "sets", "elapsed_s"] and fields["game"] == "tic_tac_toe"
    for each in fields["sets"]:
        low, high = each["search_ci95"]
        assert 0 <= low <= each["search_mistakes"] <= high <= 1 and each["net_ci95"][0] <= each["net_mistakes"]
    without_net = evaluate_on_benchmark(make_agent("random", GAME), solved)
    table = show_benchmark(without_net)
    assert "net" not in table and table.count("%") == 2
    for each in without_net.to_json()["sets"]:
        assert each["net_mistakes"] is each["net_ci95"] is each["net_wrong_values"] is None


def test_a_share_has_wilsons_interval():
    """One case in ten, against the interval of Wilson (1927)."""
    share = Share((True,) + (False,) * 9)
    assert share.share == 0.1 and share.ci95 == pytest.approx([0.0179, 0.4042], abs=1e-4)
    assert Share(()).share is None and Share(()).ci95 is None
    assert Share.of_all([share, Share((True,))]).share == 2 / 11


def test_a_sample_is_one_figure_each(folder_of_solved, net):
    sample = read_benchmark(folder_of_solved, GAME, 40)
    notes = mistakes_in(evaluate_on_benchmark(make_agent(f"{net}@10"), sample))
    assert set(notes) == {"benchmark/net_mistakes", "benchmark/net_wrong_values", "benchmark/search_mistakes"}
    assert all(0 <= share <= 1 for share in notes.values())
    assert set(mistakes_in(evaluate_on_benchmark(make_agent("random", GAME), sample))) == {"benchmark/search_mistakes"}


# --- judges ---


def test_judges_say_which_moves_keep_the_result():
    for state in positions(20, seed=1):
        result = MINIMAX.solve(state)[0] * (1 - 2 * state.current_player())
        best = MINIMAX.best_actions(state)
        assert [a for a in state.legal_actions() if AlphaBetaJudge().keeps(state, a, result)] == best


@pytest.mark.skipif(not IS_COMPILED, reason="takes minutes in plain Python")
def test_connect_four_has_a_judge_of_its_own_where_it_fits():
    assert isinstance(judge_for(make_game("connect_four(size=7)")), ConnectFourJudge)
    assert isinstance(judge_for(make_game("connect_four(size=8)")), AlphaBetaJudge)
    state = CONNECT_FOUR.state_from_moves("7422341735647741166133573473242566")
    kept = [
        [a for a in state.legal_actions() if each.keeps(state, a, WIN)]
        for each in (judge_for(CONNECT_FOUR), AlphaBetaJudge())
    ]
    assert kept == [[1, 5], [1, 5]]


@pytest.mark.parametrize("name", ["net", "uct@20"])
def test_workers_have_the_answers_of_one_process(net, monkeypatch, name):
    name = f"{net}@12" if name == "net" else name
    game = make_game("tic_tac_toe")
    monkeypatch.setattr(mistakes, "_MOST_PARTS", 20)
    problems = [Problem(state, float(MINIMAX.solve(state)[0]) * (1 - 2 * state.current_player()), None)
                for state in positions(150, seed=5)]  # fmt: skip
    sets = [ProblemSet("one", problems[:9]), ProblemSet("other", problems[9:])]
    whole = evaluate_on_benchmark(make_agent(name, game), Benchmark("ours", game, sets))
    heard = []
    found = evaluate_spec(spec_of(name, game), Benchmark("ours", game, sets), Shuffled(), heard.append)
    assert replace(found, elapsed_s=whole.elapsed_s) == whole and len(heard) == 150
    other = Benchmark("ours", CONNECT_FOUR, [])
    with pytest.raises(BadInput, match="positions of connect_four, but"):
        evaluate_spec(spec_of(name, game), other, Shuffled())
