"""Flips bits of a run's files, one at a time: each must be refused, or leave what the file says as it is.

PYTHONPATH=tests .venv/bin/python -m torture.flips --flips 10000
"""

import argparse
import contextlib
import io
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from training.runs import finish_train, write_config

from azero.config.reading import load_config
from azero.errors import BadInput
from azero.games import Game, make_game
from azero.nets.checkpoint import load_checkpoint, weights_of
from azero.runs.metrics import read_metrics
from azero.runs.shards import load_shard
from azero.system.tensor_files import Tensors
from azero.training.health import Case, examine
from azero.training.learning.trainer import Trainer
from azero.training.resuming import open_run
from azero.training.run import load_state
from azero.training.symptoms import FIGURES

FOR_PEOPLE = "only people read it"


class Flips:
    """Reads the files of a finished run as azero does."""

    def __init__(self, run: Path):
        self.run = run
        self.config = load_config(run / "config.toml")
        self.game: Game = make_game(self.config.game.name)
        self.files = sorted(path for path in run.rglob("*") if path.is_file())

    def flip(self, path: Path, place: int, bit: int) -> str:
        """Flips a bit, reads the file, and flips it back; returns what came of it: refused, the same, or for people."""
        whole = path.read_bytes()
        expected = self._read(path)
        data = bytearray(whole)
        data[place] ^= 1 << bit
        path.write_bytes(data)
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                found = self._read(path)
        except BadInput:
            return "refused"
        finally:
            path.write_bytes(whole)
        if expected == FOR_PEOPLE:
            return FOR_PEOPLE
        return "the same" if found == expected else "taken"

    def _read(self, path: Path) -> Any:
        """Returns what a file says, as plain data that can be compared; FOR_PEOPLE if it has no effect on training."""
        if path.name == "config.toml":
            return open_run(self.run, [])
        if path.name.startswith("state"):
            trainer = Trainer(self.config, self.game)
            progress = load_state(self.run, trainer, path.name)
            return progress, _bytes_of({name: tensor.numpy() for name, tensor in trainer.tensors().items()})
        if path.parent.name == "replay":
            return _bytes_of(load_shard(path, self.game)._asdict())
        if path.suffix == ".safetensors":
            checkpoint = load_checkpoint(path, self.game)
            return checkpoint.card, _bytes_of(weights_of(checkpoint.net))
        if path.name == "metrics.jsonl":
            examine(Case(self.config, read_metrics(path)), FIGURES)
        return FOR_PEOPLE


def _bytes_of(arrays: Tensors) -> dict[str, tuple]:
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}


def flip_bits(run: Path, number: int, seed: int, on_harm: Callable[[str], None]) -> Counter[tuple[str, str]]:
    """Flips random bits of random files; returns how often each kind of file came to which end."""
    flips, draw, ends = Flips(run), random.Random(seed), Counter[tuple[str, str]]()
    for _ in range(number):
        path = draw.choice(flips.files)
        size = path.stat().st_size
        if not size:
            continue
        near_the_beginning = draw.random() < 0.3  # where the header and the card are
        place, bit = draw.randrange(min(size, 3000) if near_the_beginning else size), draw.randrange(8)
        end = flips.flip(path, place, bit)
        name = path.relative_to(run).as_posix()
        ends[name.partition("/")[0], end] += 1
        if end == "taken":
            on_harm(f"{name}: bit {bit} of byte {place} changes what it says")
    return ends


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    harms: list[str] = []
    with tempfile.TemporaryDirectory(prefix="azero-flips-") as name:
        folder = Path(name)
        finish_train(folder / "run", write_config(folder))
        ends = flip_bits(folder / "run", arguments.flips, arguments.seed, harms.append)
    for (file, end), count in sorted(ends.items()):
        print(f"{file:28} {end:22} {count:6}")
    print(json.dumps(harms, indent=1))
    sys.exit(1 if harms else 0)


if __name__ == "__main__":
    main()
