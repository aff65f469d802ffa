"""Tests of the view Learn: what it shows is in the link."""

import re

import pytest


def test_a_link_holds_method_constant_seed_and_step(open_page):
    page = open_page("#v=learn&g=tic_tac_toe&m=b2")
    page.get_by_label("explore").fill("0.7")
    page.get_by_role("button", name="Seed 0").click()
    page.get_by_text("Simulation 1").wait_for()
    for _ in range(3):
        page.get_by_role("button", name="Next simulation").click()
    page.get_by_role("button", name="Step", exact=True).click()
    page.wait_for_url(re.compile(r"&c=0\.7&s=1&n=4\.2$"))
    lesson = page.get_by_role("region", name="Learn how it thinks").inner_text()
    assert "Simulation 4" in " ".join(lesson.split())
    other = open_page(page.url[page.url.index("#") :])
    other.get_by_text("Simulation 4").wait_for()
    other.wait_for_timeout(300)
    assert other.get_by_role("region", name="Learn how it thinks").inner_text() == lesson
    other.get_by_role("button", name="Seed 1").click()
    other.wait_for_url(re.compile(r"&c=0\.7&s=2&n=1\.1$"))


@pytest.mark.slow
def test_a_damaged_lesson_of_a_link_is_left_out(open_page):
    page = open_page("#v=learn&g=tic_tac_toe&by=<b>&c=-1e9&s=abc&n=0.0.0")
    page.get_by_text("Simulation 1").wait_for()
    page.wait_for_url(re.compile(r"&by=uct&n=1\.1$|&n=1\.1$"))


@pytest.mark.slow
def test_what_arrives_does_not_replace_what_is_typed(open_page):
    page = open_page("#g=tic_tac_toe&m=b2&a=uct@1000")
    held = []
    page.route("**/simulations", lambda route: held.append(route), times=1)
    with page.expect_request("**/simulations"):
        page.get_by_role("button", name="Learn", exact=True).click()
    constant = page.get_by_label("explore")
    constant.fill("0.7")
    held[0].continue_()
    page.get_by_text("Simulation 1").wait_for()
    assert constant.input_value() == "0.7"


@pytest.mark.slow
def test_bars_of_values_below_zero_show_both_terms(open_page):
    """O has lost: Q is −1 for every move, and U goes back from there towards zero."""
    page = open_page("#v=learn&g=tic_tac_toe&m=b2 b1 a1&by=uct&c=0.3&n=30.1")
    page.get_by_text("Simulation 30").first.wait_for()
    rows = page.locator("table.terms tbody tr").evaluate_all("""(rows) => rows.map((row) => {
        const boxOf = (name) => row.querySelector(name)?.getBoundingClientRect();
        const [q, u, zero] = [".bar-q", ".bar-u", ".bar-zero"].map(boxOf);
        return q && [q.left - u.left, zero.left - q.right, u.width, u.top - q.bottom];
    })""")
    below = [row for row in rows if row and row[2] > 1]
    assert len(below) > 2
    for left, right, width, top in below:
        assert abs(left) < 1 and abs(right) < 2 and width > 1 and top >= -0.5


@pytest.mark.slow
def test_numbers_on_the_board_are_those_of_the_table_and_named(open_page):
    page = open_page("#v=learn&g=tic_tac_toe&by=puct")
    page.get_by_text("On the board: prior P.").wait_for()
    priors = page.get_by_role("table", name="Priors of the net").locator("td:nth-child(2)").all_inner_texts()
    shown = page.locator(".mark-text").all_text_contents()
    assert len(shown) == 9 and all(text.startswith(".") for text in shown)
    assert sorted(map(float, shown)) == pytest.approx(sorted(map(float, priors)), abs=0.006)
    page.get_by_role("button", name="Back up").click()
    page.get_by_text("On the board: visits N.").wait_for()
    page.get_by_role("button", name="Next simulation").click()
    page.get_by_text("On the board: Q + U for X.").wait_for()
