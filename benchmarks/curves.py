"""Trains runs of some minutes on small boards, and rates their nets. `azero plan` predicts strength from them.

    python benchmarks/curves.py --folder runs/curves
    python benchmarks/curves.py --folder runs/curves hex_5 othello --list
    python benchmarks/curves.py --check

Words choose runs by how their names begin. Each is `azero train --minutes M`, of a config that has the game alone, and
then `azero rate` of some of its nets in a pool with uct, where uct@1000 has 0. A run that is in the file is left out,
and one that was interrupted goes on. After each run azero/data/curves.json has its nets: the samples they have learned
from, and Elo with its standard error.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from azero.runs.folder import METRICS
from azero.runs.metrics import read_metrics
from azero.runs.settings import find_settings, game_of_run
from azero.system.files import write_whole
from azero.system.machine import count_cores, cpu_name
from azero.training.forecast import BAND, CURVES, Curves, run_of, scales_of, traits_of
from azero.training.plan import ANCHOR, SIMULATIONS, count_weights
from azero.training.suited import look_at

OPPONENTS = (ANCHOR, "uct@100", "uct@10000")
NETS = 6
"""Nets of a run that are rated: the first, the last, and some between them."""

GAMES = 24  # of each agent of a pool
ERRORS = 1.96
"""Standard errors in half of a 95 % interval."""

CLOSE = 1.5

SMALL = {
    "tic_tac_toe": "tic_tac_toe",
    "connect_four_5x5": "connect_four(rows=5,columns=5)",
    "connect_four_6x6": "connect_four(rows=6,columns=6)",
    "hex_4": "hex(size=4)",
    "hex_5": "hex(size=5)",
    "hex_6": "hex(size=6)",
    "othello_6": "othello(size=6)",
    "gomoku_6": "gomoku(rows=6,columns=6,k=4)",
    "breakthrough_5x5": "breakthrough(rows=5,columns=5)",
    "breakthrough_6x6": "breakthrough(rows=6,columns=6)",
    "clobber_5x6": "clobber(rows=5,columns=6)",
    "clobber_6x6": "clobber(rows=6,columns=6)",
    "amazons_5x5": "amazons(rows=5,columns=5)",
    "amazons_6x6": "amazons(rows=6,columns=6)",
    "go_5": "go(size=5)",
    "go_6": "go(size=6)",
}
LARGE = {"connect_four_6x7": "connect_four", "othello_8": "othello(size=8)"}
MINUTES = (5, 8, 3, 12)


class Run(NamedTuple):
    game: str
    minutes: float
    seed: int


def all_runs() -> dict[str, Run]:
    """Returns the runs by name: first one of each game, then another length of each, and so on."""
    runs = {}
    for seed, minutes in enumerate(MINUTES, start=1):
        for name, game in SMALL.items():
            runs[f"{name}_{minutes}m"] = Run(game, minutes, seed)
    for name, game in LARGE.items():
        for seed in (1, 2):
            runs[f"{name}_{10 * seed}m"] = Run(game, 10 * seed, seed)
    return runs


def azero(*arguments: str) -> str:
    command = [sys.executable, "-m", "azero.cli", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def make(run: Run, folder: Path) -> None:
    """Trains the run, or goes on with it."""
    if (folder / "config.toml").exists():
        azero("train", "--run", str(folder), "--resume")
        return
    config = folder.with_suffix(".toml")
    config.write_text(f'seed = {run.seed}\n[game]\nname = "{run.game}"\n[evaluation]\nevery = 0\n')
    azero("train", str(config), "--run", str(folder), "--minutes", f"{run.minutes:g}")


def chosen_of(folder: Path) -> list[Path]:
    """Returns some of the checkpoints of a run: the first, the last, and those at equal ratios of time between them."""
    paths = sorted((folder / "checkpoints").glob("*.safetensors"))
    places = {0, *(round((len(paths) - 1) * 2.0 ** (1 - step)) for step in range(1, NETS))}
    return [paths[place] for place in sorted(places)]


def read() -> dict[str, Any]:
    return json.loads(CURVES.read_text())


def write(curves: dict[str, Any]) -> None:
    write_whole(CURVES, (json.dumps(curves, indent=1) + "\n").encode())


def points_of(folder: Path) -> list[dict[str, Any]]:
    """Returns the rated nets of a run, see `Point`."""
    config = find_settings(folder)
    game = game_of_run(folder, config.game)
    agents = {f"{path}(solve_nodes=0)@{SIMULATIONS}": path for path in chosen_of(folder)}
    games = str(GAMES * (len(agents) + len(OPPONENTS)))
    printed = azero("rate", *OPPONENTS, *agents, "--game", str(game), "--games", games, "--anchor", f"{ANCHOR}=0",
                    "--out", str(folder / "curve.json"), "--json")  # fmt: skip
    steps = {0: 0, **{line["iteration"]: line["steps"] for line in read_metrics(folder / METRICS)}}
    points = []
    for each in json.loads(printed)["agents"]:
        if each["name"] in agents:
            iteration = int(agents[each["name"]].stem)
            low, high = each["elo_ci95"]
            point = {"samples": steps[iteration] * config.training.batch_size, "share": iteration / max(steps)}
            points.append(point | {"elo": round(each["elo"], 1), "error": round((high - low) / 2 / ERRORS, 1)})
    return sorted(points, key=lambda point: point["samples"])


def entry_of(run: Run, folder: Path) -> dict[str, Any]:
    """Returns what azero/data/curves.json has of a run."""
    config = find_settings(folder)
    game = game_of_run(folder, config.game)
    traits = traits_of(config, game, look_at(game), count_weights(config, game))
    facts = {"is_large": run.game in LARGE.values(), "cores": count_cores(), "cpu": cpu_name()}
    return {**run._asdict(), **facts, "traits": traits._asdict(), "points": points_of(folder)}


def fitted(curves: dict[str, Any]) -> dict[str, Any]:
    """Returns the scales with the largest marginal likelihood, by steps in one scale after another."""
    runs = [run_of(each) for each in curves["runs"].values() if not each["is_large"]]
    numbers, shape = flat(curves["scales"])
    best, factor = Curves(runs, scales_of(curves["scales"])).likelihood(), 2.0
    while factor > 1.05:
        is_better = False
        for place, value in enumerate(numbers):
            for tried in (value * factor, value / factor):
                changed = [*numbers[:place], tried, *numbers[place + 1 :]]
                found = Curves(runs, scales_of(shape(changed))).likelihood() if 0.5 <= tried <= 1000 else best
                if found > best + 0.01:
                    numbers, best, is_better = changed, found, True
        factor = factor if is_better else factor**0.5
    return shape([round(each, 2) for each in numbers])


def check(curves: dict[str, Any]) -> None:
    """Prints how well runs are predicted by those of other games, and of other boards, with scales of them all."""
    scales, entries = scales_of(curves["scales"]), curves["runs"]
    for title, is_known in (
        ("other rules", lambda one, other: one["traits"]["rules"] != other["traits"]["rules"]),
        ("other boards", lambda one, other: one["game"] != other["game"]),
        ("other seeds", lambda one, other: one is not other),
    ):
        covered, factors = [], []
        for own in entries.values():
            others = [run_of(each) for each in entries.values() if not each["is_large"] and is_known(own, each)]
            traits, points = run_of(own)
            last = points[-1]
            predicted = Curves(others, scales)
            [[mean, deviation]] = predicted.forecast(traits, [last]).tolist()
            covered.append(abs(last.elo - mean) <= BAND * (deviation**2 + last.error**2) ** 0.5)
            tried = [last._replace(samples=last.samples * 2 ** (step / 8)) for step in range(-32, 33)]
            reached = [
                each.samples / last.samples
                for each, [mean, _] in zip(tried, predicted.forecast(traits, tried).tolist(), strict=True)
                if mean >= last.elo
            ]
            factors.append(min(reached, default=inf))
        close = sum(1 / CLOSE <= each <= CLOSE for each in factors)
        print(
            f"known by {title}: the 80 % band holds {sum(covered)} of {len(covered)} last nets; "
            f"the time to their Elo is within a factor of {CLOSE} for {close}"
        )


def flat(scales: dict[str, Any]) -> tuple[list[float], Callable[[list[float]], dict[str, Any]]]:
    """Returns all numbers of the scales, and what makes scales of such numbers."""

    def shape(numbers: list[float]) -> dict[str, Any]:
        left = iter(numbers)
        return {
            name: [next(left) for _ in value] if isinstance(value, list) else next(left)
            for name, value in scales.items()
        }

    values = [each if isinstance(each, list) else [each] for each in scales.values()]
    return [number for value in values for number in value], shape


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="how the names of runs begin; all by default")
    parser.add_argument("--folder", type=Path, default=Path("runs/curves"))
    parser.add_argument("--check", action="store_true", help="train nothing, predict each run from the others")
    parser.add_argument("--list", action="store_true", help="print the names of the runs that are missing")
    options = parser.parse_args()
    if options.check:
        check(read())
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, run in all_runs().items():
        if name in read()["runs"] or (options.words and not name.startswith(tuple(options.words))):
            continue
        if options.list:
            print(name)
            continue
        make(run, options.folder / name)
        entry = entry_of(run, options.folder / name)
        curves = read()
        write({**curves, "runs": {**curves["runs"], name: entry}})
        print(f"{name}: " + ", ".join(f"{point['elo']:+.0f}" for point in entry["points"]), flush=True)
    if not options.list:
        curves = read()
        write({**curves, "scales": fitted(curves)})


if __name__ == "__main__":
    main()
