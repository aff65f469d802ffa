"""Tests of pictures: positions checked by hand, laws in random games, and games of a user's."""

import json
import random

import pytest
from cases import long, thorough

from azero.games import State, make_game, registered_games, without_compiling
from azero.games.pictures.checking import check_picture, shared_clicks
from azero.games.pictures.picture import STYLES

GAMES = {
    "amazons": ["amazons", "amazons(size=4)", "amazons(rows=5,columns=7)"],
    "breakthrough": ["breakthrough", "breakthrough(rows=3,columns=2)", "breakthrough(rows=6,columns=10)"],
    "clobber": ["clobber", "clobber(size=2)", "clobber(rows=3,columns=10)"],
    "connect_four": ["connect_four", "connect_four(size=4)", "connect_four(rows=8,columns=5)"],
    "go": ["go(size=2,max_game_length=12)", "go(size=9,max_game_length=60)", "go(size=19,max_game_length=12)"],
    "gomoku": ["gomoku(rows=1,columns=19)", "gomoku(rows=7,columns=1)", "gomoku(rows=1,columns=1,k=1)", "gomoku"],
    "hex": ["hex(size=2,swap=true)", "hex(size=5,swap=true)", "hex(size=19)"],
    "othello": ["othello(size=4)", "othello", "othello(size=16)"],
    "p_game": [
        "p_game",
        "p_game(branching=1,depth=3)",
        "p_game(branching=21,depth=4)",
        "p_game(branching=1000,depth=2)",
    ],
    "tic_tac_toe": ["tic_tac_toe"],
}
"""Each game in several sizes."""


def sizes() -> list:
    """Returns all names of `GAMES`. The large boards take longer."""
    names = [name for names in GAMES.values() for name in names]
    large, largest = (
        [name for name in names if any(size in name for size in sizes)] for sizes in (("16", "1000"), ("19",))
    )
    return [*(name for name in names if name not in large + largest), *thorough(*large), *long(*largest)]


def picture_after(name: str, moves: str) -> dict:
    game = make_game(name)
    return game.picture(game.state_from_moves(moves)).to_json()


def cells_of(picture: dict, cells: list[int]) -> list[str]:
    return [picture["cells"][cell]["name"] for cell in cells]


def clicks(picture: dict) -> dict[str, list[str]]:
    """Returns the names of the cells of each legal move."""
    return {action["move"]: cells_of(picture, action["cells"]) for action in picture["actions"]}


def pieces(picture: dict) -> dict[str, tuple]:
    """Returns player and kind of the piece on each cell."""
    return {picture["cells"][each["cell"]]["name"]: (each["player"], each["kind"]) for each in picture["pieces"]}


def test_a_disc_of_connect_four_drops_onto_those_below():
    picture = picture_after("connect_four", "4 4 3")
    assert pieces(picture) == {"4, row 1": (0, "disc"), "4, row 2": (1, "disc"), "3, row 1": (0, "disc")}
    assert clicks(picture)["4"] == ["4, row 3"] and clicks(picture)["1"] == ["1, row 1"]
    assert cells_of(picture, picture["drops"][6]) == [f"7, row {row}" for row in range(1, 7)]
    assert [player["name"] for player in picture["players"]] == ["Red", "Yellow"]
    assert [label["text"] for label in picture["labels"]] == list("1234567")


def test_four_in_a_row_are_a_line_in_its_order():
    picture = picture_after("connect_four", "1 2 2 3 3 4 3 4 4 6 4")
    assert cells_of(picture, picture["winning"]) == ["4, row 4", "3, row 3", "2, row 2", "1, row 1"]
    assert picture["is_path"] and picture["actions"] == []


def test_two_rows_at_once_are_cells_and_not_a_line():
    picture = picture_after("tic_tac_toe", "a1 b1 c1 a2 c3 c2 a3 b3 b2")
    assert len(picture["winning"]) == 5 and not picture["is_path"]
    assert pieces(picture)["a1"] == (0, "cross") and pieces(picture)["b1"] == (1, "ring")


def test_a_chain_of_hex_is_a_line_and_its_sides_have_the_players_colours():
    picture = picture_after("hex(size=3)", "b1 a1 a2 c1 a3")
    assert cells_of(picture, picture["winning"]) == ["b1", "a2", "a3"] and picture["is_path"]
    assert [player["colour"] for player in picture["players"]] == ["orange", "blue"]
    top, bottom, left, right = picture["edges"]
    assert [edge["player"] for edge in picture["edges"]] == [0, 0, 1, 1]
    assert max(y for _, y in top["points"]) < 0.3 and min(y for _, y in bottom["points"]) > 2.5
    assert top["points"][0] == left["points"][0] and bottom["points"][-1] == right["points"][-1] == [3.5 + 0.5, 2.598]


def test_the_second_player_of_hex_may_press_a_button_to_swap():
    assert picture_after("hex(size=3,swap=true)", "")["buttons"] == []
    picture = picture_after("hex(size=3,swap=true)", "c1")
    assert picture["buttons"] == [{"action": 9, "label": "Swap", "key": "S", "move": "swap"}]
    assert clicks(picture)["swap"] == [] and "c1" not in clicks(picture)
    assert pieces(picture_after("hex(size=3,swap=true)", "c1 swap")) == {"a3": (1, "disc")}


def test_othello_has_a_button_only_for_a_pass_that_is_legal():
    assert picture_after("othello", "")["buttons"] == []
    assert pieces(picture_after("othello", ""))["d4"] == (1, "disc")
    forced = make_game("othello(size=4)").state_from_text("XO../XOO./XOO./X... O")
    assert [button["label"] for button in forced.game.picture(forced).to_json()["buttons"]] == ["Pass"]


