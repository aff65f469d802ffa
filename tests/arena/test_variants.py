"""Tests of azero's games as Fairy-Stockfish's variants: moves there and back, positions, and a real engine's moves."""

import os
import random
import re
import shutil

import pytest

from azero.arena.agents.engines.variants import Variant, turns_beginning
from azero.arena.agents.make import make_agent
from azero.arena.matches.match import play_match
from azero.errors import BadInput
from azero.games import make_game

GAMES = [
    *("breakthrough(rows=5,columns=4)", "breakthrough(rows=10,columns=3)", "clobber(rows=3,columns=4)"),
    *("connect_four(rows=4,columns=5)", "gomoku(rows=4,columns=10,k=4)", "othello(size=4)", "othello(size=6)"),
    *("tic_tac_toe", "amazons(rows=4,columns=5)"),
]


ENGINE = os.environ.get("FAIRY_STOCKFISH") or shutil.which("fairy-stockfish", path=f"{os.environ['PATH']}:/usr/games")
"""Debian's engine knows some of the games. A build with large boards and all variants knows all."""


def turns_of_games(game, notation, num_games):
    """Yields the positions of random games in which a turn begins."""
    rng = random.Random(1)
    for _ in range(num_games):
        state = game.new_initial_state()
        while not state.is_terminal():
            if not notation.turn_of(state)[1]:
                yield state
            state.apply_action(rng.choice(state.legal_actions()))


@pytest.mark.parametrize("name", GAMES)
def test_every_move_survives_the_round_trip(name):
    game = make_game(name)
    notation, num_turns = Variant(game).notation, 0
    for state in turns_of_games(game, notation, 3):
        turns = turns_beginning(state, [])
        texts = notation.write(state, turns)
        assert len(set(texts)) == len(turns)
        for turn, text in list(zip(turns, texts, strict=True))[:: 1 + len(turns) // 40]:
            assert notation.read(state, text) == turn
            num_turns += 1
    assert num_turns > 50


@pytest.mark.parametrize(
    ("name", "moves", "turn", "text"),
    [
        ("breakthrough", "a2-a3 h7-h6", "b2-c3", "b2c3"),
        ("clobber", "", "a7a8", "a7a8"),
        ("connect_four", "4 4 1", "4", "P@d3"),
        ("gomoku(rows=10,columns=12)", "a1", "l10", "P@l10"),
        ("othello", "", "d3", "P@d3"),
        ("tic_tac_toe", "", "a1", "P@a1"),
        ("amazons", "", "d1-d7/g7", "d1d7,d7g7"),
    ],
)
def test_moves_are_written_as_fairy_stockfish_does(name, moves, turn, text):
    game = make_game(name)
    state, notation = game.state_from_moves(moves), Variant(game).notation
    made = len(state.history())
    actions = game.state_from_moves(turn, start=state).history()[made:]
    assert notation.write(state, [actions]) == [text] and notation.read(state, text) == actions


def test_a_pass_is_a_step_to_the_same_cell():
    game = make_game("othello(size=4)")
    state, notation = game.state_from_moves("c4 b4 a3 d2 a4"), Variant(game).notation
    assert [notation.read(state, text) for text in ("b1b1", "0000")] == [[16], [16]]
    with pytest.raises(BadInput, match="'pass' is not legal here"):
        notation.read(game.new_initial_state(), "b1b1")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("breakthrough", "a2a4"),
        ("breakthrough", "0000"),
        ("breakthrough", "a2b3q"),
        ("connect_four", "P@d2"),
        ("connect_four", "P@h1"),
        ("othello", "d3"),
        ("othello", "P@a1"),
        ("amazons", "d1d7,d1g7"),
        ("amazons", "d1d7"),
        ("clobber", "a٨a7"),
    ],
)
def test_what_is_no_move_is_refused(name, text):
    game = make_game(name)
    with pytest.raises(BadInput, match=re.escape(repr(text)) if "d1d7,d1" in text or "@d2" in text else "not"):
        Variant(game).notation.read(game.new_initial_state(), text)


