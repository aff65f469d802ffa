"""Tests of games in the page: by clicks, by keys, with undo, from a link."""

import re

import pytest

from browser.conftest import PHONE
from browser.games import all_with, kinds_with
from browser.hands import Hands


@pytest.mark.parametrize("game", all_with("connect_four"))
def test_a_whole_game_by_clicks(open_page, game):
    page = open_page(f"#g={game}")
    hands = Hands(page)
    hands.new_game()
    end = hands.play_to_the_end()
    assert len(end["moves"]) > 3 and hands.may_click(end) == []


@pytest.mark.parametrize("game", ["tic_tac_toe", *kinds_with()])
def test_a_whole_game_by_keyboard_alone(open_page, game):
    page = open_page(f"#g={game}")
    hands = Hands(page, seed=1, by="keys")
    hands.wait_for_turn()
    page.keyboard.press("n")
    start = page.get_by_role("dialog").get_by_role("button", name="Start")
    hands.tab_to(start)
    page.keyboard.press("Enter")
    start.wait_for(state="detached")
    end = hands.play_to_the_end()
    assert len(end["moves"]) > 3


@pytest.mark.parametrize("game", kinds_with("own:Nim", "hex(size=5,swap=true)"))
def test_one_move_and_undo(open_page, game):
    page = open_page(f"#g={game}")
    hands = Hands(page)
    begin = hands.new_game()
    assert begin["moves"] == []
    after = hands.play_moves(2)
    assert len(after["moves"]) >= 2
    page.get_by_role("button", name="Undo").click()
    assert hands.wait_for_turn(after)["cells"] == begin["cells"]
    assert hands.see()["moves"] == []


@pytest.mark.slow
@pytest.mark.parametrize("game", ["connect_four", "amazons(rows=4,columns=4)"])
def test_a_link_opened_elsewhere_shows_the_same(open_page, game):
    page = open_page(f"#g={game}")
    hands = Hands(page)
    hands.new_game()
    state = hands.play_moves(4)
    page.wait_for_timeout(400)  # the address follows the board
    other = Hands(open_page(page.url[page.url.index("#") :]))
    seen = other.wait_for_turn()
    assert [name.removesuffix(", can move") for name in seen["cells"]] == [
        name.removesuffix(", can move") for name in state["cells"]
    ]
    assert seen["moves"] == state["moves"]


@pytest.mark.parametrize("game", kinds_with("connect_four"))
def test_a_phone_shows_the_board_from_edge_to_edge_and_plays_by_two_taps(open_page, game):
    page = open_page(f"#g={game}", viewport=PHONE, has_touch=True, is_mobile=True)
    hands = Hands(page)
    state = hands.new_game()
    box = page.locator(".stage").bounding_box()
    assert box["x"] == 0 and box["width"] == PHONE["width"]
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    for button in page.locator(".panel-bar button").all():
        assert min(button.bounding_box()["width"], button.bounding_box()["height"]) >= 44
    cell = hands.grid.get_by_role("gridcell").nth(hands.may_click(state)[0])
    cell.tap()
    aimed = hands.see()
    assert aimed["moves"] == [], "the first tap only aims"
    for _ in range(8):
        if not aimed["moves"]:
            hands.grid.get_by_role("gridcell").nth(hands.may_click(aimed)[0]).tap()
            page.wait_for_timeout(150)
            aimed = hands.see()
    assert aimed["moves"]


def test_a_board_that_is_refused_leaves_the_game_in_play(open_page):
    page = open_page("#g=go(size=5)")
    page.watch.allows |= {"status 422", "Failed to load resource"}
    hands = Hands(page)
    hands.new_game()
    before = hands.play_moves(2)
    page.get_by_role("button", name="New game").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Board").select_option(label="Another size …")
    size = dialog.get_by_label("size")
    size.fill("20")
    dialog.get_by_role("button", name="Start").click()
    dialog.get_by_role("alert").wait_for()
    assert "2 to 19" in dialog.get_by_role("alert").inner_text()
    page.keyboard.press("Escape")
    page.evaluate("location.hash = '#g=go(size=99)'")
    page.get_by_text("2 to 19").wait_for()
    after = hands.step(hands.wait_for_turn())
    assert after["moves"][: len(before["moves"])] == before["moves"], "the game goes on"
    end = hands.play_moves(len(before["moves"]) + 2)
    assert len(end["moves"]) >= len(before["moves"]) + 2, "its agent answers"


