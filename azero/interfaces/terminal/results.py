"""Results as text: suggestions (board and ranked moves), matches, ratings, mistakes in solved positions, reviews."""

import itertools
from collections.abc import Sequence

import numpy as np

from azero.arena.agents.suggestion import Move, Suggestion
from azero.arena.matches.results import MatchResult
from azero.arena.matches.statistics import Sprt
from azero.arena.ratings.rating_pool import Ratings
from azero.arena.reviews.accuracy import BLUNDER, INACCURACY, MISTAKE, THRESHOLDS, points
from azero.arena.reviews.review import GameReview, MoveReview
from azero.arena.solved.mistakes import BenchmarkResult, Share
from azero.games import State
from azero.games.position_text import turn_to_text
from azero.heads import HEADS
from azero.system.console import printable

MOST_MOVES = 10
"""Default number of listed moves."""

_LIKELY = 1 / 3
"""A cell with a greater answer of a head has a mark. Its owner is at least twice as probable as the other player."""

MOST_VISITED, BEST_VALUE, AT_MOST = "*", "^", "<"


def show_suggestion(suggestion: Suggestion, state: State, top: int = MOST_MOVES) -> str:
    """Returns the board with the values of the moves, and a table of the `top` best moves."""
    player = "first" if suggestion.to_move == 0 else "second"
    number = suggestion.simulations
    seen = [f"{number} simulation{'s' if number != 1 else ''} in {suggestion.elapsed_s:.2f} s"]
    if suggestion.simulations_per_s is not None:
        seen.append(f"{suggestion.simulations_per_s:,.0f} a second")
    if suggestion.runtime:
        seen.append(f"{suggestion.runtime} {suggestion.precision}")
    if suggestion.is_tree_full:
        seen.append("the tree reached its limit of nodes")
    known = [(head, suggestion.heads[name]) for name, head in HEADS.items() if name in suggestion.heads]
    numbers = "".join(f" and {head.name} {answer:+z.1f}" for head, answer in known if not head.is_per_cell)
    maps = [line for head, answer in known if head.is_per_cell for line in (*show_map(head.legend, answer), "")]
    return "\n".join(
        [
            f"{suggestion.game}, {player} player to move, value {suggestion.value:+z.2f}{numbers} for that player",
            "",
            state.draw(value_marks(suggestion.moves)),
            "",
            f"values in hundredths; {MOST_VISITED} most visited, {BEST_VALUE} highest value"
            + f", {AT_MOST} at most" * any(move.is_bound for move in suggestion.moves),
            "",
            show_moves(suggestion.moves, top),
            "",
            *maps,
            f"best: {best_turn(suggestion, state)}   ({', '.join(seen)})",
        ]
    )


def show_map(legend: str, answer: np.ndarray) -> list[str]:
    """Returns a map of a head's answer, [H, W] in [-1, 1], below a line that explains it."""
    signs = np.where(answer > _LIKELY, "+", np.where(answer < -_LIKELY, "-", "."))
    return [legend, *(f"  {' '.join(row)}" for row in signs)]


def value_marks(moves: list[Move]) -> dict[int, str]:
    """Returns the values of visited and proven moves in hundredths, by action, with the marks of the legend.

    If several whole turns have the same first action, the best ranked one counts.
    """
    firsts: dict[int, Move] = {}
    for move in moves:
        if move.visits or move.proven:
            firsts.setdefault(move.action, move)
    known = list(firsts.values())
    if not known:
        return {}
    most_visited = max(known, key=lambda move: move.visits)
    best_value = max([move for move in known if not move.is_bound] or known, key=lambda move: move.value)
    return {
        move.action: f"{AT_MOST * move.is_bound}{100 * move.value:+z.0f}"
        + MOST_VISITED * (move is most_visited and move.visits > 0)
        + BEST_VALUE * (move is best_value)
        for move in known
    }


def best_turn(suggestion: Suggestion, state: State) -> str:
    """Returns the best move. If the same player moves again, its next actions in the principal variation follow."""
    if not suggestion.moves:
        return suggestion.best
    pv = suggestion.moves[0].pv
    after, turn = state.clone(), pv[:1]
    for action_text, following in itertools.pairwise(pv):
        after.apply_action(state.game.text_to_action(after, action_text))
        if after.current_player() != state.current_player():
            break
        turn.append(following)
    return turn_to_text(state.game.rules, turn)


def show_moves(moves: list[Move], top: int = MOST_MOVES) -> str:
    """Returns a table of the first `top` moves, and the number of others."""
    num_more, moves = max(0, len(moves) - top), moves[:top]
    width, value_width = max([4, *(len(move.move) for move in moves)]), 6 + any(move.is_bound for move in moves)
    head = f"{'move':>{width}}  {'visits':>8}  {'value':>{value_width}}  {'prior':>5}"
    lines = [f"{head}  {'proven':<10}  principal variation"]
    for move in moves:
        length = f" in {move.proven_plies}" if move.proven_plies is not None else ""
        proven = f"{move.proven or ''}{length}"
        value = f"{AT_MOST * move.is_bound}{move.value:+z.3f}" if move.visits or move.proven else ""
        pv = " ".join(move.pv)
        figures = f"{move.move:>{width}}  {move.visits:>8}  {value:>{value_width}}  {move.prior:>5.2f}"
        lines.append(f"{figures}  {proven:<10}  {pv}")
    if num_more:
        lines.append(f"... and {num_more} more")
    return "\n".join(lines)


