"""Tests that reading takes time in proportion to the text, however wrong the text is.

Texts are grown from the parts of the patterns that a reader uses: each run of parts is repeated, at the beginning and
after what is right before it. A text is read, and if that takes long, another one of eight times the length. Where time
grows with the square, the second takes seconds, and 64 times as long as the first. Only CPU time counts.
"""

import ast
import contextlib
import functools
import importlib
import re
import string
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import azero
from azero.arena.agents.clock import TimeControl
from azero.arena.agents.engines.gomocup import _MOVE
from azero.arena.agents.engines.uci import Infos
from azero.arena.agents.engines.variants import Variant
from azero.arena.agents.make import make_agent
from azero.arena.agents.names import split_program
from azero.arena.solved.files import read_benchmark
from azero.commands.rate import _anchor
from azero.config.reading import load_config
from azero.errors import BadInput
from azero.games import make_game
from azero.games.make import make_trusted_game
from azero.interfaces.engines.gomocup import _STONE
from azero.interfaces.engines.gtp_table import _NUMBER
from azero.interfaces.engines.uci import _OPTION
from azero.interfaces.web.app import make_app
from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.guard import _PORT
from azero.interfaces.web.offered.catalogue import Catalogue
from azero.interfaces.web.offered.games import built_in_game
from azero.interfaces.web.routes.records import RecordText, read_record
from azero.interfaces.web.runs.selfplay_games import _ID
from azero.interfaces.web.settings import ServeSettings
from azero.nets.users_net import _options_of
from azero.records import Node, Record
from azero.records.annotations import read_comments
from azero.records.files import check_target
from azero.records.sgf import sgf_to_records
from azero.records.text import record_to_text, text_to_records
from azero.training.beginning import read_starts
from azero.training.lessons.files import read_lessons_of_games

PACKAGE = Path(azero.__file__).parent
SHORT, TIMES = 4000, 8  # characters of the first text, and how many times as long the second is
SOON_S, LONG_S = 0.005, 0.25  # the first may take as long, and the second
MOST_TIMES = 24
MOST_PARTS = 8  # that are repeated together

TIC_TAC_TOE, GO, AMAZONS = (make_game(name) for name in ("tic_tac_toe", "go(size=5)", "amazons(size=5)"))


# --- parts of patterns ---


def patterns_in(name: str) -> Iterator[re.Pattern]:
    """Yields the patterns that a module hands to `re`, but those that it makes while it reads."""
    path = PACKAGE / f"{name}.py"
    module = importlib.import_module(f"azero.{name.replace('/', '.')}")
    for call in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("re.") and call.args:
            names = {each.id for each in ast.walk(call.args[0]) if isinstance(each, ast.Name)}
            if names <= vars(module).keys():
                pattern = eval(ast.unparse(call.args[0]), vars(module))
                others = [*call.args[1:], *(each.value for each in call.keywords)]
                flags = [eval(ast.unparse(each)) for each in others if ast.unparse(each).startswith("re.")]
                yield re.compile(pattern.decode() if isinstance(pattern, bytes) else pattern, *flags)


def parts_in(pattern: re.Pattern, favourites: str) -> list[str]:
    """Returns a text for each part of a pattern, in their order; of a set of characters, the first of `favourites`."""
    parts: list[str] = []
    left = list(re._parser.parse(pattern.pattern, pattern.flags))[::-1]  # type: ignore[attr-defined]
    state = re._parser.parse("").state  # type: ignore[attr-defined]
    was_literal = False
    while left:
        each = left.pop()
        kind, value = str(each[0]), each[1]
        is_literal = kind == "LITERAL"
        if is_literal and was_literal:
            parts[-1] += chr(value)
        elif is_literal:
            parts.append(chr(value))
        elif kind in ("IN", "ANY", "NOT_LITERAL"):
            one = re._compiler.compile(re._parser.SubPattern(state, [each]))  # type: ignore[attr-defined]
            parts.append(next(filter(one.fullmatch, favourites + string.printable)))
        elif kind.endswith("_REPEAT"):
            left += list(value[2])[::-1]
        elif kind == "SUBPATTERN":
            left += list(value[3])[::-1]
        elif kind == "BRANCH":
            left += [inner for branch in value[1][::-1] for inner in list(branch)[::-1]]
        was_literal = is_literal
    return parts


@functools.cache
def runs_in(modules: tuple[str, ...]) -> list[tuple[str, str]]:
    """Returns runs of parts, each after what its pattern has before it."""
    runs: dict[tuple[str, str], None] = {}
    for pattern in (each for name in modules for each in patterns_in(name)):
        for favourites in (' a1x(.["\\', '\na1x(.["\\'):
            parts = parts_in(pattern, favourites)
            for begin in range(len(parts)):
                for end in range(begin + 1, min(begin + MOST_PARTS, len(parts)) + 1):
                    runs["".join(parts[:begin]), "".join(parts[begin:end])] = None
    return list(runs)


