"""Records random games of Ataxx as Fairy-Stockfish plays it, for tests/data/ataxx_games.jsonl.

    python notes/scripts/ataxx_games.py > tests/data/ataxx_games.jsonl

Needs `pyffish`. Each game has its moves, written as `c3`, `a1c3` or `pass`, the number of legal moves at every ply, and
the last board.
"""

import json
import random

import pyffish

NUM_GAMES, MOST_PLIES, SEED = 5, 300, 5


def play_game(chooser: random.Random) -> dict:
    fen, moves, num_legal = pyffish.start_fen("ataxx"), [], []
    while len(moves) < MOST_PLIES:
        legal = sorted(pyffish.legal_moves("ataxx", fen, []))
        if not legal:
            break
        move = chooser.choice(legal)
        moves.append("pass" if move[:2] == move[2:] else move.removeprefix("P@"))
        num_legal.append(len(legal))
        fen = pyffish.get_fen("ataxx", fen, [move])
    return {"moves": " ".join(moves), "num_legal": num_legal, "final": fen.split()[0]}


def main() -> None:
    chooser = random.Random(SEED)
    for _ in range(NUM_GAMES):
        print(json.dumps(play_game(chooser)))


if __name__ == "__main__":
    main()
