"""Computes digests of azero's games, searches and training, to show that a change of the code changes no result.

    python benchmarks/digests.py --write before.json
    python benchmarks/digests.py --against before.json

Digests of games cover random games, with everything that a player or a net sees. Digests of searches cover their
answers. Digests of runs cover the fp32 weights after a short run, for every game and every root of self-play. Weights,
and answers that depend on floats, can be compared only on one type of CPU.
"""

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from safetensors import safe_open
from tqdm import tqdm

import azero

GAMES = {
    "amazons": "amazons(size=5)",
    "breakthrough": "breakthrough(rows=5,columns=4)",
    "clobber": "clobber(rows=4,columns=5)",
    "connect_four": "connect_four",
    "go": "go(size=5)",
    "gomoku": "gomoku(rows=6,columns=6,k=4)",
    "hex": "hex(size=5)",
    "othello": "othello(size=6)",
    "p_game": "p_game(depth=8,branching=4)",
    "tic_tac_toe": "tic_tac_toe",
}
"""Every game, at a size for runs of seconds."""

AGENTS = (
    "uct@500",
    "uct(by=value,prove=false)@300",
    "uct(bias=depth)@300",
    "uct(table=300)@500",
    "uct(root=turns)@300",
    "mc@300",
    "mc(root=turns)@300",
    "mmmc(keep=episode)@300",
    "mmmc(keep=leaf)@300",
    "alphabeta(rollouts=2)@300",
)
SHIPPED = {"connect_four@50": "connect_four", "othello_6x6@50": "othello(size=6)", "go_7x7@50": "go(size=7,komi=8.5)"}

FP32 = (
    *("training.precision=fp32", "training.convolution=torch"),
    *("device.precision=fp32", "device.runtime=torch", "device.device=cpu"),
)
ROOTS = {
    "gumbel": ("selfplay.root=gumbel",),
    "surprising": ("selfplay.policy_surprise_share=0.5", "training.value_lambda=0.8"),
    "proven": ("search.proof_nodes=50", "training.value_lambda=0.9"),
}
"""Settings with code that the default settings do not run."""


def digest_of_game(name: str) -> str:
    """Returns a digest of random games: positions, keys, planes, legal actions, texts and results."""
    digest, chooser, game = hashlib.sha256(), random.Random(0), azero.make_game(name)
    for _ in range(5):
        state = game.new_initial_state()
        while True:
            seen = state.legal_actions(), state.current_player(), state.returns(), state.hash_key(), str(state)
            texts = [game.action_to_text(state, action) for action in state.legal_actions()]
            digest.update(repr((*seen, texts, state.final_score())).encode() + state.planes().tobytes())
            if state.is_terminal():
                break
            state.apply_action(chooser.choice(state.legal_actions()))
    digest.update(game.symmetries.cells.tobytes() + game.symmetries.actions.tobytes())
    return digest.hexdigest()[:16]


def digest_of_agent(name: str, game_name: str) -> str:
    """Returns a digest of an agent's answers at three positions."""
    game = azero.make_game(game_name)
    answers, state = [], game.new_initial_state()
    with closing(azero.make_agent(name, game=game, seed=1, threads=1)) as agent:
        for _ in range(3):
            found = agent.suggest(state)
            answers.append((found.best, found.value, found.simulations, [tuple(move) for move in found.moves]))
            state.apply_action(state.legal_actions()[0])
    return hashlib.sha256(repr(answers).encode()).hexdigest()[:16]


def digest_of_run(game_name: str, settings: tuple[str, ...] = ()) -> str:
    """Returns a digest of the weights at the end of a short run."""
    with tempfile.TemporaryDirectory() as folder:
        words = [f'game.name="{game_name}"', *FP32, "gate.games=2", "evaluation.every=0", *settings]
        overrides = [part for word in words for part in ("--set", word)]
        command = [sys.executable, "-m", "azero.cli", "train", "smoke", "--run", f"{folder}/run", *overrides]
        subprocess.run(command, check=True, capture_output=True)
        digest = hashlib.sha256()
        with safe_open(Path(folder) / "run" / "candidate.safetensors", "np") as file:
            for key in sorted(file.keys()):
                digest.update(key.encode() + file.get_tensor(key).tobytes())
    return digest.hexdigest()[:16]


def all_digests() -> dict[str, str]:
    """Returns all digests by name."""
    work = {f"game {name}": (digest_of_game, name) for name in GAMES.values()}
    for agent in AGENTS:
        for game in ("connect_four", "amazons(size=4)", "go(size=4)"):
            work[f"agent {agent} {game}"] = digest_of_agent, agent, game
    work |= {f"agent {agent}": (digest_of_agent, agent, game) for agent, game in SHIPPED.items()}
    work |= {f"run {name}": (digest_of_run, name) for name in GAMES.values()}
    for root, settings in ROOTS.items():
        work[f"run connect_four {root}"] = digest_of_run, "connect_four", settings
    return {what: function(*arguments) for what, (function, *arguments) in tqdm(work.items())}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", metavar="FILE", type=Path, help="where to keep the digests")
    parser.add_argument("--against", metavar="FILE", type=Path, help="digests to compare with; differences exit with 1")
    arguments = parser.parse_args()
    found = all_digests()
    if arguments.write:
        arguments.write.write_text(json.dumps(found, indent=1) + "\n")
    if arguments.against:
        before = json.loads(arguments.against.read_text())
        others = [what for what in before.keys() | found.keys() if before.get(what) != found.get(what)]
        print("\n".join([f"differs: {what}" for what in sorted(others)]) or f"all {len(found)} are the same")
        sys.exit(bool(others))
