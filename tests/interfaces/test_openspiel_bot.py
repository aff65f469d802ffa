"""Tests of azero's agents as OpenSpiel's bots, and of OpenSpiel's search as an agent."""

import pyspiel
import pytest

import azero
from azero.errors import BadInput
from azero.games.openspiel.counterparts import Counterpart

PAIRS = [
    ("amazons(rows=6,columns=6)", "amazons(board_size=6)"),
    ("breakthrough(rows=6,columns=5)", "breakthrough(rows=6,columns=5)"),
    ("clobber(rows=5,columns=6)", "clobber"),
    ("connect_four", "connect_four"),
    ("gomoku(rows=7,columns=7)", "gomoku(size=7)"),
    ("hex(size=5,swap=true)", "hex(board_size=5,swap=True)"),
    ("openspiel:mancala", "mancala"),
    ("othello", "othello"),
    ("tic_tac_toe", "tic_tac_toe"),
]


@pytest.mark.parametrize(("name", "theirs"), PAIRS)
def test_bots_on_both_seats(name, theirs):
    agent = azero.make_agent("random", game=name, seed=1)
    bots = [azero.to_openspiel_bot(agent, player) for player in range(2)]
    position = pyspiel.load_game(theirs).new_initial_state()
    returns = pyspiel.evaluate_bots(position, bots, 0)
    assert position.is_terminal() and position.returns() == list(returns)
    counterpart, state = Counterpart(agent.game), agent.game.new_initial_state()
    replayed = counterpart.theirs.new_initial_state()
    for action in position.history():
        state.apply_action(counterpart.own_action(state, replayed, action))
        replayed.apply_action(action)
    assert state.is_terminal() and state.returns() == list(returns)
    assert counterpart.position(state).history() == position.history()


def test_a_strong_bot_beats_a_random_one():
    game = pyspiel.load_game("tic_tac_toe")
    strong = azero.make_agent("uct@200", game="tic_tac_toe")
    total = 0.0
    for number in range(10):
        seat = number % 2
        bots = [None, None]
        bots[seat] = azero.to_openspiel_bot(strong, seat)
        bots[1 - seat] = pyspiel.make_uniform_random_bot(1 - seat, number)
        total += pyspiel.evaluate_bots(game.new_initial_state(), bots, number)[seat]
    assert total >= 7


def test_a_policy_is_the_share_of_visits():
    agent = azero.make_agent("uct@100", game="connect_four")
    bot, position = azero.to_openspiel_bot(agent, 0), pyspiel.load_game("connect_four").new_initial_state()
    policy, action = bot.step_with_policy(position)
    visits = {move.action: move.visits for move in agent.suggest(agent.game.new_initial_state()).moves}
    assert dict(policy) == pytest.approx({each: count / 100 for each, count in visits.items()}, abs=0.02)
    assert action in dict(policy) and bot.provides_policy()


def test_a_bot_follows_any_position_of_its_game():
    bot, game = (
        azero.to_openspiel_bot(azero.make_agent("uct@50", game="tic_tac_toe"), 1),
        pyspiel.load_game("tic_tac_toe"),
    )
    for moves in ([0], [0, 4, 1], [8], [8, 0, 4, 2, 6]):
        position = game.new_initial_state()
        for action in moves:
            position.apply_action(action)
        assert bot.step(position) in position.legal_actions()
    assert bot.step(position) == 1  # it wins at once
    with pytest.raises(BadInput, match="it is the turn of 0"):
        bot.step(game.new_initial_state())
    with pytest.raises(BadInput, match="this bot plays tic_tac_toe.*, not connect_four"):
        bot.step(pyspiel.load_game("connect_four").new_initial_state())


@pytest.mark.parametrize(
    ("agent", "game", "player", "told"),
    [
        ("uct@10", "amazons(rows=7,columns=7)", 0, "OpenSpiel says: "),
        ("uct@10", "go(size=7)", 0, "OpenSpiel does not have go"),
        ("uct@10", "gomoku(rows=7,columns=8)", 0, "OpenSpiel does not have gomoku"),
        ("uct@10", "connect_four", 2, "player = 2 should be 0 or 1"),
        ("uct(resign=-0.9)@10", "connect_four", 0, "may resign, but OpenSpiel's bots cannot"),
    ],
)
def test_agents_that_cannot_be_bots(agent, game, player, told):
    with pytest.raises(BadInput, match=told):
        azero.to_openspiel_bot(azero.make_agent(agent, game=game), player)


def test_two_bots_of_one_agent_have_games_of_their_own():
    agent = azero.make_agent("random", game="tic_tac_toe")
    position = pyspiel.load_game("tic_tac_toe").new_initial_state()
    bots = [azero.to_openspiel_bot(agent, player) for player in range(2)]
    while not position.is_terminal():
        bot = bots[position.current_player()]
        position.apply_action(bot.step(position))
        assert bot._follower._agent.player.states[0].history() == position.history()[:-1]


def test_values_of_a_margin_are_within_1():
    agent = azero.make_agent("openspiel:mcts@2000", game="openspiel:dots_and_boxes(num_cols=1,utility_margin=true)")
    found = agent.suggest(agent.game.new_initial_state())
    assert -1 <= found.value <= 1


def test_openspiels_search_finds_and_proves_wins():
    for name, moves in (("connect_four", "4 1 4 1 4 1"), ("openspiel:connect_four", "x3 o0 x3 o0 x3 o0")):
        game = azero.make_game(name)
        found = azero.make_agent("openspiel:mcts@500", game=game).suggest(game.state_from_moves(moves))
        assert found.action == 3 and found.moves[0].proven == "win" and found.value == 1.0


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("openspiel:mcts@2s", "takes simulations, not seconds"),
        ("openspiel:uct@100", "OpenSpiel's search is openspiel:mcts"),
        ("openspiel:mcts(c=-1)@100", "c = -1 should be a number from 0"),
        ("openspiel:mcts(d=1)@100", "unknown option 'd'"),
    ],
)
def test_names_of_openspiels_search(name, told):
    with pytest.raises(BadInput, match=told):
        azero.make_agent(name, game="connect_four")
