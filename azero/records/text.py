"""Records as text: tags like PGN's, then moves with comments and variations. docs/records.md has the format.

Every move that is read is checked by the rules.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from azero.errors import BadInput
from azero.games import Game, State
from azero.games.make import make_trusted_game
from azero.games.names import KOMI, differences, file_of, without_folder
from azero.games.position_text import turn_to_text
from azero.records.annotations import comments_of, read_comments, read_name
from azero.records.record import MOST_DEEP, RESULTS, UNKNOWN, Node, Record, TooManyMoves, result_of

# --- writing ---

_FORMAT = 1
"""Version of the format, the tag Format."""

_PLAIN = re.compile(r"""[^\s{}()\[\]";$?!*][^\s{}()\[\]";]*(?<![?!])""")
_WIDTH = 100


def record_to_text(record: Record) -> str:
    """Returns a record as text, with an empty line at its end."""
    tags = {"Format": str(_FORMAT), "Game": without_folder(str(record.game))}
    tags |= {name: record.tags[name] for name in ("First", "Second") if name in record.tags}
    tags["Result"] = record.result
    if record.start != record.game.new_initial_state():
        tags["Position"] = start_to_text(record.start)
    tags |= {name: text for name, text in record.tags.items() if name not in tags}
    head = [f"[{name} {_quoted(text)}]" for name, text in tags.items()]
    words = [*_comments(record.root), *_words_after(record.root, record.start), record.result]
    return "\n".join([*head, "", *_lines(words), "", ""])


def start_to_text(start: State) -> str:
    """Returns a position as text: the moves that lead to it if the past matters and is known, otherwise the board."""
    game, history = start.game, start.history()
    if game.rules.is_history_free or not history or not start.is_replayable():
        return start.to_text()
    return f"moves: {' '.join(game.lines_to_text(game.new_initial_state(), [history])[0])}"


def _quoted(text: str) -> str:
    """Returns a text in double quotes, with backslashes before quotes and backslashes."""
    escaped = re.sub(r'(["\\])', r"\\\1", text)
    return f'"{escaped}"'


def _is_plain(text: str) -> bool:
    """Returns whether a move may be written without quotes: it cannot be taken for anything else."""
    return bool(_PLAIN.fullmatch(text)) and text not in RESULTS.values() and not re.fullmatch(r"\d+\.+", text)


def _words_after(node: Node, state: State) -> Iterator[str]:
    """Yields the moves, comments and variations that follow a node. `state` is the position there."""
    state = state.clone()
    while node.children:
        before = state.clone() if len(node.children) > 1 else state
        last, texts = _play_turn(node.children[0], state)
        first, *rest = _words_of_turn(state.game, texts, last)
        yield from first
        for variation in node.children[1:]:  # they replace the word before
            yield from _in_brackets(Node(children=[variation]), before)
        for words in rest:
            yield from words
        node = last


def _in_brackets(node: Node, state: State) -> Iterator[str]:
    """Yields a variation: what follows a node, in brackets."""
    words = list(_words_after(node, state))
    words[0] = f"({words[0]}"
    words[-1] = f"{words[-1]})"
    yield from words


def _play_turn(first: Node, state: State) -> tuple[Node, list[str]]:
    """Plays a turn, as far as its actions stand alone; returns its last node, and the texts of the actions."""
    node, player, texts = first, state.current_player(), [state.game.action_to_text(state, first.action)]
    state.apply_action(first.action)
    while state.current_player() == player and _stands_alone(node):
        (node,) = node.children
        texts.append(state.game.action_to_text(state, node.action))
        state.apply_action(node.action)
    return node, texts


def _words_of_turn(game: Game, texts: list[str], last: Node) -> list[list[str]]:
    """Returns a turn as one word, or, if this could be taken for something else, as a word for each action.

    The last word has the mark of the turn's last node, and is followed by its comment.
    """
    words = [turn_to_text(game.rules, texts)]
    if not _is_one_move(game, words[0], texts):
        words = [text if _is_one_move(game, text, [text]) else _quoted(text) for text in texts]
    words[-1] += last.mark
    return [*([word] for word in words[:-1]), [words[-1], *_comments(last)]]


def _is_one_move(game: Game, text: str, actions: list[str]) -> bool:
    """Returns whether a reader takes a text for these actions."""
    return _is_plain(text) and game.rules.split_moves(text) == actions


def _stands_alone(node: Node) -> bool:
    """Returns whether nothing has to be written between a node and its only successor."""
    return len(node.children) == 1 and not node.mark and not comments_of(node)


def _comments(node: Node) -> list[str]:
    return [f"{{{_escaped(text)}}}" for text in comments_of(node)]


def _escaped(text: str) -> str:
    return re.sub(r"([}\\])", r"\\\1", text)


def _lines(words: Iterable[str]) -> Iterator[str]:
    """Yields lines of words, of at most 100 characters if no word is longer."""
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word) > _WIDTH:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


# --- reading ---

_SPACE = re.compile(r"\s*")
_TOKEN = re.compile(
    r"""
    \[\s*(?P<tag>\w{1,100}\s*"(?:[^"\\]+|\\.)*+")\s*\]
    | \{(?P<comment>(?:[^}\\]+|\\.)*+)\}
    | ;(?P<note>[^\n]*)
    | "(?P<quoted>(?:[^"\\]+|\\.)*+)"
    | (?P<bracket>[()])
    | \$(?P<glyph>\d{1,3})
    | (?P<word>[^\s{}()\[\]";$]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENED = {"{": "a comment", '"': "a quoted move", "[": "a tag"}


class _Token(NamedTuple):
    """A part of a text that has a meaning of its own."""

    kind: str  # a group of `_TOKEN`, "end" after the last token
    text: str
    line: int


def _split(text: str) -> Iterator[_Token]:
    """Yields the tokens of a text; raises BadInput at what is none."""
    at, line = 0, 1
    while True:
        space = _SPACE.match(text, at)
        assert space is not None, "it may be empty"
        begin, line = space.end(), line + text.count("\n", at, space.end())
        if begin == len(text):
            break
        found = _TOKEN.match(text, begin)
        if found is None:
            opened = _OPENED.get(text[begin])
            what = f"{opened} is not complete; is the file cut short?" if opened else f"{text[begin]!r} has no meaning"
            raise BadInput(f"line {line}: {what}")
        kind = found.lastgroup or ""
        yield _Token(kind, found[kind], line)
        at, line = found.end(), line + text.count("\n", begin, found.end())
    yield _Token("end", "", line)


def _unescaped(text: str) -> str:
    """Returns a text without the backslashes that protect other characters."""
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


_MARKED = re.compile(r"(.+?)([?!]{1,2})", re.DOTALL)
_MOVE_NUMBER = re.compile(r"\d+\.+")
_GLYPHS = {"1": "!", "2": "?", "3": "!!", "4": "??", "5": "!?", "6": "?!"}
"""Marks by their numbers in PGN."""

_RESULTS = *RESULTS.values(), UNKNOWN
_CUT_SHORT = f"the game has no result at its end, one of {', '.join(_RESULTS)}; is the file cut short?"


def text_to_records(
    text: str, game: Game | None = None, most_moves: int | None = None, keeps_komi: bool = False
) -> Iterator[Record]:
    """Yields the records in a text, one after another.

    Args:
      game: the game that all records must have; None: the records name it.
      most_moves: of all records, variations included.
      keeps_komi: whether records may have another komi than `game`, which they keep.

    Raises:
      BadInput: the text is not in this format, or a game breaks the rules. The message begins with the line.
      TooManyMoves: there are more than `most_moves`.
    """
    reader = _Reader(text, game, most_moves, keeps_komi)
    while reader.token.kind != "end":
        yield reader.read()


class _Reader:
    """Reads one record after another.

    Attributes:
      token: the next token.
    """

    def __init__(self, text: str, game: Game | None, most_moves: int | None, keeps_komi: bool):
        self._tokens = _split(text)
        self.token = next(self._tokens)
        self._most_moves, self._num_moves = most_moves, 0  # of the records before
        self._game, self._keeps_komi = game, keeps_komi
        self._known: dict[str, Game] = {}  # games by the names in tags
        self._starts: dict[Game, State] = {}  # their initial positions, which records share

    def read(self) -> Record:
        """Returns the next record."""
        first = self.token.line
        tags = self._read_tags()
        try:
            told = tags.pop("Result", UNKNOWN)
            record = self._begin(tags)
        except BadInput as error:
            raise BadInput(f"line {first}: {error}") from None
        moves = _Moves(record)
        while self.token.text not in _RESULTS or self.token.kind != "word":
            token = self._take()
            try:
                if token.kind in ("end", "tag"):
                    raise BadInput(_CUT_SHORT)
                moves.take(token)
            except BadInput as error:
                raise BadInput(f"line {token.line}: {error}") from None
            if self._most_moves is not None and self._num_moves + moves.num_moves > self._most_moves:
                raise TooManyMoves(self._most_moves)
        self._num_moves += moves.num_moves
        token = self._take()
        try:
            moves.finish()
            by_rules = UNKNOWN if "Termination" in record.tags else result_of(record.end())
            record.result = _agreed(told, token.text, by_rules)
        except BadInput as error:
            raise BadInput(f"line {token.line}: {error}") from None
        return record

    def _take(self) -> _Token:
        token, self.token = self.token, next(self._tokens, self.token)
        return token

    def _read_tags(self) -> dict[str, str]:
        tags: dict[str, str] = {}
        while self.token.kind in ("tag", "note"):
            token = self._take()
            if token.kind == "tag":
                name, _, text = token.text.partition('"')
                if name.strip() in tags:
                    raise BadInput(f"line {token.line}: the tag {name.strip()} is given twice")
                tags[name.strip()] = _unescaped(text[:-1])
        return tags

    def _begin(self, tags: dict[str, str]) -> Record:
        """Returns a record without moves; takes the tags Format, Game and Position."""
        version = tags.pop("Format", str(_FORMAT))
        if version != str(_FORMAT):
            raise BadInput(f"the record has format {version[:20]!r}; this version of azero reads format {_FORMAT}")
        game = self._game_named(tags.pop("Game", None))
        position = tags.pop("Position", None)
        if position is not None:
            return Record(game.state_from_text(position), tags=tags)
        if game not in self._starts:
            self._starts[game] = game.new_initial_state()
        return Record(self._starts[game], tags=tags)

    def _game_named(self, name: str | None) -> Game:
        """Returns the game of a record; raises BadInput if it is not the game that is asked for."""
        if name is None:
            if self._game is None:
                raise BadInput('the record does not name its game; add a tag, e.g. [Game "connect_four"]')
            return self._game
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def _find(self, name: str) -> Game:
        if self._game and without_folder(name) == without_folder(str(self._game)):
            return self._game
        if file_of(name):
            if self._game:
                raise BadInput(f"the record is of {name}, not of {self._game}")
            raise BadInput(f"the record is of a user's game, which runs only if you name it, e.g. {name!r}")
        game = make_trusted_game(name)
        differing = differences(str(game), self._game.rules) if self._game else {}
        if differing is None or not differing.keys() <= ({KOMI} if self._keeps_komi else set()):
            raise BadInput(f"the record is of {name}, not of {self._game}")
        return game


class _Moves:
    """Builds the tree of a record.

    Attributes:
      num_moves: of the tree, so far.
    """

    def __init__(self, record: Record):
        self._node, self._state = record.root, record.start.clone()
        self._num_before = len(record.start.history())
        self._before: tuple[Node, State] | None = None  # where the last word began
        self._left: list[tuple[Node, State, tuple[Node, State]]] = []  # lines that variations have interrupted
        self._comments: list[str] = []  # of the last node, or before the first move of a variation
        self._written: dict[int, tuple[Node, list[str]]] = {}  # nodes with their comments, by the nodes' identities
        self.num_moves = 0

    def take(self, token: _Token) -> None:
        """Adds a move, a comment or a mark, or begins or ends a variation; raises BadInput."""
        text = token.text
        if token.kind in ("comment", "note"):
            self._comments.append(_unescaped(text) if token.kind == "comment" else text)
        elif token.kind == "bracket":
            (self._begin_variation if text == "(" else self._end_variation)()
        elif token.kind == "glyph":
            self._is_mark(_GLYPHS.get(text, ""))
        elif token.kind == "quoted":
            self._play([_unescaped(text)], "")
        elif self._before is None or not self._is_mark(text):
            marked = _MARKED.fullmatch(text)
            word, mark = (marked[1], marked[2]) if marked and marked[2] in _GLYPHS.values() else (text, "")
            if not _MOVE_NUMBER.fullmatch(word):
                self._play(self._state.game.rules.split_moves(word), mark)

    def finish(self) -> None:
        """Ends the game; raises BadInput if a variation is not complete."""
        self._write_comments()
        for node, comments in self._written.values():
            read_comments(node, comments)
        if self._left:
            raise BadInput("a variation is not complete: ) is missing before the result")

    def _is_mark(self, text: str) -> bool:
        """Returns whether a word is the mark of the move before, which stands apart if that move is quoted."""
        if text not in _GLYPHS.values():
            return False
        if self._before is not None:
            self._node.mark = text
        return True

    def _play(self, moves: list[str], mark: str) -> None:
        if self._before is not None or not self._left:
            self._write_comments()
        self._before = self._node, self._state
        self._state = self._state.clone()
        for move in moves:
            try:
                action = self._state.game.text_to_action(self._state, move)
                self._state.apply_action(action)
            except BadInput as error:
                ply = len(self._state.history()) + 1 - self._num_before
                raise BadInput(f"move {ply}: {error}") from None
            self._node.children.append(Node(action))
            self._node = self._node.children[-1]
            self.num_moves += 1
        self._node.mark = mark

    def _write_comments(self) -> None:
        """Keeps the comments so far for the last node, which may get others after each of its variations."""
        if self._comments:
            _, comments = self._written.setdefault(id(self._node), (self._node, []))
            comments += read_name(self._node, self._comments)
        self._comments = []

    def _begin_variation(self) -> None:
        if self._before is None:
            raise BadInput("a variation has no move before it that it replaces")
        if len(self._left) == MOST_DEEP:
            raise BadInput(f"there are more than {MOST_DEEP} variations within each other")
        self._write_comments()
        self._left.append((self._node, self._state, self._before))
        self._node, self._state = self._before
        self._before = None

    def _end_variation(self) -> None:
        if not self._left:
            raise BadInput(") ends no variation")
        if self._before is None:
            raise BadInput("a variation has no move")
        self._write_comments()
        self._node, self._state, self._before = self._left.pop()


def _agreed(told: str, written: str, by_rules: str) -> str:
    """Returns the result of a game; raises BadInput if the tag, the end of the moves and the rules contradict."""
    results = {each for each in (told, written, by_rules) if each != UNKNOWN}
    if not results <= set(_RESULTS):
        raise BadInput(f"the result {told[:20]!r} should be one of {', '.join(_RESULTS)}")
    if len(results) > 1:
        says = f"the tag says {told}, the moves end with {written}, by the rules it is {by_rules}"
        raise BadInput(f"the results contradict each other: {says}")
    return results.pop() if results else UNKNOWN