# --- readers ---


class Reader(NamedTuple):
    """What reads texts.

    Attributes:
      read: reads a text, or raises BadInput. It is given an empty folder, too.
      modules: those that have its patterns.
      befores: right beginnings of texts.
    """

    read: Callable[[str, Path], object]
    modules: tuple[str, ...]
    befores: tuple[str, ...]


def read_file(read: Callable[[Path], object], name: str) -> Callable[[str, Path], object]:
    """Returns what reads a text from a file."""

    def reads(text: str, folder: Path) -> object:
        path = folder / name
        path.write_text(text, newline="")
        return read(path)

    return reads


def read_agent(text: str, folder: Path) -> None:
    if not split_program(text):
        make_agent(text, TIC_TAC_TOE, max_nodes=1000).close()


def read_posted(text: str, folder: Path) -> None:
    read_record(RecordText(text=text), CONTEXT)


def write_comment(text: str, folder: Path) -> None:
    record_to_text(Record(TIC_TAC_TOE.new_initial_state(), Node(comment=text), tags={"First": text}))


def read_position(name: str) -> Callable[[str, Path], object]:
    game = make_game(name)
    return lambda text, folder: game.state_from_text(text)


def read_moves(name: str) -> Callable[[str, Path], object]:
    game = make_game(name)
    return lambda text, folder: game.state_from_moves(text)


CONTEXT = make_app(Catalogue(["random"]), ServeSettings()).state.context
NOTATION = Variant(AMAZONS).notation
BOARDS = ("games/boards", "games/position_text")
RECORDS = ("records/text", "records/annotations")
SGF = ("records/sgf", "records/sgf_games")
BEGUN_SGF = ("", "(;", "(;GM[1]SZ[9];B[aa]", "(;GM[1]SZ[9", "(;GM[1]C[", "(;CA[big5]C[")
HEADER = "# azero lessons 1\n# game: tic_tac_toe\n"

READERS = {
    "game": Reader(
        lambda text, _: make_trusted_game(text), ("games/names", "games/parameters"), ("", "go(", "x.py:X(")
    ),
    "openspiel": Reader(
        lambda text, _: (make_game("openspiel:nim").rules.split_moves(text), make_trusted_game(text)),
        ("games/openspiel/library", "games/openspiel/bridge"),
        ("", "openspiel:nim(", "openspiel:nim(pile_sizes="),
    ),
    "net": Reader(lambda text, _: _options_of("x.py:X", text), ("nets/users_net", "games/names"), ("", "a=1,")),
    "agent": Reader(
        read_agent,
        *[tuple(f"arena/agents/{each}" for each in ("names", "checkpoints", "levels/level"))],
        ("", "uct(", "connect_four(", "uct@"),
    ),
    "clock": Reader(lambda text, _: TimeControl.parse(text), ("arena/agents/clock",), ("", "1m", "1m+1x")),
    "anchor": Reader(lambda text, _: _anchor(text, ["a", "b"]), ("commands/rate",), ("", "a=")),
    "uci line": Reader(lambda text, _: Infos().add(text), ("arena/agents/engines/uci",), ("", "info ", "info pv ")),
    "uci move": Reader(
        lambda text, _: NOTATION.read(AMAZONS.new_initial_state(), text), ("arena/agents/engines/variants",), ("", "a1")
    ),
    "move of Gomocup's": Reader(lambda text, _: _MOVE.fullmatch(text), ("arena/agents/engines/gomocup",), ("", "1")),
    "stone of Gomocup's": Reader(lambda text, _: _STONE.fullmatch(text), ("interfaces/engines/gomocup",), ("", "1")),
    "number of GTP": Reader(lambda text, _: _NUMBER.fullmatch(text), ("interfaces/engines/gtp_table",), ("", "1.")),
    "option of UCI": Reader(lambda text, _: _OPTION.fullmatch(text), ("interfaces/engines/uci",), ("", "name ")),
    "record": Reader(
        lambda text, _: list(text_to_records(text)), RECORDS, ("", '[Game "tic_tac_toe"] ', '[Game "go"] [Position "')
    ),
    "posted record": Reader(read_posted, ("interfaces/web/routes/records", *RECORDS), ("", '[Game "tic_tac_toe"]')),
    "posted sgf": Reader(read_posted, SGF, BEGUN_SGF),
    "sgf": Reader(lambda text, _: list(sgf_to_records(text.encode())), SGF, BEGUN_SGF),
    "comment": Reader(write_comment, RECORDS, ("", "+0.100/2, ")),
    "thought": Reader(lambda text, _: read_comments(Node(), [text]), RECORDS, ("", "+0.100")),
    "text to add to": Reader(
        read_file(lambda path: check_target(path, TIC_TAC_TOE), "a.txt"), ("records/files",), ("",)
    ),
    "sgf to add to": Reader(read_file(lambda path: check_target(path, GO), "a.sgf"), ("records/files",), ("", "(;")),
    "config": Reader(read_file(load_config, "a.toml"), ("config/reading",), ("", "[game]\nname = '", "a")),
    "setting": Reader(
        lambda text, folder: load_config("tic_tac_toe", [text]), ("config/reading",), ("", "seed=", "game.name=")
    ),
    "starts": Reader(
        read_file(lambda path: read_starts(str(path), TIC_TAC_TOE), "a.txt"), ("games/position_files",), ("", "3/3/3 X")
    ),
    "lessons": Reader(
        read_file(lambda path: read_lessons_of_games(path, TIC_TAC_TOE), "a.txt"),
        ("training/lessons/files", "games/tic_tac_toe/rules"),
        (HEADER, f"{HEADER}- ", f'{HEADER}"'),
    ),
    "benchmark": Reader(
        read_file(lambda path: read_benchmark(str(path)), "a.txt"),
        ("arena/solved/files", "games/tic_tac_toe/rules"),
        ("", "# game: tic_tac_toe\n", "# game: tic_tac_toe\na1 0 "),
    ),
    "id of a game": Reader(lambda text, _: built_in_game(text), ("interfaces/web/offered/games",), ("", "go(")),
    "id of an agent": Reader(
        lambda text, _: CONTEXT.catalogue.agent(text), ("interfaces/web/offered/catalogue",), ("",)
    ),
    "id of a game of a run": Reader(
        lambda text, _: _ID.fullmatch(text), ("interfaces/web/runs/selfplay_games",), ("", "1.")
    ),
    "host": Reader(lambda text, _: _PORT.sub("", text), ("interfaces/web/guard",), ("",)),
    "origin": Reader(
        lambda text, _: ServeSettings(allow_origins=(text,)), ("interfaces/web/settings",), ("", "http://")
    ),
} | {
    f"{what} of {name}": Reader(read(name), (module, *BOARDS), befores)
    for name, module in {
        "tic_tac_toe": "games/tic_tac_toe/rules",
        "connect_four": "games/connect_four/text",
        "go(size=5)": "games/go/text",
        "amazons(size=5)": "games/amazons/text",
        "breakthrough(size=5)": "games/breakthrough/text",
        "clobber(rows=4,columns=5)": "games/clobber/text",
        "p_game(branching=2,depth=4)": "games/p_game/rules",
    }.items()
    for what, read, befores in (("position", read_position, ("", "moves: ")), ("moves", read_moves, ("", "a1 ")))
}

