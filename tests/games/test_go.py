"""Tests of Go: drawn captures, ko, seki and areas, numbers of positions, plain Go, OpenSpiel's games, rollouts."""

import json
import math
import random
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pytest
from cases import long, thorough

from azero.compiler.jit import IS_COMPILED, kernel
from azero.compiler.rng import RNG_DTYPE, new_rng
from azero.games import ONGOING, Game, State, make_game, new_states
from azero.games.laws.laws import check_laws
from azero.mcts.rollouts.playing import count_random_games

from .openspiel import stones
from .openspiel_go import check_random_go, check_recorded_go
from .plain_go import PlainGo

RULES = ["", "superko=false", "suicide=true", "superko=false,suicide=true"]
SUPERKO_CASES = json.loads((Path(__file__).parents[1] / "data" / "go_superko_cases.json").read_text())["cases"]


def make_go(size: int, parameters: str = "", komi: float = 0) -> Game:
    return make_game(f"go(size={size},komi={komi}{',' if parameters else ''}{parameters})")


def set_up(rows: list[str], to_move: str = "X", parameters: str = "") -> State:
    """Returns the position with these stones, played one by one. All must have liberties."""
    cells, size = "".join(rows), len(rows)
    black, white = ([cell for cell, text in enumerate(cells) if text == colour] for colour in "XO")
    moves = [cell for pair in zip_longest(black, white, fillvalue=size**2) for cell in pair]
    if to_move == "O":
        moves = moves[:-1] if len(black) > len(white) else [*moves, size**2]
    state = make_go(size, parameters).new_initial_state()
    for move in moves:
        state.apply_action(move)
    assert to_move == "XO"[state.current_player()] and board_of(state) == [row.replace("*", ".") for row in rows]
    return state


def board_of(state: State) -> list[str]:
    return [row.upper() for row in stones(str(state))]


def play(state: State, moves: str) -> State:
    for move in moves.split():
        state.apply_action(state.game.text_to_action(state, move))
    return state


def illegal_points(state: State) -> set[str]:
    """Returns the empty points on which the player must not play."""
    cells = "".join(board_of(state))
    illegal = {cell for cell, text in enumerate(cells) if text == "."} - set(state.legal_actions())
    return {state.game.action_to_text(state, cell) for cell in illegal}


CAPTURES = {
    "one in the middle": """
        .X..  .X..
        XO*.  X.X.
        .X..  .X..
        ....  ....""",
    "many along two edges": """
        OOOX  ...X
        OXX.  .XX.
        OX..  .X..
        *...  X...""",
    "four chains, from their midst": """
        ..X..  ..X..
        .XOX.  .X.X.
        XO*OX  X.X.X
        .XOX.  .X.X.
        ..X..  ..X..""",
    "a chain in the last point of the board": """
        OOO  ...
        O*O  .X.
        OOO  ...""",
    "just the chain without liberties": """
        XO*O  X.XO
        .X..  .X..
        ....  ....
        ....  ....""",
    "nothing, where a liberty is left": """
        OX..  OX..
        O*..  OX..
        ....  ....
        ....  ....""",
    "nothing of what is diagonal": """
        .X*.  .XX.
        XO..  XO..
        .X..  .X..
        ....  ....""",
}


@pytest.mark.parametrize("drawing", CAPTURES.values(), ids=CAPTURES.keys())
@pytest.mark.parametrize("to_move", "XO")
def test_drawn_captures(drawing, to_move):
    if to_move == "O":
        drawing = drawing.translate(str.maketrans("XO", "OX"))
    before, after = zip(*map(str.split, drawing.split("\n")[1:]), strict=True)
    state = set_up(before, to_move)
    state.apply_action("".join(before).index("*"))
    assert board_of(state) == list(after)


SNAPBACKS = {
    "of seven": (["O..OX", "OOOOX", "XXXXX", ".....", "....."], "b5 c5", "b5", [".X..X", "....X", "XXXXX"]),
    "of two, with a single liberty as in a ko": (
        ["..OX.", "OXX..", ".....", ".....", "....."],
        "a5 b5",
        "a5",
        ["X..X.", "OXX.."],
    ),
}


@pytest.mark.parametrize(("rows", "moves", "last", "after"), SNAPBACKS.values(), ids=SNAPBACKS.keys())
@pytest.mark.parametrize("parameters", RULES)
def test_snapback(rows, moves, last, after, parameters):
    """White takes the stone thrown in. It is not a ko, because Black then takes more than one stone."""
    state = play(set_up(rows, "X", parameters), moves)
    assert last not in illegal_points(state) and "".join(board_of(state)).count("X") == "".join(rows).count("X")
    assert board_of(play(state, last))[: len(after)] == after


