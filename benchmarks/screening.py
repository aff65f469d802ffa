"""Screens settings of training: trains a net from nothing on the games of a run, and tests it on solved positions.

    azero train connect_four_quick --run runs/quick
    python benchmarks/screening.py runs/quick --set training.batch_size=128

It takes minutes. Test what wins here in a whole run, too: notes/2026-11-screening.md has changes that won only here.
The script prints a line of JSON: the settings; the net's shares of mistakes and of wrong values; the mean squared error
of its values to the true results; and seconds of CPU time, in one thread. Mistakes count in positions that list the
moves that keep the result, and wrong values in all.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch

from azero.arena.benchmarks.files import Problem, read_benchmark, shipped_benchmark_of
from azero.config.reading import load_config
from azero.games import LOSS
from azero.games.sizes import games_of
from azero.nets.architectures.contract import Net
from azero.runs.state import Progress
from azero.selfplay.data.replay import Replay
from azero.training.learning.trainer import Trainer
from azero.training.run import Run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--samples", type=float, default=500e3, help="positions drawn in all")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE")
    options = parser.parse_args()
    torch.use_deterministic_algorithms(True, warn_only=True)
    path, settings = options.run / "config.toml", [*options.set, "device.threads=1", f"replay.window={1 << 40}"]
    if not path.exists():
        parser.error(f"{options.run} is not a run: it has no config.toml")
    config = load_config(path, settings, is_of_run=True)
    game = games_of(config.game)[-1]
    benchmark = shipped_benchmark_of(game)
    if benchmark is None:
        parser.error(f"there are no solved positions of {game}")
    names = sorted(path.stem for path in (options.run / "replay").glob("*.safetensors"))
    replay = Run(options.run, config, game).load_replay(Progress(shards=names))
    trainer = Trainer(config, game)
    begin = time.process_time()
    train(trainer, replay, round(options.samples / config.training.batch_size), config.seed)
    seconds = time.process_time() - begin
    problems = [problem for each in read_benchmark(benchmark, game).sets for problem in each.problems]
    line = {"settings": options.set, **test(trainer.candidate(), problems), "cpu_s": round(seconds)}
    print(json.dumps(line), flush=True)


def train(trainer: Trainer, replay: Replay, num_steps: int, seed: int) -> None:
    """Takes a whole schedule of steps."""
    generators = (np.random.default_rng([seed, step]) for step in range(num_steps))
    for step, sample in enumerate(replay.samples(trainer.config.batch_size, generators)):
        trainer.step(sample, step / num_steps)


def test(net: Net, problems: list[Problem]) -> dict[str, float]:
    """Returns the net's shares of mistakes and of wrong values, and its values' mean squared error."""
    with torch.inference_mode():
        prediction = net(torch.from_numpy(np.stack([each.state.planes() for each in problems])))
    logits, values = prediction.policy_logits.numpy(), prediction.value().numpy()
    results = np.array([each.result for each in problems])
    chosen = np.array([_most_likely(row, each) for row, each in zip(logits, problems, strict=True)])
    pairs = zip(chosen, problems, strict=True)
    mistakes = [
        each.result != LOSS and action not in each.keeping for action, each in pairs if each.keeping is not None
    ]
    likely = 1 - prediction.result_logits.argmax(1).numpy()  # from the order win, draw, loss
    return {
        "mistakes": round(float(np.mean(mistakes)), 4),
        "wrong_values": round(float((likely != results).mean()), 4),
        "squared_error": round(float(((values - results) ** 2).mean()), 4),
    }


def _most_likely(logits: np.ndarray, problem: Problem) -> int:
    """Returns the legal action with the highest logit."""
    legal = problem.state.legal_actions()
    return int(legal[int(np.argmax(logits[legal]))])


if __name__ == "__main__":
    main()
