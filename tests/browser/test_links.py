"""Tests of links: those that were tampered with show what is legal, and say what is not."""

import shlex
import subprocess

import pytest

from browser.hands import Hands
from browser.served import COMMAND, ROOT

BAD = {  # links, and the moves with which the shown game begins; [] for none
    "#g=connect_four&m=4 4 9 1": ["4", "4"],
    "#g=connect_four&m=4 4(((((": ["4", "4"],
    "#g=no_such_game&m=4 4": [],
    "#z=AAAA": [],
    "#g=connect_four&a=gtp:rm -rf /": [],
    "#v=<img src=x onerror=alert(1)>&g=<b>x</b>": [],
    "#%E0%A4%A": [],
    f"#g=connect_four&m={'4 ' * 5000}": [],
}


@pytest.mark.parametrize(
    "link",
    [link if k < 2 else pytest.param(link, marks=pytest.mark.slow) for k, link in enumerate(BAD)],
    ids=range(len(BAD)),
)
def test_a_link_that_was_tampered_with_still_shows_a_board(open_page, link):
    page = open_page(link)
    page.watch.allows |= {"status 4", "Failed to load resource"}
    state = Hands(page).wait_for_turn()
    assert state["moves"][: max(1, len(BAD[link]))] == BAD[link]
    assert page.locator("img, b").count() == 0


BUSY = {"status 503", "Failed to load resource"}
"""The agents of four games may still be compiled for other tests. These do not need theirs."""


@pytest.mark.parametrize(
    ("link", "moves"),
    [
        ("#g=amazons&m=j4-e4/e2 D10-D5/D3", ["j4-e4/e2", "d10-d5/d3"]),
        pytest.param("#g=amazons&m=j4-e4/e2 d10-d5/d3&at=0", [], marks=pytest.mark.slow),
        pytest.param("#g=connect_four&m=4453(6)", ["4", "4", "5", "3"], marks=pytest.mark.slow),
    ],
    ids=["turns", "turns before them", "joined, with a variation"],
)
def test_the_usual_notation_is_understood_in_links(open_page, link, moves):
    page = open_page(link)
    page.watch.allows |= BUSY
    page.locator(".stage .board").wait_for()
    assert [each.replace("\n", "") for each in Hands(page).see()["moves"]][: len(moves)] == moves
    page.wait_for_timeout(400)  # the address follows the board
    assert not {"4453", "D10"} & set(page.url.replace("=", " ").split())


def test_a_whole_turn_is_typed(open_page):
    page = open_page("#g=amazons")
    page.watch.allows |= BUSY
    hands = Hands(page)
    hands.wait_for_turn()
    page.keyboard.press("/")
    page.get_by_label("Move", exact=True).fill("j4-e4/e2")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for(state="detached")
    page.get_by_role("log").get_by_role("button", name="j4-e4/e2").wait_for()


def test_a_page_of_which_a_part_does_not_load_says_so(chromium, server):
    page = chromium.new_page()
    page.route("**/vendor/preact.mjs", lambda route: route.abort())
    page.goto(server.address)
    assert page.get_by_role("link", name="Load it again").is_visible()
    page.unroute("**/vendor/preact.mjs")
    page.get_by_role("link", name="Load it again").click()
    page.get_by_role("grid").wait_for()
    assert page.locator(".unloaded").count() == 0
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["run:tiny", "random"])
def test_a_copied_command_runs(open_page, agent):
    page = open_page(f"#g=tic_tac_toe&m=b2 a1&a={agent}", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy and save").click()
    page.get_by_role("menuitem", name="azero suggest").click()
    page.get_by_text("Command: copied.").wait_for()
    words = shlex.split(page.evaluate("navigator.clipboard.readText()"))
    assert words[:2] == ["azero", "suggest"]
    done = subprocess.run([*COMMAND[:-1], *words[1:]], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_command_is_offered_only_if_there_is_one(open_page):
    page = open_page("#g=own:Nim")
    page.get_by_role("button", name="Copy and save").click()
    page.get_by_role("menuitem", name="curl").wait_for()
    assert page.get_by_role("menuitem", name="azero suggest").count() == 0
