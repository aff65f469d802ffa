"""Tests of the laws of games: rules that keep them all and, for each law, rules that break it, with the moves."""

import random
import re

import numpy as np
import pytest

from azero.compiler.jit import IS_COMPILED
from azero.errors import BadInput
from azero.games import Game, Symmetries, make_game
from azero.games.laws import laws, symmetries
from azero.games.laws.findings import Broken, Notes, beside, hold, record_of
from azero.games.laws.laws import LAWS, check_laws, random_games

from .user_games import NIM, TIC_TAC_TOE, added, write_file

pytestmark = [pytest.mark.usefixtures("folder"), pytest.mark.slow]  # it compiles kernels of its own

KEY = "2 * state.left + (state.ply & 1)"
IMPORT = ("LOSS, ONGOING, WIN", "LOSS, ONGOING, Symmetries, WIN")
PASS = (
    "        state.left -= action + 1\n",
    "        if action == 3:\n            return\n        state.left -= action + 1\n",
)
PASSES = [("min(3, state.left)", "4 if state.left > 2 else state.left"), PASS, ("return game.heap\n", "return 1000\n")]


def findings(game: Game, num_games: int = 20) -> dict[str, str]:
    """Returns the messages of broken laws, by law."""
    games, found = list(random_games(game, num_games, seed=0)), {}
    for name, law in LAWS.items():
        chooser, notes = random.Random(0), Notes()
        try:
            for actions in games:
                law(game, actions, chooser, notes)
        except Broken as error:
            found[name] = str(error)
    return found


def tables(cells: str, actions: str) -> tuple[str, str]:
    """Returns the change that gives Nim symmetries."""
    given = f"Symmetries(np.array({cells}, np.int32), np.array({actions}, np.int32))"
    return added(f"symmetries(game):\n        forth, back = range(21), range(20, -1, -1)\n        return {given}")


@pytest.mark.parametrize(("source", "name"), [(NIM, "Nim"), (TIC_TAC_TOE, "TicTacToe")])
def test_games_in_files_can_keep_every_law(folder, source, name):
    write_file(folder / "my.py", source)
    assert findings(make_game(f"my.py:{name}")) == {}


INTEGERS = [
    ("import numpy as np", "import numpy as np; from azero.authoring import subroutine"),
    ("class Nim", """
@subroutine
def others(mask):
    return ~mask


@subroutine
def common(mask, other):
    return mask & other & np.uint64(2**63 + 2**62)


class Nim"""),
    ('np.dtype([("left", np.int32), ', 'np.dtype([("row", np.int8, (16,)), ("left", np.int8), '),
    ('("ply", np.int32)', '("ply", np.uint8)'),
    ("        state.ply = 0\n", "        state.ply = 0\n        state.row[:] = 0\n"),
    ("        state.ply += 1\n", "        state.ply += 1\n        state.row[state.ply % 16] = state.left % 3\n"),
    (f"return np.uint64({KEY})", """key = 0
        for k in range(16):
            key = 3 * key + 0 * state.row[k] + 200 * state.left
        mask = common(others(np.uint64(state.left)), others(np.uint64(0)))
        return mask ^ np.uint64(key) ^ np.uint64(state.ply & 1)"""),
]  # fmt: skip


def test_integers_of_any_size_are_the_same_both_ways(folder):
    """int8 in sums that NumPy would compute in 8 bits, and integers from 2**63 on passed between subroutines."""
    write_file(folder / "my.py", NIM, *INTEGERS)
    game = make_game("my.py:Nim")
    assert findings(game, num_games=5) == {}
    assert game.new_initial_state().hash_key() == (2**63 + 2**62) ^ (200 * 21 * sum(3**k for k in range(16)))


READ = "text_to_position(game, state, text):\n        state.left, state.ply = map(int, text.split())"
WRITE = "position_to_text(game, state):\n        return f'{state.left} {state.ply}'"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([added(WRITE), added(READ)], None),
        ([added(WRITE)], "position_to_text is defined without the other one of position_to_text and text_to_position"),
        ([added(WRITE.replace("state.ply", "0")), added(READ)], "text_to_position does not restore current_player"),
        ([added(WRITE), added(READ.replace("state.left", "_"))], "the text '19 1' is read as '21 1', after 1"),
        ([added(WRITE), added(f"{READ}\n        return 1")], "text_to_position returns 1; it should be None"),
        ([added(WRITE), added(READ.replace("split", "title"))], "text_to_position fails, line"),
        (
            [added(WRITE.replace(" {", "\\n{")), added(READ)],
            "position_to_text returns '21\\n0'; it should be text in one",
        ),
    ],
)
def test_a_position_is_restored_from_its_text(folder, changes, message):
    write_file(folder / "my.py", NIM, *changes)
    game = make_game("my.py:Nim")
    try:
        check_laws(game, num_games=2, seed=0)
        assert message is None
    except BadInput as error:
        assert message and message in str(error)


