"""Records of games as JSON: lists of nodes, read from and written as azero's own format and SGF.

`[{comment, name}, {parent, move, comment, mark, name, value, simulations, seconds}, ...]`: the first node is the root,
which has no move; `parent` is the index of an earlier node. Of the nodes with the same parent, the first one goes on,
and the others are variations. A list has no depth: JSON readers allow about 1,000 levels.
"""

from collections.abc import Iterator
from typing import Any

from azero.errors import BadInput
from azero.games import Game, State
from azero.interfaces.web.errors import ApiError
from azero.records.files import check_record
from azero.records.record import RESULTS, UNKNOWN, Node, Record, TooManyMoves, result_of
from azero.records.sgf import MARKS, records_to_sgf, sgf_to_records
from azero.records.text import record_to_text, start_to_text, text_to_records

_MOST_GAMES = 100
_TEXTS = ("comment", "mark", "name")
_THOUGHT = ("value", "simulations", "seconds")
_MOST_SIMULATIONS, _MOST_SECONDS = 10**15 - 1, 10**9 - 1
"""As the formats have them."""

Nodes = list[dict[str, Any]]


def read(text: str, form: str, game: Game | None, most_moves: int) -> Iterator[Record]:
    """Yields the records in a text; raises BadInput, or ApiError if they have more than `most_moves` moves in all.

    Args:
      form: azero, sgf, or auto: by the text's beginning.
      game: the game that they must have, with any komi; None: they name it.
    """
    is_sgf = form == "sgf" or (form == "auto" and text.lstrip("\ufeff \r\n\t").startswith("(;"))
    if is_sgf:
        records = sgf_to_records(text, game, most_moves, keeps_komi=True)
    else:
        records = text_to_records(text.removeprefix("\ufeff"), game, most_moves, keeps_komi=True)
    number = 0
    try:
        for number, record in enumerate(records, start=1):
            if number > _MOST_GAMES:
                raise BadInput(f"the record has more than {_MOST_GAMES} games")
            yield record
    except TooManyMoves as error:
        raise ApiError(422, "too_long", str(error)) from None
    if number == 0:
        raise BadInput("the record has no games")


def write(record: Record, form: str) -> str:
    """Returns a record as text; raises BadInput if the format cannot have it."""
    check_record(record)
    return records_to_sgf([record]).decode() if form == "sgf" else record_to_text(record)


def to_json(record: Record) -> dict[str, Any]:
    """Returns a record as the interface gives it."""
    start = record.start
    nodes: Nodes = [{"comment": record.root.comment, "name": record.root.name}]
    left = [(child, 0, start) for child in reversed(record.root.children)]
    while left:
        node, parent, before = left.pop()
        move = before.game.action_to_text(before, node.action)
        values = {name: getattr(node, name) for name in (*_TEXTS, *_THOUGHT)}
        nodes.append({"parent": parent, "move": move, **values})
        if node.children:
            state = before.clone()
            state.apply_action(node.action)
            left += [(child, len(nodes) - 1, state) for child in reversed(node.children)]
    is_initial = start == start.game.new_initial_state()
    return {
        "tags": record.tags,
        "result": record.result,
        "start": None if is_initial else start_to_text(start),
        "nodes": nodes,
    }


def from_json(start: State, nodes: Nodes, tags: dict[str, str], result: str | None) -> Record:
    """Returns the record of a list of nodes; raises ApiError if it is no tree, or has an illegal move.

    Args:
      nodes: see above. All but `parent` and `move` may be missing, and these two in the root.
      result: holds if the game has not ended by the rules, or has a tag Termination; None: by the rules.
    """
    record = Record(start, tags=tags)
    children = _children_of(nodes)
    _read_node(nodes[0], record.root)
    left = [(child, record.root, start, 1) for child in reversed(children[0])]
    while left:
        number, parent, before, ply = left.pop()
        move, state = nodes[number]["move"], before.clone()
        try:
            action = state.game.text_to_action(state, move)
            state.apply_action(action)
        except BadInput as error:
            raise ApiError(422, "illegal_move", f"move {ply}: {error}", at=ply - 1, value=move) from None
        node = Node(action)
        parent.children.append(node)
        _read_node(nodes[number], node)
        left += [(child, node, state, ply + 1) for child in reversed(children[number])]
    by_rules = result_of(record.end())
    is_told = by_rules == UNKNOWN or "Termination" in tags
    record.result = result if result and is_told else by_rules
    if record.result not in (*RESULTS.values(), UNKNOWN):
        raise ApiError(422, "invalid", f"result: {record.result!r} should be 1-0, 0-1, 1/2-1/2 or *")
    return record


def _children_of(nodes: Nodes) -> list[list[int]]:
    """Returns the numbers of the children of each node; raises ApiError if the nodes are no tree."""
    if not nodes:
        raise ApiError(422, "invalid", "nodes: the root is missing")
    children: list[list[int]] = [[] for _ in nodes]
    for number, node in enumerate(nodes[1:], start=1):
        parent, move = node.get("parent"), node.get("move")
        if type(parent) is not int or not 0 <= parent < number:
            raise ApiError(422, "invalid", f"nodes.{number}: parent should be the index of an earlier node")
        if not isinstance(move, str):
            raise ApiError(422, "invalid", f"nodes.{number}: every node but the first should have a move")
        children[parent].append(number)
    return children


def _read_node(given: dict[str, Any], node: Node) -> None:
    """Writes what a node of JSON says into a node; raises ApiError."""
    for name in _TEXTS:
        if not isinstance(given.get(name, ""), str | None):
            raise ApiError(422, "invalid", f"nodes: {name} should be a text")
        if not _is_whole(given.get(name) or ""):
            raise ApiError(422, "invalid", f"nodes: {name} has half a character (a lone surrogate)")
    value = given.get("value")
    if value is not None and not (type(value) in (int, float) and -1 <= value <= 1):
        raise ApiError(422, "invalid", "nodes: value should be a number from -1 to 1")
    simulations, seconds = given.get("simulations"), given.get("seconds")
    if simulations is not None and not (type(simulations) is int and 0 <= simulations <= _MOST_SIMULATIONS):
        raise ApiError(422, "invalid", "nodes: simulations should be a whole number of 0 or more")
    if seconds is not None and not (type(seconds) in (int, float) and 0 <= seconds <= _MOST_SECONDS):
        raise ApiError(422, "invalid", "nodes: seconds should be a number of 0 or more")
    mark = given.get("mark") or ""
    if mark not in ("", *MARKS):
        raise ApiError(422, "invalid", f"nodes: mark should be one of {' '.join(MARKS)}", value=mark)
    node.comment, node.mark, node.name = given.get("comment") or "", mark, given.get("name") or ""
    node.value = None if value is None else float(value)
    node.simulations, node.seconds = simulations, None if seconds is None else float(seconds)


def _is_whole(text: str) -> bool:
    """Returns whether a text can be sent and saved: JSON may have halves of characters, UTF-8 has none."""
    return not any("\ud800" <= each <= "\udfff" for each in text)
