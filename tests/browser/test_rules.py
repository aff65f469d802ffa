"""Tests of what the page tells of a game: its rules with pictures, and passes."""

import re

import pytest

from browser.test_accessible import found_by_axe

FORCED = "#g=othello(size=4)&m=b1 c1 d3 a1"
"""Black, who is the human here, has no move but to pass."""


@pytest.mark.parametrize("game", ["othello(size=6)", pytest.param("own:Nim", marks=pytest.mark.slow)])
def test_the_rules_are_one_click_away(open_page, game):
    page = open_page(f"#g={game}", viewport={"width": 360, "height": 640})
    page.get_by_role("button", name="Rules", exact=True).click()
    dialog = page.get_by_role("dialog", name=re.compile("^How to play"))
    figures = dialog.get_by_role("figure")
    for figure in figures.all():
        figure.locator("svg.drawing").wait_for()
    assert dialog.locator("p").first.inner_text()
    if not game.startswith("own:"):
        assert figures.count() and dialog.get_by_role("heading", name="How moves are written").count() == 1
    assert page.evaluate("document.activeElement.contains(document.querySelector('.sheet p'))"), "not its last button"
    assert found_by_axe(page) == []
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert page.evaluate("document.activeElement.textContent") == "Rules"


def test_a_forced_pass_is_asked_for_and_explained(open_page):
    page = open_page(FORCED)
    page.get_by_text("You have to pass. Black has no other move here.").wait_for()
    card = page.get_by_role("status").filter(has_text="You have to pass.")
    card.get_by_role("button", name="Rules").click()
    page.get_by_role("heading", name="Passing").wait_for()
    page.keyboard.press("Escape")
    card.get_by_role("button", name="Pass").click()
    page.get_by_role("log").get_by_role("button", name="pass").wait_for()


def test_a_pass_that_was_forced_says_who_passed_and_why(open_page):
    page = open_page(f"{FORCED} pass")
    page.get_by_text("Black has passed. Black had no other move. White moves.").wait_for()


def test_a_pass_of_ones_own_will_is_not_called_forced(open_page):
    page = open_page("#g=go(size=5)&m=c3 pass")
    page.get_by_text("White has passed. Black moves.").wait_for()
