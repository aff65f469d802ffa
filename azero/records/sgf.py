"""Records as SGF, FF[4].

What SGF has no property for is written in the private property AZ, as `Name:text`. Properties that azero has no use for
are not read.
"""

import contextlib
import itertools
import re
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sgfmill import sgf_grammar

from azero.errors import BadInput
from azero.games import Game, State
from azero.games.defaults import has_own
from azero.games.state import is_forced_pass
from azero.records.annotations import comment_of, read_comments
from azero.records.record import (
    ADJUDICATED,
    DRAWN,
    FIRST_WON,
    MOST_DEEP,
    OUT_OF_TIME,
    RESERVED,
    RESIGNED,
    SECOND_WON,
    UNKNOWN,
    Node,
    Record,
    TooManyMoves,
    result_of,
)
from azero.records.sgf_games import (
    COLOURS,
    SWAP,
    game_of,
    move_to_text,
    number_of,
    size_to_text,
    start_of,
    start_to_stones,
    stones_to_start,
    text_to_move,
)
from azero.records.text import start_to_text

# --- writing ---

_PRIVATE = "AZ"
"""The property of what only azero reads."""

_TAGS = {"First": "PB", "Second": "PW", "Date": "DT", "Event": "EV", "Round": "RO", "Site": "PC"}
"""Properties of tags."""

MARKS = {"?": ("BM", "1"), "??": ("BM", "2"), "?!": ("DO", ""), "!?": ("IT", ""), "!": ("TE", "1"), "!!": ("TE", "2")}
"""Property and value of each mark."""

_RESULTS = {FIRST_WON: "B+", SECOND_WON: "W+", DRAWN: "0", UNKNOWN: "?"}
_ENDS = {RESIGNED: "R", OUT_OF_TIME: "T"}
"""What follows the winner, by the tag Termination."""


@dataclass
class _SgfNode:
    properties: dict[str, list[str]]
    children: list["_SgfNode"] = field(default_factory=list)

    def encoded(self) -> dict[str, list[bytes]]:
        """Returns the properties as they are written."""
        escape = sgf_grammar.escape_text
        return {name: [escape(text.encode()) for text in texts] for name, texts in self.properties.items()}


def records_to_sgf(records: Iterable[Record]) -> bytes:
    """Returns records as one collection; raises BadInput if SGF has no number for a game."""
    return b"".join(map(_record_to_sgf, records))


def _record_to_sgf(record: Record) -> bytes:
    root = _SgfNode(_root_properties(record))
    left = [(record.root, root, record.start)]
    while left:
        node, written, state = left.pop()
        for child in node.children:
            last, actions, remarks = _turn(child, state)
            after = state.clone()
            for action in actions:
                after.apply_action(action)
            move = {COLOURS[state.current_player()]: [move_to_text(state, actions)]}
            written.children.append(_SgfNode(move | _remarks(last, remarks)))
            left.append((last, written.children[-1], after))
    tree = sgf_grammar.make_coarse_game_tree(root, lambda node: node.children, _SgfNode.encoded)
    return sgf_grammar.serialise_game_tree(tree)


def _turn(first: Node, state: State) -> tuple[Node, list[int], list[str]]:
    """Returns a turn's last node, its actions, and the comments within it; raises BadInput if SGF cannot have it."""
    node, actions, after = first, [first.action], state.clone()
    remarks = list[str]()
    after.apply_action(first.action)
    while after.current_player() == state.current_player():
        if len(node.children) != 1:
            raise BadInput(f"SGF has whole turns only, but move {len(after.history())} ends or branches within one")
        remarks += filter(None, [node.mark, node.name, comment_of(node)])
        node = node.children[0]
        actions.append(node.action)
        after.apply_action(node.action)
    return node, actions, remarks


