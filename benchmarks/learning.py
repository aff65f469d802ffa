"""Measures the effect of learning options: runs of equal cost with and without them, and training on fixed games.

    python benchmarks/learning.py run --games connect_four --variants base gumbel --seeds 0 1 2
    python benchmarks/learning.py report
    python benchmarks/learning.py screen runs/quick --set training.batch_size=128

`run`: several seeds, two games. The cost of a run is measured in forward passes of the net: one per evaluation in
self-play, three per position of a training step. A run ends with the iteration that reaches the budget. Its best net
then plays the best net of the run `base` with the same seed, and is tested on solved positions if its game has them.
Each measurement is a line in results/learning/results.jsonl, and is not repeated. `report` prints a table of these
lines for each game, and draws the curves of the runs of --variants and --seeds into results/learning/GAME.png.

With --cluster, all runs train at the same time, each on a core or GPU of the cluster, whose workers play the matches,
too. No worker needs the files of this machine.

`screen` trains a net from nothing on the games of a run, and tests it on solved positions. It takes minutes. Test what
wins there in a whole run, too: notes/2026-11-screening.md has changes that won only there. It prints a line of JSON:
the settings; the net's shares of mistakes and of wrong values; the mean squared error of its values to the true
results; and seconds of CPU time, in one thread. Mistakes count in positions that list the moves that keep the result,
and wrong values in all.
"""

import argparse
import contextlib
import json
import math
import statistics
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from azero.arena.agents.make import make_agent
from azero.arena.agents.specs import AgentSpec, settled_device, spec_of
from azero.arena.matches.specs import MatchSpec, play_matches
from azero.arena.matches.statistics import elo_from_score
from azero.arena.solved.files import Problem, read_benchmark, shipped_benchmark_of
from azero.arena.solved.mistakes import evaluate_spec, mistakes_in
from azero.bench.budget import BudgetedRun, iteration_within, keep_run, net_of, train_elsewhere, train_to_budget
from azero.commands.clusters import workers_of
from azero.config.reading import find_config, load_config
from azero.config.schema import DeviceConfig
from azero.games import LOSS, make_game
from azero.games.sizes import games_of
from azero.nets.architectures.contract import Net
from azero.runs.state import Progress
from azero.selfplay.data.replay import Replay
from azero.system.machine import count_cores
from azero.system.worker_pool import Pool
from azero.training.comparison import compare_runs
from azero.training.learning.trainer import Trainer
from azero.training.run import Run

