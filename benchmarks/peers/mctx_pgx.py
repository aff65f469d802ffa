"""mctx's search with pgx's Connect Four: many games in lockstep. JAX compiles search, game and net as one function.

The recurrent function is that of pgx's own AlphaZero example. The net is azero's tower, with folded norms.
"""

import argparse
import math
import time

import jax
import jax.numpy as jnp
import mctx
import pgx
from pgx.experimental import auto_reset
from serving import serve

NUM_SIMULATIONS, BLOCKS, CHANNELS, HEAD_CHANNELS, HIDDEN = 64, 5, 64, 8, 64
ENV = pgx.make("connect_four")


def new_net(key: jax.Array, dtype: jnp.dtype) -> dict:
    """Returns random weights: a stem, blocks of two convolutions, a policy head and a win/draw/loss head."""
    height, width, planes = ENV.observation_shape
    keys = iter(jax.random.split(key, 2 * BLOCKS + 6))

    def layer(*shape: int) -> tuple[jax.Array, jax.Array]:
        weights = jax.random.normal(next(keys), shape) / math.prod(shape[:-1]) ** 0.5
        return weights.astype(dtype), jnp.zeros(shape[-1], dtype)

    square = 3, 3, CHANNELS, CHANNELS
    return {
        "stem": layer(3, 3, planes, CHANNELS),
        "blocks": [(layer(*square), layer(*square)) for _ in range(BLOCKS)],
        "policy_features": layer(1, 1, CHANNELS, HEAD_CHANNELS),
        "policy": layer(height * width * HEAD_CHANNELS, ENV.num_actions),
        "value_features": layer(1, 1, CHANNELS, HEAD_CHANNELS),
        "value_hidden": layer(height * width * HEAD_CHANNELS, HIDDEN),
        "results": layer(HIDDEN, 3),
    }


def convolve(x: jax.Array, layer: tuple[jax.Array, jax.Array]) -> jax.Array:
    weights, bias = layer
    return jax.lax.conv_general_dilated(x, weights, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + bias


def connect(x: jax.Array, layer: tuple[jax.Array, jax.Array]) -> jax.Array:
    weights, bias = layer
    return x.reshape(len(x), -1) @ weights + bias


def judge(net: dict, state: pgx.State) -> tuple[jax.Array, jax.Array]:
    """Returns logits [B, A], with the dtype's minimum for illegal actions, and values [B], of B positions."""
    x = jax.nn.relu(convolve(state.observation.astype(net["stem"][0].dtype), net["stem"]))
    for first, second in net["blocks"]:
        x = jax.nn.relu(x + convolve(jax.nn.relu(convolve(x, first)), second))
    logits = connect(jax.nn.relu(convolve(x, net["policy_features"])), net["policy"]).astype(jnp.float32)
    hidden = jax.nn.relu(connect(jax.nn.relu(convolve(x, net["value_features"])), net["value_hidden"]))
    results = jax.nn.softmax(connect(hidden, net["results"]).astype(jnp.float32))
    return jnp.where(state.legal_action_mask, logits, jnp.finfo(jnp.float32).min), results[:, 0] - results[:, 2]


def recur(net: dict, key: jax.Array, action: jax.Array, state: pgx.State) -> tuple[mctx.RecurrentFnOutput, pgx.State]:
    """Plays a move in B games, and evaluates the positions after it."""
    player = state.current_player
    state = jax.vmap(ENV.step)(state, action)
    logits, value = judge(net, state)
    output = mctx.RecurrentFnOutput(
        reward=jnp.take_along_axis(state.rewards, player[:, None], axis=1)[:, 0],
        discount=jnp.where(state.terminated, 0.0, -1.0),
        prior_logits=logits,
        value=jnp.where(state.terminated, 0.0, value),
    )
    return output, state


@jax.jit
def play(net: dict, state: pgx.State, key: jax.Array) -> pgx.State:
    """Searches and plays a move in B games. A new game replaces one that ends."""
    search_key, reset_key = jax.random.split(key)
    logits, value = judge(net, state)
    root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
    output = mctx.muzero_policy(net, search_key, root, recur, NUM_SIMULATIONS, invalid_actions=~state.legal_action_mask)
    keys = jax.random.split(reset_key, len(logits))
    return jax.vmap(auto_reset(ENV.step, ENV.init))(state, output.action, keys)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=64, help="games in lockstep")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    arguments = parser.parse_args()

    net = new_net(jax.random.key(0), jnp.dtype(arguments.dtype))
    key, init_key = jax.random.split(jax.random.key(1))
    state = jax.vmap(ENV.init)(jax.random.split(init_key, arguments.batch))

    def measure(seconds: float) -> dict[str, float]:
        nonlocal state, key
        moves, begin = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - begin) < seconds:
            key, move_key = jax.random.split(key)
            state = jax.block_until_ready(play(net, state, move_key))
            moves += arguments.batch
        return {
            "simulations": moves * NUM_SIMULATIONS / elapsed,
            "evaluations": moves * (NUM_SIMULATIONS + 1) / elapsed,
        }

    serve(measure)


if __name__ == "__main__":
    main()
