"""Writes records as SGF, FF[4]. What SGF has no property for is in the private property AZ, as `Name:text`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sgfmill import sgf_grammar

from azero.errors import BadInput
from azero.games import State
from azero.games.defaults import has_own
from azero.records.annotations import comment_of
from azero.records.record import DRAWN, FIRST_WON, OUT_OF_TIME, RESIGNED, SECOND_WON, UNKNOWN, Node, Record, result_of
from azero.records.sgf_games import COLOURS, move_to_text, number_of, size_to_text, start_to_stones
from azero.records.writing import start_to_text

PRIVATE = "AZ"
"""The property of what only azero reads."""

TAGS = {"First": "PB", "Second": "PW", "Date": "DT", "Event": "EV", "Round": "RO", "Site": "PC"}
"""Properties of tags."""

MARKS = {"?": ("BM", "1"), "??": ("BM", "2"), "?!": ("DO", ""), "!?": ("IT", ""), "!": ("TE", "1"), "!!": ("TE", "2")}
"""Property and value of each mark."""

RESULTS = {FIRST_WON: "B+", SECOND_WON: "W+", DRAWN: "0", UNKNOWN: "?"}
ENDS = {RESIGNED: "R", OUT_OF_TIME: "T"}
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
    properties |= {TAGS[name]: [tags.pop(name)] for name in TAGS if name in tags}
    end = ENDS.get(tags.get("Termination", ""), "")
    last = record.end()
    is_by_rules = result_of(last) == record.result and "Termination" not in record.tags
    if record.result in (FIRST_WON, SECOND_WON) and is_by_rules and has_own(game.rules, "final_score"):
        end = f"{abs(last.final_score()):g}"
    properties["RE"] = [RESULTS[record.result] + end]
    private = [f"Game:{game}", *(f"{name}:{text}" for name, text in tags.items())]
    if hasattr(game.rules, "komi"):
        properties["KM"] = [f"{game.rules.komi:g}"]
    if record.start != game.new_initial_state():
        private.append(f"Position:{start_to_text(record.start)}")
        black, white = start_to_stones(record.start)
        properties |= {name: stones for name, stones in (("AB", black), ("AW", white)) if stones}
        properties["PL"] = [COLOURS[record.start.current_player()]]
    return properties | {PRIVATE: private} | _remarks(record.root)


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