@pytest.mark.parametrize(
    ("name", "moves", "fen"),
    [
        ("breakthrough(rows=4,columns=3)", "a1-a2", "ppp/3/P2/1PP b - - 0 1"),
        ("clobber(rows=2,columns=3)", "", "pPp/PpP w - - 0 1"),
        ("connect_four(rows=4,columns=4)", "1 2", "4/4/4/Pp2[PPPPPPPPPPPPPPpppppppppppppp] w - - 0 1"),
        ("othello(size=4)", "b1", "4/1Pp1/1PP1/1P2[PPPPPPPPPPPppppppppppp] b - - 0 1"),
        ("tic_tac_toe", "a1 b1", "3/3/Pp1[PPPPPPPppppppp] w - - 0 1"),
        ("amazons(rows=4,columns=5)", "a2-b2/a2", None),
    ],
)
def test_positions_are_fen(name, moves, fen):
    game = make_game(name)
    state = game.state_from_moves(moves)
    if fen is None:
        fen = Variant(game).fen(state)
        assert fen.split()[0].count("*") == 1 and fen.split()[0].upper().count("Q") == 8 and fen.split()[1] == "b"
    assert Variant(game).fen(state) == fen


def test_the_rest_of_a_turn_needs_the_moves_before_it():
    game = make_game("amazons(rows=4,columns=5)")
    notation, start = Variant(game).notation, game.new_initial_state()
    first = start.legal_actions()[0]
    start.apply_action(first)
    begin, made = notation.turn_of(start)
    assert begin == game.new_initial_state() and made == [first]
    assert all(turn[0] == first for turn in turns_beginning(begin, made))
    with pytest.raises(BadInput, match="whole turns"):
        notation.turn_of(game.state_from_text(start.to_text()))


def test_a_definition_has_the_size_and_the_start_of_the_game():
    text = Variant(make_game("breakthrough(rows=5,columns=4)")).ini()
    assert text.startswith("[azero_breakthrough:breakthrough]\nmaxRank = 5\nmaxFile = 4\nstartFen = pppp/4/4/4/PPPP w")
    assert "whiteFlag = *5\nblackFlag = *1\n" in text


def fairy_stockfish(base, game):
    """Returns the engine as an agent; skips the test if it does not know the game."""
    agent = make_agent(f"{base}:{ENGINE}", game)
    try:
        agent.begin_game()
    except BadInput as error:
        agent.close()
        pytest.skip(str(error))
    return agent


@pytest.mark.skipif(ENGINE is None, reason="there is no Fairy-Stockfish here")
@pytest.mark.slow
@pytest.mark.parametrize("name", [*GAMES, "breakthrough", "othello", "clobber", "connect_four"])
def test_fairy_stockfish_finds_the_same_moves(name):
    game = make_game(name)
    agent, variant = fairy_stockfish("uci", game), Variant(game)
    for state in turns_of_games(game, variant.notation, 5):
        lines: list[str] = []
        agent.send(f"position fen {variant.fen(state)}")
        agent.ask("go perft 1", "Nodes", lines.append)
        turns = [variant.notation.read(state, line.partition(":")[0]) for line in lines if line]
        assert sorted(turns) == sorted(turns_beginning(state, []))
    agent.close()


@pytest.mark.skipif(ENGINE is None, reason="there is no Fairy-Stockfish here")
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in GAMES if not name.startswith("othello")])
def test_fairy_stockfish_wins_where_one_move_wins(name):
    game, wins = make_game(name), 0
    agent = fairy_stockfish("uci(nodes=1000)", game)
    for state in turns_of_games(game, agent._variant.notation, 10):
        if not any(returns_after(state, turn)[state.current_player()] == 1 for turn in turns_beginning(state, [])):
            continue
        wins += 1
        suggestion = agent.suggest(state)
        assert suggestion.value == 1.0 and returns_after(state, suggestion.actions)[state.current_player()] == 1
    assert wins > 3
    agent.close()


def returns_after(state, actions):
    """Returns the results of the two players after these actions: zeros if the game goes on."""
    reached = state.clone()
    for action in actions:
        reached.apply_action(action)
    return reached.returns()


@pytest.mark.skipif(ENGINE is None, reason="there is no Fairy-Stockfish here")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["breakthrough", "othello", "amazons(rows=6,columns=6)"])
def test_fairy_stockfish_plays_a_match(name):
    game = make_game(name)
    agent = fairy_stockfish("uci(nodes=200)", game)
    match = play_match(make_agent("random", game), agent, game, 4, seed=1)
    assert match.tally.losses == 4
    agent.close()
