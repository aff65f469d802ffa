"""Tests of keys and focus in the page: what each game lists, what is typed at once, where a dialog begins."""

import json

import pytest

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
    for game in "connect_four", "hex(size=5)", "go(size=5)":
        page = open_page(f"#g={game}")
        page.keyboard.press("?")
        listed[game] = page.get_by_role("dialog", name="Keys").inner_text()
    assert "play the column" in listed["connect_four"] and "pass" not in listed["connect_four"]
    assert "swap sides" in listed["connect_four"] and "Shift S" not in listed["connect_four"]
    assert "pass" in listed["go(size=5)"] and "play the column" not in listed["go(size=5)"]
    assert "pass" not in listed["hex(size=5)"]


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
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("Level 3")
