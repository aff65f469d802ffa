"""Tests of games that are kept: a reload, Back, other games, links, other windows, and storages that fail."""

import re
import time

import pytest

from browser.hands import Hands

SEEN = """() => {
  const texts = (query) => [...document.querySelectorAll(query)].map((each) => each.innerText);
  return {
    view: texts('[aria-current=page]'),
    game: texts('.game-button'),
    cells: [...document.querySelectorAll('[role=gridcell]')].map((cell) => cell.getAttribute('aria-label')),
    sides: texts('.who strong'),
    moves: [...document.querySelectorAll('[role=log] button')].map((each) => [each.innerText, each.ariaCurrent]),
    clocks: texts('.clock'),
    ending: texts('.ending h2'),
    tree: texts('[role=tree]'),
    agents: texts('.picker-text'),
    hint: [...document.querySelectorAll('.drawing .mark, .line-number')].map((each) => each.outerHTML),
  };
}"""


def seen(page, but=()) -> dict:
    """Returns what a person sees of the game, without `but`."""
    page.wait_for_timeout(200)  # the address follows the board
    return {name: each for name, each in page.evaluate(SEEN).items() if name not in but}


def check_reload(page, but=("clocks",)) -> None:
    before, clocks = seen(page, but), clocks_of(page)
    page.reload()
    expect(page, before, but)
    assert all(0 <= was - now < 10 for was, now in zip(clocks, clocks_of(page), strict=True))


def expect(page, wanted: dict, but=("clocks",)) -> None:
    """Waits until a page shows what another one has shown."""
    page.get_by_role("grid").wait_for()
    end = time.monotonic() + 20
    while (now := seen(page, but)) != wanted and time.monotonic() < end:
        pass
    assert now == wanted


def clocks_of(page) -> list[float]:
    """Returns the seconds that both sides have left."""
    texts = page.locator(".clock").all_inner_texts()
    return [
        float(text.split(":")[0]) * 60 + float(text.split(":")[1]) if ":" in text else float(text) for text in texts
    ]


def begin(page, *, side="Second", clock="5 min + 3 s", level="Level 1") -> Hands:
    page.get_by_role("button", name="New game").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name=side, exact=False).click()
    dialog.get_by_role("radio", name=clock).click()
    dialog.get_by_role("radio", name=level, exact=False).click()
    dialog.get_by_role("button", name="Start").click()
    dialog.wait_for(state="detached")
    return Hands(page)


def resign(page) -> None:
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    page.get_by_text("You lose").wait_for()


def test_a_game_goes_on_after_a_reload_as_it_was(open_page):
    page = open_page("#g=connect_four")
    hands = begin(page)
    hands.step(hands.wait_for_turn())
    check_reload(page)
    assert "level 1" in page.locator(".side.above").inner_text() and hands.see()["moves"][2:]
    resign(page)
    check_reload(page)


@pytest.mark.slow
def test_undo_hint_and_steps_stay_after_a_reload(open_page):
    page = open_page("#g=connect_four")
    hands = begin(page)
    hands.step(hands.wait_for_turn())
    page.get_by_role("button", name="Hint").click()
    page.locator(".drawing .mark").first.wait_for()
    check_reload(page)
    page.keyboard.press("Home")
    check_reload(page)
    page.keyboard.press("End")
    page.get_by_role("button", name="Undo").click()
    hands.wait_for_turn()
    check_reload(page)
    begin(page, side="First", clock="None")
    check_reload(page)


@pytest.mark.slow
def test_a_reload_while_the_agent_thinks_leaves_its_move_to_it(open_page):
    page = open_page("#g=tic_tac_toe")
    hands = begin(page, side="First")
    page.route("**/suggestions", lambda route: None)  # it thinks for long
    hands.pick(4)
    page.get_by_role("gridcell", name="b2, X").wait_for()
    check_reload(page)
    assert hands.see()["moves"] == ["b2"]
    page.unroute("**/suggestions")
    page.reload()
    page.get_by_role("grid").wait_for()
    hands.wait_for_turn()
    page.wait_for_timeout(500)
    assert hands.see()["moves"][0] == "b2" and len(hands.see()["moves"]) == 2


@pytest.mark.slow
def test_time_that_has_run_out_stays_out(open_page):
    page = open_page("#g=tic_tac_toe", has_clock=True)
    hands = begin(page, side="First", clock="1 min + 2 s")
    page.clock.run_for(500)
    hands.step(hands.wait_for_turn())
    page.clock.run_for(70_000)
    page.get_by_text("X ran out of time").first.wait_for()
    page.reload()
    page.get_by_text("X ran out of time").first.wait_for()
    assert page.locator(".clock").all_inner_texts()[1] == "0.0"


@pytest.mark.slow
def test_comments_variations_and_the_comparison_stay(open_page):
    page = open_page("#v=analyse&g=tic_tac_toe&m=b2 a1 c3&at=1")
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("gridcell", name=re.compile("^b1.*can move")).click()
    page.get_by_role("treeitem").nth(3).wait_for()
    page.get_by_role("button", name="Comment").click()
    page.get_by_label("Comment", exact=True).fill("a <b>word</b>")
    page.get_by_role("button", name=re.compile(r"^\?!,")).click()
    check_reload(page, but=("hint",))
    assert "a <b>word</b>" in page.get_by_role("tree").inner_text()
    assert len(page.locator(".picker-text").all_inner_texts()) == 4
    page.get_by_role("button", name="Play", exact=True).click()
    check_reload(page, but=("clocks", "moves", "cells"))  # the agent moves