@pytest.mark.parametrize("parameters", RULES)
def test_ko_may_not_be_retaken_at_once(parameters):
    suicide = {"a4"} if parameters != RULES[3] else set()
    state = play(set_up([".XO.", "XO.O", ".XO.", "...."], "X", parameters), "c3")
    assert board_of(state) == [".XO.", "X.XO", ".XO.", "...."] and illegal_points(state) == {"b3"} | suicide
    assert illegal_points(play(state, "a1 a2")) == suicide
    assert board_of(play(state, "b3")) == [".XO.", "XO.O", "XXO.", "O..."]


@pytest.mark.parametrize("case", SUPERKO_CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("parameters", RULES[:2])
def test_recorded_superko(case, parameters):
    """Superko forbids the listed points. Without it at most one of them is forbidden, by simple ko."""
    game = make_go(case["size"], parameters)
    state, plain, num_listed = game.new_initial_state(), PlainGo(game.rules), 0
    setup = [[text for colour, text in case["setup"] if colour == each] for each in "BW"]
    setup = [["BW"[k], text] for pair in zip_longest(*setup, fillvalue="pass") for k, text in enumerate(pair)]
    for step in [{"play": move} for move in setup] + case["steps"]:
        if "play" in step:
            colour, text = step["play"]
            assert colour == "BW"[state.current_player()]
            play(state, text)
            plain.play(state.history()[-1])
            continue
        listed = {text.lower() for text in step["illegal_by_positional_superko"]}
        suicides = {game.action_to_text(state, each) for each in plain.empty_points() if each not in plain.put(each)}
        illegal = illegal_points(state) - suicides
        assert illegal == listed if game.rules.superko else illegal <= listed and len(illegal) <= 1
        num_listed += len(listed)
    assert num_listed >= 2


AREAS = {
    "an empty board is nobody's": (["...", "...", "..."], 0, 0),
    "one stone has all": (["...", "...", ".X."], 9, 0),
    "what both reach is nobody's": (["X..", "...", "..O"], 1, 1),
    "walls with a neutral line between": ([".X.O.", ".X.O.", ".X.O.", ".X.O.", ".X.O."], 10, 10),
    "eyes, and a neutral point": ([".X.O.", "XXOOO", "XXOOO", "XXOOO", "XXOOO"], 10, 14),
    "full but for one point of both": (["XXO", "X.O", "OOO"], 3, 5),
    "full but for one eye": (["OOO", "O.O", "OOO"], 0, 9),
    "stones that are as good as dead count as they stand": (["O..X", "..XX", "XXX.", "...."], 11, 1),
    "a ring within a ring": (
        ["OOOOOOO", "O.....O", "O.XXX.O", "O.X.X.O", "O.XXX.O", "O.....O", "OOOOOOO"],
        9,
        24,
    ),
    "a long way round, all black": ([".....", "XXXX.", ".....", ".XXXX", "....."], 25, 0),
    "a long way round to a white stone": ([".....", "XXXX.", ".....", ".XXXX", "....O"], 8, 1),
    "a long way back to a white stone": (["O....", "XXXX.", ".....", ".XXXX", "....."], 8, 1),
}


@pytest.mark.parametrize(("rows", "black", "white"), AREAS.values(), ids=AREAS.keys())
def test_drawn_areas(rows, black, white):
    """A player's area is their stones, and the empty points that reach only their stones."""
    for to_move in "XO":
        state = set_up(rows, to_move)
        assert state.final_score() == black - white and board_of(state) == rows
        owners = state.ownership()
        assert [(owners == each).sum() for each in (1, -1)] == [black, white]
        assert all(owners.flat[k] == {"X": 1, "O": -1}[text] for k, text in enumerate("".join(rows)) if text != ".")
        colours_swapped = [row.translate(str.maketrans("XO", "OX")) for row in rows]
        assert set_up(colours_swapped, to_move).final_score() == white - black


@pytest.mark.parametrize(
    ("moves", "rows"),
    [
        ("c5 a5", ["O..O.", "..OOO", "..OOO", "..OOO", "..OOO"]),
        ("pass c5 e5", [".X..X", "XX...", "XX...", "XX...", "XX..."]),
    ],
)
def test_seki(moves, rows):
    """A player who fills the shared liberty is captured. Otherwise both chains live, and the liberty is neutral."""
    seki = [".X.O.", "XXOOO", "XXOOO", "XXOOO", "XXOOO"]
    assert board_of(play(set_up(seki), moves)) == rows
    state = play(set_up(seki), "pass pass")
    assert state.is_terminal() and state.final_score() == -4 and state.returns() == [-1, 1]


SUICIDES = {
    "of one in the corner": (["*X..", "X...", "....", "...."], [".X..", "X...", "....", "...."]),
    "of one in the middle": ([".X..", "X*X.", ".X..", "...."], [".X..", "X.X.", ".X..", "...."]),
    "of two": (["O*X.", "XX..", "....", "...."], ["..X.", "XX..", "....", "...."]),
    "of two chains and the stone between": (["O*OX", "XXX.", "....", "...."], ["...X", "XXX.", "....", "...."]),
    "of many round their last eye": (["OOX.", "O*X.", "OOX.", "XXX."], ["..X.", "..X.", "..X.", "XXX."]),
}


@pytest.mark.parametrize(("before", "after"), SUICIDES.values(), ids=SUICIDES.keys())
@pytest.mark.parametrize("parameters", RULES)
def test_drawn_suicides(before, after, parameters):
    """Suicide is legal only with `suicide`. Suicide of a single stone repeats the board, which superko forbids."""
    state = set_up(before, "O", parameters)
    point = "".join(before).index("*")
    is_allowed = state.game.rules.suicide and ("O" in "".join(before) or not state.game.rules.superko)
    assert (point in state.legal_actions()) == is_allowed
    if is_allowed:
        state.apply_action(point)
        assert board_of(state) == after and state.current_player() == 0 and not state.is_terminal()


@pytest.mark.parametrize(("moves", "result"), [("pass pass", 0), ("a1 pass pass", 1), ("pass a1 pass", None)])
def test_two_passes_in_a_row_end_the_game(moves, result):
    state = play(make_go(5).new_initial_state(), moves)
    assert state.is_terminal() == (result is not None) and state.returns()[0] == (result or 0)


@pytest.mark.parametrize(
    ("length", "moves", "score"), [(1, "b2", 8.5), (3, "b2 pass a1", 8.5), (4, "b2 a1 c1 a2", -0.5)]
)
def test_the_last_ply_ends_the_game_as_the_board_stands(length, moves, score):
    state = make_go(3, f"max_game_length={length}", komi=0.5).new_initial_state()
    for move in moves.split():
        assert not state.is_terminal()
        play(state, move)
    assert state.is_terminal() and state.game.max_plies == length
    assert state.final_score() == score and state.returns()[0] == (1 if score > 0 else -1)


def test_the_last_ply_is_three_times_the_points_unless_said():
    assert [make_go(size).max_plies for size in (2, 9, 19)] == [12, 243, 1083]


@pytest.mark.parametrize(("komi", "result"), [(0, 1), (8.5, 1), (8.999, 1), (9, 0), (-9, 1)])
def test_komi_is_taken_from_what_black_leads_by(komi, result):
    state = play(make_go(3, komi=komi).new_initial_state(), "b2 pass pass")
    assert state.is_terminal() and state.returns() == [result, 0 - result] and state.final_score() == 9 - komi
    state = play(make_go(3, komi=-komi).new_initial_state(), "pass b2 pass pass")
    assert state.is_terminal() and state.returns() == [0 - result, result] and state.final_score() == komi - 9


@kernel
def _set_up_board(game, state, board):
    """Plays the stones of a board, with passes in between. A board is a number with one base 3 digit per point."""
    game.reset(state)
    action = 0
    while board > 0:
        if board % 3:
            if game.current_player(state) != board % 3 - 1:
                game.apply_action(state, game.size * game.size)
            game.apply_action(state, action)
        action += 1
        board //= 3


@kernel
def _spread(game, states, legal, planes, is_known, boards):
    """Walks from the empty board by every move of both colours; returns the number of boards.

    Args:
      states, legal, planes: scratch memory, [2], [A] and [C, H, W].
      is_known: [3 ** points] bool zeros, by board.
      boards: [N] int32 zeros; receives the boards in the order of the walk.
    """
    num_boards = 1
    is_known[0] = True
    k = 0
    while k < num_boards:
        _set_up_board(game, states[0], boards[k])
        for _ in range(2):
            num_legal = game.legal_actions(states[0], legal)
            for action in legal[: num_legal - 1]:
                states[1] = states[0]
                game.apply_action(states[1], action)
                game.encode(states[1], planes)
                player = game.current_player(states[1])
                board = 0
                for cell in range(game.size * game.size - 1, -1, -1):
                    row, column = cell // game.size, cell % game.size
                    board = 3 * board + int(planes[player, row, column]) + 2 * int(planes[1 - player, row, column])
                if not is_known[board]:
                    is_known[board] = True
                    boards[num_boards] = board
                    num_boards += 1
            game.apply_action(states[0], game.size * game.size)
        k += 1
    return num_boards


def count_boards(game: Game, most: int) -> int:
    """Returns the number of boards that can be reached, which is at most `most`."""
    points, (legal, planes) = game.num_actions - 1, (np.zeros(game.num_actions, np.int32), np.zeros(game.planes_shape))
    is_known, boards = np.zeros(3**points, bool), np.zeros(most + 1, np.int32)
    return _spread(game.rules, new_states(game.rules, 2), legal, planes.astype(np.float32), is_known, boards)


@pytest.mark.parametrize(("size", "number"), [(2, 57), (3, 12_675)])
@pytest.mark.parametrize("parameters", RULES)
def test_number_of_positions(size, number, parameters):
    """The reachable boards are exactly those in which every chain has a liberty."""
    if size == 3 and not IS_COMPILED:
        pytest.skip("a quarter of a million moves")
    assert count_boards(make_go(size, parameters), 3 ** (size**2)) == number


@pytest.mark.long
@pytest.mark.skipif(not IS_COMPILED, reason="half a thousand million moves")
def test_number_of_positions_on_4x4():
    assert count_boards(make_go(4, RULES[1]), 3**16) == 24_318_165


@pytest.mark.parametrize("size", range(2, 8))
@pytest.mark.parametrize("parameters", RULES)
def test_random_games_in_step_with_plain_go(size, parameters):
    """Passes are rare, and games on small boards are long, so that boards repeat or superko prevents it."""
    length = f"max_game_length={100 if size < 5 else 0}"
    game, chooser = make_go(size, f"{parameters},{length}".strip(","), komi=0.5), random.Random(size)
    for _ in range((0, 0, 20, 10, 5, 3, 2, 1)[size] if IS_COMPILED else 1):
        state, plain = game.new_initial_state(), PlainGo(game.rules)
        while not state.is_terminal():
            legal = state.legal_actions()
            assert (plain.is_over(), state.current_player(), legal) == (False, plain.player, plain.legal_actions())
            assert board_of(state) == draw_rows(plain) and state.final_score() == plain.area_lead() - 0.5
            action = chooser.choice(legal[:-1] if len(legal) > 1 and chooser.random() < 0.95 else legal)
            state.apply_action(action)
            plain.play(action)
        assert plain.is_over() and board_of(state) == draw_rows(plain)
        assert state.final_score() == plain.area_lead() - 0.5 == abs(state.final_score()) * state.returns()[0]


def draw_rows(plain: PlainGo) -> list[str]:
    size = plain.rules.size
    cells = ["XO."[plain.board.get(cell, 2)] for cell in range(size**2)]
    return ["".join(cells[row * size :][:size]) for row in range(size)]


@pytest.mark.thorough
@pytest.mark.parametrize(("size", "komi"), [(5, 0.5), (9, 7.5)])
def test_recorded_openspiel_games(size, komi):
    num_games = None if IS_COMPILED else 2
    assert check_recorded_go(size, komi, num_games) == (1 if size == 5 and IS_COMPILED else 0)


@pytest.mark.parametrize(("size", "num_games", "num_repeated"), [(3, 100, 3), (5, 15, 0), (9, 1, 0)])
def test_random_games_in_step_with_openspiel(size, num_games, num_repeated):
    assert check_random_go(size, komi=0.5, num_games=num_games, seed=size) >= num_repeated


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "num_games"),
    [
        (2, 1000),
        (3, 300),
        (9, 30),
        *long((3, 1000), (5, 1000), (9, 100), (13, 20), (19, 5)),
    ],
)
def test_many_random_games_in_step_with_openspiel(size, num_games):
    check_random_go(size, komi=0.5, num_games=num_games, seed=100 + size)