def test_a_board_of_another_size_is_played(open_page):
    page = open_page("#g=go(size=5)")
    page.get_by_role("button", name="New game").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Board").select_option(label="Another size …")
    dialog.get_by_label("size").fill("4")
    dialog.get_by_role("button", name="Two people").click()
    page.wait_for_url(re.compile(r"g=go\(size=4"))
    page.get_by_role("gridcell").nth(15).wait_for()
    assert page.get_by_role("gridcell").count() == 16


def test_two_agents_play_each_other(open_page):
    page = open_page("#g=tic_tac_toe")
    page.get_by_role("button", name="New game").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Two agents").click()
    dialog.get_by_label("First", exact=True).select_option(label="random")
    assert dialog.get_by_label("First: simulations a move").count() == 0
    dialog.get_by_label("Second", exact=True).select_option(value="uct@1000")
    dialog.get_by_label("Second: level").select_option("2")
    dialog.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Review this game").wait_for(timeout=60_000)
    sides = " ".join(page.locator(".side").all_inner_texts())
    assert "random" in sides and "2 of 3" in sides and "You" not in sides


def test_a_move_tried_in_analyse_is_not_answered(open_page):
    page = open_page("#g=connect_four")
    hands = Hands(page)
    hands.new_game()
    hands.play_moves(2)
    page.get_by_role("button", name="Analyse", exact=True).click()
    tree = page.get_by_role("treeitem")
    tree.first.wait_for()
    moves = tree.count()
    hands.pick(hands.may_click()[0])
    tree.nth(moves).wait_for()
    page.wait_for_timeout(700)
    assert tree.count() == moves + 1


ENDS_LATE = """
    const real = window.fetch;
    window.fetch = async (url, options) => {
        const response = await real(url, options);
        if (!String(url).endsWith("/reviews")) return response;
        const [moves, end] = (await response.text()).split("event: done");
        const parts = [moves, `event: done${end}`].map((part) => new TextEncoder().encode(part));
        const body = new ReadableStream({ async pull(controller) {
            controller.enqueue(parts.shift());
            if (parts.length) await new Promise((resolve) => (window.goOn = resolve));
            else controller.close();
        } });
        return new Response(body, { headers: response.headers });
    };
"""
"""A review of which the moves come, and the end only after `goOn()`."""


def test_the_ending_names_the_weakest_move_as_soon_as_it_is_known(open_page):
    page = open_page("#g=tic_tac_toe", script=ENDS_LATE)
    page.get_by_role("button", name="New game").click()
    page.get_by_role("dialog").get_by_role("button", name="Two people").click()
    for place in ["b2", "b1", "a3", "a2", "c1"]:
        page.get_by_role("gridcell", name=re.compile(f"^{place}.*can move$")).click()
    found = "was b1 (move 2) by O: it gave away 50 of 100 points."
    page.get_by_text(f"The weakest move so far {found}").wait_for(timeout=60_000)
    page.evaluate("window.goOn()")
    page.get_by_text(f"The weakest move {found}").wait_for(timeout=60_000)
    page.get_by_role("button", name="Analyse", exact=True).click()
    page.get_by_role("treeitem").nth(4).wait_for()
    assert [item.inner_text() for item in page.get_by_role("treeitem").all()] == ["b2", "b1", "a3", "a2", "c1"]
    assert page.locator(".tree .glyph-text").count() == 0, "nobody has asked for marks"
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("button", name="Review this game").click()
    page.get_by_role("table", name="Mistakes").wait_for(timeout=60_000)
    page.get_by_text("accuracy: at the end").first.wait_for()


