"""Tests of OpenSpiel's games in azero: the bridge against OpenSpiel itself, and against azero's own rules."""

import pickle
import random
import sys
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyspiel
import pytest

import azero
from azero.compiler.jit import IS_COMPILED
from azero.errors import BadInput
from azero.games import compile_game, make_game
from azero.games.laws.laws import check_laws
from azero.games.openspiel import library, positions
from azero.games.openspiel.positions import OPENED
from azero.interfaces.web.offered.games import offered_game, sheet_of

PLAYABLE = [kind.short_name for kind in pyspiel.registered_games() if not library._lacks(pyspiel, kind)]
SHORT = "tic_tac_toe", "mancala", "nim", "ultimate_tic_tac_toe", "breakthrough", "antichess"
"""Games with few and many actions, with planes and without, and with spaces in their moves."""


def test_all_games_of_its_kind_are_there():
    assert len(PLAYABLE) == 31
    assert {"chess", "hive", "lines_of_action", "shogi", "twixt", "xiangqi", "y"} <= {*PLAYABLE}


def check_in_step(name: str, num_games: int, most_plies: int) -> None:
    game, their_game, chooser = make_game(f"openspiel:{name}"), pyspiel.load_game(name), random.Random(name)
    for _ in range(num_games):
        state, theirs = game.new_initial_state(), their_game.new_initial_state()
        while not theirs.is_terminal() and len(theirs.history()) < min(most_plies, game.max_plies):
            legal, player = theirs.legal_actions(), theirs.current_player()
            assert (state.legal_actions(), state.current_player()) == (legal, player)
            assert str(state) == str(theirs).rstrip("\n")
            action = chooser.choice(legal)
            text = game.action_to_text(state, action)
            assert text == "_".join(theirs.action_to_string(player, action).rstrip(";").split())
            assert game.text_to_action(state, text) == action
            tensor = np.array(theirs.observation_tensor(player), np.float32)
            planes = state.planes()
            assert planes[:-1].ravel().tolist() == tensor.tolist() and (planes[-1] == player).all()
            state.apply_action(action)
            theirs.apply_action(action)
        assert state.is_terminal() == (theirs.is_terminal() or len(theirs.history()) == game.max_plies)
        if theirs.is_terminal():
            assert [np.sign(each) for each in theirs.returns()] == state.returns()
            assert str(state) == str(theirs).rstrip("\n")


@pytest.mark.parametrize("name", SHORT)
def test_a_game_in_step_with_openspiel(name):
    check_in_step(name, num_games=3 if IS_COMPILED else 1, most_plies=60)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYABLE)
def test_games_in_step_with_openspiel(name):
    check_in_step(name, num_games=2, most_plies=5000)


@pytest.mark.long
@pytest.mark.parametrize("name", PLAYABLE)
def test_a_hundred_games_in_step_with_openspiel(name):
    check_in_step(name, num_games=100, most_plies=5000)


@pytest.mark.parametrize("name", ["openspiel:mancala", "openspiel:nim"])
def test_laws(name):
    check_laws(make_game(name), num_games=2, seed=1)