def _root_properties(record: Record) -> dict[str, list[str]]:
    game, tags = record.game, dict(record.tags)
    properties = {"FF": ["4"], "CA": ["UTF-8"], "AP": ["azero"]}
    properties |= {"GM": [str(number_of(game))], "SZ": [size_to_text(game)]}
    properties |= {_TAGS[name]: [tags.pop(name)] for name in _TAGS if name in tags}
    end = _ENDS.get(tags.get("Termination", ""), "")
    last = record.end()
    is_by_rules = result_of(last) == record.result and "Termination" not in record.tags
    if record.result in (FIRST_WON, SECOND_WON) and is_by_rules and has_own(game.rules, "final_score"):
        end = f"{abs(last.final_score()):g}"
    properties["RE"] = [_RESULTS[record.result] + end]
    private = [f"Game:{game}", *(f"{name}:{text}" for name, text in tags.items())]
    if hasattr(game.rules, "komi"):
        properties["KM"] = [f"{game.rules.komi:g}"]
    if record.start != game.new_initial_state():
        private.append(f"Position:{start_to_text(record.start)}")
        black, white = start_to_stones(record.start)
        properties |= {name: stones for name, stones in (("AB", black), ("AW", white)) if stones}
        properties["PL"] = [COLOURS[record.start.current_player()]]
    return properties | {_PRIVATE: private} | _remarks(record.root)


def _remarks(node: Node, more: Sequence[str] = ()) -> dict[str, list[str]]:
    """Returns the properties of a comment and a mark, with further comments after it."""
    text = "\n".join(filter(None, [comment_of(node), *more]))
    properties = {"C": [text]} if text else {}
    if name := " ".join(node.name.split()):
        properties["N"] = [name]
    if node.mark in MARKS:
        key, value = MARKS[node.mark]
        properties[key] = [value]
    return properties


# --- reading ---

_ENCODINGS = {
    *("utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin-1", "latin1", "windows-1252", "cp1252"),
    *("euc-jp", "euc-kr"),
}
"""Encodings in which brackets and backslashes are no part of other characters.

Others of Python's, but those below, do not make text, or make what cannot be written again.
"""

_TWO_BYTES = {
    **dict.fromkeys(("gb2312", "gbk", "cp936", "gb18030"), "gb18030"),
    **dict.fromkeys(("big5", "cp950"), "cp950"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "windows-31j", "cp932"), "cp932"),
}
"""Encodings in which the second byte of a character may be a bracket or a backslash, each with one that has more."""

_TOLD = re.compile(rb"(\(\s*;)|(?<![A-Za-z])CA\s*\[\s*([\w-]+)\s*\]")
_BEGIN = re.compile(rb"\(\s*;")
_PART = re.compile(rb"\s*+(?:([;()])|([A-Za-z]+)|\[((?:[^\]\\]+|\\.)*+)\])", re.DOTALL)
_LOWER = string.ascii_lowercase.encode()
_MAY_FOLLOW = {b"": b"(", b"(": b";", b";": b";()", b")": b"()"}

_Properties = dict[str, list[bytes]]
_Parts = list[str | _Properties]
"""The brackets and the nodes of a game, in their order. The main line ends with the first closing bracket."""


def sgf_to_records(
    data: bytes | str, game: Game | None = None, most_moves: int | None = None, keeps_komi: bool = False
) -> Iterator[Record]:
    """Yields the records in a collection, one after another. What is no game is left out before and between them.

    Args:
      data: of a file, in the encoding that it tells; or a text, whatever it tells.
      game: the game that all records must have, up to what SGF cannot tell, such as superko; None: they name it.
      most_moves: of all records, variations included. A node without a move counts, too.
      keeps_komi: whether records may have another komi than `game`, which they keep. If not, a notice names both.

    Raises:
      BadInput: the data is no SGF, or a game breaks the rules. The message begins with the number of the game.
      TooManyMoves: there are more than `most_moves`.
    """
    is_text = isinstance(data, str)
    data = data.encode() if isinstance(data, str) else _in_utf8(data)
    number = num_nodes = at = 0
    while begin := _BEGIN.search(data, at):
        number += 1
        try:
            parts, at = _parts_of(data, begin.start(), most_moves, num_nodes)
            num_nodes += sum(isinstance(each, dict) for each in parts) - 1
            yield _Reader(parts, game, is_text, keeps_komi).read()
        except TooManyMoves:
            raise
        except BadInput as error:
            raise BadInput(f"game {number}: {error}") from None
    if number == 0:
        raise BadInput("it is no SGF: no game begins with (;")