PAINTS_LATE = """
    const soon = window.setTimeout;
    window.lateness = 35;
    window.requestAnimationFrame = () => 0;
    window.setTimeout = (then, ms, ...rest) => soon(then, ms === 35 ? window.lateness : ms, ...rest);
"""
"""Preact's effects wait for the screen, or 35 ms; as on a machine that has much else to do, they wait for longer."""


@pytest.mark.slow
def test_a_page_that_paints_late_misses_nothing(open_page):
    page = open_page("#g=tic_tac_toe&m=b2 b1 a3 a2 c1&at=5", script=PAINTS_LATE)
    page.evaluate("window.lateness = 2500")
    page.get_by_role("button", name="Analyse", exact=True).click()  # its module comes before the effects do
    page.get_by_role("region", name="Analysis").get_by_role("treeitem").nth(4).wait_for()
    page.get_by_role("button", name="Review this game").click()  # so does the review's end
    page.get_by_role("table", name="Mistakes").wait_for()


HOLDS_POSITIONS = """
    const real = window.fetch;
    window.held = null; // answers to further positions
    window.fetch = (url, options) => {
        if (!window.held || !String(url).endsWith("/positions")) return real(url, options);
        return new Promise((resolve) => window.held.push(() => resolve(window.answer ?? real(url, options))));
    };
"""


def is_there(page, name):
    return page.get_by_role("gridcell", name=re.compile(name)).count() == 1


def test_ones_own_stone_lies_there_before_the_server_answers(open_page):
    """What is turned over comes with the answer."""
    page = open_page("#g=othello(size=6)", script=HOLDS_POSITIONS)
    Hands(page).wait_for_turn()
    page.evaluate("window.held = []")
    page.get_by_role("gridcell", name=re.compile("^c2,")).click()
    page.get_by_role("gridcell", name="c2, black disc").wait_for()
    assert is_there(page, "^c3, white disc") and page.evaluate("window.held.length") == 1
    page.evaluate("window.held.forEach((answer) => answer()); window.held = null")
    page.get_by_role("gridcell", name="c3, black disc").wait_for()


def test_a_stone_that_the_server_refuses_goes_away_with_a_message(open_page):
    page = open_page("#g=othello(size=6)", script=HOLDS_POSITIONS)
    Hands(page).wait_for_turn()
    page.evaluate("""() => {
        const error = { code: "too_long", message: "the game has more than 3 moves" };
        window.held = [];
        window.answer = new Response(JSON.stringify({ error }), { status: 422 });
    }""")
    page.get_by_role("gridcell", name=re.compile("^c2,")).click()
    page.get_by_role("gridcell", name="c2, black disc").wait_for()
    page.evaluate("window.held.forEach((answer) => answer()); window.held = null")
    page.get_by_text("the game has more than 3 moves").wait_for()
    assert is_there(page, "^c2, empty, can move") and page.get_by_role("log").get_by_role("button").count() == 0


COMPILING = """
    const real = window.fetch;
    const text = "Compiling: 9 of about 20 parts";
    const stage = { stage: "compiling", text, elapsed_s: 12, expected_s: null, share: 0.45 };
    window.fetch = (url, options) => {
        if (!String(url).endsWith("/analyses")) return real(url, options);
        const event = `event: stage\\ndata: ${JSON.stringify(stage)}\\n\\n`;
        const body = new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode(event)) });
        return Promise.resolve(new Response(body, { headers: { "Content-Type": "text/event-stream" } }));
    };
"""


def test_a_game_that_is_compiled_says_so_and_what_one_may_do_meanwhile(open_page):
    page = open_page("#g=breakthrough(rows=5,columns=3)", script=COMPILING)  # its agents are cold
    group = page.get_by_role("group", name="Getting the engine ready")
    group.get_by_text("Compiling: 9 of about 20 parts").wait_for()
    assert group.get_by_role("progressbar").get_attribute("value") == "0.45"
    assert "compiled when it is first used" in group.inner_text() and "You can move already" in group.inner_text()
    group.get_by_role("button", name="rules").click()
    page.get_by_role("dialog", name="How to play Breakthrough").wait_for()
    page.keyboard.press("Escape")
    Hands(page).pick(Hands(page).may_click()[0])
