"""Makes short runs with one fault each, and healthy ones, and asks `azero doctor` what is wrong with them.

    python benchmarks/faults.py --folder runs/faults
    python benchmarks/faults.py --folder runs/faults --faults no_noise samples_many --each-game

A run is kept, and not made again. Healthy runs are of three games, and each fault is made in one of them, or in each.
A line has the run, the place of its fault among what the doctor finds, and the first two findings. The last line counts
the faults that are first or second, those of them that a metric shows, and the healthy runs with a finding.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from azero.training.symptoms import OF_METRICS

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
BASE = """
[game]
name = "{game}"

[net]
blocks = 2
channels = 24

[selfplay]
games_per_iteration = 120
games_per_shard = 60
parallel_games = 60
num_simulations = 24
temperature_plies = 8
final_temperature = 0.2
dirichlet_alpha = {alpha}

[training]
iterations = 5
samples_per_position = 5.0
warmup_steps = 20

[gate]
games = 24
num_simulations = 12
final_games = 0

[evaluation]
every = 0
"""
KALAH = "kalah.py:Kalah(houses=4,seeds=3)"
GAMES = {"connect_four": ("connect_four(rows=5,columns=5)", 2.0), "hex": ("hex(size=5)", 0.5), "kalah": (KALAH, 2.0)}


class Fault(NamedTuple):
    """Settings, or texts in a user's rules with their replacement; and causes that are right."""

    causes: tuple[str, ...]
    settings: tuple[str, ...] = ()
    patch: tuple[str, str] | None = None


HEALTHY = {
    "healthy_1": ("seed=1",),
    "healthy_2": ("seed=2", "selfplay.root=gumbel", "selfplay.num_simulations=16"),
    "healthy_3": ("seed=3", "net.channels=48", "training.samples_per_position=10"),
    "healthy_4": ("seed=4", "training.optimizer=adamw", "selfplay.full_search_share=0.5"),
}
FAULTS = {
    "rate_high": Fault(
        ("the learning rate is too high",), ("training.muon_learning_rate=1.0", "training.learning_rate=0.05")
    ),
    "rate_low": Fault(
        ("the learning rate is too low",),
        ("training.muon_learning_rate=0.0002", "training.learning_rate=0.00001"),
    ),
    "warmup_long": Fault(("the warm-up is too long",), ("training.warmup_steps=100000",)),
    "clip_tiny": Fault(
        ("gradients are clipped too strongly",),
        ("training.gradient_clip=0.0001", "training.optimizer=sgd", "training.learning_rate=0.05"),
    ),
    "decay_much": Fault(("weights decay too fast",), ("training.weight_decay=1.0",)),
    "value_ignored": Fault(("the value is hardly learned",), ("training.value_loss_weight=0",)),
    "policy_ignored": Fault(("the policy is hardly learned",), ("training.value_loss_weight=100",)),
    "samples_many": Fault(
        ("too much training for the games", "the net overfits"), ("training.samples_per_position=60",)
    ),
    "samples_few": Fault(
        ("too little training for the games", "an iteration has too few steps"), ("training.samples_per_position=0.1",)
    ),
    "batch_huge": Fault(("an iteration has too few steps",), ("training.batch_size=8192",)),
    "window_short": Fault(("the window is too short",), ("replay.window=500",)),
    "games_few": Fault(
        ("an iteration has too few games",), ("selfplay.games_per_iteration=4", "selfplay.games_per_shard=4")
    ),
    "simulations_few": Fault(("searches are too small",), ("selfplay.num_simulations=2",)),
    "c_puct_low": Fault(("searches hardly explore",), ("search.c_puct=0.02",)),
    "c_puct_high": Fault(("searches follow the net's policy alone",), ("search.c_puct=60",)),
    "no_noise": Fault(("there is no noise at the root",), ("selfplay.dirichlet_epsilon=0",)),
    "noise_much": Fault(("there is too much noise at the root",), ("selfplay.dirichlet_epsilon=0.95",)),
    "no_chance": Fault(
        ("opening moves are not sampled", "games are alike"),
        ("selfplay.temperature=0", "selfplay.temperature_plies=0", "selfplay.final_temperature=0"),
    ),
    "chance_alone": Fault(
        ("games are played at random",), ("selfplay.temperature=20", "selfplay.temperature_plies=200")
    ),
    "openings_long": Fault(
        ("openings are too long",), ("selfplay.random_opening_share=1.0", "selfplay.random_opening_plies=200")
    ),
    "gate_strict": Fault(("the gate is too strict", "no candidate is promoted"), ("gate.win_rate_threshold=0.95",)),
    "gate_by_chance": Fault(("the gate is decided by chance",), ("gate.games=2",)),
    "net_small": Fault(("the net is too small",), ("net.blocks=1", "net.channels=2", "net.value_hidden=2")),
    "net_large": Fault(
        ("the net is too large for so few games",), ("net.blocks=10", "net.channels=96", "training.iterations=2")
    ),
    "passes_empty": Fault(("the net's batches are almost empty",), ("selfplay.parallel_games=1",)),
    "cores_idle": Fault(("cores are idle in self-play",), ("selfplay.num_workers=1",)),
    "planes_blind": Fault(
        ("the planes hide what matters",),
        patch=("seeds = state.houses[side, house]\n", "seeds = row * state.houses[side, house]\n"),
    ),
    "planes_absolute": Fault(
        ("the planes hide what matters",),
        patch=("side = state.player if row == 1 else 1 - state.player", "side = row"),
    ),
    "keys_alike": Fault(
        ("the rules break a law",),
        patch=(
            "key = mix(key ^ np.uint64(state.houses[side, house]))",
            "key = mix(key ^ np.uint64(state.houses[side, house] > 0))",
        ),
    ),
}


