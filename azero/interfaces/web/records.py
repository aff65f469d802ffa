"""Records of games as JSON: trees of nodes, read from and written as azero's own format and SGF."""

from collections.abc import Iterator
from typing import Any

from azero.errors import BadInput
from azero.games import Game, State
from azero.interfaces.web.errors import ApiError
from azero.records.files import check_record
from azero.records.reading import text_to_records
from azero.records.record import RESULTS, UNKNOWN, Node, Record, result_of
from azero.records.sgf_reading import sgf_to_records
from azero.records.sgf_writing import MARKS, records_to_sgf
from azero.records.writing import record_to_text, start_to_text

MOST_DEEP = 400
"""The longest line of a record. Each move is two levels of JSON, of which most readers allow 1000."""

_MOST_GAMES = 100
_TEXTS = ("move", "comment", "mark", "name")


def read(text: str, form: str, game: Game | None) -> Iterator[Record]:
    """Yields the records in a text; raises BadInput.

    Args:
      form: azero, sgf, or auto: by the text's beginning.
      game: the game that they must have; None: they name it.
    """
    is_sgf = form == "sgf" or (form == "auto" and text.lstrip("\ufeff \r\n\t").startswith("(;"))
    records = sgf_to_records(text.encode(), game) if is_sgf else text_to_records(text.removeprefix("\ufeff"), game)
    number = 0
    for number, record in enumerate(records, start=1):
        if number > _MOST_GAMES:
            raise BadInput(f"the record has more than {_MOST_GAMES} games")
        yield record
    if number == 0:
        raise BadInput("the record has no games")


def write(record: Record, form: str) -> str:
    """Returns a record as text; raises BadInput if the format cannot have it."""
    check_record(record)
    return records_to_sgf([record]).decode() if form == "sgf" else record_to_text(record)


def to_json(record: Record, most_moves: int) -> dict[str, Any]:
    """Returns a record as the interface gives it; raises ApiError if it is too large."""
    root: dict[str, Any] = {"comment": record.root.comment, "children": []}
    left = [(record.root, root, record.start, 1)]
    num_moves = 0
    while left:
        node, written, state, depth = left.pop()
        num_moves += len(node.children)
        if num_moves > most_moves or depth > MOST_DEEP:
            raise ApiError(422, "too_long", f"records of {most_moves} moves, {MOST_DEEP} deep, are the longest")
        for child in node.children:
            after = state.clone()
            after.apply_action(child.action)
            move = state.game.action_to_text(state, child.action)
            values = {"comment": child.comment, "mark": child.mark, "name": child.name, "value": child.value}
            written["children"].append({"move": move, **values, "children": []})
            left.append((child, written["children"][-1], after, depth + 1))
    start = record.start
    is_initial = start == start.game.new_initial_state()
    return {
        "tags": record.tags,
        "result": record.result,
        "start": None if is_initial else start_to_text(start),
        "root": root,
    }


def from_json(start: State, root: dict[str, Any], tags: dict[str, str], result: str | None, most_moves: int) -> Record:
    """Returns the record of a tree; raises ApiError if it is no tree, too large, or has an illegal move.

    Args:
      root: a node `{comment, mark, name, value, move, children}`. All but `children` may be missing; the root has no
        move.
      result: None: by the rules.
    """
    record = Record(start, tags=tags)
    left = [(root, record.root, start.clone(), 1)]
    num_moves = 0
    while left:
        given, node, state, depth = left.pop()
        children = _read_node(given, node)
        num_moves += len(children)
        if num_moves > most_moves or depth > MOST_DEEP:
            raise ApiError(422, "too_long", f"records of {most_moves} moves, {MOST_DEEP} deep, are the longest")
        for child in children:
            move = child.get("move") if isinstance(child, dict) else None
            if not isinstance(move, str):
                raise ApiError(422, "invalid", "root: every node but the root should be an object with a move")
            after = state.clone()
            try:
                action = after.game.text_to_action(after, move)
                after.apply_action(action)
            except BadInput as error:
                raise ApiError(422, "illegal_move", f"move {depth}: {error}", at=depth - 1, value=move) from None
            node.children.append(Node(action))
            left.append((child, node.children[-1], after, depth + 1))
    record.result = result or result_of(record.end())
    if record.result not in (*RESULTS.values(), UNKNOWN):
        raise ApiError(422, "invalid", f"result: {record.result!r} should be 1-0, 0-1, 1/2-1/2 or *")
    return record


def _read_node(given: dict[str, Any], node: Node) -> list[Any]:
    """Writes what a node of JSON says into a node; returns its children. Raises ApiError."""
    for name in _TEXTS:
        if not isinstance(given.get(name) or "", str):
            raise ApiError(422, "invalid", f"root: {name} should be a text")
        if not _is_whole(given.get(name) or ""):
            raise ApiError(422, "invalid", f"root: {name} has half a character (a lone surrogate)")
    value, children = given.get("value"), given.get("children") or []
    if value is not None and not (isinstance(value, int | float) and -1 <= value <= 1):
        raise ApiError(422, "invalid", "root: value should be a number from -1 to 1")
    if not isinstance(children, list):
        raise ApiError(422, "invalid", "root: children should be a list")
    mark = given.get("mark") or ""
    if mark not in ("", *MARKS):
        raise ApiError(422, "invalid", f"root: mark should be one of {' '.join(MARKS)}", value=mark)
    node.comment, node.mark, node.name = given.get("comment") or "", mark, given.get("name") or ""
    node.value = None if value is None else float(value)
    return children


def _is_whole(text: str) -> bool:
    """Returns whether a text can be sent and saved: JSON may have halves of characters, UTF-8 has none."""
    return not any("\ud800" <= each <= "\udfff" for each in text)