ROLLOUT = "rollout_action(game, state, legal, rng):\n        "


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("law", "changes", "message"),
    [
        pytest.param(
            "compiled",
            [(KEY, f"game.heap * 10**18 * 10 // 7 % 1000 + {KEY}")],
            r"hash_key is \d+ compiled, \d+ in plain Python, after no move",
            marks=pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled"),
        ),
        pytest.param(
            "compiled",
            [(KEY, f"np.int8(100) * np.int8(state.left) + {KEY}")],
            r"hash_key is \d+ compiled, \d+ in plain Python; line 42 overflows in plain Python, where np.int8\(100\) "
            r"\* np.int8\(state.left\) is of int8; compiled, it has 64 bits: write np.int64\(np.int8\(100\)\), "
            r"after no move",
            marks=pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled"),
        ),
        (
            "compiled",
            [("        state.ply = 0\n", "")],
            r"reset does not set state.ply, after MOVES",
        ),
        ("positions", [*PASSES, ("return 3", "return 4")], r"3 changes nothing, after no move"),
        (
            "results",
            [added("final_score(game, state):\n        return state.left + (state.ply & 1)")],
            r"the result is -1, the score \+0, after MOVES",
        ),
        ("rollouts", [added(f"{ROLLOUT}return 2")], r"rollout_action returns 2, which is not legal, after MOVES"),
        (
            "rollouts",
            [added(f"{ROLLOUT}state.left = 1\n        return 0")],
            r"rollout_action changes the position, after no move",
        ),
        (
            "keys",
            [(KEY, "state.left")],
            r"hash_key is equal, but the outcome is -1 and \+1, after MOVES and after MOVES",
        ),
        (
            "symmetry tables",
            [IMPORT, tables("[back, forth]", "[[0, 1, 2], [0, 1, 2]]")],
            r"the first symmetry is not the identity: it takes row 1, column 21 to row 1, column 1",
        ),
        (
            "symmetries",
            [IMPORT, tables("[forth, back]", "[[0, 1, 2], [0, 1, 2]]")],
            r"symmetry 1 takes cell row 1, column \d+ to row 1, column \d+ and action (\d) to \1, but plane 0 is "
            r"[01] in row 1, column \d+, [01] in row 1, column \d+, after MOVES and after MOVES",
        ),
        (
            "places",
            [added("places(game):\n        return 1, 0, np.array([0, 1, 21], np.int32)")],
            r"places have numbers \[3\] from 0 to 21; they should be \[3\] from 0 to 20",
        ),
        (
            "places",
            [added("places(game):\n        return 1, 2, np.array([21, 0, 21], np.int32)")],
            r"action 0 and action 2 have the same place",
        ),
        (
            "text",
            [added("action_to_text(game, state, action):\n        return str(action // 2)")],
            r"action 1 is written '0', but '0' is read as 0, after no move",
        ),
        (
            "text",
            [added("split_moves(game, text):\n        return text.split(' ')")],
            r"split_moves returns \['\d,'(.*\]|.*\.\.\.) for moves joined by ', ', after MOVES",
        ),
    ],
)
def test_each_law_is_broken_by_some_rules_and_by_these_alone(folder, law, changes, message):
    write_file(folder / "my.py", NIM, *changes)
    game = make_game("my.py:Nim")
    found = findings(game)
    assert list(found) == [law]
    assert re.fullmatch(message.replace("MOVES", r"\d( \d)*"), found[law]), found[law]


def test_the_moves_that_are_told_lead_to_what_is_wrong(folder):
    """The moves lead to two positions with one key, or to the position with the illegal move."""
    write_file(folder / "keys.py", NIM, (KEY, "state.left"))
    game = make_game("keys.py:Nim")
    told = re.fullmatch(r"hash_key is equal, but .*, after ([\d ]+) and after ([\d ]+)", findings(game)["keys"])
    one, other = (game.state_from_moves(moves) for moves in told.groups())
    assert one.hash_key() == other.hash_key() and one.returns() != other.returns()
    write_file(folder / "rollouts.py", NIM, added(f"{ROLLOUT}return 2"))
    game = make_game("rollouts.py:Nim")
    moves = findings(game)["rollouts"].rpartition(" after ")[2]
    assert 2 not in game.state_from_moves(moves).legal_actions()


FORTH, BACK = range(21), range(20, -1, -1)
SIZES = "not [S, 21], [S, 3]"


