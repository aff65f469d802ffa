"""Tests of links: those that were tampered with show what is legal, and say what is not."""

import pytest

from browser.hands import Hands

BAD = {
    "#g=connect_four&m=4 4 9 1": ["4", "4"],
    "#g=connect_four&m=4 4(((((": ["4", "4"],
    "#g=no_such_game&m=4 4": None,
    "#z=AAAA": None,
    "#g=connect_four&m=4 4&at=9999999": ["4", "4"],
    "#g=connect_four&a=gtp:rm -rf /": [],
    "#g=../../etc/passwd": None,
    "#v=<img src=x onerror=alert(1)>&g=<b>x</b>": None,
    "#%E0%A4%A": [],
    f"#g=connect_four&m={'4 ' * 5000}": None,
    f"#g=connect_four&v=analyse&m={'1 2(' * 20_000}": None,
    f"#g=connect_four&m=4 {'x' * 50}": [],
}


@pytest.mark.parametrize("link", BAD, ids=range(len(BAD)))
def test_a_link_that_was_tampered_with_still_shows_a_board(open_page, link):
    page = open_page()
    page.watch.allows |= {"status 4", "Failed to load resource"}
    page.goto("about:blank")
    page.goto(page.watch.home + link)
    page.get_by_role("grid").wait_for()
    state = Hands(page).wait_for_turn()
    if BAD[link] is not None:
        assert state["moves"][: len(BAD[link])] == BAD[link]
    assert page.locator("img, b").count() == 0