@kernel
def _count_choices(game, record, states, legal, rng, counts, num_draws):
    """Adds to `counts`, [A] int64, how often rollouts choose each action in the position `record`."""
    for _ in range(num_draws):
        states[0] = record
        counts[game.rollout_action(states[0], legal, rng)] += 1


def count_choices(game: Game, state: State, num_draws: int) -> np.ndarray:
    legal, counts = np.zeros(game.num_actions, np.int32), np.zeros(game.num_actions, np.int64)
    rng = new_rng(0)
    _count_choices(game.rules, state.record, new_states(game.rules, 1), legal, rng, counts, num_draws)
    return counts


def test_random_games_choose_uniformly_but_no_eye_no_ko_and_no_suicide():
    """White moves. b4 is the ko, a5 is suicide, e4 and e1 are eyes; d5 and d3 are not, because of their diagonals."""
    state = play(set_up([".XO.O", "XO.O.", ".XO.O", "..XOO", "..XO."], "X", RULES[1]), "c4")
    assert board_of(state) == [".XO.O", "X.XO.", ".XO.O", "..XOO", "..XO."] and state.current_player() == 1
    allowed = [state.game.text_to_action(state, each) for each in ("d5", "a3", "d3", "a2", "b2", "a1", "b1")]
    num_draws = 70_000 if IS_COMPILED else 1_400
    counts = count_choices(state.game, state, num_draws)
    assert np.flatnonzero(counts).tolist() == sorted(allowed)
    mean, freedom = num_draws / len(allowed), len(allowed) - 1
    assert np.sum((counts[allowed] - mean) ** 2 / mean) < freedom + 4 * math.sqrt(2 * freedom)


