"""Reads records from SGF. Properties that azero has no use for are left out."""

import contextlib
import re
from collections.abc import Iterator

from sgfmill import sgf_grammar

from azero.errors import BadInput
from azero.games import Game, State
from azero.games.checks import is_forced_pass
from azero.records.annotations import read_comments
from azero.records.record import ADJUDICATED, DRAWN, MOST_DEEP, RESERVED, UNKNOWN, Node, Record, TooManyMoves, result_of
from azero.records.sgf_games import COLOURS, SWAP, game_of, stones_to_start, text_to_move
from azero.records.sgf_writing import ENDS, MARKS, PRIVATE, RESULTS, TAGS

_ENCODINGS = {
    *("utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin-1", "latin1", "windows-1252", "cp1252"),
    *("gb2312", "gbk", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"),
}
"""Encodings that are read. Others of Python's do not make text, or make what cannot be written again."""

_VALUE = re.compile(rb"\[(?:[^\]\\]+|\\.)*+\]", re.DOTALL)

Properties = dict[str, list[bytes]]


def sgf_to_records(data: bytes | str, game: Game | None = None, most_moves: int | None = None) -> Iterator[Record]:
    """Yields the records in a collection, one after another.

    Args:
      data: of a file, in the encoding that it tells; or a text, whatever it tells.
      game: the game that all records must have, up to what SGF cannot tell, such as superko; None: they name it.
      most_moves: of all records, variations included. A node without a move counts, too.

    Raises:
      BadInput: the data is no SGF, or a game breaks the rules. The message begins with the number of the game.
      TooManyMoves: there are more than `most_moves`.
    """
    is_text = isinstance(data, str)
    data = data.encode() if isinstance(data, str) else data
    if most_moves is not None and _VALUE.sub(b"", data).count(b";") > most_moves:
        raise TooManyMoves(most_moves)
    try:
        trees = sgf_grammar.parse_sgf_collection(data)
    except ValueError as error:
        raise BadInput(f"it is no SGF: {str(error)[:200]}; is the file cut short?") from None
    for number, tree in enumerate(trees, start=1):
        try:
            yield _Reader(tree, game, is_text).read()
        except BadInput as error:
            raise BadInput(f"game {number}: {error}") from None


class _Reader:
    """Reads one record."""

    def __init__(self, tree: sgf_grammar.Coarse_game_tree, game: Game | None, is_text: bool):
        self._tree, self._root = tree, tree.sequence[0]
        self._comments: dict[int, tuple[Node, list[str]]] = {}  # nodes with their comments, by the nodes' identities
        told = [] if is_text else self._root.get("CA", [])
        self._encoding = _decoded(told[0], "ascii").strip() if told else "utf-8"
        private = (each.partition(":") for each in self._texts(self._root, PRIVATE))
        self._private = {name: text for name, _, text in private if re.fullmatch(r"\w{1,100}", name)}
        number, size, komi = (self._text(self._root, name) for name in ("GM", "SZ", "KM"))
        moves = (each for node in sgf_grammar.main_sequence_iter(tree) for each in node.get("W", [])[:1])
        has_swap = next(moves, b"").strip().lower() == SWAP.encode()
        self._game = game_of(number, size, komi, has_swap, self._private.pop("Game", ""), game)

    def read(self) -> Record:
        """Returns the record; raises BadInput if it breaks the rules."""
        root = self._root
        tags = {tag: self._text(root, name) for tag, name in TAGS.items() if name in root}
        record = Record(self._start(), tags=tags)
        left = [(self._tree, record.root, record.start, 0)]
        while left:
            tree, node, state, depth = left.pop()
            if depth > MOST_DEEP:
                raise BadInput(f"there are more than {MOST_DEEP} variations within each other")
            for properties in tree.sequence:
                node, state = self._add(properties, node, state, is_root=properties is root)
            left += [(child, node, state, depth + (k > 0)) for k, child in enumerate(tree.children)][::-1]
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

    def _start(self) -> State:
        """Returns the position before the first move, with the stones that stand at the beginning."""
        position = self._private.pop("Position", None)
        if position is not None:
            return self._game.state_from_text(position)
        _, height, width = self._game.planes_shape
        given = [len(self._root.get(f"A{colour}", [])) for colour in COLOURS]
        if not any(given):
            return self._game.new_initial_state()
        if sum(given) > height * width:
            raise BadInput(f"AB and AW put {sum(given)} stones on a board of {height * width} points")
        stones = [self._texts(self._root, f"A{colour}") for colour in COLOURS]
        to_move = self._text(self._root, "PL").strip()[:1].upper() or self._first_mover()
        return stones_to_start(self._game, stones, COLOURS.index(to_move) if to_move in COLOURS else 0)

    def _first_mover(self) -> str:
        for properties in sgf_grammar.main_sequence_iter(self._tree):
            for colour in COLOURS:
                if colour in properties:
                    return colour
        return COLOURS[0]

    def _add(self, properties: Properties, node: Node, state: State, is_root: bool) -> tuple[Node, State]:
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

    def _texts(self, properties: Properties, name: str) -> list[str]:
        """Returns the values of a property; none if it is not there."""
        return [_decoded(sgf_grammar.text_value(each), self._encoding) for each in properties.get(name, [])]

    def _text(self, properties: Properties, name: str) -> str:
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
    results = {written.lower(): result for result, written in RESULTS.items()}
    ends = (end for end, letter in ENDS.items() if text[2:3] == letter.lower())
    return results.get(text[:2], UNKNOWN), next(ends, "")
