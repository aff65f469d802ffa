"""Tests of the view Runs: the user's own game stays as it is."""

import pytest

from browser.hands import Hands

SHOWN = "[aria-current=true]"


def open_runs(page):
    page.get_by_role("button", name="Runs", exact=True).click()
    page.get_by_role("table", name="Self-play games").locator(SHOWN).wait_for(timeout=60_000)


def go_to(page, view: str):
    page.get_by_role("button", name=view, exact=True).click()


def test_a_game_in_play_survives_a_look_at_runs(open_page):
    page = open_page("#g=tic_tac_toe")
    hands = Hands(page)
    hands.new_game()
    before = hands.play_moves(2)
    open_runs(page)
    page.get_by_role("button", name="Play a clean game").click()
    page.get_by_role("table", name="Self-play games").get_by_text("no noise").wait_for()
    rows = page.get_by_role("table", name="Self-play games").locator(".row-button")
    held = []
    page.route(f"**/games/{rows.nth(1).inner_text()}", lambda route: held.append(route))
    rows.nth(1).click()
    rows.nth(2).click()
    page.locator(f".row-button{SHOWN}", has_text=rows.nth(2).inner_text()).wait_for()
    held[0].continue_()
    page.wait_for_timeout(300)
    assert page.locator(f".row-button{SHOWN}").inner_text() == rows.nth(2).inner_text(), "the last click counts"
    go_to(page, "Play")
    after = hands.wait_for_turn()
    assert (after["moves"], after["cells"]) == (before["moves"], before["cells"])
    assert len(hands.step(after)["moves"]) > len(before["moves"]), "the game goes on"


@pytest.mark.slow
def test_a_run_of_another_game_leaves_the_users_game(open_page):
    page = open_page("#g=connect_four")
    hands = Hands(page)
    hands.new_game()
    before = hands.play_moves(2)
    open_runs(page)
    assert page.get_by_role("gridcell").count() == 9
    go_to(page, "Play")
    assert hands.wait_for_turn()["moves"] == before["moves"]


@pytest.mark.slow
def test_a_game_of_a_run_is_analysed_and_given_back(open_page):
    page = open_page("#g=connect_four")
    hands = Hands(page)
    hands.new_game()
    before = hands.play_moves(2)
    open_runs(page)
    page.get_by_role("button", name="Analyse this game").click()
    page.get_by_role("region", name="Analysis").get_by_role("treeitem").nth(4).wait_for()
    assert page.get_by_role("gridcell").count() == 9
    page.get_by_role("button", name="Return to it").click()
    page.get_by_role("gridcell").nth(41).wait_for()
    go_to(page, "Play")
    assert hands.wait_for_turn()["moves"] == before["moves"]


@pytest.mark.slow
def test_a_net_of_a_run_of_another_game_is_played(open_page):
    page = open_page("#g=connect_four")
    open_runs(page)
    page.get_by_role("button", name="Play this net").click()
    page.get_by_text("tiny, iteration").wait_for()
    hands = Hands(page)
    state = hands.play_moves(2)
    assert len(state["cells"]) == 9 and len(state["moves"]) >= 2
    page.wait_for_timeout(500)  # the list of agents has come again
    assert page.get_by_text("tiny, iteration").count(), "it is still offered when it has been loaded"


@pytest.mark.slow
def test_a_clean_game_is_followed_and_ends_with_the_view(open_page):
    page = open_page("#g=tic_tac_toe")
    open_runs(page)
    page.get_by_role("button", name="Play a clean game").click()
    page.get_by_text("The game is over: ").wait_for(timeout=60_000)
    page.route("**/suggestions", lambda route: route.abort() if page.is_closed() else None)
    page.get_by_role("button", name="Play a clean game").click()
    page.get_by_text("getting ready …").wait_for()
    go_to(page, "Play")
    open_runs(page)
    page.get_by_role("table", name="Self-play games").get_by_text("stopped").wait_for()


def test_a_link_may_name_an_earlier_net_of_a_run(open_page):
    page = open_page("#v=analyse&g=tic_tac_toe&a=run:tiny:1")
    page.get_by_role("button", name="tiny:1").first.wait_for()
