"""Tests of reviews in the page."""

import json
import re

import pytest

from browser.games import KINDS
from browser.hands import Hands


def review(page, simulations="100"):
    """Starts a review of the game on the page, and waits for its end."""
    page.get_by_role("button", name=re.compile("^Simulations")).click()
    page.get_by_role("menuitemradio", name=re.compile(f"^{simulations} simulations")).click()
    page.get_by_role("region", name="Review").get_by_role("button", name="Review", exact=True).click()
    page.get_by_role("button", name="Save", exact=False).wait_for(timeout=90_000)
    page.get_by_role("button", name=re.compile(r"^(\d+) of \1 plies")).wait_for(timeout=90_000)


# Connect Four's positions are solved, too, which takes long at the beginning of a game
@pytest.mark.slow
@pytest.mark.parametrize("game", [game for game in KINDS if game != "connect_four"])
def test_a_game_is_reviewed(open_page, game):
    page = open_page(f"#g={game}")
    hands = Hands(page)
    hands.new_game()
    hands.play_moves(4)
    page.get_by_role("button", name="Review", exact=True).click()
    review(page)
    accuracy = page.get_by_role("group", name="Accuracy")
    assert "accuracy" in accuracy.inner_text()
    figures = [float(figure) for figure in re.findall(r"\d+\.\d", accuracy.inner_text())]
    assert figures and all(0 <= figure <= 100 for figure in figures)


def test_a_mistake_is_shown_on_the_board_and_in_the_table(open_page):
    page = open_page("#v=review&g=tic_tac_toe&m=b2 b3 a1 c3&a=tic_tac_toe")
    review(page)
    mistakes = page.get_by_role("table", name="Mistakes").get_by_role("row").filter(has_text="??")
    assert [" ".join(row.split()[:4]) for row in mistakes.all_inner_texts()] == ["2 O b3 ??"]
    mistakes.get_by_role("button").click()
    card = page.get_by_role("status").filter(has_text="b3")
    assert "Better is" in card.inner_text()
    page.keyboard.press("t")
    assert "Better is" not in card.inner_text(), "trying hides the answer"


@pytest.mark.slow
def test_another_good_answer_than_the_best_is_no_blunder(open_page):
    """X has b2, O b3: of O's moves the corners alone hold the draw."""
    page = open_page("#v=review&g=tic_tac_toe&m=b2 b3 a1 c3&a=uct@20000")
    review(page)
    page.get_by_role("table", name="Mistakes").get_by_role("button").first.click()
    card = page.locator(".review-card")
    for corner in ("a1", "c1", "a3", "c3"):
        page.keyboard.press("t")
        page.get_by_role("gridcell", name=re.compile(f"^{corner},")).click()
        card.get_by_text(re.compile("is good: |is the engine's move, too")).wait_for()
        page.keyboard.press("t")
    page.keyboard.press("t")
    page.get_by_role("gridcell", name=re.compile("^a2,")).click()
    card.get_by_text("(−50)").wait_for()


@pytest.mark.slow
def test_a_saved_review_tells_its_own_simulations(open_page):
    page = open_page("#v=review&g=tic_tac_toe&m=b2 b3 a1 c3&a=tic_tac_toe")
    review(page, "100")
    page.get_by_role("button", name="Review again").click()
    page.get_by_role("button", name=re.compile("^Simulations")).click()
    page.get_by_role("menuitemradio", name=re.compile("^50 simulations")).click()
    page.get_by_role("button", name="Save", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="JSON").click()
    saved = json.loads(download.value.path().read_text())
    assert saved["simulations"] == 100 and len(saved["games"][0]["moves"]) == 4


@pytest.mark.slow
def test_a_glyph_that_was_set_by_hand_survives_a_review(open_page):
    page = open_page("#v=review&g=tic_tac_toe&m=b2 b3 a1 c3&at=2&a=tic_tac_toe")
    review(page)
    glyphs = page.locator(".tree .glyph-text")
    assert glyphs.all_inner_texts() == ["??"]
    page.get_by_role("button", name="Analyse", exact=True).click()
    page.get_by_role("treeitem").nth(1).click()
    page.get_by_role("button", name=re.compile(r"^\!\?,")).click()
    page.get_by_role("button", name="Review", exact=True).first.click()
    page.get_by_role("button", name="Review again").click()
    review(page, "50")
    assert glyphs.all_inner_texts() == ["!?"]
