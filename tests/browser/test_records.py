"""Tests of records in the page: saved, and loaded elsewhere with variations and comments."""

import re
import time

import pytest

from browser.hands import Hands


def open_records(page):
    page.get_by_role("button", name="Copy and save").click()
    page.get_by_role("menuitem", name="Save or load a record").click()
    return page.get_by_role("dialog", name="Records")


def save(page, button: str) -> str:
    """Saves the game on the page; returns the record's text."""
    dialog = open_records(page)
    with page.expect_download() as download:
        dialog.get_by_role("button", name=button).click()
    return download.value.path().read_text()


def board_of(hands: Hands) -> list[str]:
    return [name.removesuffix(", can move") for name in hands.see()["cells"]]


@pytest.mark.parametrize("game", ["connect_four", pytest.param("amazons(rows=4,columns=4)", marks=pytest.mark.slow)])
def test_a_saved_record_is_loaded_elsewhere(open_page, game, tmp_path):
    page = open_page(f"#g={game}")
    hands = Hands(page)
    hands.new_game()
    state = hands.play_moves(4)
    record = tmp_path / "game.txt"
    record.write_text(save(page, "Save as text"))
    other = open_page()
    open_records(other).get_by_label("Record file").set_input_files(record)
    other.get_by_role("dialog").wait_for(state="detached")
    other.get_by_role("treeitem").nth(len(state["moves"]) - 1).wait_for()
    other.keyboard.press("End")
    eyes, end = Hands(other), time.monotonic() + 10
    while board_of(eyes) != board_of(hands):
        assert time.monotonic() < end, "the loaded game should end where the saved one did"
        other.wait_for_timeout(100)


@pytest.mark.slow
@pytest.mark.parametrize("button", ["Save as text", "Save as SGF"])
def test_variations_survive(open_page, button):
    link = "#v=analyse&g=othello&m=d3 c3(c5 b6)c4"
    page = open_page(link)
    tree = page.get_by_role("tree").inner_text()
    assert "b6" in tree
    text = save(page, button)
    other = open_page()
    dialog = open_records(other)
    dialog.get_by_label("Text of a record").fill(text)
    dialog.get_by_role("button", name="Load").click()
    dialog.wait_for(state="detached")
    other.get_by_role("tree").wait_for()
    assert other.get_by_role("tree").inner_text() == tree


@pytest.mark.slow
def test_the_komi_of_a_record_is_kept_and_the_net_of_its_size_plays_it(open_page):
    page = open_page("#g=go(size=7,komi=8.5)")
    dialog = open_records(page)
    dialog.get_by_label("Text of a record").fill("(;GM[1]SZ[7]KM[6.5];B[dd];W[cc])")
    dialog.get_by_role("button", name="Load").click()
    page.wait_for_url(re.compile(r"g=go\(size=7,komi=6.5\).*&a=go_7x7$"))
    assert "komi 6.5" in page.locator(".game-button").inner_text()


@pytest.mark.slow
def test_sgf_is_offered_only_where_a_game_has_it(open_page):
    for game, count in [("connect_four", 0), ("othello", 1)]:
        dialog = open_records(open_page(f"#g={game}"))
        assert dialog.get_by_role("button", name="Save as text").count() == 1
        assert dialog.get_by_role("button", name="Save as SGF").count() == count


BAD = {"nonsense": "", "(;GM[1]SZ[9];B[ee": "", '[Game "tic_tac_toe"]\n\na1 a1 *': "a1"}
"""Texts of records, and a word of what is said of them."""


def test_a_bad_record_is_told_in_a_line_and_nothing_is_lost(open_page):
    page = open_page("#v=analyse&g=connect_four&m=4 4&a=uct@1000")
    page.watch.allows |= {"status 4", "Failed to load resource"}
    for text, word in BAD.items():
        dialog = open_records(page)
        load = dialog.get_by_role("button", name="Load")
        assert load.is_disabled(), "there is no text yet"
        dialog.get_by_label("Text of a record").fill(text)
        load.click()
        problem = dialog.get_by_role("alert")
        problem.wait_for()
        assert word in problem.inner_text() and "\n" not in problem.inner_text().strip(), text
        page.keyboard.press("Escape")
        dialog.wait_for(state="detached")
        assert page.get_by_role("treeitem").count() >= 2, text


HOSTILE = [
    '<img src="x" onerror="hit=1">',
    "<style>*{display:none}</style>",
    "\u202eturned",
    "W" * 500,
    "\u2066\u202eturned",
]


def test_texts_of_a_record_stay_texts_and_in_their_place(open_page):
    names = ";".join(
        f"{colour}[{point}]N[{text}]C[{text}]"
        for text, colour, point in zip(HOSTILE, "BWBWB", ("aa", "bb", "cc", "dd", "ee"), strict=True)
    )
    game = f"(;GM[1]CA[UTF-8]SZ[5]PB[{HOSTILE[3]}]PW[\u202eturned]RE[B+R];{names})"
    page = open_page("#v=analyse&g=tic_tac_toe")
    dialog = open_records(page)
    dialog.get_by_label("Text of a record").fill(game + game)
    dialog.get_by_role("button", name="Load").click()
    first = dialog.get_by_label("Games of the record").get_by_role("button").first
    right = page.evaluate(
        "button => [button, button.querySelector('.result')].map((each) => each.getBoundingClientRect().right)",
        first.element_handle(),
    )
    assert right[1] <= right[0]
    first.click()
    page.get_by_role("treeitem").nth(4).wait_for()
    assert page.evaluate("""() => {
      const panel = document.querySelector('.panel').getBoundingClientRect();
      const boxes = [...document.querySelectorAll('[role=tree] *')].map((each) => each.getBoundingClientRect());
      return {
        hit: window.hit ?? null,
        images: document.querySelectorAll('img').length,
        isInside: boxes.every(({ right }) => right <= panel.right + 1),
        isInOrder: [...document.querySelectorAll('.item-move')].every((item) => {
          const boxOf = (name) => item.querySelector(name)?.getBoundingClientRect();
          const [number, move] = [boxOf('.ply'), boxOf('.tree-move')];
          return !number || number.right <= move.right;
        }),
      };
    }""") == {"hit": None, "images": 0, "isInside": True, "isInOrder": True}