NO_READERS = {
    *("compiler/codegen", "compiler/jit", "compiler/linking", "compiler/wasm/mathematics"),
    *(f"games/user/{each}" for each in ("messages", "overflows", "trust")),
    *("games/defaults", "games/reasons", "games/pictures/default", "interfaces/terminal/board"),
    *("runs/folder", "training/checking", *(f"publishing/{each}" for each in ("bundle", "files", "page"))),
}
"""Modules whose patterns are for texts of azero, the compiler or a trusted user, or for what is short.

Lines of engines have at most 10,000 characters, and names of files at most 255.
"""


def test_every_module_with_a_pattern_has_a_reader():
    paths = {path.relative_to(PACKAGE).with_suffix("").as_posix(): path for path in PACKAGE.rglob("*.py")}
    with_patterns = {name for name, path in paths.items() if "\nimport re\n" in path.read_text()}
    assert with_patterns == {*NO_READERS, *(name for each in READERS.values() for name in each.modules)}


def seconds_of(reader: Reader, text: str, folder: Path) -> float:
    """Returns the CPU time in which a text is read or refused in a line."""
    begin = time.thread_time()
    with contextlib.suppress(BadInput, ApiError):
        reader.read(text, folder)
    return time.thread_time() - begin


def assert_linear(reader: Reader, before: str, part: str, after: str, folder: Path) -> None:
    short = before + part * (SHORT // len(part)) + after
    if seconds_of(reader, short, folder) > SOON_S:
        short_s = min(seconds_of(reader, short, folder) for _ in range(3))
        long_s = seconds_of(reader, before + part * (TIMES * SHORT // len(part)) + after, folder)
        assert long_s < max(LONG_S, MOST_TIMES * short_s), (before, part, after)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_twice_the_text_takes_twice_as_long(reader, tmp_path):
    parts = {part for _, part in runs_in(reader.modules)}
    for before, part in [*runs_in(reader.modules), *((before, part) for before in reader.befores for part in parts)]:
        for after in ("", "!"):
            assert_linear(reader, before, part, after, tmp_path)