@pytest.mark.slow
def test_a_review_and_a_lesson_stay(open_page):
    page = open_page("#v=review&g=tic_tac_toe&m=b2 b3 a1 c3&a=tic_tac_toe")
    page.get_by_role("region", name="Review").get_by_role("button", name="Review", exact=True).click()
    page.get_by_role("button", name=re.compile(r"^(\d+) of \1 plies")).wait_for()
    page.get_by_role("table", name="Mistakes").get_by_role("button").first.click()
    panel = page.get_by_role("region", name="Review")
    page.wait_for_timeout(400)
    before = panel.inner_text()
    check_reload(page)
    assert panel.inner_text() == before
    page.get_by_role("button", name="Learn", exact=True).click()
    page.get_by_role("button", name="Next simulation").click()
    page.get_by_text("Simulation 2", exact=True).wait_for()
    check_reload(page, but=("hint",))
    page.get_by_text("Simulation 2", exact=True).wait_for()


@pytest.mark.slow
def test_a_turn_of_which_a_part_is_made_goes_on(open_page):
    page = open_page("#g=amazons(rows=4,columns=4)")
    hands = begin(page, side="First")
    for _ in range(2):
        hands.step(hands.wait_for_turn())
    page.locator(".steps").wait_for()
    before = page.locator(".steps").inner_text()
    check_reload(page)
    assert page.locator(".steps").inner_text() == before


def test_another_game_keeps_the_old_one_to_return_to(open_page):
    page = open_page("#g=connect_four")
    hands = begin(page)
    hands.step(hands.wait_for_turn())
    first = seen(page, ["clocks"])
    begin(page, side="First", clock="None", level="Level 3")
    second = seen(page)
    page.go_back()
    page.get_by_text("level 1").wait_for()
    expect(page, first)
    page.go_forward()
    page.get_by_text("level 3").wait_for()
    expect(page, second, ())
    page.go_back()
    page.get_by_text("level 1").wait_for()
    page.locator(".game-button").click()
    page.get_by_role("menuitemradio", name="Tic-tac-toe").click()
    page.get_by_role("button", name="Return to it").click()
    page.get_by_text("level 1").wait_for()
    expect(page, first)
    page.locator(".game-button").click()
    page.get_by_role("menuitemradio", name="Tic-tac-toe").click()
    page.get_by_role("gridcell", name="a1, empty, can move").wait_for()
    page.locator(".game-button").click()
    page.get_by_role("menuitem", name="Your game of Connect Four").click()
    page.get_by_text("level 1").wait_for()
    expect(page, first)


def test_a_link_wins_and_the_kept_game_is_a_click_away(open_page):
    page = open_page("#g=connect_four")
    hands = begin(page)
    hands.step(hands.wait_for_turn())
    kept = seen(page, ["clocks"])
    page.evaluate("location.hash = '#g=tic_tac_toe&m=b2'")
    page.get_by_role("gridcell", name="b2, X").wait_for()
    page.wait_for_timeout(600)
    assert hands.see()["moves"] == ["b2"], "whoever opens a link is to move"
    page.go_back()
    page.get_by_text("level 1").wait_for()
    expect(page, kept)
    other = page.context.new_page()
    other.goto(f"{page.watch.home}#g=tic_tac_toe&m=b2 a1")
    other.get_by_role("gridcell", name="b2, X").wait_for()
    other.get_by_role("button", name="Return to it").click()
    other.get_by_text("level 1").wait_for()
    expect(other, kept)


@pytest.mark.slow
def test_two_windows_keep_two_games(open_page):
    page = open_page("#g=connect_four")
    hands = begin(page, clock="None")
    hands.step(hands.wait_for_turn())
    kept = seen(page, ["clocks"])
    with page.expect_popup() as opened:
        page.evaluate("void window.open(location.href)")
    twin = opened.value
    twin.get_by_text("level 1").wait_for()
    expect(twin, kept)
    others = Hands(twin)
    others.step(others.wait_for_turn())
    changed = seen(twin, ["clocks"])
    assert len(changed["moves"]) > len(kept["moves"]) and seen(page, ["clocks"]) == kept
    for window, game in ((page, kept), (twin, changed), (page, kept)):
        window.reload()
        expect(window, game)


FAULTS = {
    "blocked": """for (const name of ["localStorage", "sessionStorage"])
        Object.defineProperty(window, name, { get() { throw new DOMException("no", "SecurityError"); } });""",
    "full": "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };",
    "of others": """for (const storage of [localStorage, sessionStorage]) {
        const text = '{"version": 1, "when": 1, "link": "#m=4", "notes": [[0, 5]], "play": {"players": []}}';
        for (const key of ["azero", "azero.current", "azero.game.x", "azero.game.y"]) storage.setItem(key, text);
        storage.setItem("azero", '{"turned": null, "theme": 7}');
    }""",
}


@pytest.mark.parametrize(
    "fault", ["blocked", *(pytest.param(name, marks=pytest.mark.slow) for name in ("full", "of others"))]
)
def test_a_storage_that_fails_breaks_nothing(open_page, fault):
    page = open_page(script=FAULTS[fault])
    hands = begin(page, side="First")
    state = hands.step(hands.wait_for_turn())
    page.wait_for_timeout(400)
    page.reload()
    page.get_by_role("grid").wait_for()
    assert hands.wait_for_turn()["moves"] == state["moves"], "the link at least is there"
    begin(page, side="First", clock="None")
    page.wait_for_url(lambda url: "m=" not in url)
    page.go_back()
    page.wait_for_timeout(300)
    assert hands.wait_for_turn()["moves"] == state["moves"]
