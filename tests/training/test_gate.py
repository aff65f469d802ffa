"""Tests of the gate: promotion by win rate, and that repeated games count once."""

import gc
import weakref
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from arena.pools import Shuffled

from azero.arena.agents.specs import make_from
from azero.arena.matches.results import GameResult, MatchResult
from azero.errors import BadInput
from azero.games import make_game
from azero.mcts import TreeSearch
from azero.runs.state import Progress
from azero.training import gate
from azero.training.learning.trainer import Trainer
from azero.training.run import Run

from .runs import tiny_config

GAME = make_game("tic_tac_toe")


class Silent:
    """A report without output. `left` is the work left in the last stage."""

    @contextmanager
    def stage(self, name, total, unit, done=0):
        self.left = total - done
        yield self

    def update(self, num):
        self.left -= num

    def tell(self, *texts):
        pass


def make_run(folder, **sections):
    """Returns a run whose best and candidate are the same new net."""
    config = tiny_config(**sections)
    run = Run.create(folder, config, GAME)
    net = Trainer(config, GAME).candidate()
    for path in (run.checkpoint_path(0), run.candidate_path):
        run.save_net(path, net, Progress())
    return run


def hold(monkeypatch, run, results):
    """Holds a gate with the given games: (pair, a_is_first, actions, score)."""

    def play(meetings, pool, on_games):
        (meeting,) = meetings
        assert meeting.a.checkpoint == str(run.candidate_path) and meeting.b.checkpoint == str(run.checkpoint_path(0))
        assert all("(solve_nodes=0)@" in each.name for each in (meeting.a, meeting.b))
        assert (meeting.num_games, meeting.opening_plies) == (run.config.gate.games, run.config.gate.opening_plies)
        games = [GameResult(*each) for each in results]
        return [MatchResult("candidate", "best", "tic_tac_toe", games, 1.0, 0.0, 0.0, 0.0, 0.0)]

    monkeypatch.setattr(gate, "play_matches", play)
    return gate.hold_gate(run, Progress(), Silent(), None)


