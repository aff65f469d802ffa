"""Suggestions as text: the board with each move's value, and the moves ranked."""

from azero.arena.suggestion import Move, Suggestion
from azero.games import State

MOST_VISITED, BEST_VALUE = "*", "^"


def show_suggestion(suggestion: Suggestion, state: State) -> str:
    """Returns a position, what each move is worth at its place on the board, and the ranked moves below."""
    player = "first" if suggestion.to_move == 0 else "second"
    seen = [f"{suggestion.simulations} simulations in {suggestion.elapsed_s:.2f} s"]
    if suggestion.is_tree_full:
        seen.append("the tree reached its limit of nodes and grew no more")
    return "\n".join(
        [
            f"{suggestion.game}, {player} player to move, value {suggestion.value:+.2f} for that player",
            "",
            state.draw(value_marks(suggestion.moves)),
            "",
            f"values in hundredths; {MOST_VISITED} most visited, {BEST_VALUE} highest value",
            "",
            show_moves(suggestion.moves),
            "",
            f"best: {suggestion.best}   ({', '.join(seen)})",
        ]
    )


def value_marks(moves: list[Move]) -> dict[int, str]:
    """Returns the values of visited and proven moves in hundredths, by action; the most visited and the best marked."""
    known = [move for move in moves if move.visits or move.proven]
    if not known:
        return {}
    most_visited = max(known, key=lambda move: move.visits)
    best_value = max(known, key=lambda move: move.value)
    return {
        move.action: f"{100 * move.value:+.0f}"
        + MOST_VISITED * (move is most_visited)
        + BEST_VALUE * (move is best_value)
        for move in known
    }


def show_moves(moves: list[Move]) -> str:
    """Returns a table of moves, in their order."""
    width = max(4, *(len(move.move) for move in moves))
    lines = [f"{'move':>{width}}  {'visits':>8}  {'value':>6}  {'prior':>5}  {'proven':<10}  principal variation"]
    for move in moves:
        length = f" in {move.proven_plies}" if move.proven_plies is not None else ""
        proven = f"{move.proven or ''}{length}"
        value = f"{move.value:+.3f}" if move.visits or move.proven else ""
        pv = " ".join(move.pv)
        lines.append(f"{move.move:>{width}}  {move.visits:>8}  {value:>6}  {move.prior:>5.2f}  {proven:<10}  {pv}")
    return "\n".join(lines)