@pytest.mark.parametrize(
    ("cells", "actions", "message"),
    [
        (
            [FORTH, [0] * 21],
            [[0, 1, 2], [0, 1, 2]],
            "symmetry 1 is not a permutation of cells: row 1, column 1 is there 21 times, row 1, column 2 is missing",
        ),
        (
            [FORTH, BACK],
            [[0, 1, 2], [0, 0, 0]],
            "symmetry 1 is not a permutation of actions: action 0 is there 3 times, action 1 is missing",
        ),
        (
            [FORTH, BACK],
            [[0, 1, 2], [1, 2, 3]],
            "symmetry 1 is not a permutation of actions: 3 is not a number of actions, action 0 is missing",
        ),
        ([FORTH, BACK], [[0, 1, 2]], f"symmetries have cells [2, 21], actions [1, 3], {SIZES}"),
        ([[0, 1]], [[0, 1, 2]], f"symmetries have cells [1, 2], actions [1, 3], {SIZES}"),
        (np.zeros((0, 21)), np.zeros((0, 3)), f"symmetries have cells [0, 21], actions [0, 3], {SIZES}"),
    ],
)
def test_what_is_no_permutation_is_told_by_both_laws_of_symmetries(folder, cells, actions, message):
    assert symmetry_findings(folder, cells, actions) == [message] * 2


@pytest.mark.parametrize(
    ("cells", "actions", "messages"),
    [
        ([FORTH, FORTH], [[0, 1, 2], [0, 1, 2]], ["a symmetry is listed twice"]),
        (
            [FORTH, [*FORTH[1:], 0]],
            [[0, 1, 2], [0, 1, 2]],
            ["symmetry 1 after symmetry 1 is not in the list", "symmetry 1 takes cell "],
        ),
        ([FORTH, FORTH], [[0, 1, 2], [2, 1, 0]], ["symmetry 1 takes cell "]),
    ],
)
def test_tables_that_do_not_fit_the_game_or_each_other_are_told(folder, cells, actions, messages):
    found = symmetry_findings(folder, cells, actions)
    assert len(found) == len(messages)
    assert all(each.startswith(message) for each, message in zip(found, messages, strict=True))


def test_tables_are_of_int32(folder):
    found = symmetry_findings(folder, [FORTH], [[0, 1, 2]], dtype=np.int64)
    assert found == ["symmetries have cells of int64 and actions of int64; both should be of int32"] * 2


def symmetry_findings(folder, cells, actions, dtype=np.int32) -> list[str]:
    """Returns the messages of the two laws of symmetries on Nim with these tables."""
    write_file(folder / "nim.py", NIM)
    game = make_game("nim.py:Nim")
    game.symmetries = Symmetries(np.array(cells, dtype), np.array(actions, dtype))
    found = findings(game, num_games=4)
    assert set(found) <= {"symmetry tables", "symmetries"}
    return list(found.values())


def test_a_board_whose_moves_do_not_turn_with_it_is_told_by_cells_and_moves():
    game = make_game("tic_tac_toe")
    cells, actions = game.symmetries
    game.symmetries = Symmetries(cells, np.concatenate([actions[:1], actions[:0:-1]]))
    found = findings(game)
    assert list(found) == ["symmetries", "places"]
    told = re.fullmatch(
        r"symmetry (\d) takes cell (..) to (..) and move (..) to (..), but plane \d is 1 in \2, 0 in \3, "
        r"after (..) and after (..)",
        found["symmetries"],
    )
    s, cell, image, move, move_image, *lines = told.groups()
    assert cell == move != image and move_image != image and lines == [move, move_image]
    names = [f"{letter}{row}" for row in "123" for letter in "abc"]
    assert cells[int(s)][names.index(image)] == names.index(cell)
    assert re.fullmatch(
        r"symmetry \d takes move (..) to (..) and cell \1 to (..), but places has it in \2", found["places"]
    )


def test_moves_that_a_symmetry_makes_illegal_are_told_with_the_legal_ones():
    game = make_game("breakthrough(rows=4,columns=3)")
    cells, actions = game.symmetries
    game.symmetries = Symmetries(cells, np.concatenate([actions[:1], np.roll(actions[1:], 1, axis=1)]))
    told = findings(game, num_games=2)["symmetries"]
    found = re.fullmatch(
        r"symmetry 1 takes (move|action) (\S+) to (\S+), but one is (il)?legal, the other (il)?legal; "
        r"legal there: (.*), after no move and after no move",
        told,
    )
    state = game.new_initial_state()
    legal = [game.action_to_text(state, each) for each in state.legal_actions()]
    assert found[6].split() == legal and (found[3] in legal) == bool(found[4])


def test_a_broken_law_is_drawn():
    with pytest.raises(Broken) as error:
        hold(False, "it is wrong", make_game("tic_tac_toe"), [0], [])
    assert str(error.value) == "it is wrong, after a1 and after no move"
    boards = error.value.boards()
    assert [board.count("X") for board in boards] == [1, 0]
    assert beside(boards)[0] == boards[0].splitlines()[0] + "    " + boards[1].splitlines()[0]
    assert beside([80 * "-", 80 * "="]) == [80 * "-", "", 80 * "="]