def games(*scores):
    """Returns games with these scores, all different, in pairs."""
    return [(number // 2, number % 2 == 0, (number,), score) for number, score in enumerate(scores)]


@pytest.mark.parametrize(
    ("scores", "threshold", "is_promoted"),
    [
        ((1, 1, 0, 0), 0.5, True),
        ((1, 1, 0, 0), 0.51, False),
        ((0.5, 0.5, 1, 0.5), 0.62, True),
        ((0.5, 0.5, 1, 0.5), 0.63, False),
        ((0, 0, 0, 0), 0.1, False),
    ],
)
def test_promotion_by_win_rate(tmp_path, monkeypatch, scores, threshold, is_promoted):
    run = make_run(tmp_path / "run", gate={"win_rate_threshold": threshold})
    verdict = hold(monkeypatch, run, games(*scores))
    assert verdict.is_promoted == is_promoted
    score = sum(scores) / 4
    assert verdict.notes == {"gate/score": score, "gate/games": 4, "gate/is_promoted": is_promoted}


def test_games_that_repeat_each_other_count_once(tmp_path, monkeypatch):
    """Three wins by the same game count as one, as much as the loss."""
    run = make_run(tmp_path / "run", gate={"win_rate_threshold": 0.55})
    won = [(pair, True, (1, 2, 3), 1.0) for pair in range(3)]
    verdict = hold(monkeypatch, run, [*won, (3, True, (4, 5), 0.0)])
    assert not verdict.is_promoted and verdict.notes["gate/score"] == 0.5 and verdict.notes["gate/games"] == 2


def test_games_of_the_evaluation_that_repeat_each_other_count_once(tmp_path):
    """The agents hardly vary, and all games begin with the empty board."""
    evaluation = {"opponent": "alphabeta@500", "games": 6, "benchmark": "none"}
    run = make_run(tmp_path / "run", evaluation=evaluation, gate={"opening_plies": 0})
    assert gate.evaluate_best(run, Progress(), Silent(), None)["evaluation/games"] < 6


def test_sizes_of_a_game_take_turns_in_short_matches():
    run = SimpleNamespace(games=("small", "medium", "large"))
    assert gate.pairs_of_sizes(run, 0, 1) == [("small", 1)] and gate.pairs_of_sizes(run, 4, 1) == [("medium", 1)]
    assert gate.pairs_of_sizes(run, 2, 4) == [("small", 1), ("medium", 1), ("large", 2)]


def test_agents_take_no_memory_when_their_matches_are_over(tmp_path, monkeypatch):
    """Agents are reference cycles. Their searches are freed at once, without the garbage collector."""
    config = {"games": 2, "num_simulations": 2, "opening_plies": 1}
    run = make_run(tmp_path / "run", gate=config, evaluation={"games": 2, "num_simulations": 2, "benchmark": "none"})
    searches = []

    class Noted(TreeSearch):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            searches.append(weakref.ref(self))

    monkeypatch.setattr("azero.arena.agents.make.TreeSearch", Noted)
    gc.disable()
    try:
        gate.hold_gate(run, Progress(), Silent(), None)
        gate.evaluate_best(run, Progress(), Silent(), None)
        assert len(searches) == 3 and all(search() is None for search in searches)
    finally:
        gc.enable()


def test_a_net_against_itself_is_even_in_each_pair_and_a_seed_settles_the_gate(tmp_path):
    run = make_run(tmp_path / "run")
    verdict = gate.hold_gate(run, Progress(), Silent(), None)
    assert verdict == gate.hold_gate(run, Progress(), Silent(), None)
    assert verdict.notes["gate/score"] == 0.5


def test_iterations_have_openings_of_their_own(tmp_path, monkeypatch):
    seeds = []
    run = make_run(tmp_path / "run")
    play = gate.play_matches

    def note_seeds(meetings, *more):
        seeds.extend(each.seed for each in meetings)
        return play(meetings, *more)

    monkeypatch.setattr(gate, "play_matches", note_seeds)
    for iteration in (1, 2):
        gate.hold_gate(run, Progress(iteration=iteration), Silent(), None)
    assert len(set(seeds)) == 2


def test_the_best_net_meets_the_opponent_of_the_settings(tmp_path):
    run = make_run(tmp_path / "run", evaluation={"opponent": "random", "games": 6, "num_simulations": 20})
    notes = gate.evaluate_best(run, Progress(), Silent(), None)
    assert notes == gate.evaluate_best(run, Progress(), Silent(), None)
    assert notes["evaluation/games"] == 6 and notes["evaluation/score"] > 0.5
    assert set(notes) == {"evaluation/games", "evaluation/score"}, "the game has no shipped benchmark"


def test_the_best_net_is_held_to_solved_positions(tmp_path):
    (tmp_path / "solved.txt").write_text("a1,b1 1\n" * 9)
    own = {"benchmark": str(tmp_path / "solved.txt"), "benchmark_positions": 20, "opponent": "random", "games": 2}
    run = make_run(tmp_path / "run", evaluation={**own, "num_simulations": 400})
    report = Silent()
    notes = gate.evaluate_best(run, Progress(), report, None)
    assert report.left == 0, "the bar should know that there are fewer positions"
    assert notes == gate.evaluate_best(run, Progress(), Silent(), None)
    assert notes["benchmark/search_mistakes"] == 0.0 and notes["benchmark/net_mistakes"] in (0.0, 1.0)


def test_the_benchmark_is_that_of_the_game_unless_it_is_named_or_none():
    connect_four = make_game("connect_four")
    evaluation = tiny_config().evaluation
    auto = gate.find_benchmark(evaluation, connect_four)
    assert auto.name == "connect_four_pons" and auto.num_positions == evaluation.benchmark_positions
    assert gate.find_benchmark(evaluation, GAME) is None
    assert gate.find_benchmark(evaluation.model_copy(update={"benchmark": "none"}), connect_four) is None
    with pytest.raises(BadInput, match="has positions of connect_four, not of tic_tac_toe"):
        gate.find_benchmark(evaluation.model_copy(update={"benchmark": "connect_four_pons"}), GAME)


def test_workers_play_the_gate_and_the_evaluation_of_one_process(tmp_path):
    run = make_run(tmp_path / "run", evaluation={"opponent": "uct@20", "games": 6, "num_simulations": 8})
    assert gate.hold_gate(run, Progress(), Silent(), Shuffled()) == gate.hold_gate(run, Progress(), Silent(), None)
    pool = Shuffled()
    assert gate.evaluate_best(run, Progress(), Silent(), pool) == gate.evaluate_best(run, Progress(), Silent(), None)
    assert pool.done == 1, "a worker has played"


def test_changed_settings_of_the_search_hold_for_both_nets(tmp_path):
    run = make_run(tmp_path / "run")
    search = run.config.search.model_copy(update={"c_puct": 3.0, "look_ahead": not run.config.search.look_ahead})
    changed = Run(run.folder, run.config.model_copy(update={"search": search}), GAME)
    changed.save_net(changed.candidate_path, Trainer(changed.config, GAME).candidate(), Progress())
    agents = [
        make_from(gate.spec_of_net(changed, path, GAME))
        for path in (changed.checkpoint_path(0), changed.candidate_path)
    ]
    one, other = (agent.new_search(1) for agent in agents)
    assert one.settings == other.settings and one.selection == other.selection
    assert one.selection.c_puct == 3.0


def test_in_a_mixed_cluster_nets_of_matches_run_in_the_way_of_each_machine(tmp_path):
    (tmp_path / "solved.txt").write_text("a1,b1 1\n" * 9)
    evaluation = {"benchmark": str(tmp_path / "solved.txt"), "opponent": "random", "games": 2}
    device = {"runtime": "torch", "precision": "fp32"}
    run = make_run(tmp_path / "run", device=device, evaluation=evaluation)
    for pool, runtime in [(Shuffled(), "torch"), (Shuffled(is_mixed=True), "auto")]:
        gate.hold_gate(run, Progress(), Silent(), pool)
        assert {each.device.runtime for meeting in pool.shared for each in (meeting.a, meeting.b)} == {runtime}
        gate.evaluate_best(run, Progress(), Silent(), pool)
        assert pool.shared.agent.device.runtime == runtime
