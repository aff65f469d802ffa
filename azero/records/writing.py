"""Writes records as text: tags like PGN's, then moves with comments and variations. docs/records.md has the format."""

import re
from collections.abc import Iterable, Iterator

from azero.games import Game, State
from azero.games.names import without_folder
from azero.games.position_text import turn_to_text
from azero.records.annotations import comments_of
from azero.records.record import RESULTS, Node, Record

FORMAT = 1
"""Version of the format, the tag Format."""

_PLAIN = re.compile(r"""[^\s{}()\[\]";$?!*][^\s{}()\[\]";]*(?<![?!])""")
_WIDTH = 100


def record_to_text(record: Record) -> str:
    """Returns a record as text, with an empty line at its end."""
    tags = {"Format": str(FORMAT), "Game": without_folder(str(record.game))}
    tags |= {name: record.tags[name] for name in ("First", "Second") if name in record.tags}
    tags["Result"] = record.result
    if record.start != record.game.new_initial_state():
        tags["Position"] = start_to_text(record.start)
    tags |= {name: text for name, text in record.tags.items() if name not in tags}
    head = [f"[{name} {quoted(text)}]" for name, text in tags.items()]
    words = [*_comments(record.root), *_words_after(record.root, record.start), record.result]
    return "\n".join([*head, "", *_lines(words), "", ""])


def start_to_text(start: State) -> str:
    """Returns a position as text: the moves that lead to it if the past matters and is known, otherwise the board."""
    game, history = start.game, start.history()
    if game.rules.is_history_free or not history or not start.is_replayable():
        return start.to_text()
    return f"moves: {' '.join(game.lines_to_text(game.new_initial_state(), [history])[0])}"


def quoted(text: str) -> str:
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
        words = [text if _is_one_move(game, text, [text]) else quoted(text) for text in texts]
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