def _parts_of(data: bytes, at: int, most_moves: int | None, num_before: int) -> tuple[_Parts, int]:
    """Returns the parts of the game that begins at a byte, and where it ends.

    Raises BadInput if it is not whole; TooManyMoves if it has too many nodes after `num_before` of the games before.
    """
    num_nodes = num_before - 1  # the root is no move
    parts, depth, last = _Parts(), 0, b""
    node: _Properties = {}
    values: list[bytes] | None = None  # of the property that was named last
    while found := _PART.match(data, at):
        bracket, name, value = found.groups()
        if value is not None and values is not None:
            values.append(value)
        elif values == []:
            break  # a property without a value
        elif name is not None and last == b";":
            values = node.setdefault(name.translate(None, _LOWER).decode(), [])  # FF[1] has AddBlack for AB
        elif bracket is not None and bracket in _MAY_FOLLOW[last]:
            last, node, values = bracket, {}, None
            parts.append(node if bracket == b";" else bracket.decode())
            depth += (bracket == b"(") - (bracket == b")")
            num_nodes += bracket == b";"
            if most_moves is not None and num_nodes > most_moves:
                raise TooManyMoves(most_moves)
        else:
            break
        at = found.end()
        if depth == 0:
            return parts, at
    line = data.count(b"\n", 0, at) + 1
    raise BadInput(f"it is no SGF from line {line} on; is the file cut short?")


def _in_utf8(data: bytes) -> bytes:
    """Returns a collection in which the games that tell an encoding of two bytes are in UTF-8.

    Games that tell none are read as the last one before them that does.
    """
    told, begin = dict[int, str](), 0  # by where a game begins
    for found in _TOLD.finditer(data):
        begin = found.start() if found[1] else begin
        if found[2]:
            told.setdefault(begin, found[2].decode().lower())
    ends = [*told, len(data)]
    parts = (_recoded(data[begin:end], told[begin]) for begin, end in itertools.pairwise(ends))
    return b"".join([data[: ends[0]], *parts])


def _recoded(data: bytes, encoding: str) -> bytes:
    """Returns data of an encoding of two bytes in UTF-8, and other data as they are."""
    if encoding not in _TWO_BYTES or _is_utf_8(data):
        return data
    for each in (encoding, _TWO_BYTES[encoding]):
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(each).encode()
    return data.decode(_TWO_BYTES[encoding], "replace").encode()


def _is_utf_8(data: bytes) -> bool:
    """Returns whether data are in UTF-8, whatever they tell. Shorter characters than of three bytes may be chance."""
    try:
        return max(data.decode(), default="") > "\u07ff"
    except UnicodeDecodeError:
        return False


@dataclass
class _Opened:
    """An opening bracket: the place before it, the variations within each other there, and the brackets inside it."""

    node: Node
    state: State
    depth: int
    num_inside: int = 0


