"""Reviews of games as text."""

from collections.abc import Sequence

from azero.arena.reviews.accuracy import BLUNDER, INACCURACY, MISTAKE, THRESHOLDS, points
from azero.arena.reviews.review import GameReview, MoveReview
from azero.system.console import printable

_MARKS = {INACCURACY: "inaccuracies", MISTAKE: "mistakes", BLUNDER: "blunders"}
_PLAYERS = "first", "second"
_LONGEST_LINE = 8  # moves
_MOST_LISTED = 20


def show_review(review: GameReview, number: int | None = None) -> str:
    """Returns the review of a game: the accuracy of both players, and the moves that lost something.

    Args:
      number: of the game, if there are several.
    """
    record = review.record
    names = [record.tags.get(tag, "?") for tag in ("First", "Second")]
    ending = f", {record.tags['Termination']}" if "Termination" in record.tags else ""
    head = f"{names[0]} against {names[1]}, {record.game}: {record.result}{ending}"
    lines = [printable(f"game {number}: {head}" if number else head)]
    for player, name in enumerate(_PLAYERS):
        lines.append(f"  {name:<6}  {_figures(review, player)}")
    listed = [(ply, move) for ply, move in enumerate(review.moves, 1) if move.mark in THRESHOLDS]
    if listed:
        width = max(4, *(len(move.move) + len(move.mark) for _, move in listed))
        best_width = max(4, *(len(move.best) for _, move in listed))
        lines.append(f"  {'ply':>4} player {'move':<{width}} {'points':>6}  {'best':<{best_width}}  better line")
        lines += [_row(ply, move, width, best_width) for ply, move in listed]
    return "\n".join(lines)


def _figures(review: GameReview, player: int) -> str:
    accuracy, mean = review.accuracy[player], review.mean_loss()[player]
    if accuracy is None or mean is None:
        return "no moves"
    counts = ", ".join(f"{review.count(mark)[player]} {mark}" for mark in _MARKS)
    return f"accuracy {accuracy:3.0f} %, mean loss {points(mean):4.1f} points, {counts}"


def _row(ply: int, move: MoveReview, width: int, best_width: int) -> str:
    line = " ".join(move.line[:_LONGEST_LINE]) + (" ..." if len(move.line) > _LONGEST_LINE else "")
    played = printable(move.move + move.mark)
    drawn = "  (a random move)" if move.is_random else ""
    player = _PLAYERS[move.player]
    best = printable(f"{move.best:<{best_width}}  {line}")
    return f"  {ply:>4} {player:<6} {played:<{width}} {points(move.loss):>6.1f}  {best}{drawn}"


def show_summary(reviews: Sequence[GameReview]) -> str:
    """Returns a table of the largest losses of many games, and how many there are of each mark."""
    found = [
        (move, game, ply)
        for game, review in enumerate(reviews, 1)
        for ply, move in enumerate(review.moves, 1)
        if move.mark in THRESHOLDS and not move.is_random
    ]
    found.sort(key=lambda each: -each[0].loss)
    num_moves = sum(not move.is_random for review in reviews for move in review.moves)
    counts = {name: sum(move.mark == mark for move, _, _ in found) for mark, name in _MARKS.items()}
    lines = [
        f"{len(reviews)} games, {num_moves} moves: {', '.join(f'{name} {count}' for name, count in counts.items())}"
    ]
    if found:
        lines.append("  the largest losses:")
        lines.append(f"  {'game':>4} {'ply':>4} {'points':>6}  move")
    for move, game, ply in found[:_MOST_LISTED]:
        played = printable(f"{move.move}{move.mark}, {move.best} was better")
        lines.append(f"  {game:>4} {ply:>4} {points(move.loss):>6.1f}  {played}")
    if len(found) > _MOST_LISTED:
        lines.append(f"  ... and {len(found) - _MOST_LISTED} more")
    return "\n".join(lines)