def make(folder: Path, game: str, name: str) -> Path:
    """Trains a run unless it is there; returns its folder."""
    fault = FAULTS.get(name)
    place = folder / f"{game}-{name}"
    if (place / "done").exists():
        return place
    place.mkdir(parents=True, exist_ok=True)
    rules = (ROOT / "examples" / "games" / "kalah.py").read_text()
    if fault and fault.patch:
        assert rules.count(fault.patch[0]) == 1, fault.patch[0]
        rules = rules.replace(*fault.patch)
    (place / "kalah.py").write_text(rules)
    (place / "config.toml").write_text(BASE.format(game=GAMES[game][0], alpha=GAMES[game][1]))
    settings = fault.settings if fault else HEALTHY[name]
    options = [option for each in settings for option in ("--set", each)]
    command = [sys.executable, "-m", "azero.cli", "train", "config.toml", "--run", "run", *options]
    shutil.rmtree(place / "run", ignore_errors=True)
    with open(place / "log", "w") as log:
        subprocess.run(command, cwd=place, env=ENVIRONMENT, stdout=log, stderr=log, check=True)
    (place / "done").touch()
    return place


def causes_of(place: Path) -> list[tuple[str, bool]]:
    """Returns what the doctor finds in a run, and whether a metric shows it."""
    command = [sys.executable, "-m", "azero.cli", "doctor", "run", "--json"]
    told = subprocess.run(command, cwd=place, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, check=True).stdout
    metrics = {figure.name for figure in OF_METRICS}
    return [(each["cause"], each["name"] in metrics) for each in json.loads(told)["findings"]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--faults", nargs="*", default=[*HEALTHY, *FAULTS])
    parser.add_argument("--each-game", action="store_true", help="make each fault in each game")
    options = parser.parse_args()
    games, faults, found, shown, healthy, alarms = [*GAMES], 0, 0, 0, 0, 0
    for name in options.faults:
        turn = [*FAULTS].index(name) % len(games) if name in FAULTS else 0
        of_kalah = name in FAULTS and FAULTS[name].patch
        for game in ["kalah"] if of_kalah else games if name in HEALTHY or options.each_game else [games[turn]]:
            causes = causes_of(make(options.folder, game, name))
            names = [cause for cause, _ in causes]
            if name in HEALTHY:
                healthy, alarms = healthy + 1, alarms + bool(causes)
                print(f"{game} {name}: {names or 'nothing'}", flush=True)
                continue
            right = [
                (place, by_metric) for place, (cause, by_metric) in enumerate(causes, 1) if cause in FAULTS[name].causes
            ]
            faults, found = faults + 1, found + any(place <= 2 for place, _ in right)
            shown += any(place <= 2 and by_metric for place, by_metric in right)
            print(f"{game} {name}: {right[0][0] if right else 'MISSED'}; {names[:2]}", flush=True)
    print(
        f"{found} of {faults} faults are first or second, {shown} by a metric; "
        f"{alarms} of {healthy} healthy runs have a finding"
    )


if __name__ == "__main__":
    main()