@pytest.mark.parametrize(("size", "num_games"), [(2, 10), (3, 10), (5, 3), (9, 1)])
def test_random_games_follow_their_specification(size, num_games):
    """At every ply, with any rules: superko is ignored, and suicide is never chosen."""
    game, *others = (make_go(size, parameters) for parameters in (RULES[1], RULES[0], RULES[2], RULES[3]))
    chooser = random.Random(size)
    for _ in range(num_games if IS_COMPILED else 1):
        state, plain = game.new_initial_state(), PlainGo(game.rules)
        while not state.is_terminal():
            allowed = plain.rollout_actions()
            assert set(allowed) <= set(state.legal_actions())
            counts = count_choices(game, state, 30 * len(allowed) if IS_COMPILED else 1)
            chosen = set(np.flatnonzero(counts).tolist())
            assert chosen == set(allowed) if IS_COMPILED else chosen <= set(allowed)
            for other in others:
                assert np.array_equal(count_choices(other, state, counts.sum()), counts)
            action = chooser.choice(allowed)
            state.apply_action(action)
            plain.play(action)


@kernel
def _count_differences(game, record, states, legal, rngs, max_plies, num_games):
    """Returns in how many games from `record` the end by `rollout` differs from that by `rollout_action` alone."""
    count = 0
    for _ in range(num_games):
        states[0] = record
        states[1] = record
        outcome = game.rollout(states[0], legal, rngs[0], max_plies)
        while game.outcome(states[1]) == ONGOING:
            game.apply_action(states[1], np.int64(game.rollout_action(states[1], legal, rngs[1])))
        is_same = outcome == game.outcome(states[1]) and rngs[0].counter == rngs[1].counter
        count += not (is_same and game.final_score(states[0]) == game.final_score(states[1]))
    return count


