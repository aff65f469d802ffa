"""Tests of analyses in the page: start and stop, calm, values that keep their owner, a server that goes away."""

import re
import time

import pytest

from browser.conftest import PHONE
from browser.fake_stream import fake_stream
from browser.games import kinds_with
from browser.hands import Hands
from browser.served import serving

COLUMNS = [str(column) for column in range(1, 8)]


class Panel:
    """The panel of Analyse."""

    def __init__(self, page):
        self.page = page
        self.table = page.get_by_role("table", name="Candidate moves")
        self.score = page.get_by_role("group", name="Score")

    def start(self):
        """Waits for the table: the analysis begins when the view opens."""
        self.table.wait_for(timeout=60_000)

    def stop(self):
        """Stops the analysis, unless it has ended by a proof."""
        if self.button.inner_text() == "Stop":
            self.button.click()
        assert self.button.inner_text() == "Analyse"

    @property
    def button(self):
        return self.page.locator(".controls button.start")

    def limit(self, text):
        self.page.get_by_role("button", name=re.compile("^Limit")).click()
        self.page.get_by_role("menuitemradio", name=text, exact=True).click()

    def visits(self) -> int:
        """Returns the visits of all moves."""
        cells = self.table.locator("tbody td.col-visits").all_inner_texts()
        return sum(int(re.sub(r"\D", "", cell) or 0) for cell in cells)

    def scores(self) -> str:
        return " ".join(self.score.inner_text().split())


@pytest.mark.parametrize("game", kinds_with())
def test_an_analysis_is_started_and_stopped(open_page, game):
    page = open_page(f"#v=analyse&g={game}")
    panel = Panel(page)
    panel.start()
    assert panel.table.locator("tbody tr").count() > 0
    page.wait_for_timeout(500)
    panel.stop()
    page.wait_for_timeout(400)
    visits = panel.visits()
    assert visits > 0
    page.wait_for_timeout(600)
    assert panel.visits() == visits


def test_the_tab_begins_an_analysis_and_the_button_says_whether_one_goes_on(open_page):
    page = open_page("#g=connect_four&m=4 4")
    page.get_by_role("button", name="Analyse", exact=True).click()
    panel = Panel(page)
    panel.start()
    panel.limit("100 simulations")
    ended = page.get_by_text("the limit is reached")
    ended.wait_for()
    assert panel.button.inner_text() == "Analyse"
    before = panel.visits()
    panel.button.click()
    end = time.monotonic() + 20
    while panel.visits() < before + 90:
        assert time.monotonic() < end, "it should go on for as many simulations again"
        page.wait_for_timeout(50)
    ended.wait_for()
    Hands(page).grid.get_by_role("gridcell", name=re.compile("^3.*can move$")).first.click()
    panel.table.get_by_role("columnheader", name=re.compile("of Yellow")).wait_for(timeout=20_000)
    ended.wait_for()
    assert panel.visits() > 0, "it follows the position"


@pytest.mark.slow
def test_two_agents_are_headed_by_wins_and_draws(open_page):
    script = fake_stream(moves=COLUMNS, value=0.1, interval_ms=50, shuffles=False, outcomes=[0.38, 0.34, 0.28])
    page = open_page("#v=analyse&g=connect_four", script=script)
    panel = Panel(page)
    panel.start()
    assert panel.scores() == "55.0 % Red 34 % draws 45.0 % Yellow"
    page.get_by_role("button", name="Compare").click()
    page.get_by_text("draws").wait_for()
    page.wait_for_timeout(300)
    assert panel.scores() == "38 Red wins 34 draws of 100 games, by connect_four 28 Yellow wins"


def test_an_agent_that_is_not_offered_is_named(open_page):
    page = open_page("#v=analyse&g=connect_four&a=nobody@800")
    page.get_by_text("The agent nobody@800 is not offered here for this game. connect_four takes its place.").wait_for()
    Panel(page).button.wait_for()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys").inner_text()
    assert "prior" in keys and "ownership" not in keys, "this net tells nothing of it"


