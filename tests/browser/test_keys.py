"""Tests of keys and focus in the page: what each game lists, what is typed at once, where a dialog begins."""

import json
import re

import pytest

from browser.hands import Hands

LINE = ["4", "4", "4", "4", "4", "3"]


@pytest.mark.slow
def test_a_hint_asked_twice_numbers_each_hole_of_its_line(open_page):
    page = open_page("#g=connect_four")
    best = {"move": "4", "action": 3, "pv": LINE}
    answer = json.dumps({"best": "4", "moves": [best]})
    page.route("**/suggestions", lambda route: route.fulfill(body=answer, content_type="application/json"))
    page.keyboard.press("h")
    page.locator(".mark").wait_for()
    page.keyboard.press("h")
    page.locator(".line-number").first.wait_for()
    places = page.locator(".line-number").evaluate_all(
        "all => all.map((each) => [each.textContent, each.getAttribute('x')])"
    )
    assert [number for number, _ in places] == ["1", "2", "3", "4", "5", "6"]
    assert len({x for _, x in places[:5]}) == 1 and places[5][1] != places[0][1]


def test_the_list_of_keys_has_those_of_the_game(open_page):
    listed = {}
    for game in "connect_four", "go(size=5)":
        page = open_page(f"#g={game}")
        page.keyboard.press("?")
        listed[game] = page.get_by_role("dialog", name="Keys").inner_text()
    assert "play the column" in listed["connect_four"] and "pass" not in listed["connect_four"]
    assert "swap sides" in listed["connect_four"] and "Shift S" not in listed["connect_four"]
    assert "pass" in listed["go(size=5)"] and "play the column" not in listed["go(size=5)"]


def test_after_a_click_on_the_board_arrows_step_and_after_tab_they_move_the_cursor(open_page):
    page = open_page("#g=connect_four")
    hands = Hands(page)
    hands.new_game()
    moves = hands.play_moves(2)["moves"]
    current, undo = page.locator("[role=log] [aria-current]"), page.get_by_role("button", name="Undo")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("document.querySelectorAll('[role=log] button')[0].ariaCurrent === 'step'")
    page.keyboard.press("Home")
    current.wait_for(state="detached")
    undo.click()
    page.get_by_role("button", name="Put them back").click()
    page.wait_for_timeout(300)
    assert hands.see()["moves"] == moves
    by_keys = Hands(page, by="keys")
    page.keyboard.press("End")
    current.wait_for()
    page.keyboard.press("Tab")
    by_keys.walk_to(10)
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.cell") is not None and current.count() == 1


def test_space_starts_and_stops_after_a_click_on_a_button(open_page):
    page = open_page("#v=analyse&g=tic_tac_toe&m=b2&a=uct@1000")
    page.get_by_role("table", name="Candidate moves").wait_for()
    start, compare = page.locator("button.start"), page.get_by_role("button", name="Compare")
    compare.click()
    page.get_by_role("button", name=re.compile("^Second agent")).wait_for()
    for word in ("Analyse", "Stop"):
        page.keyboard.press("Space")
        start.filter(has_text=word).wait_for()
        assert compare.get_attribute("aria-pressed") == "true"
    Hands(page).tab_to(compare)
    page.keyboard.press("Space")
    page.get_by_role("button", name=re.compile("^Second agent")).wait_for(state="detached")


def test_a_move_may_be_typed_at_once(open_page):
    page = open_page("#v=analyse&g=hex(size=5)")
    has_focus = """async () => {
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true }));
        for (let k = 0; k < 20; k++) await null; // no frame, so no other key
        return document.activeElement.getAttribute("aria-label");
    }"""
    assert page.evaluate(has_focus) == "Move"


@pytest.mark.slow
def test_a_dialog_begins_at_the_chosen_level(open_page):
    page = open_page("#g=connect_four")
    page.keyboard.press("n")
    page.get_by_role("dialog").wait_for()
    assert page.evaluate("document.activeElement.getAttribute('aria-checked')") == "true"
    assert page.evaluate("document.activeElement.textContent").endswith("Level 2, Novice")
