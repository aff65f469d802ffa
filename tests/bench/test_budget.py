"""Tests of runs of equal cost: they end with the iteration that reaches the budget, here and elsewhere."""

import pytest

from azero.arena.agents.make import make_agent
from azero.bench.budget import BudgetedRun, iteration_within, keep_run, net_of, train_elsewhere, train_to_budget

TINY = (
    *("net.blocks=1", "net.channels=8", "selfplay.games_per_iteration=4", "selfplay.num_simulations=4"),
    *("training.iterations=50", "training.batch_size=32", "gate.games=2", "gate.num_simulations=2"),
    *("gate.rating_games=0", "evaluation.every=0", "selfplay.parallel_games=4", "replay.window=1000"),
)


@pytest.mark.long
def test_a_run_ends_with_the_iteration_that_reaches_its_budget(tmp_path, capsys):
    task = BudgetedRun("tic_tac_toe", TINY, 6000.0)
    cost, iteration = train_to_budget(tmp_path / "here", task)
    assert cost >= 6000 and 1 < iteration < 50 and iteration_within(tmp_path / "here", 1e9) is None
    assert iteration_within(tmp_path / "here", cost) == (cost, iteration)
    assert train_to_budget(tmp_path / "here", task) == (cost, iteration), "it is not trained again"
    heard = []
    keep_run(tmp_path / "kept", train_elsewhere(None, task, heard.append))
    assert iteration_within(tmp_path / "kept", 6000.0) == (cost, iteration) and heard == [1]
    here, kept = (net_of(tmp_path / name, iteration) for name in ("here", "kept"))
    assert here.name == kept.name
    assert make_agent(f"{kept}@3").game.name == "tic_tac_toe"
    assert capsys.readouterr().out == "" and (tmp_path / "here.log").stat().st_size > 0
