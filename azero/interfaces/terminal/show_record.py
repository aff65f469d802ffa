"""A record in the terminal: the board at a ply, the moves, and stepping through them."""

from collections.abc import Callable, Sequence

from azero.errors import BadInput
from azero.games import State
from azero.interfaces.terminal.board import show_board
from azero.records import Node, Record
from azero.records.annotations import comment_of
from azero.system.console import printable

COMMANDS = "Enter next, b back, N ply N, g N game N, s start, e end, q quit"
_WIDTH = 78
_LONGEST_LINE = 12  # moves


def show_record(record: Record, ply: int | None = None, is_coloured: bool = False) -> str:
    """Returns a record as text: who played, the board after `ply` moves, and all moves, of which the last is marked.

    Args:
      ply: None: after the last move.
    """
    line = record.line()
    ply = len(line) if ply is None else min(ply, len(line))
    before = record.state_at(max(0, ply - 1))
    after = record.state_at(ply)
    return "\n".join(
        [
            _head(record),
            "",
            f"ply {ply} of {len(line)}{_what_happened(record, line, before, ply)}",
            "",
            show_board(after, before if ply else None, is_coloured),
            "",
            *_others(record, before, ply),
            _moves(record, ply),
        ]
    )


def _others(record: Record, before: State, ply: int) -> list[str]:
    """Returns the variations that replace the last move, a line each, and an empty line if there are any."""
    parent = record.root if ply < 2 else record.line()[ply - 2]
    lines = [[node.action, *(each.action for each in node.line())] for node in parent.children[1:] if ply]
    if not lines:
        return []
    texts = record.game.lines_to_text(before, lines)
    return [*(printable(f"or: {' '.join(text[:_LONGEST_LINE])}") for text in texts), ""]


def _head(record: Record) -> str:
    tags = record.tags
    players = f"{tags.get('First', 'first player')} against {tags.get('Second', 'second player')}"
    ending = f", {tags['Termination']}" if "Termination" in tags else ""
    event = f"   ({', '.join(tags[each] for each in ('Event', 'Round', 'Date') if each in tags)})"
    return printable(f"{players}, {record.game}: {record.result}{ending}{event if event != '   ()' else ''}")


def _what_happened(record: Record, line: Sequence[Node], before: State, ply: int) -> str:
    """Returns the last move with what its player thought of it."""
    if ply == 0:
        return f": {printable(record.root.comment)}" if record.root.comment else ""
    node, player = line[ply - 1], ("first", "second")[before.current_player()]
    text = printable(record.game.action_to_text(before, node.action))
    drawn = ", at random" if ply <= record.num_opening_plies else ""
    remark = printable(" ".join(comment_of(node).split()))
    return f": {player} player {text}{node.mark}{drawn}{f'   {remark}' if remark else ''}"


def _moves(record: Record, ply: int) -> str:
    """Returns the moves of the main line, wrapped, with brackets around the move at `ply`."""
    words = []
    texts = record.game.lines_to_text(record.start, [record.actions()])[0] if record.line() else []
    for number, (text, node) in enumerate(zip(texts, record.line(), strict=True), start=1):
        word = printable(text) + node.mark
        words.append(f"[{word}]" if number == ply else word)
    lines = [""]
    for word in [*words, record.result]:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > _WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)


def step_through(
    records: Sequence[Record],
    number: int,
    ply: int,
    ask: Callable[[str], str],
    tell: Callable[[str], None],
    is_coloured: bool = False,
) -> None:
    """Steps through records until the person quits.

    Args:
      number: of the record to begin with, from 1.
      ply: of the position to begin with.
      ask: shows a prompt and returns a line; raises EOFError at the end of input.
      tell: shows text.
    """
    tell(COMMANDS)
    while True:
        record = records[number - 1]
        ply = max(0, min(ply, len(record.line())))
        game = f"game {number} of {len(records)}: " if len(records) > 1 else ""
        tell(f"\n{game}{show_record(record, ply, is_coloured)}\n")
        try:
            answer = ask("> ").strip().lower()
        except EOFError:
            return
        if answer in ("q", "quit"):
            return
        try:
            number, ply = _go(answer, number, ply, len(records), len(record.line()))
        except BadInput as error:
            tell(str(error))


def _go(answer: str, number: int, ply: int, num_records: int, last: int) -> tuple[int, int]:
    """Returns the number of the record and the ply to go to."""
    if answer in ("help", "?"):
        raise BadInput(COMMANDS)
    steps = {"": ply + 1, "n": ply + 1, "b": ply - 1, "s": 0, "e": last}
    if answer in steps:
        return number, steps[answer]
    if answer.isascii() and answer.isdigit() and len(answer) < 9:
        return number, int(answer)
    word, _, rest = answer.partition(" ")
    if word == "g" and rest.isascii() and rest.isdigit() and len(rest) < 9 and 1 <= int(rest) <= num_records:
        return int(rest), 0
    raise BadInput(f"{answer!r} is no command: {COMMANDS}" if word != "g" else f"there are games 1 to {num_records}")
