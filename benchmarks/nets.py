"""Measures runtimes, and what options of a net cost: evaluations a second, and their ratios.

    python benchmarks/nets.py runtimes --games connect_four othello --rows 8 32 64 256
    python benchmarks/nets.py sizes --games connect_four othello "go(size=9)"
    python benchmarks/nets.py heads --games othello "go(size=9)"

`runtimes` compares runtimes, and errors of their logits against float64. `sizes` compares `net.name = any_size` with
`tower`. `heads` compares a net with `net.heads` with one without. Nets have 5 blocks of 64 channels by default. Passes
on one thread take turns, of 64 rows by default.
"""

import argparse
import copy
import time

import numpy as np
import torch

from azero.config.schema import NetConfig
from azero.games import Game, make_game
from azero.nets.architectures.contract import with_noise
from azero.nets.make import make_net
from azero.nets.runtimes.calibration import sample_positions
from azero.nets.runtimes.fastest import Runtime, available_runtimes, open_runtime
from azero.nets.runtimes.session import Session

CPU = "cpu"
ROWS = 64


def seconds_of(configs: list[NetConfig], game: Game, runtime: Runtime, repeats: int) -> list[float]:
    """Returns the least seconds of a pass of each net on one thread. Passes of the nets take turns."""
    nets = (with_noise(make_net(config, game)) for config in configs)
    sessions = [open_runtime(runtime, net, CPU, ROWS, 1) for net in nets]
    return seconds_in_turns(sessions, np.resize(sample_positions(game), (ROWS, *game.planes_shape)), repeats)


def seconds_in_turns(sessions: list[Session], planes: np.ndarray, repeats: int) -> list[float]:
    """Returns the least seconds of a pass in each session. Passes take turns."""
    best = [np.inf] * len(sessions)
    for _ in range(repeats + 1):  # the first pass is slower
        for number, session in enumerate(sessions):
            begin = time.perf_counter()
            session.run(planes)
            best[number] = min(best[number], time.perf_counter() - begin)
    return best


def add_sizes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--games", nargs="+", default=["connect_four", "othello", "go(size=9)"])
    parser.add_argument("--repeats", type=int, default=50)


def measure_sizes(options: argparse.Namespace) -> None:
    """A net for any size of board against one for a single size."""
    print(f"{'game':20}{'runtime':16}{'tower/s':>10}{'any_size/s':>12}{'ratio':>8}")
    for game in map(make_game, options.games):
        for runtime in available_runtimes(CPU):
            configs = [NetConfig(name=name) for name in ("tower", "any_size")]
            tower, any_size = seconds_of(configs, game, runtime, options.repeats)
            print(
                f"{game!s:20}{runtime.name:16}{ROWS / tower:10,.0f}{ROWS / any_size:12,.0f}{tower / any_size:8.3f}",
                flush=True,
            )


WITH_AND_WITHOUT_HEADS = [NetConfig(), NetConfig(heads=("ownership", "score"))]


def add_heads(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--games", nargs="+", default=["othello", "go(size=9)"])
    parser.add_argument("--repeats", type=int, default=50)


def measure_heads(options: argparse.Namespace) -> None:
    """A net with heads that stay against one without."""
    print(f"{'game':20}{'runtime':16}{'without/s':>10}{'with/s':>10}{'ratio':>8}")
    for game in map(make_game, options.games):
        for runtime in available_runtimes(CPU):
            plain, keeping = seconds_of(WITH_AND_WITHOUT_HEADS, game, runtime, options.repeats)
            print(
                f"{game!s:20}{runtime.name:16}{ROWS / plain:10,.0f}{ROWS / keeping:10,.0f}{plain / keeping:8.3f}",
                flush=True,
            )


def add_runtimes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--games", nargs="+", default=["connect_four", "othello", "go(size=9)"])
    parser.add_argument("--name", default="tower")
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--rows", type=int, nargs="+", default=[8, 32, 64, 256])
    parser.add_argument("--repeats", type=int, default=50)


def measure_runtimes(options: argparse.Namespace) -> None:
    """Every runtime against the others."""
    print(f"{'game':20}{'rows':>5}  {'runtime':16}{'net/s':>10}{'to openvino fp32':>18}{'mean error':>12}")
    for game in map(make_game, options.games):
        config = NetConfig(name=options.name, blocks=options.blocks, channels=options.channels)
        net = with_noise(make_net(config, game)).eval()
        runtimes = [each for each in available_runtimes(CPU, net=net) if net.is_quantizable or each.precision != "int8"]
        for rows in options.rows:
            planes = np.resize(sample_positions(game), (rows, *game.planes_shape))
            with torch.inference_mode():
                exact = copy.deepcopy(net).double()(torch.from_numpy(planes).double()).policy_logits.numpy()
            sessions = [open_runtime(each, net, CPU, rows, 1) for each in runtimes]
            errors = [np.abs(each.run(planes)[0] - exact).mean() for each in sessions]
            rates = dict(
                zip(runtimes, rows / np.array(seconds_in_turns(sessions, planes, options.repeats)), strict=True)
            )
            usual = rates.get(Runtime("openvino", "fp32"), np.nan)
            for runtime, error in zip(runtimes, errors, strict=True):
                rate = rates[runtime]
                line = f"{game!s:20}{rows:5}  {runtime.name:16}{rate:10,.0f}{rate / usual:18.2f}{error:12.1e}"
                print(line, flush=True)


COMMANDS = {
    "runtimes": (add_runtimes, measure_runtimes, "every runtime against the others"),
    "sizes": (add_sizes, measure_sizes, "a net for any size of board against one for a single size"),
    "heads": (add_heads, measure_heads, "a net with heads that stay against one without"),
}
"""See `subcommands.py`."""


if __name__ == "__main__":
    from subcommands import run_command

    run_command(COMMANDS, __doc__)
