"""OpenSpiel's AlphaZero in Python: games played one after the other, as by its actor, with one position per evaluation.

As installed, its model runs layer by layer. With --compiled its model is one compiled function.
"""

import argparse
import time

import jax
import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts
from open_spiel.python.algorithms.alpha_zero import evaluator, utils
from serving import serve

NUM_SIMULATIONS, BLOCKS, CHANNELS = 64, 5, 64
HEIGHT_WIDTH_PLANES = 6, 7, 3
"""OpenSpiel's training script gives the net planes in the order 3x6x7, which the net takes as a board of 3x6."""


def new_model(game: pyspiel.Game, is_compiled: bool):
    """Returns a new net, built by OpenSpiel, and a list whose length is the number of evaluations so far."""
    api = utils.api_selector("linen" if is_compiled else "nnx")
    model = api.Model.build_model(
        "resnet", HEIGHT_WIDTH_PLANES, game.num_distinct_actions(), CHANNELS, BLOCKS, 1e-4, 1e-3, None
    )
    infer = compiled(model) if is_compiled else model.inference
    calls: list[None] = []

    def inference(observation: np.ndarray, mask: np.ndarray):
        calls.append(None)
        return infer(observation, mask)

    model.inference = inference
    return model, calls


def compiled(model):
    """Returns the model's inference as one function, compiled once."""

    @jax.jit
    def infer(observation: jax.Array, mask: jax.Array) -> tuple[jax.Array, jax.Array]:
        state = model._state
        variables = {"params": state.params, "batch_stats": state.batch_stats}
        logits, value = state.apply_fn(variables, observation, training=False, mutable=False)
        return value, jax.nn.softmax(jax.numpy.where(mask, logits, jax.numpy.finfo(logits.dtype).min))

    return lambda observation, mask: jax.device_get(infer(observation.astype(np.float32), mask))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=int, default=2**16, help="positions it remembers; 1 is as good as none")
    parser.add_argument("--compiled", action="store_true")
    arguments = parser.parse_args()

    game = pyspiel.load_game("connect_four")
    model, calls = new_model(game, arguments.compiled)
    bot = mcts.MCTSBot(
        game,
        uct_c=2,
        max_simulations=NUM_SIMULATIONS,
        evaluator=evaluator.AlphaZeroEvaluator(game, model, arguments.cache),
        solve=False,
        dirichlet_noise=(0.25, 1.0),
        child_selection_fn=mcts.SearchNode.puct_value,
        dont_return_chance_node=True,
    )
    state, rng = game.new_initial_state(), np.random.default_rng()

    def measure(seconds: float) -> dict[str, float]:
        nonlocal state
        moves, begin = 0, time.perf_counter()
        calls.clear()
        while (elapsed := time.perf_counter() - begin) < seconds:
            if state.is_terminal():
                state = game.new_initial_state()
            children = bot.mcts_search(state).children
            visits = np.array([child.explore_count for child in children])
            state.apply_action(rng.choice([child.action for child in children], p=visits / visits.sum()))
            moves += 1
        return {"simulations": moves * NUM_SIMULATIONS / elapsed, "evaluations": len(calls) / elapsed}

    serve(measure)


if __name__ == "__main__":
    main()
