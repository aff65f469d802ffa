"""Tests of agents in play: one that answers whole turns, one that cannot move, and the clocks meanwhile."""

import json
import re

import pytest

from browser.hands import Hands
from browser.served import serving

AMAZONS = "#g=amazons(rows=4,columns=4)"


def new_game_of_two(page, clock=None, agents=False):
    """Begins a game of two people, or of two agents."""
    page.get_by_role("button", name="New game").click()
    dialog = page.get_by_role("dialog")
    if clock:
        dialog.get_by_role("radio", name=clock).click()
    if agents:
        dialog.get_by_role("button", name="Two agents").click()
        dialog.get_by_role("button", name="Start").click()
    else:
        dialog.get_by_role("button", name="Two people").click()
    dialog.wait_for(state="detached")


def clocks_of(page) -> list[str]:
    return page.get_by_role("timer").all_inner_texts()


@pytest.mark.slow
def test_an_agent_that_answers_whole_turns_plays_them(open_page):
    with serving("uct(root=turns)@20") as other:
        page = open_page(AMAZONS, at=other)
        hands = Hands(page)
        hands.new_game(agent="uct(root=turns)@20")
        state = hands.play_moves(2)
        assert [text.count("/") for text in state["moves"]] == [1, 1], "each turn ends with its arrow"
        assert page.get_by_text("not legal").count() == 0
        page.goto("about:blank")  # the page asks for nothing more


@pytest.mark.slow
def test_an_agent_whose_move_is_not_legal_is_asked_once(open_page):
    page = open_page("#g=tic_tac_toe")
    page.watch.allows |= {"status 422", "Failed to load resource"}
    asked = []

    def answer(route):
        asked.append(route)
        route.fulfill(json={"best": "z9", "moves": [{"move": "z9", "pv": ["z9"]}]})

    page.route("**/suggestions", answer)
    hands = Hands(page)
    hands.new_game(agent="uct@1000")
    hands.pick(hands.may_click()[0])
    page.get_by_text("The agent could not move").wait_for()
    page.wait_for_timeout(300)
    assert len(asked) == 1 and len(hands.see()["moves"]) == 1
    assert page.get_by_text("is not legal").count() == 0, "it is not the user's mistake"
    page.unroute("**/suggestions")
    page.get_by_role("button", name="Try again").click()
    hands.wait_for_turn()
    assert len(hands.see()["moves"]) == 2


def test_a_turn_of_several_actions_has_one_increment(open_page):
    page = open_page(AMAZONS)
    new_game_of_two(page, clock="1 min + 2 s")
    hands = Hands(page)
    for _ in range(6):
        state = hands.step(hands.wait_for_turn())
    assert len(state["moves"]) == 2
    assert all(text <= "1:02" for text in clocks_of(page))


@pytest.mark.slow
def test_clocks_stand_still_while_agents_do_not_play(open_page):
    page = open_page("#g=tic_tac_toe", has_clock=True)
    page.watch.allows |= {"status 500", "Failed to load resource"}
    held = []
    page.route("**/suggestions", lambda route: route.continue_() if not held.append(route) and len(held) < 2 else None)
    new_game_of_two(page, clock="1 min + 2 s", agents=True)
    while len(held) < 2:
        page.wait_for_timeout(20)
    page.get_by_role("button", name="Stop").click()
    before = clocks_of(page)
    page.clock.fast_forward(30_000)
    assert clocks_of(page) == before, "nobody may think"
    page.unroute("**/suggestions")
    error = json.dumps({"error": {"code": "internal", "message": "it fell over"}})
    page.route("**/suggestions", lambda route: route.fulfill(status=500, content_type="application/json", body=error))
    page.get_by_role("button", name="Go on").click()
    page.get_by_text("The agent could not move").wait_for()
    before = clocks_of(page)
    page.clock.fast_forward(90_000)
    page.wait_for_timeout(200)
    assert clocks_of(page) == before and page.get_by_text("ran out of time").count() == 0


@pytest.mark.slow
def test_a_finished_game_cannot_be_turned_round_and_its_record_says_how_it_ended(open_page):
    page = open_page("#g=tic_tac_toe")
    hands = Hands(page)
    page.get_by_role("button", name="New game").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Opponent").select_option(value="random")
    dialog.get_by_role("button", name="Start").click()
    dialog.wait_for(state="detached")
    hands.play_moves(2)
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    page.get_by_text("You lose").wait_for()
    assert page.get_by_role("button", name=re.compile("^Level ")).count() == 0, "the opponent had no level"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("x")
    page.keyboard.press("ArrowRight")
    assert page.get_by_text("You lose").count() == 1
    for name in ("Swap sides", "Resign"):
        assert page.get_by_role("button", name=name).is_disabled()
    page.get_by_role("button", name="Copy and save").click()
    page.get_by_role("menuitem", name="Save or load a record").click()
    with page.expect_download() as download:
        page.get_by_role("dialog").get_by_role("button", name="Save as text").click()
    text = download.value.path().read_text()
    assert '[Result "0-1"]' in text and '[Termination "resignation"]' in text
    page.get_by_role("button", name="Undo").click()
    hands.play_to_the_end()
    page.keyboard.press("ArrowLeft")
    assert page.get_by_role("button", name="Resign").is_disabled()
