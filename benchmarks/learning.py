"""Measures the effect of each learning option: runs of equal cost with and without it, several seeds, two games.

    python benchmarks/learning.py run --games connect_four --variants base gumbel --seeds 0 1 2
    python benchmarks/learning.py report

The cost of a run is measured in forward passes of the net: one per evaluation in self-play, three per position of a
training step. A run ends with the iteration that reaches the budget. Its best net then plays the best net of the run
`base` with the same seed, and is tested on solved positions if its game has them. Each measurement is a line in
results/learning/results.jsonl, and is not repeated. `report` prints a table of these lines for each game, and draws the
curves of the runs of --variants and --seeds into results/learning/GAME.png.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

from azero.arena.agents.agent import Agent
from azero.arena.agents.names import make_agent
from azero.arena.benchmarks.benchmark import sample_benchmark
from azero.arena.benchmarks.files import read_benchmark, shipped_benchmark_of
from azero.arena.matches.match import play_match
from azero.arena.matches.statistics import elo_from_score
from azero.config.reading import find_config, load_config
from azero.games import make_game
from azero.system.machine import count_cores
from azero.training.comparing.comparison import compare_runs

COMMON = (
    *("net.blocks=3", "net.channels=32", "selfplay.games_per_iteration=250", "selfplay.games_per_shard=125"),
    *("selfplay.num_simulations=48", "selfplay.root=noise"),
    *("selfplay.full_search_share=1", "selfplay.random_opening_share=0"),
    *("replay.window=60000", "replay.window_growth=0"),
    *("training.iterations=1000", "training.schedule=constant", "training.samples_per_position=4"),
    *("training.learning_rate=0.001", "training.muon_learning_rate=0.02"),
    *("gate.games=4", "gate.win_rate_threshold=0.01", "evaluation.every=0"),
)
"""Nearly every candidate is promoted, so a run's best net is its last one."""
CONFIGS = {"connect_four": "connect_four_quick", "othello(size=6)": "othello_6x6"}
VARIANTS = {
    "base": (),
    "gumbel": ("selfplay.root=gumbel",),
    "playout cap": ("selfplay.full_search_share=0.3", "selfplay.num_simulations=100", "selfplay.fast_simulations=24"),
    "playout cap, as many steps": (
        *("selfplay.full_search_share=0.3", "selfplay.num_simulations=100", "selfplay.fast_simulations=24"),
        "training.samples_per_position=13",
    ),
    "policy surprise": ("selfplay.policy_surprise_share=0.5",),
    "random openings": ("selfplay.random_opening_share=0.5", "selfplay.random_opening_plies=12"),
    "proofs at new nodes": ("search.proof_nodes=300",),
    "results alone": ("training.value_lambda=1",),
    "root values alone": ("training.value_lambda=0",),
    "window grows": ("replay.window=20000", "replay.window_growth=0.4"),
    "no average of weights": ("training.ema_decay=0",),
    "AdamW": ("training.optimizer=adamw",),
    "SGD": ("training.optimizer=sgd", "training.learning_rate=0.02"),
    "ownership head": ("training.ownership_loss_weight=1.5",),
    "score head": ("training.score_loss_weight=0.2",),
    "squeeze-and-excitation": ("net.global_context=se",),
    "global pooling": ("net.global_context=pool",),
}
"""Settings that differ from `base`, by variant."""
GAMES_OF = {"ownership head": ["othello(size=6)"], "score head": ["othello(size=6)"]}
"""The games of variants that do not suit all games."""

SIMULATIONS, MATCH_GAMES, POSITIONS = 32, 160, 600
T_95 = (math.nan, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, *[2.1] * 20)
"""Two-sided 95 % quantiles of Student's t, by degrees of freedom."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=["run", "report"])
    parser.add_argument("--games", nargs="+", choices=CONFIGS, default=list(CONFIGS))
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--budget", type=float, default=1e6, help="forward passes of a run")
    parser.add_argument("--folder", type=Path, default=Path("results/learning"))
    options = parser.parse_args()
    if options.do == "report":
        print(tables(read_results(options.folder)))
        for game in options.games:
            draw_curves(options.folder, game, options.variants, options.seeds)
        return
    for seed in options.seeds:
        for game in options.games:
            for variant in dict.fromkeys(["base", *options.variants]):
                if game in GAMES_OF.get(variant, CONFIGS):
                    measure(options.folder, game, variant, seed, options.budget)


def measure(folder: Path, game: str, variant: str, seed: int, budget: float) -> None:
    """Trains a variant and adds its measurements to the results, unless they exist."""
    key = {"game": game, "variant": variant, "seed": seed, "budget": budget, "settings": digest_of(game, variant)}
    if any(key.items() <= each.items() for each in read_results(folder)):
        return
    run = run_folder(folder, game, variant, seed)
    cost, iteration = train(run, CONFIGS[game], (*COMMON, *VARIANTS[variant], f"seed={seed}"), budget)
    agent = agent_of(run, iteration)
    line = {**key, "cost": cost, "iterations": iteration}
    benchmark = shipped_benchmark_of(agent.game)
    if benchmark:
        line |= sample_benchmark(agent, read_benchmark(benchmark, agent.game, POSITIONS))
    if variant != "base":
        base = run_folder(folder, game, "base", seed)
        rival = agent_of(base, iteration_within(base, budget)[1])
        tally = play_match(agent, rival, agent.game, MATCH_GAMES, seed).tally
        line |= {"score": tally.score, "games": tally.games}
    with (folder / "results.jsonl").open("a") as file:
        print(json.dumps(line), file=file)
    print(json.dumps(line), flush=True)


def run_folder(folder: Path, game: str, variant: str, seed: int) -> Path:
    return folder / f"{make_game(game).name}-{variant}-{seed}-{digest_of(game, variant)}".replace(" ", "_")


def digest_of(game: str, variant: str) -> str:
    """Returns a digest of the settings, which distinguishes runs."""
    settings = load_config(find_config(CONFIGS[game]), [*COMMON, *VARIANTS[variant]]).model_dump_json()
    return f"{zlib.crc32(settings.encode()):08x}"


def train(run: Path, config: str, settings: tuple[str, ...], budget: float) -> tuple[float, int]:
    """Trains until the run's cost reaches the budget; returns the cost, and the iteration that reached it."""
    command = [sys.executable, "-m", "azero.cli", "train", config, "--run", str(run)]
    command += ["--resume"] if run.exists() else []
    for each in settings:
        command += ["--set", each]
    log = run.parent / f"{run.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        while iteration_within(run, budget) is None:
            if process.poll() is not None:
                sys.exit(f"the run ended before it reached the budget: see {log}")
            time.sleep(0.5)
        process.terminate()  # saved files are complete; background processes ignore SIGINT
    cost, iteration = iteration_within(run, budget) or (math.nan, 0)
    return cost, iteration


