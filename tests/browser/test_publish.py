"""Tests of published pages: one file, in the browser, without a server."""

import random
from pathlib import Path

import pytest
from training.runs import TINY

import azero
from azero.arena.agents.make import make_agent
from azero.arena.reviews.review import Reviewer
from azero.config.reading import check_config
from azero.games import make_game
from azero.publishing.build import build
from azero.publishing.page import html_of
from azero.publishing.report import html_of_report
from azero.publishing.review import html_of_review
from azero.publishing.tables import make
from azero.publishing.tables.make import tables_of
from azero.publishing.tables.seen import positions
from azero.records import Record
from browser.conftest import DESKTOP, OWN_GAME, PHONE
from browser.games import all_with
from browser.hands import Hands
from browser.watch import Watch

DRAW = """async ([source, tables, positions]) => {
  const { Board } = await import("data:text/javascript;charset=utf-8," + encodeURIComponent(source));
  return positions.map(({ planes, player, legal, run, winner }) =>
    new Board(tables, () => Float32Array.from(planes), player).picture(legal, run, winner));
}"""
PICTURES = Path(make.__file__).parents[1] / "scripts" / "pictures.js"


CARRY = str(OWN_GAME.with_name("carry.py")) + ":Carry"


@pytest.mark.parametrize("name", [*all_with("connect_four", "breakthrough(rows=5,columns=4)", "own:Nim"), CARRY])
def test_pictures_by_tables_are_those_of_the_game(chromium, name, monkeypatch):
    monkeypatch.setattr(make, "_LEARNT", 400)
    monkeypatch.setattr(make, "_CHECKED", 100)
    game = make_game(name.replace("own:", f"{OWN_GAME}:"))
    found, lacks = tables_of(game)
    if game.name.startswith("p_game"):  # its board changes with each move
        assert lacks == ["the picture is the plain board beside a list of moves"]
        return
    assert lacks == []
    chance, seen = random.Random(7), []
    for _ in range(5):
        seen += positions(game, chance, 1)
    asked = [
        {
            "planes": each.planes.tolist(),
            "player": each.player,
            "legal": each.state.legal_actions(),
            "run": each.run,
            "winner": {1: 0, -1: 1}.get(each.state.returns()[0]) if each.state.is_terminal() else None,
        }
        for each in seen
    ]
    page = chromium.new_page()
    drawn = page.evaluate(DRAW, [PICTURES.read_text("utf-8"), found, asked])
    page.close()
    assert len(drawn) == len(seen) > 10
    for ours, each in zip(drawn, seen, strict=True):
        pieces = sorted(each.picture["pieces"], key=lambda piece: piece["cell"])  # a game may draw them in any order
        assert ours == {**each.picture, "pieces": pieces}


@pytest.fixture(scope="module")
def connect_four(tmp_path_factory):
    """Returns the address of a page that plays Connect Four. It takes a minute to make."""
    path = tmp_path_factory.mktemp("published") / "connect_four.html"
    path.write_text(html_of([build("connect_four")]), encoding="utf-8")
    assert path.stat().st_size < 2.5e6
    return path.as_uri()