COMMON = (
    *("net.blocks=3", "net.channels=32", "selfplay.games_per_iteration=250", "selfplay.games_per_shard=125"),
    *("selfplay.num_simulations=48", "selfplay.root=noise"),
    *("selfplay.full_search_share=1", "selfplay.random_opening_share=0", "selfplay.ending_nodes=0"),
    *("selfplay.policy_surprise_share=0", "training.ownership_loss_weight=0"),
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


def add_run(parser: argparse.ArgumentParser) -> None:
    add_report(parser)
    parser.add_argument("--budget", type=float, default=1e6, help="forward passes of a run")
    parser.add_argument("--cluster", metavar="WHERE", help="of Ray: local, auto or HOST:PORT; default: this machine")


def run(options: argparse.Namespace) -> None:
    """Trains the runs, and measures them."""
    cases = [
        Case(game, variant, seed, options.budget)
        for seed in options.seeds
        for game in options.games
        for variant in dict.fromkeys(["base", *options.variants])
        if game in GAMES_OF.get(variant, CONFIGS)
    ]
    cases = [each for each in cases if not is_measured(options.folder, each)]
    with workers_of(options.cluster, DeviceConfig()) as pool:
        for case in trained(options.folder, cases, pool):
            measure(options.folder, case, pool)


def add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--games", nargs="+", choices=CONFIGS, default=list(CONFIGS))
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--folder", type=Path, default=Path("results/learning"))


def report(options: argparse.Namespace) -> None:
    """Prints the tables, and draws the curves."""
    print(tables(read_results(options.folder)))
    for game in options.games:
        draw_curves(options.folder, game, options.variants, options.seeds)


class Case(NamedTuple):
    """A run to train and to measure."""

    game: str
    variant: str
    seed: int
    budget: float

    @property
    def key(self) -> dict:
        """Returns what identifies its line in the results."""
        return {**self._asdict(), "settings": digest_of(self.game, self.variant)}

    @property
    def task(self) -> BudgetedRun:
        settings = (*COMMON, *VARIANTS[self.variant], f"seed={self.seed}")
        return BudgetedRun(CONFIGS[self.game], settings, self.budget)

    def folder(self, folder: Path) -> Path:
        return run_folder(folder, self.game, self.variant, self.seed)


def is_measured(folder: Path, case: Case) -> bool:
    return any(case.key.items() <= each.items() for each in read_results(folder))


def trained(folder: Path, cases: list[Case], pool: Pool | None) -> Iterator[Case]:
    """Yields the cases when they are trained, `base` before the others of a game and seed; keeps each when it ends."""
    if pool is None:
        for case in cases:
            train_to_budget(case.folder(folder), case.task)
            yield case
        return
    missing = [case for case in cases if not iteration_within(case.folder(folder), case.budget)]
    tasks = [case.task for case in missing]
    for place, contents in pool.run(train_elsewhere, tasks, lambda num: None, None, "training") if tasks else ():
        keep_run(missing[place].folder(folder), contents)
        print(f"trained: {missing[place]}", flush=True)
    yield from cases


def measure(folder: Path, case: Case, pool: Pool | None) -> None:
    """Adds the measurements of a trained case to the results."""
    cost, iteration = iteration_within(case.folder(folder), case.budget) or (math.nan, 0)
    game, agent = make_game(case.game), spec_of_best(case, folder)
    line = {**case.key, "cost": cost, "iterations": iteration}
    benchmark = shipped_benchmark_of(game)
    if benchmark:
        line |= mistakes_in(evaluate_spec(agent, read_benchmark(benchmark, game, POSITIONS), pool))
    if case.variant != "base":
        rival = spec_of_best(case._replace(variant="base"), folder)
        (match,) = play_matches([MatchSpec(agent, rival, MATCH_GAMES, case.seed)], pool)
        line |= {"score": match.tally.score, "games": match.tally.games}
    with (folder / "results.jsonl").open("a") as file:
        print(json.dumps(line), file=file)
    print(json.dumps(line), flush=True)


def spec_of_best(case: Case, folder: Path) -> AgentSpec:
    """Returns the spec of the best net at the end of a case's run."""
    run = case.folder(folder)
    _, iteration = iteration_within(run, case.budget) or (math.nan, 0)
    name, game = f"{net_of(run, iteration)}@{SIMULATIONS}", make_game(case.game)
    with contextlib.closing(make_agent(name, game)) as agent:
        return spec_of(name, game, threads=count_cores(), device=settled_device(agent, DeviceConfig()))


def run_folder(folder: Path, game: str, variant: str, seed: int) -> Path:
    return folder / f"{make_game(game).name}-{variant}-{seed}-{digest_of(game, variant)}".replace(" ", "_")


def digest_of(game: str, variant: str) -> str:
    """Returns a digest of the settings, which distinguishes runs."""
    settings = load_config(find_config(CONFIGS[game]), [*COMMON, *VARIANTS[variant]]).model_dump_json()
    return f"{zlib.crc32(settings.encode()):08x}"


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


def train_on(trainer: Trainer, replay: Replay, num_steps: int, seed: int) -> None:
    """Takes a whole schedule of steps."""
    generators = (np.random.default_rng([seed, step]) for step in range(num_steps))
    for step, sample in enumerate(replay.samples(trainer.config.batch_size, generators)):
        trainer.step(sample, step / num_steps)


def test_net(net: Net, problems: list[Problem]) -> dict[str, float]:
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


def add_screen(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path)
    parser.add_argument("--samples", type=float, default=500e3, help="positions drawn in all")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE")


def screen(options: argparse.Namespace) -> None:
    """Trains on the games of a run, and tests on solved positions."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    path, settings = options.run / "config.toml", [*options.set, "device.threads=1", f"replay.window={1 << 40}"]
    if not path.exists():
        raise SystemExit(f"{options.run} is not a run: it has no config.toml")
    config = load_config(path, settings, is_of_run=True)
    game = games_of(config.game)[-1]
    benchmark = shipped_benchmark_of(game)
    if benchmark is None:
        raise SystemExit(f"there are no solved positions of {game}")
    names = sorted(path.stem for path in (options.run / "replay").glob("*.safetensors"))
    replay = Run(options.run, config, game).load_replay(Progress(shards=names))
    trainer = Trainer(config, game)
    begin = time.process_time()
    train_on(trainer, replay, round(options.samples / config.training.batch_size), config.seed)
    seconds = time.process_time() - begin
    problems = [problem for each in read_benchmark(benchmark, game).sets for problem in each.problems]
    line = {"settings": options.set, **test_net(trainer.candidate(), problems), "cpu_s": round(seconds)}
    print(json.dumps(line), flush=True)


COMMANDS = {
    "run": (add_run, run, "trains runs, and measures them"),
    "report": (add_report, report, "prints tables of what was measured"),
    "screen": (add_screen, screen, "trains on the games of a run, and tests on solved positions"),
}
"""See `subcommands.py`."""


if __name__ == "__main__":
    from subcommands import run_command

    run_command(COMMANDS, __doc__)
