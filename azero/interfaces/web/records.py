"""Records of games as JSON: lists of nodes, read from and written as azero's own format and SGF.

`[{comment, name}, {parent, move, comment, mark, name, value, simulations, seconds}, ...]`: the first node is the root,
which has no move; `parent` is the index of an earlier node. Of the nodes with the same parent, the first one goes on,
and the others are variations. A list has no depth: JSON readers allow about 1,000 levels.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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

Text = Annotated[str, Field(max_length=1 << 20)]


class RecordNode(BaseModel):
    """A node of a record. All but `parent` and `move` may be missing, and these two in the root."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    parent: int | None = None
    move: str | None = None
    comment: Text | None = None
    mark: Literal["", *MARKS] | None = None  # type: ignore[valid-type]
    name: Text | None = None
    value: Annotated[float, Field(ge=-1, le=1)] | None = None
    simulations: Annotated[int, Field(ge=0, lt=10**15)] | None = None  # as the formats have them
    seconds: Annotated[float, Field(ge=0, lt=10**9)] | None = None


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
    nodes: list[dict[str, Any]] = [{"comment": record.root.comment, "name": record.root.name}]
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


def from_json(start: State, nodes: list[RecordNode], tags: dict[str, str], result: str | None) -> Record:
    """Returns the record of a list of nodes; raises ApiError if it is no tree, or has an illegal move.

    Args:
      nodes: see above.
      result: holds if the game has not ended by the rules, or has a tag Termination; None: by the rules.
    """
    record = Record(start, tags=tags)
    children = _children_of(nodes)
    _read_node(nodes[0], record.root)
    left = [(child, record.root, start, 1) for child in reversed(children[0])]
    while left:
        number, parent, before, ply = left.pop()
        move, state = nodes[number].move or "", before.clone()
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


def _children_of(nodes: list[RecordNode]) -> list[list[int]]:
    """Returns the numbers of the children of each node; raises ApiError if the nodes are no tree."""
    if not nodes:
        raise ApiError(422, "invalid", "nodes: the root is missing")
    children: list[list[int]] = [[] for _ in nodes]
    for number, node in enumerate(nodes[1:], start=1):
        if node.parent is None or not 0 <= node.parent < number:
            raise ApiError(422, "invalid", f"nodes.{number}: parent should be the index of an earlier node")
        if node.move is None:
            raise ApiError(422, "invalid", f"nodes.{number}: every node but the first should have a move")
        children[node.parent].append(number)
    return children


def _read_node(given: RecordNode, node: Node) -> None:
    """Writes what a node of JSON says into a node."""
    node.comment, node.mark, node.name = given.comment or "", given.mark or "", given.name or ""
    node.value, node.simulations, node.seconds = given.value, given.simulations, given.seconds