@pytest.mark.parametrize(("size", "parameters"), [(2, ""), (5, "suicide=true"), (9, "superko=false"), (9, "")])
@pytest.mark.parametrize("length", [40, 0] if IS_COMPILED else [40])
def test_rollouts_are_random_games_by_a_shorter_way(size, parameters, length):
    """Every draw is equal, from any position: after a ko or a pass, shortly before the last ply, at the end."""
    game, chooser = make_go(size, f"{parameters},max_game_length={length}".strip(","), komi=0.5), random.Random(size)
    rngs, legal = np.zeros(2, RNG_DTYPE).view(np.recarray), np.zeros(game.num_actions, np.int32)
    state, num_games = game.new_initial_state(), 20 if IS_COMPILED else 1
    while True:
        record, states = state.record, new_states(game.rules, 2)
        assert _count_differences(game.rules, record, states, legal, rngs, game.max_plies, num_games) == 0
        if state.is_terminal():
            break
        state.apply_action(chooser.choice(state.legal_actions()))


def play_random_games(komi: float, num_games: int) -> tuple[float, float]:
    """Returns the mean number of plies, and Black's score, in which a draw counts half."""
    game = make_go(9, komi=komi)
    rng, legal = new_rng(0), np.zeros(game.num_actions, np.int32)
    state, actions = new_states(game.rules, 1)[0], np.zeros(game.max_plies + 1, np.int32)
    played = np.zeros(1, np.int64)
    plies, wins, draws = count_random_games(game.rules, state, legal, rng, actions, played, num_games)
    return plies / num_games, (wins + draws / 2) / num_games


