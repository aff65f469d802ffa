"""Connect Four: how often a review marks the moves that gave away the result, by a solver, and no others.

    pip install bitbully==0.0.79 bitbully-databases==0.0.2
    azero review games.txt connect_four --json > review.json
    python notes/scripts/review_agreement.py review.json

A review says that a move gave away the result if its mark is `??`. BitBully, by Markus Thill, knows the results.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from bitbully import bitbully_core
from bitbully_databases import BitBullyDatabases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("review", type=Path)
    solver = bitbully_core.BitBullyCore(BitBullyDatabases.get_database_path("12-ply-dist"))
    found: Counter[tuple[bool, bool]] = Counter()
    for number, game in enumerate(json.loads(parser.parse_args().review.read_text())["games"], start=1):
        board = bitbully_core.BoardCore()
        for ply, move in enumerate(game["moves"], start=1):
            results = [(score > 0) - (score < 0) for score in solver.scoreMoves(board)]  # a full column has the lowest
            column = int(move["move"]) - 1
            gives_away, is_marked = results[column] < max(results), move["mark"] == "??"
            found[gives_away, is_marked] += 1
            if gives_away != is_marked:
                what = f"{max(results):+d} to {results[column]:+d}" if gives_away else "keeps the result"
                print(f"game {number}, ply {ply}: {move['move']}{move['mark']} {what}, loss {move['loss']:.2f}")
            board.play(column)
    total = sum(found.values())
    agreed = found[True, True] + found[False, False]
    print(f"{total} moves, {found[True, True] + found[True, False]} gave away the result")
    print(f"not marked {found[True, False]}, marked wrongly {found[False, True]}: {agreed / total:.1%} agree")


if __name__ == "__main__":
    main()