class _Reader:
    """Reads one record."""

    def __init__(self, parts: _Parts, game: Game | None, is_text: bool, keeps_komi: bool):
        self._parts = parts
        self._main = [each for each in itertools.takewhile(lambda part: part != ")", parts) if isinstance(each, dict)]
        self._root = self._main[0]
        self._comments: dict[int, tuple[Node, list[str]]] = {}  # nodes with their comments, by the nodes' identities
        told = [] if is_text else self._root.get("CA", [])
        self._encoding = _decoded(told[0], "ascii").strip() if told else "utf-8"
        private = (each.partition(":") for each in self._texts(self._root, _PRIVATE))
        self._private = {name: text for name, _, text in private if re.fullmatch(r"\w{1,100}", name)}
        number, size, komi = (self._text(self._root, name) for name in ("GM", "SZ", "KM"))
        moves = (each for node in self._main for each in node.get("W", [])[:1])
        has_swap = next(moves, b"").strip().lower() == SWAP.encode()
        self._game = game_of(number, size, komi, has_swap, self._private.pop("Game", ""), game, keeps_komi)

    def read(self) -> Record:
        """Returns the record; raises BadInput if it breaks the rules."""
        root = self._root
        tags = {tag: self._text(root, name) for tag, name in _TAGS.items() if name in root}
        record = Record(self._start(), tags=tags)
        self._add_all(record.root, record.start)
        for node, texts in self._comments.values():
            read_comments(node, texts)
        told, end = _read_result(self._text(root, "RE"))
        record.tags |= {"Termination": end} if end else {}
        record.tags |= {name: text for name, text in self._private.items() if name not in RESERVED}
        by_rules = result_of(record.end())
        record.result = by_rules if told == UNKNOWN else told
        if by_rules not in (UNKNOWN, record.result):  # players may count by other rules
            record.tags.setdefault("Termination", ADJUDICATED)
        return record

    def _add_all(self, node: Node, state: State) -> None:
        """Adds the moves and the remarks of all nodes after the start."""
        opened = list[_Opened]()
        for part in self._parts:
            if part == "(":
                depth = opened[-1].depth + bool(opened[-1].num_inside) if opened else 0
                if depth > MOST_DEEP:
                    raise BadInput(f"there are more than {MOST_DEEP} variations within each other")
                if opened:
                    opened[-1].num_inside += 1
                opened.append(_Opened(node, state, depth))
            elif part == ")":
                node, state = opened[-1].node, opened[-1].state
                opened.pop()
            elif isinstance(part, dict):
                node, state = self._add(part, node, state, is_root=part is self._root)

    def _start(self) -> State:
        """Returns the position before the first move, with the stones that stand at the beginning."""
        position = self._private.pop("Position", None)
        if position is not None:
            return self._game.state_from_text(position)
        _, height, width = self._game.planes_shape
        given = [len(self._root.get(f"A{colour}", [])) for colour in COLOURS]
        if not any(given):
            return start_of(self._game)
        if sum(given) > height * width:
            raise BadInput(f"AB and AW put {sum(given)} stones on a board of {height * width} points")
        stones = [self._texts(self._root, f"A{colour}") for colour in COLOURS]
        to_move = self._text(self._root, "PL").strip()[:1].upper() or self._first_mover()
        return stones_to_start(self._game, stones, COLOURS.index(to_move) if to_move in COLOURS else 0)

    def _first_mover(self) -> str:
        return next((colour for node in self._main for colour in COLOURS if colour in node), COLOURS[0])

    def _add(self, properties: _Properties, node: Node, state: State, is_root: bool) -> tuple[Node, State]:
        """Adds the moves and the remarks of one SGF node; returns the last new node and the position there."""
        if not is_root and properties.keys() & {"AB", "AW", "AE"}:
            raise BadInput(f"stones are put on the board after move {len(state.history())}; azero reads moves only")
        for colour in COLOURS:
            for text in self._texts(properties, colour)[:1]:
                node, state = self._play(text, COLOURS.index(colour), node, state)
        if texts := self._texts(properties, "C"):
            self._comments.setdefault(id(node), (node, []))[1].extend(texts)
        node.name = " ".join(self._text(properties, "N").split()) or node.name
        for mark, (name, value) in MARKS.items():
            if name in properties and self._text(properties, name)[:1] in ("", value):
                node.mark = mark
        return node, state

    def _play(self, text: str, player: int, node: Node, state: State) -> tuple[Node, State]:
        ply = len(state.history()) + 1
        try:
            actions, after = text_to_move(self._game, text), state.clone()
            if after.current_player() == 1 - player and is_forced_pass(after):  # most programs leave it out
                actions = [*after.legal_actions(), *actions]
            if after.is_terminal():
                raise BadInput("the game is over")
            for action in actions:
                if after.current_player() != player and not is_forced_pass(after):
                    raise BadInput(f"{COLOURS[player]} moves, but it is the other player's turn")
                if action not in after.legal_actions():
                    raise BadInput(f"{COLOURS[player]}[{text}] is not legal here")
                after.apply_action(action)
                node.children.append(Node(action))
                node = node.children[-1]
        except BadInput as error:
            raise BadInput(f"move {ply}: {error}") from None
        return node, after

    def _texts(self, properties: _Properties, name: str) -> list[str]:
        """Returns the values of a property; none if it is not there."""
        return [_decoded(sgf_grammar.text_value(each), self._encoding) for each in properties.get(name, [])]

    def _text(self, properties: _Properties, name: str) -> str:
        return "".join(self._texts(properties, name)[:1])


def _decoded(data: bytes, encoding: str) -> str:
    """Returns the text of a property. Many files do not tell their encoding, or tell a wrong one."""
    for each in (encoding.lower(), "utf-8"):
        if each in _ENCODINGS:
            with contextlib.suppress(UnicodeDecodeError):
                return data.decode(each)
    return data.decode("latin-1")


def _read_result(text: str) -> tuple[str, str]:
    """Returns the result in a value of RE, and how the game ended if this was not by the rules."""
    text = text.strip().lower()
    if text in ("0", "draw", "d"):
        return DRAWN, ""
    results = {written.lower(): result for result, written in _RESULTS.items()}
    ends = (end for end, letter in _ENDS.items() if text[2:3] == letter.lower())
    return results.get(text[:2], UNKNOWN), next(ends, "")
