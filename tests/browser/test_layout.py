"""Tests of the layout: from phones to large screens nothing overlaps, is cut off or scrolls sideways."""

from pathlib import Path

import pytest

from browser.conftest import PHONE

MEASURE = (Path(__file__).parent / "layout.js").read_text("utf-8")
WIDTHS = 360, 390, 600, 820, 821, 900, 933, 1024, 1280, 1440, 2560
HEIGHTS = 640, 1440
SIZES = [(width, height) for width in WIDTHS for height in HEIGHTS]
ZOOMED = [(640, 360), (720, 450), (844, 390)]
"""1280 x 720 and 1440 x 900 at 200 % zoom, and a phone on its side."""

EVERY = [*SIZES, *ZOOMED]
SOME = [(360, 640), (820, 1440), (821, 640), (1280, 640), (640, 360)]
"""The smallest, both sides of where the panel goes below the board, a laptop's, and a zoomed one."""

slow = pytest.mark.slow

VIEWS = "play", "analyse", "review", "runs", "learn"
LINES = {
    "connect_four": "4 4 3 5 2",
    "gomoku": "h8 g9 h9",
    "go(size=9)": "e5 c3 g3",
    "hex": "f6 e7 g5",
    "amazons": "d1-d7/g7",
    "own:Nim": "0 2",
}
CASES = [
    *(pytest.param(view, "gomoku", SOME, id=f"{view}, some sizes") for view in VIEWS),
    *(pytest.param("play", game, EVERY, marks=slow, id=f"play, {game}") for game in LINES),
    *(pytest.param(view, "amazons", EVERY, marks=slow, id=view) for view in VIEWS if view != "play"),
]
"""The board has its place in all views, and the names of Amazons' moves are the longest."""

DIALOGS = [
    *(pytest.param(name, SOME, id=f"{name}, some sizes") for name in ("Rules", "New game")),
    *(pytest.param(name, EVERY, marks=slow, id=name) for name in ("Rules", "New game", "Keys")),
]


def found_wrong(page, sizes) -> list[str]:
    """Returns what is wrong with the page at these sizes, one a line with the size."""
    found = []
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("() => new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)))")
        found += [f"{width} x {height}: {line}" for line in page.evaluate(MEASURE)]
    return found


@pytest.mark.parametrize(("view", "game", "sizes"), CASES)
def test_views_fit_every_screen(open_page, view, game, sizes):
    page = open_page(f"#v={view}&g={game}&m={LINES[game]}")
    page.locator(".panel-body > *").first.wait_for()
    assert found_wrong(page, sizes) == []


@pytest.mark.parametrize(("name", "sizes"), DIALOGS)
def test_dialogs_fit_every_screen(open_page, name, sizes):
    page = open_page("#g=go(size=5)")
    page.get_by_role("button", name=name, exact=True).click()
    page.get_by_role("dialog").wait_for()
    assert found_wrong(page, sizes) == []


def test_what_does_not_fit_is_found(open_page):
    page = open_page("#g=connect_four")
    page.get_by_text("takes back").wait_for()
    page.evaluate("""() => {
        document.querySelector(".header").style.width = "1300px";
        document.querySelector(".help").style.marginTop = "-60px";
    }""")
    found = found_wrong(page, [(1280, 720)])
    assert any("the page is" in line for line in found) and any("lies on" in line for line in found)


def test_names_of_rows_are_whole_on_a_phone(open_page):
    page = open_page("#g=gomoku", viewport=PHONE)
    outside = """() => {
        const plate = document.querySelector(".plate").getBoundingClientRect();
        return [...document.querySelectorAll(".label")].filter((label) => {
            const { left, bottom } = label.getBoundingClientRect();
            return left < plate.left || bottom > plate.bottom;
        }).map((label) => label.textContent);
    }"""
    assert page.evaluate(outside) == []


def test_a_game_is_printed_on_one_page_black_on_white(open_page):
    page = open_page("#g=gomoku&m=h8 g9 h9", color_scheme="dark")
    assert page.pdf(format="A4").count(b"/Type /Page\n") == 1
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1047})
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.get_by_role("button", name="New game").is_visible() and page.locator(".move").count() == 3
    stage = page.locator(".stage").bounding_box()
    assert stage["x"] >= 0 and stage["x"] + stage["width"] <= 718
