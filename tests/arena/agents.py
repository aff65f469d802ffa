"""Agents for tests: checkpoints of nets that have learnt nothing, and a GTP engine in a few lines; what they answer."""

import sys
from pathlib import Path

import torch

from azero.config import NetConfig, SearchConfig
from azero.games import make_game
from azero.nets.card import Card
from azero.nets.checkpoint import save_checkpoint
from azero.nets.tower import ResidualTower

SMALL = NetConfig(blocks=1, channels=8, policy_channels=2, value_channels=2, value_hidden=8)

SUGGESTION_FIELDS = ["game", "to_move", "simulations", "elapsed_s", "value", "best", "moves", "runtime", "precision"]
"""Of a suggestion's JSON object, in their order."""


def write_checkpoint(path: Path, game: str = "tic_tac_toe", seed: int = 0) -> Path:
    """Writes a small net whose opinions are random, but not all alike; returns `path`."""
    torch.manual_seed(seed)
    net = ResidualTower(SMALL, make_game(game))
    torch.nn.init.normal_(net.policy.weight, std=0.3)
    torch.nn.init.normal_(net.results.weight, std=0.3)
    save_checkpoint(path, net, Card(game=game, net=SMALL.model_dump(), search=SearchConfig().model_dump()))
    return path


ENGINE = '''
"""Plays the first legal move of tic_tac_toe; `manner` says where it goes wrong. Notes in a file what it was told."""
import sys
import time

log, manner = open(sys.argv[1], "a"), sys.argv[2]
played = []
for line in sys.stdin:
    log.write(line)
    log.flush()
    words = line.split()
    if words[0] == "boardsize" and manner == "any_size":
        print("? unknown command\\n", flush=True)
        continue
    if words[0] == "clear_board":
        played = []
    if words[0] == "play":
        played.append(words[2])
    answer = ""
    if words[0] == "genmove":
        if manner == "dies":
            sys.exit(3)
        if manner == "waits":
            time.sleep(60)
        if manner == "stops":
            print("= a", end="", flush=True)
            time.sleep(60)
        if manner == "complains":
            print("? I would rather not\\n", flush=True)
            continue
        free = [column + row for row in "123" for column in "abc" if column + row not in played]
        answer = {"illegal": played[-1] if played else "a9", "resigns": "resign"}.get(manner, free[0].upper())
        played.append(free[0])
    print(f"= {answer}\\n", flush=True)
'''


def write_engine(folder: Path, manner: str = "plays") -> str:
    """Writes a GTP engine; returns the name of the agent, which notes what it is told in `folder`/told."""
    (folder / "engine.py").write_text(ENGINE)
    return f"gtp:{sys.executable} {folder / 'engine.py'} {folder / 'told'} {manner}"