@pytest.mark.slow
def test_a_phone_shows_the_names_of_agents_whole(open_page):
    script = fake_stream(moves=COLUMNS, value=0.1, interval_ms=50, shuffles=False)
    page = open_page("#v=analyse&g=connect_four", script=script, viewport=PHONE)
    panel = Panel(page)
    panel.start()
    panel.limit("100,000 simulations")
    for _ in range(2):
        for text in page.locator(".controls .picker-text").all():
            assert text.evaluate("({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth"), text.inner_text()
        page.get_by_role("button", name="Compare").click()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_the_table_is_calm_under_a_hundred_updates_a_second(open_page):
    script = fake_stream(moves=COLUMNS, value=0.2, interval_ms=10, shuffles=True)
    page = open_page("#v=analyse&g=connect_four", script=script)
    panel = Panel(page)
    panel.start()
    panel.table.locator("tbody tr").nth(2).hover()
    seen = page.evaluate(
        """async () => {
          const table = document.querySelector("table[aria-label='Candidate moves']");
          const box = table.querySelectorAll('tbody tr')[2].getBoundingClientRect();
          const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
          const under = new Set();
          const redraws = new Set();
          let frame = 0;
          const watch = new MutationObserver(() => redraws.add(frame));
          const all = { subtree: true, childList: true, characterData: true, attributes: true };
          watch.observe(document.querySelector('.panel'), all);
          const sent = window.updatesSent;
          const begin = performance.now();
          while (performance.now() - begin < 2000) {
            await new Promise(requestAnimationFrame);
            frame++;
            under.add(document.elementFromPoint(x, y).closest('tr')?.dataset.move ?? null);
          }
          watch.disconnect();
          const seconds = (performance.now() - begin) / 1000;
          return { under: [...under], redraws: redraws.size / seconds, updates: (window.updatesSent - sent) / seconds };
        }"""
    )
    assert seen["updates"] > 50, "the test should send more than the page shows"
    assert len(seen["under"]) == 1 and seen["under"][0]
    assert 2 < seen["redraws"] <= 5.5  # 5, and one at the edge of two seconds


def test_no_value_changes_its_owner_when_both_sides_are_played(open_page):
    """Every position is worth 0.4 to Red: 70 % for Red and 30 % for Yellow, whoever is to move."""
    script = fake_stream(moves=COLUMNS, value=0.4, interval_ms=50, shuffles=False)
    page = open_page("#v=analyse&g=connect_four", script=script)
    panel = Panel(page)
    panel.start()
    hands = Hands(page)
    hands.play_moves(0)
    for ply in range(3):
        mover = ["Red", "Yellow"][ply % 2]
        heading = panel.table.get_by_role("columnheader", name=re.compile(f"of {mover}"))
        heading.wait_for()
        page.wait_for_timeout(300)
        assert panel.scores() == "70.0 % Red 30.0 % Yellow"
        best = panel.table.locator("tbody tr.best td.score").inner_text()
        assert best == ("70.0" if mover == "Red" else "30.0"), "the table is for the player to move"
        chart = page.get_by_role("slider", name="Ply").get_attribute("aria-valuetext")
        assert "Red 70 %, Yellow 30 %" in chart
        gauge = page.locator(".gauge-part").evaluate_all("(parts) => parts.map(({ offsetHeight }) => offsetHeight)")
        assert gauge[-1] / sum(gauge) == pytest.approx(0.7, abs=0.01), "Red is at the foot of the gauge"
        hands.grid.get_by_role("gridcell", name=re.compile("^4.*can move$")).first.click()


@pytest.mark.slow
def test_the_page_goes_on_when_the_server_was_killed_and_started_again(open_page):
    with serving("uct@1000") as own:
        page = open_page("#v=analyse&g=connect_four&m=4 4&a=uct@1000", at=own)
        page.watch.allows.add("net::ERR_")
        panel = Panel(page)
        panel.start()
        own.kill()
        banner = page.get_by_text("The server does not answer")
        banner.wait_for()
        known = panel.visits()
        own.start()
        banner.wait_for(state="detached", timeout=30_000)
        end = time.monotonic() + 60  # the agent is loaded again
        while panel.visits() == known:
            assert time.monotonic() < end, "the analysis should go on"
            page.wait_for_timeout(200)
        hands = Hands(page)
        hands.grid.get_by_role("gridcell", name=re.compile("^3.*can move$")).first.click()
        page.get_by_role("treeitem", name="3").first.wait_for()
        panel.stop()


def test_a_busy_server_is_waited_for_and_told(open_page):
    page = open_page("#g=tic_tac_toe")
    page.watch.allows |= {"status 429", "429 (Too Many Requests)"}
    busy = {"error": {"code": "busy", "message": "all places for searches are taken"}}

    page.route(
        "**/api/v1/analyses", lambda route: route.fulfill(status=429, json=busy, headers={"Retry-After": "1"}), times=1
    )
    page.get_by_role("button", name="Analyse", exact=True).click()
    page.get_by_text("In the queue").wait_for()
    page.get_by_text("All places for searches are taken. The board and its moves work meanwhile.").wait_for()
    Panel(page).start()
