"""axe-core finds nothing serious or critical in any view, light and dark."""

import pytest

from browser.conftest import DESKTOP, PHONE
from browser.games import KINDS
from browser.hands import Hands

NAMES = "label-content-name-mismatch"
"""Whoever speaks to the page says what a control shows, so its name should hold that. The rule has no tag of these."""

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

THEMES = ["light", pytest.param("dark", marks=pytest.mark.slow)]


def found_by_axe(page) -> list[str]:
    """Returns the serious and critical violations, one a line with the first element."""
    from axe_playwright_python.sync_playwright import Axe

    options = {"runOnly": {"type": "tag", "values": TAGS}, "rules": {NAMES: {"enabled": True}}}
    results = Axe().run(page, options={**options, "resultTypes": ["violations"]})
    bad = [each for each in results.response["violations"] if each["impact"] in ("serious", "critical")]
    return [f"{each['id']} ({each['impact']}): {node['html'][:200]}" for each in bad for node in each["nodes"][:3]]


def test_axe_finds_what_is_wrong(open_page):
    page = open_page("#g=connect_four")
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert [line.split()[0] for line in found_by_axe(page)] == ["button-name"]


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_in_a_view(open_page, theme):
    page = open_page("#g=connect_four&m=4 4 3(2 2(1 1(7)6)5)5", color_scheme=theme)
    for view in "Play", "Analyse", "Review", "Runs", "Learn":
        page.get_by_role("button", name=view, exact=True).click()
        page.locator(".panel-body > *").first.wait_for()
        if view == "Analyse":
            page.get_by_role("table", name="Candidate moves").wait_for(timeout=60_000)
        if view == "Learn":
            page.get_by_role("button", name="Run 10").click()
            page.get_by_text("Simulation 11", exact=True).wait_for(timeout=60_000)
            assert page.get_by_role("tree", name="Search tree").get_by_role("treeitem").count() > 5
        assert found_by_axe(page) == [], view


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_in_a_dialog(open_page, theme):
    page = open_page("#g=connect_four", color_scheme=theme)
    for name in "New game", "Keys":
        page.get_by_role("button", name=name).click()
        page.get_by_role("dialog").wait_for()
        assert found_by_axe(page) == [], name
        page.keyboard.press("Escape")
        page.get_by_role("dialog").wait_for(state="detached")


@pytest.mark.slow
@pytest.mark.parametrize(("viewport", "theme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"])
@pytest.mark.parametrize("game", KINDS)
def test_axe_finds_nothing_on_a_board(open_page, game, viewport, theme):
    page = open_page(f"#g={game}", color_scheme=theme, viewport=viewport)
    Hands(page).wait_for_turn()
    assert found_by_axe(page) == []