def test_a_target_that_does_not_turn_with_the_board_is_told(monkeypatch):
    monkeypatch.setattr(symmetries, "target_of", lambda state, action: 0)
    told = findings(make_game("connect_four"), num_games=2)["symmetries"]
    wrong = r"symmetry 1 takes move \d to \d and cell 1, row 6 to 7, row 6, but target there is 1, row 6, after "
    assert re.match(wrong, told)


def test_owners_that_do_not_turn_with_the_board_are_told(monkeypatch):
    monkeypatch.setattr(laws.State, "ownership", lambda state: np.arange(16, dtype=np.int8).reshape(4, 4))
    told = findings(make_game("othello(size=4)"), num_games=2)
    wrong = r"ownership does not follow symmetry 1, which takes cell (..) to (..): the owner of \1 is \d+, of \2 \d+, "
    assert re.match(wrong, told["symmetries"])
    assert re.match(r"ownership is .* compiled, .* in plain Python, after ", told["compiled"])


EXCHANGE = "exchange_players(game, state):\n        state.ply += 1"


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (EXCHANGE, None),
        (EXCHANGE.replace("1", "2"), "exchange_players does not give the turn, after no move"),
        (f"{EXCHANGE}\n        state.left = 22 - state.left", "exchange takes action "),
        (f"{EXCHANGE} + (state.left == 21)", "exchange_players does not give the turn, after no move"),
        (f"{EXCHANGE}\n        state.left = max(1, state.left - 1)", "exchange_players twice changes the position"),
    ],
)
def test_players_that_are_not_exchanged_are_told(folder, method, message):
    write_file(folder / "my.py", NIM, added(method))
    found = findings(make_game("my.py:Nim"), num_games=5)
    assert list(found) == ["exchange"] * bool(message) and found.get("exchange", "").startswith(message or "")


def test_an_exchange_that_takes_cells_elsewhere_is_told(monkeypatch):
    game = make_game("hex(size=3)")
    cells = np.arange(9, dtype=np.int32)
    monkeypatch.setattr(type(game.rules), "exchange", lambda rules: (cells, cells))
    assert findings(game)["exchange"].startswith("exchange takes move ")
    monkeypatch.setattr(type(game.rules), "exchange", lambda rules: (cells, 0 * cells))
    lacking = "a1 is there 9 times, move b1 is missing"
    assert findings(game)["exchange"] == f"exchange is not a permutation of actions: move {lacking}"
    monkeypatch.setattr(type(game.rules), "exchange", lambda rules: (cells, cells[:2]))
    assert findings(game)["exchange"] == "exchange has actions of int32 [2], not int32 [9]"


def test_the_first_law_that_is_broken_is_raised(folder):
    write_file(folder / "my.py", NIM, (KEY, "state.left"))
    game = make_game("my.py:Nim")
    with pytest.raises(BadInput, match="^hash_key is equal, but .*, after [0-9 ]+ and after [0-9 ]+$"):
        check_laws(game, num_games=20, seed=0)
    check_laws(game, num_games=0, seed=0)


def test_random_games_are_those_of_their_seed():
    game = make_game("tic_tac_toe")
    one, same, other = (list(random_games(game, 20, seed)) for seed in (1, 1, 2))
    assert one == same != other and len({tuple(actions) for actions in one}) > 15
    assert all(game.state_from_moves(record_of(game, actions)).is_terminal() for actions in one)


KEY = "np.uint64(2 * state.left + (state.ply & 1))"


@pytest.mark.skipif(not IS_COMPILED, reason="both ways are the same")
def test_a_key_that_is_signed_when_compiled_is_told(folder):
    key = f"key = mix({KEY})\n        key += 1\n        return mix(key)"
    imports = ("import numpy as np", "import numpy as np; from azero.authoring import mix")
    write_file(folder / "my.py", NIM, imports, (f"return {KEY}", key))
    with pytest.raises(BadInput, match=r"in plain Python; compiled, np\.uint64 with a plain integer is signed"):
        check_laws(make_game("my.py:Nim"), num_games=1, seed=0)


def test_rules_that_raise_later_are_told_with_the_actions(folder):
    play = "        state.left -= action + 1\n"
    raising = f"        if state.ply == 19:\n            raise ValueError('oops,\\nindeed')\n{play}"
    write_file(folder / "my.py", NIM, (play, raising))
    with pytest.raises(BadInput, match=r"apply_action fails, line 27: ValueError: oops, indeed; actions so far: 0 0 0"):
        make_game("my.py:Nim").state_from_moves("0 " * 20)