def show_match(match: MatchResult, sprt: Sprt | None) -> str:
    """Returns a match from A's side: score and Elo difference with 95 % intervals, cost of a move, and the SPRT."""
    fields = match.to_json()
    low, high = fields["score_ci95"]
    elo, weakest, strongest = _elo(fields["elo"], fields["score"]), *map(_elo, fields["elo_ci95"], (0.0, 1.0))
    a, b = printable(match.a), printable(match.b)
    lines = [
        f"{a} against {b}, {match.game}: {fields['games']} games, {fields['distinct_games']} distinct",
        f"  won {fields['wins']}, drawn {fields['draws']}, lost {fields['losses']}",
        f"  score {fields['score']:.1%}  [{low:.1%}, {high:.1%}]",
        f"  Elo   {elo}  [{weakest}, {strongest}]",
        f"  {a}: {1000 * match.seconds_a:.2f} ms and {match.simulations_a:.0f} simulations per move",
        f"  {b}: {1000 * match.seconds_b:.2f} ms and {match.simulations_b:.0f} simulations per move",
    ]
    for name, num_full in zip((match.a, match.b), match.full_trees, strict=True):
        if num_full:
            lines.append(f"  {name}: the search tree had no room to grow at {num_full} moves")
    if use := match.time_use:
        for name, lost, used, least in zip(
            (a, b), use.losses_on_time, use.to_json()["used_s"], use.least_left_s, strict=True
        ):
            lines.append(
                f"  {name}: {used:.1f} s of {use.control} a game, {lost} lost on time, least left {least:.2f} s"
            )
    if sprt:
        lines.append(f"  SPRT {sprt.elo0:g}, {sprt.elo1:g}: {match.sprt or 'undecided'}")
    return "\n".join(lines)


def show_benchmark(result: BenchmarkResult) -> str:
    """Returns the mistakes in each set with 95 % intervals, by the net alone and with search."""
    width = max([5, *(len(each.name) for each in result.sets)])
    has_net = any(each.net_mistakes for each in result.sets)
    header = f"  {'set':<{width}} {'positions':>9} "
    header += f" {'net alone':^20}  {'net, wrong value':>16} " * has_net + f" {'with search':^20} {'simulations':>11}"
    lines = [
        printable(f"{result.agent} on {result.benchmark}, {result.game}: moves with a worse result than the best move"),
        header.rstrip(),
    ]
    for each in result.sets:
        line = f"  {printable(each.name):<{width}} {each.positions:>9} "
        if each.net_mistakes and each.net_wrong_values:
            line += f" {_share(each.net_mistakes):>20}  {each.net_wrong_values.share:>16.1%} "
        line += f" {_share(each.search_mistakes):>20} {each.simulations:>11.0f}"
        lines.append(line + (f"  {each.not_judged} not judged" if each.not_judged else ""))
    if any(each.not_judged for each in result.sets):
        lines.append(
            "  not judged: the solver reached its limit; these positions are left out of the shares of mistakes"
        )
    return "\n".join([*lines, f"  {result.elapsed_s:.1f} s"])


def show_ratings(ratings: Ratings) -> str:
    """Returns a table of a pool's ratings, best first, with 95 % intervals as differences from the anchor."""
    names = [printable(each.name) for each in ratings.agents]
    width = max([5, *map(len, names)])
    lines = [
        f"{ratings.game}: {ratings.games} games, first player's score {ratings.first_player_score:.1%}",
        f"  {'agent':<{width}}  {'Elo':>6}  {'95 % interval':^16}  {'games':>6}",
    ]
    for name, each in zip(names, ratings.agents, strict=True):
        low, high = (f"{end:+z.0f}" for end in each.elo_ci95)
        interval = "anchor" if each.name == ratings.anchor else f"[{low}, {high}]"
        lines.append(f"  {name:<{width}}  {each.elo:>+z6.0f}  {interval:^16}  {each.games:>6}")
    return "\n".join(lines)


def _share(share: Share) -> str:
    """Returns a share with its interval in percent; a dash without cases."""
    if share.share is None or share.ci95 is None:
        return "-"
    low, high = share.ci95
    return f"{share.share:.1%} [{100 * low:.1f}, {100 * high:.1f}]"


def _elo(elo: float | None, score: float) -> str:
    """Returns an Elo difference as text. None is infinite, with the sign from the score of 0 or 1."""
    return f"{elo:+z.0f}" if elo is not None else "+inf" if score > 0.5 else "-inf"


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
        width = max(4, *(len(f"{move.move} {move.mark}") for _, move in listed))
        best_width = max(4, *(len(move.best) for _, move in listed))
        lines.append(f"  {'ply':>4} player {'move':<{width}} {'loss':>6}  {'best':<{best_width}}  better line")
        lines += [_row(ply, move, width, best_width) for ply, move in listed]
    return "\n".join(lines)


def _figures(review: GameReview, player: int) -> str:
    accuracy, mean = review.accuracy[player], review.mean_loss()[player]
    if accuracy is None or mean is None:
        return "no moves"
    counts = ", ".join(f"{name} {review.count(mark)[player]}" for mark, name in _MARKS.items())
    return f"accuracy {accuracy:3.0f} %, mean loss {points(mean):4.1f} points, {counts}"


def _row(ply: int, move: MoveReview, width: int, best_width: int) -> str:
    line = " ".join(move.line[:_LONGEST_LINE]) + (" ..." if len(move.line) > _LONGEST_LINE else "")
    played = printable(f"{move.move} {move.mark}")
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
        lines.append(f"  {'game':>4} {'ply':>4} {'loss':>6}  move")
    for move, game, ply in found[:_MOST_LISTED]:
        played = printable(f"{move.move}{move.mark}, {move.best} was better")
        lines.append(f"  {game:>4} {ply:>4} {points(move.loss):>6.1f}  {played}")
    if len(found) > _MOST_LISTED:
        lines.append(f"  ... and {len(found) - _MOST_LISTED} more")
    return "\n".join(lines)
