"""Agents for tests: checkpoints of untrained nets, and small engines."""

import sys
from pathlib import Path

import torch

from azero.config.schema import NetConfig, SearchConfig
from azero.games import make_game
from azero.nets.architectures.tower.net import ResidualTower
from azero.nets.checkpoint import save_checkpoint
from azero.nets.checkpoint_file import Card

SMALL = NetConfig(blocks=1, channels=8, policy_channels=2, value_channels=2, value_hidden=8)

SUGGESTION_FIELDS = [
    *("game", "to_move", "simulations", "elapsed_s", "value", "best", "moves"),
    *("runtime", "precision", "ownership", "score", "simulations_per_s", "proven"),
]
"""The fields of a suggestion's JSON object, in order."""


def write_checkpoint(path: Path, game: str = "tic_tac_toe", seed: int = 0) -> Path:
    """Writes the checkpoint of a small untrained net; returns `path`."""
    torch.manual_seed(seed)
    net = ResidualTower(SMALL, make_game(game))
    torch.nn.init.normal_(net.policy.weight, std=0.3)
    torch.nn.init.normal_(net.results.weight, std=0.3)
    save_checkpoint(path, net, Card(game=game, net=SMALL.model_dump(), search=SearchConfig().model_dump()))
    return path


ENGINE = '''
"""Plays the first free cell of tic_tac_toe, and records its commands in a file, and each process in one.

`manner` is its fault. With `manner@3` the fault begins in the third game. `says:X` answers each genmove with X.
`meets` waits until three processes have been asked for a move; then one of them dies if it is `meets and dies`.
"""
import os
import sys
import time
from pathlib import Path

Path(f"{sys.argv[1]}.{os.getpid()}").touch()
log, (fault, _, first_game) = open(sys.argv[1], "a"), sys.argv[2].partition("@")
num_games, played, place = 0, [], None
for line in sys.stdin:
    log.write(line)
    log.flush()
    words = line.split()
    if words[0] == "clear_board":
        num_games, played = num_games + 1, []
    manner = fault if num_games >= int(first_game or 0) else "plays"
    if manner == "refuses time" and words[0].startswith("time"):
        print("? unknown command\\n", flush=True)
        continue
    if words[0] == "play":
        if manner == "refuses passes" and words[2] == "pass":
            print("? syntax error\\n", flush=True)
            continue
        played.append(words[2])
    answer = ""
    if words[0] == "genmove":
        if manner == "dies":
            sys.exit(3)
        while manner.startswith("meets") and place is None:
            for number in range(3):
                try:
                    Path(f"{sys.argv[1]}{number}").touch(exist_ok=False)
                    place = number
                    break
                except FileExistsError:
                    pass
            while not Path(f"{sys.argv[1]}2").exists():
                time.sleep(0.01)
        if manner == "meets and dies" and place == 1:
            sys.exit(3)
        if manner == "waits" or manner == "meets and dies":
            time.sleep(60)
        if manner == "floods":
            while True:
                print("= a1 " * 100, flush=True)
        if manner == "floods a line":
            while True:
                print("= a1 " * 100, end="", flush=True)
        if manner == "stops":
            print("= a", end="", flush=True)
            time.sleep(60)
        if manner == "complains":
            print("? I would rather not\\n", flush=True)
            continue
        if manner == "babbles":
            print("tic tac toe " * 100, flush=True)
            continue
        free = [column + row for row in "123" for column in "abc" if column + row not in played]
        answers = {"illegal": played[-1] if played else "a9", "resigns": "resign", "rambles": "x" * 5000}
        answer = answers.get(manner, free[0].upper())
        answer = manner.removeprefix("says:") if manner.startswith("says:") else answer
        played.append(free[0])
    print(f"= {answer}\\n", flush=True)
'''


def write_engine(folder: Path, manner: str = "plays") -> str:
    """Writes a GTP engine; returns its agent's name. The engine records the commands that it gets in `folder`/told."""
    (folder / "engine.py").write_text(ENGINE)
    return f"gtp:{sys.executable} {folder / 'engine.py'} {folder / 'told'} '{manner}'"


UCI_ENGINE = '''
"""Plays the first legal move of breakthrough in the position of a FEN, and records its commands in a file.

`manner` is its fault. With `manner@4` it begins after the fourth ucinewgame. `says:X` answers `go`; `|` ends lines.
"""
import re
import sys
import time


def first_move(board, side):
    rows = [re.sub("[0-9]+", lambda run: "." * int(run[0]), row) for row in board.split("/")][::-1]
    own, forward = ("P", 1) if side == "w" else ("p", -1)
    for row in range(len(rows)):
        for column in range(len(rows[0])):
            for end in (column - 1, column, column + 1):
                if rows[row][column] == own and 0 <= row + forward < len(rows) and 0 <= end < len(rows[0]):
                    target = rows[row + forward][end]
                    if target == "." or end != column and target != own:
                        return f"{'abcdefgh'[column]}{row + 1}{'abcdefgh'[end]}{row + 1 + forward}"


log, (fault, _, first_game) = open(sys.argv[1], "a"), sys.argv[2].partition("@")
num_games, variant, fen = 0, "chess", []
for line in sys.stdin:
    log.write(line)
    log.flush()
    command, _, rest = line.strip().partition(" ")
    manner = fault if num_games >= int(first_game or 0) else "plays"
    num_games += command == "ucinewgame"
    if manner == f"hangs at {command}":
        time.sleep(60)
    if command == "uci":
        print("id name Test\\noption name Skill Level type spin default 20 min 0 max 20")
        built_in = "chess" if manner == "knows nothing" else "breakthrough"
        print(f"option name UCI_Variant type combo default chess var {built_in} var {variant}")
        if manner != "reads no files":
            print("option name VariantPath type string default <empty>")
        print("uciok")
    if rest.startswith("name VariantPath value ") and manner != "reads them not":
        variant = re.match(r"\\[(.*):breakthrough\\]", open(rest.split(maxsplit=3)[3]).read())[1]
    if "UCI_Variant" in rest and manner == "has a small board":
        print(f"info string variant {variant} files 2 ranks 2 pocket 0 template fairy startpos 2/2 w")
    if command == "isready":
        print("readyok")
    if command == "position":
        fen = rest.split()[1:]
    if command == "go":
        if manner == "dies":
            sys.exit(3)
        while manner.startswith("floods"):
            print("info depth 1 nodes 2 score cp 3 pv a2a3 " * 1000, end=manner[6:] or "\\n", flush=True)
        while manner == "never ends":
            print("info depth 1", flush=True)
            time.sleep(0.02)
        if manner.startswith("says:"):
            print(manner[5:].replace("|", "\\n"))
        else:
            move = first_move(*fen[:2])
            print(f"info depth 1 nodes 7 score cp 40 pv {move}\\nbestmove {move} ponder {move}")
    sys.stdout.flush()
'''


def write_uci_engine(folder: Path, manner: str = "plays", options: str = "") -> str:
    """Writes a UCI engine; returns its agent's name. The engine records the commands that it gets in `folder`/told."""
    (folder / "uci_engine.py").write_text(UCI_ENGINE)
    return f"uci{options}:{sys.executable} {folder / 'uci_engine.py'} {folder / 'told'} '{manner}'"