def iteration_within(run: Path, budget: float) -> tuple[float, int] | None:
    """Returns the cost at, and the number of, the first iteration that reaches the budget; None if none has."""
    metrics = run / "metrics.jsonl"
    cost = 0.0
    for text in metrics.read_text().splitlines() if metrics.exists() else []:
        line = json.loads(text)
        per_s = line["selfplay/evaluations_per_s"] * line["time/play_s"]  # for runs without a count
        cost += line.get("selfplay/evaluations", per_s) + 3 * line["train/steps"] * 256
        if cost >= budget:
            return cost, line["iteration"]
    return None


def agent_of(run: Path, iteration: int) -> Agent:
    """Returns the run's best net after an iteration, as an agent."""
    promoted = [path for path in sorted((run / "checkpoints").iterdir()) if int(path.stem) <= iteration]
    return make_agent(f"{promoted[-1]}@{SIMULATIONS}", threads=count_cores())


def read_results(folder: Path) -> list[dict]:
    """Returns all measurements."""
    path = folder / "results.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def draw_curves(folder: Path, game: str, variants: list[str], seeds: list[int]) -> None:
    """Draws the curves of the runs of these variants and seeds, as far as they exist, by their time."""
    runs = [run_folder(folder, game, variant, seed) for variant in variants for seed in seeds]
    if runs := [run for run in runs if (run / "metrics.jsonl").exists()]:
        compare_runs(runs).draw(folder / f"{make_game(game).name}.png")


def tables(results: list[dict]) -> str:
    """Returns tables, by game, of each option's differences to `base` in Elo and in mistakes, with 95 % intervals.

    Intervals are for the mean over seeds. The variance of single runs is estimated from all options together.
    """
    lines = []
    for game in dict.fromkeys(each["game"] for each in results):
        own = [each for each in results if each["game"] == game]
        base = {each["seed"]: each for each in own if each["variant"] == "base"}
        variants = [name for name in dict.fromkeys(each["variant"] for each in own) if name != "base"]
        measured = {name: [each for each in own if each["variant"] == name] for name in variants}
        head, columns = ["switch", "seeds", "Elo above `base`"], [cells(measured, elo, "{:+.0f}")]
        for what in ("net", "search"):
            key = f"benchmark/{what}_mistakes"
            if key in own[0]:
                mean = statistics.mean(each[key] for each in base.values())
                head.append(f"mistakes of the {what} less `base`'s {mean:.1%}")
                columns.append(cells(measured, more_than(base, key), "{:+.1f}"))
        lines += [f"\n## {game}, {own[0]['budget'] / 1e6:g} million forward passes a run\n"]
        lines += [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
        for name, *row in zip(variants, *columns, strict=True):
            lines += [f"| {name} | {len(measured[name])} | {' | '.join(row)} |"]
    return "\n".join(lines).lstrip("\n")


def elo(each: dict) -> float:
    """Returns the Elo difference to `base` in a match."""
    return elo_from_score(min(max(each["score"], 0.0025), 0.9975))


def more_than(base: dict[int, dict], key: str) -> Callable[[dict], float]:
    """Returns a function: a share's difference, in percentage points, to that of the run `base` with the same seed."""
    return lambda each: 100 * (each[key] - base[each["seed"]][key])


def cells(measured: dict[str, list[dict]], value: Callable[[dict], float], form: str) -> list[str]:
    """Returns each option's mean of a value over seeds, with its 95 % interval, as text."""
    values = [[value(each) for each in some] for some in measured.values()]
    freedom = sum(len(some) - 1 for some in values)
    if not freedom:
        return [form.format(statistics.mean(some)) for some in values]
    scatter = math.sqrt(sum(statistics.pvariance(some) * len(some) for some in values) / freedom)
    quantile = T_95[freedom] if freedom < len(T_95) else 1.96
    texts = []
    for some in values:
        mean, half = statistics.mean(some), quantile * scatter / math.sqrt(len(some))
        texts.append(f"{form.format(mean)} [{form.format(mean - half)}, {form.format(mean + half)}]")
    return texts


if __name__ == "__main__":
    main()