SHARES = [(0, 0.524478), (5.5, 0.445677), (7.0, 0.4333795), (7.5, 0.421281)]


@pytest.mark.parametrize(("komi", "share"), SHARES)
@pytest.mark.parametrize("num_games", [20_000 if IS_COMPILED else 10, pytest.param(500_000, marks=pytest.mark.long)])
def test_random_games_on_9x9(komi, share, num_games):
    """Figures of others from 1,000,000 games, within four standard errors. Plies have a deviation of 16."""
    if num_games == 500_000 and not IS_COMPILED:
        pytest.skip("half a million games")
    mean_plies, found = play_random_games(komi, num_games)
    assert 111.03 - 4 * 16 / math.sqrt(num_games) < mean_plies < 111.07 + 4 * 16 / math.sqrt(num_games)
    assert abs(found - share) < 4 * 0.5 * math.sqrt(1 / num_games + 1e-6)


def test_planes_are_both_colours_empty_points_ko_blacks_turn_and_a_pass():
    state = play(set_up([".XO.", "XO.O", ".XO.", "...."]), "c3")
    white = [[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]]
    black = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    empty = [[1, 0, 0, 1], [0, 1, 0, 0], [1, 0, 0, 1], [1, 1, 1, 1]]
    ko = [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    none, all_points = np.zeros((4, 4)).tolist(), np.ones((4, 4)).tolist()
    assert state.planes().tolist() == [white, black, empty, ko, none, none]
    assert play(state, "pass").planes().tolist() == [black, white, empty, none, all_points, all_points]


def test_keys_tell_board_turn_passes_and_ko_apart():
    def key_of(moves: str, rows: tuple[str, ...] = ("....",) * 4) -> int:
        return play(set_up(list(rows)), moves).hash_key()

    assert key_of("a1 b2 c3") == key_of("c3 b2 a1")
    assert len({key_of(moves) for moves in ("a1", "a1 pass", "a1 pass pass", "pass a1", "a2")}) == 5
    ko = (".XO..", "XO.O.", ".XO..", ".....", ".....")
    assert key_of("e1 a1 c4", ko) != key_of("c4 a1 e1", ko)


def test_a_key_tells_whether_the_ply_limit_has_ended_the_game():
    keys = [make_go(2, f"max_game_length={length}").state_from_moves("a1 b1").hash_key() for length in (2, 3)]
    assert keys[0] != keys[1]


def test_moves_are_written_as_in_gtp():
    game = make_go(9)
    state = game.new_initial_state()
    assert [game.action_to_text(state, action) for action in (0, 7, 8, 72, 79, 80, 81)] == [
        "a9", "h9", "j9", "a1", "h1", "j1", "pass",
    ]  # fmt: skip
    assert game.text_to_action(state, "J1") == 80 and game.text_to_action(state, "Pass") == 81
    assert game.rules.split_moves("d4e5, PASS;j9\npass") == ["d4", "e5", "PASS", "j9", "pass"]


def test_marks_stand_at_their_points():
    state = play(make_go(3).new_initial_state(), "a1 c3")
    assert state.draw({4: "12", 9: "7"}) == "3  .  .  O\n2  . 12  .\n1  X  .  .\n   a  b  c"


@pytest.mark.parametrize(
    ("size", "parameters", "num_games"),
    [(2, "", 10), (3, "superko=false,suicide=true", 5), (4, "max_game_length=7", 5), *thorough((5, "suicide=true", 3))],
)
def test_laws(size, parameters, num_games):
    check_laws(make_go(size, parameters, komi=0.5), num_games if IS_COMPILED else 1, seed=size)


@pytest.mark.thorough
@pytest.mark.parametrize(("size", "length"), [(9, 0), pytest.param(19, 40, marks=pytest.mark.long)])
def test_laws_on_large_boards(size, length):
    check_laws(make_go(size, f"max_game_length={length if IS_COMPILED else 3}"), num_games=1, seed=size)