def judge(boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Looks up logits [R, 7] and values [R] of boards [R, 2, 6, 7], own stones first."""
    rngs = [np.random.default_rng(zlib.crc32(board.astype(np.uint8).tobytes())) for board in boards]
    return np.array([rng.normal(size=7) for rng in rngs], np.float32), np.array([rng.uniform(-1, 1) for rng in rngs])


def judge_theirs(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `judge`, from OpenSpiel's planes: those of player 0, from the bottom row up, and of the player to move."""
    boards = [each[[0, 1]] if each[-1, 0, 0] == 0 else each[[1, 0]] for each in planes]
    return judge(np.array(boards)[:, :, ::-1])


@pytest.mark.parametrize("moves", [[], [3, 3, 2, 4]])
def test_a_search_is_that_of_our_own_rules(moves):
    results = []
    for name, evaluate in (
        ("connect_four", lambda planes: judge(planes[:, :2])),
        ("openspiel:connect_four", judge_theirs),
    ):
        game = make_game(name)
        state = game.new_initial_state()
        for action in moves:
            state.apply_action(action)
        search = azero.Search(game, evaluate, 300 if IS_COMPILED else 20, settings={"cache_mib": 0})
        results.append(search.run([state], seed=3))
    own, bridged = results
    assert own.N.sum() > 10
    assert own.N.tolist() == bridged.N.tolist() and own.Q.tolist() == bridged.Q.tolist()


def test_a_long_game_is_cut_off_as_a_draw():
    game, chooser = make_game("openspiel:chinese_checkers(max_plies=6)"), random.Random(1)
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(chooser.choice(state.legal_actions()))
    assert len(state.history()) == 6 and state.returns() == [0, 0] and state.legal_actions() == []


def test_a_rollout_is_cut_off_as_well():
    game = make_game("openspiel:tic_tac_toe(max_plies=3)")
    assert azero.make_agent("uct@50", game=game).suggest(game.new_initial_state()).value == 0.0


def test_the_picture_is_openspiels_text():
    game = make_game("openspiel:nine_mens_morris")
    state = game.state_from_moves("Point_0 Point_3")
    picture, lines = game.picture(state), str(state).splitlines()
    rows = sorted({label.y for label in picture.texts})
    shown = ["".join(label.text for label in picture.texts if label.y == row) for row in rows]
    assert shown == [line.replace(" ", "") for line in lines if line.strip()]
    assert list(picture.moves) == state.legal_actions() and picture.problem is None


def test_a_page_can_offer_it():
    offered = offered_game(make_game("openspiel:hex(board_size=5)"))
    assert offered.id == "own:openspiel:hex(board_size=5)" and offered.parameters == {}
    assert sheet_of(offered.game)


def test_threads_that_open_games_at_once():
    names = [f"openspiel:nim(pile_sizes={a};{b})" for a in (1, 2) for b in (3, 4)] * 2
    with ThreadPoolExecutor(8) as threads:
        games = list(threads.map(make_game, names))
    assert [game.name for game in games] == names and games[:4] == games[4:]


def test_ctrl_c_during_a_question_is_told_later(monkeypatch):
    game, hits, told = make_game("openspiel:nim"), [], []
    answer, state = positions._found, game.new_initial_state()

    def interrupted(*question):
        hits.append(question)
        if len(hits) % 2:
            raise KeyboardInterrupt
        return answer(*question)

    monkeypatch.setattr(positions, "_found", interrupted)
    monkeypatch.setattr(positions._thread, "interrupt_main", lambda: told.append(1))
    again = azero.State.from_record(game, state.record)
    assert again.legal_actions() == state.legal_actions() and str(again) == str(state)
    if IS_COMPILED:
        time.sleep(0.2)
        assert len(hits) >= 6 and told


def test_an_error_of_openspiels_is_told(monkeypatch, capfd):
    game = make_game("openspiel:nim")
    state = game.new_initial_state()

    def fail(*question):
        raise RuntimeError("out of order")

    monkeypatch.setattr(positions, "_found", fail)
    if IS_COMPILED:
        with pytest.raises(BadInput, match="OpenSpiel has raised an error"):
            azero.State.from_record(game, state.record)
        assert "out of order" in capfd.readouterr().err


def test_a_forgotten_position_is_replayed(monkeypatch):
    game = make_game("openspiel:connect_four(rows=5)")
    compile_game(game)
    state = game.state_from_moves("x1 o2 x1")
    known = OPENED[game.rules.number]
    known._recent.clear()
    known._older.clear()
    copy = azero.State.from_record(game, state.record)
    assert str(copy) == str(state) and copy.legal_actions() == state.legal_actions()


def test_names_are_canonical_and_rules_can_be_sent():
    game = make_game(" openspiel:hex( board_size=11 ) ")
    assert game.name == "openspiel:hex" and game == make_game("openspiel:hex")
    other = make_game("openspiel:hex(swap=True,board_size=5,max_plies=30)")
    assert other.name == "openspiel:hex(board_size=5,swap=true,max_plies=30)" != game.name
    assert pickle.loads(pickle.dumps(other.rules)) == other.rules != game.rules
    assert game.planes_shape[1:] == (11, 11) and make_game("openspiel:gomoku").planes_shape == (4, 15, 15)
    assert make_game("openspiel:oware").planes_shape == (15, 1, 1)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("backgammon", "has chance"),
        ("dark_hex", "has hidden information"),
        ("goofspiel", "has simultaneous moves"),
        ("misere(game=tic_tac_toe())", "is made from another game"),
        ("chinese_checkers(players=3)", "has 3 players"),
        ("2048", "is for other numbers of players"),
        ("ches", "has no game 'ches'; did you mean 'chess'"),
        ("hex(bord_size=3)", "has no parameter 'bord_size'; did you mean 'board_size'"),
        ("hex(board_size=-3)", "board_size=-3 is out of range; it can be 0 to 999"),
        ("hex(board_size=five)", "board_size='five' should be an integer of at most 9 digits"),
        ("hex(board_size=999)", "azero plays games with 1 to 32,767 actions"),
        ("hex(board_size=99999)", "board_size=99999 is out of range; it can be 0 to 999"),
        ("gomoku(dims=16,size=1)", "dims=16 is out of range; it can be 0 to 3"),
        ("havannah(board_size=0)", "havannah(board_size=0) has "),
        ("checkers(rows=2,columns=2)", "has no move at its start"),
        ("hex(board_size=180)", "moves that are no text"),
        ("hex(board_size=3,board_size=4)", "board_size is given twice"),
        ("go(board_size=1)", "OpenSpiel says: unsupported board size"),
        ("chess(max_plies=0)", "max_plies=0 is out of range; it can be 1 to 4096"),
        ("chess(max_plies=5000)", "max_plies=5000 is out of range; it can be 1 to 4096"),
    ],
)
def test_games_that_azero_does_not_play(name, told, capfd):
    with pytest.raises(BadInput) as error:
        make_game(f"openspiel:{name}")
    assert told in str(error.value) and "\n" not in str(error.value)
    assert capfd.readouterr().err == ""  # OpenSpiel prints its errors


def test_without_openspiel(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    for make in (
        lambda: make_game("openspiel:y(board_size=4)"),
        lambda: azero.make_agent("openspiel:mcts", game="hex"),
    ):
        with pytest.raises(BadInput, match=r"needs OpenSpiel: pip install 'azero\[openspiel\]'"):
            make()


def test_an_older_openspiel(monkeypatch):
    monkeypatch.setattr(pyspiel, "__version__", "1.6.9")
    with pytest.raises(BadInput, match=r"needs OpenSpiel 2.0 or newer; 1.6.9 is installed"):
        make_game("openspiel:y(board_size=4)")