@pytest.fixture(scope="module")
def review(tmp_path_factory):
    """Returns the address of a page with the review of a game of tic-tac-toe that was lost by the fourth move."""
    game, agent = make_game("tic_tac_toe"), make_agent("uct@200", "tic_tac_toe")
    record = Record.of_game(game.new_initial_state(), [4, 1, 0, 2, 8])
    path = tmp_path_factory.mktemp("published") / "review.html"
    path.write_text(html_of_review(Reviewer(agent).review(record), "uct@200"), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def open_file(chromium, request):
    """Returns a function that opens a file. No page may have a problem, or ask for anything but itself."""
    opened = []

    def open_link(address, **options):
        page = chromium.new_page(**{"viewport": DESKTOP, "reduced_motion": "reduce", **options})
        page.watch = Watch(page)
        page.watch.allows.add(f"left the machine: {address.partition('#')[0]}")  # the file itself
        opened.append(page)
        page.goto(address)
        page.get_by_role("grid").wait_for()
        return page

    yield open_link
    for page in opened:
        page.close()
        assert page.watch.problems == []


@pytest.mark.slow
def test_a_report_opens_positions_and_games_in_its_page(chromium, tmp_path_factory):
    """A link shows the position that it names, and one plays on from there. Nothing else is asked for."""
    folder = tmp_path_factory.mktemp("published")
    run = azero.train(check_config(TINY), folder / "tiny").folder
    path = folder / "report.html"
    path.write_text(html_of_report(run), encoding="utf-8")
    page = chromium.new_page(viewport=DESKTOP, reduced_motion="reduce")
    page.watch = Watch(page)
    page.watch.allows.add(f"left the machine: {path.as_uri()}")
    page.goto(path.as_uri())
    inner = page.frame_locator("iframe")
    inner.get_by_role("grid").wait_for()
    figure = page.locator("figure").first
    shown = [row.split()[1:] for row in figure.locator("pre").inner_text().splitlines()[1:4]]
    figure.get_by_role("link", name="Open").click()
    pieces = sum(cell != "." for row in shown for cell in row)
    inner.locator(f".piece >> nth={pieces - 1}").wait_for()
    assert inner.locator(".piece").count() == pieces
    page.locator("ol a").first.click()
    inner.get_by_role("grid").wait_for()
    page.close()
    assert page.watch.problems == []


def test_a_review_in_a_file(review, open_file):
    page = open_file(review)
    assert page.get_by_role("navigation", name="Views").get_by_role("button").all_inner_texts() == ["Review"]
    page.get_by_role("table", name="Mistakes").get_by_role("button", name="Show move 2").click()
    page.get_by_text("Better is").wait_for()
    assert Hands(page).may_click() == [] and page.get_by_role("button", name="Try it yourself").count() == 0
    for key in ("c", "Delete", "/"):  # nothing can be written or changed
        page.keyboard.press(key)
    assert page.get_by_role("textbox").count() == page.get_by_text("Deleted").count() == 0
    assert page.locator(".glyph-button, [title='Review again'], .game-button").count() == 0
    page.get_by_role("button", name="Copy and save").click()
    assert page.get_by_role("menuitem", name="JSON of a suggestion").count() == 0
    page.keyboard.press("Escape")
    page.reload()
    page.get_by_role("table", name="Mistakes").wait_for()
    page.get_by_role("button", name="Save", exact=True).click()
    with page.expect_download() as saved:
        page.get_by_text("Record with annotations").click()
    assert "was better}" in saved.value.path().read_text()


@pytest.mark.slow
def test_a_whole_game_in_a_file(connect_four, open_file):
    page = open_file(connect_four)
    hands = Hands(page)
    hands.new_game(agent="connect_four")
    end = hands.play_to_the_end()
    assert len(end["moves"]) > 6 and hands.may_click(end) == []
    kept = page.evaluate("Object.keys(localStorage)")
    assert [key for key in kept if key.startswith("azero.game.")] == []  # other files have other games


@pytest.mark.slow
def test_views_of_a_file(connect_four, open_file):
    page = open_file(f"{connect_four}#v=analyse&m=4 1 4 1 4 1")
    assert page.get_by_role("button", name="Runs").count() == 0
    row = page.get_by_role("table", name="Candidate moves").get_by_role("row").nth(1)
    row.get_by_text("win 1").wait_for()
    page.get_by_role("button", name="Learn", exact=True).click()
    page.get_by_role("button", name="PUCT", exact=True).click()
    page.get_by_role("button", name="Run 10").click()
    page.get_by_text("The root is proven, so the search is over.").wait_for()
    page.get_by_role("button", name="Rules").click()
    assert page.get_by_role("dialog").get_by_role("figure").count() > 0


@pytest.mark.slow
def test_a_record_goes_out_of_a_file_and_into_it(connect_four, open_file):
    page = open_file(f"{connect_four}#m=4 4(3)5", viewport=PHONE)
    page.keyboard.press("s")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as text").click()
    text = saved.value.path().read_text()
    assert text.split("\n\n")[1] == "4 4 (3) 5 *"
    page.keyboard.press("s")
    page.get_by_label("Text of a record").fill(text.replace("4 4 (3) 5", "4 4! {good} 5 1"))
    page.get_by_role("button", name="Load").click()
    page.get_by_role("tree").get_by_text("4!").wait_for()


@pytest.mark.slow
def test_a_file_may_ask_nobody(connect_four, open_file):
    page = open_file(connect_four)
    page.watch.allows |= {
        "connect-src",
        "Content Security Policy",
        "left the machine: https://example.org/",
        "failed: https://example.org/",
    }
    fetched = "(url) => fetch(url).then(() => 'answered', (error) => error.name)"
    assert page.evaluate(fetched, "https://example.org/") == "TypeError"
    assert any("connect-src" in line for line in page.watch.lines)