def test_go_may_always_pass_and_has_star_points():
    picture = picture_after("go(size=9)", "e5 c3")
    assert picture["buttons"] == [{"action": 81, "label": "Pass", "key": "P", "move": "pass"}]
    assert pieces(picture) == {"e5": (0, "stone"), "c3": (1, "stone")}
    assert "j9" in clicks(picture) and "i9" not in clicks(picture) and "e5" not in clicks(picture)
    assert sorted(picture["dots"]) == [[2.5, 2.5], [2.5, 6.5], [4.5, 4.5], [6.5, 2.5], [6.5, 6.5]]
    assert len(picture_after("go(size=19)", "")["dots"]) == 9 and picture_after("go(size=4)", "")["dots"] == []


def test_a_pawn_of_breakthrough_goes_from_a_cell_to_a_cell_for_both_players():
    picture = picture_after("breakthrough(rows=4,columns=4)", "a1-b2 b4-a3")
    assert clicks(picture)["b2xa3"] == ["b2", "a3"] and clicks(picture)["c1-d2"] == ["c1", "d2"]
    assert pieces(picture)["a3"] == (1, "pawn") and pieces(picture)["b2"] == (0, "pawn")
    taken = picture_after("breakthrough(rows=4,columns=4)", "a1-b2 b4-a3 b2xa3")
    assert pieces(taken)["a3"] == (0, "pawn") and clicks(taken)["c4-b3"] == ["c4", "b3"]
    assert taken["steps"] == ["Pawn", "Goes to"] and taken["step"] == 0


def test_a_stone_of_clobber_takes_its_neighbour():
    picture = picture_after("clobber(size=2)", "")
    assert clicks(picture) == {"a1a2": ["a1", "a2"], "b2b1": ["b2", "b1"], "b2a2": ["b2", "a2"], "a1b1": ["a1", "b1"]}
    assert pieces(picture)["a1"] == (0, "stone") and picture["players"][0]["name"] == "White"


def test_a_turn_of_amazons_is_three_actions_of_one_cell_each():
    first, second, third = (picture_after("amazons", moves) for moves in ("", "d1", "d1 -d7"))
    assert [each["step"] for each in (first, second, third)] == [0, 1, 2]
    assert first["steps"] == ["Amazon", "Goes to", "Shoots at"]
    assert clicks(first) == {name: [name] for name in ("a4", "j4", "d1", "g1")}
    assert clicks(second)["-d7"] == ["d7"] and cells_of(second, second["begun"]) == ["d1"]
    assert clicks(third)["/g7"] == ["g7"] and cells_of(third, third["begun"]) == ["d1", "d7"]
    after = pieces(picture_after("amazons", "d1-d7/g7"))
    assert after["d7"] == (0, "queen") and after["g7"] == (None, "blocked") and "d1" not in after


def test_a_turn_of_amazons_can_begin_unknown():
    game = make_game("amazons")
    state = game.state_from_text("3O2O3/10/10/O8O/10/10/X8X/10/10/3X2X3 X d1-")
    assert cells_of(game.picture(state).to_json(), list(game.picture(state).begun)) == ["d1"]
    state.apply_action(game.text_to_action(state, "-d7"))
    assert cells_of(game.picture(state).to_json(), list(game.picture(state).begun)) == ["d7", "d7"]
    state = State.from_record(game, game.state_from_moves("d1 -d7").record)
    assert cells_of(game.picture(state).to_json(), list(game.picture(state).begun)) == ["d7", "d7"]


def test_a_p_game_shows_the_path_its_sum_and_the_next_branches():
    game = make_game("p_game(branching=2,depth=5,seed=1)")
    state = game.state_from_moves("1 0")
    picture = game.picture(state).to_json()
    assert clicks(picture) == {"0": ["0"], "1": ["1"]}
    assert cells_of(picture, [piece["cell"] for piece in picture["pieces"]]) == ["ply 0", "ply 1: 1", "ply 2: 0"]
    texts = [text["text"] for text in picture["texts"]]
    assert f"sum {int(state.final_score()):+d}" in texts
    assert {line.split()[1] for line in str(state).splitlines()[1:]} <= set(texts)
    assert {"0 1 0", "ply 1: 0"} <= {cell["name"] for cell in picture["cells"]}
    lonely = game.picture(State.from_record(game, state.record)).to_json()
    assert cells_of(lonely, [piece["cell"] for piece in lonely["pieces"]]) == ["ply 2"]


@pytest.mark.parametrize("name", sizes())
def test_every_action_of_random_games_is_cells_or_a_button(name):
    game, chooser = make_game(name), random.Random(0)
    state, plain = game.new_initial_state(), game.new_initial_state()
    shapes = set()
    while True:
        picture = game.picture(state)
        check_picture(picture, state.legal_actions(), name)
        assert list(picture.moves) == state.legal_actions() and shared_clicks(picture) == []
        assert set(picture.clicks) | {button.action for button in picture.buttons} == set(state.legal_actions())
        written = picture.to_json()
        shapes.add((written["style"], written["width"], written["height"]))
        assert picture.problem is None and json.loads(json.dumps(written)) == written
        with without_compiling(game.rules):
            assert plain.legal_actions() == state.legal_actions() and plain.returns() == state.returns()
            assert game.picture(plain).to_json() == written
            if state.is_terminal():
                break
            action = chooser.choice(state.legal_actions())
            plain.apply_action(action)
        state.apply_action(action)
    assert len(shapes) == 1, "the board stays as large as it is"
    assert shapes.pop()[0] in STYLES


def test_all_games_are_tested():
    assert GAMES.keys() == registered_games().keys()
