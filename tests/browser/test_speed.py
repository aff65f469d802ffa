"""Tests of the page's size, and of how soon it shows the first board and answers a click."""

import statistics
import time

import pytest

from browser.hands import Hands

MOST_BYTES = 300_000


def test_the_page_is_small(chromium, server, capsys):
    """Reports the seconds until the first board, too."""
    context = chromium.new_context()
    page = context.new_page()
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    sizes = []
    network.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    begin = time.perf_counter()
    page.goto(server.address, wait_until="commit")
    page.get_by_role("gridcell").first.wait_for()
    time_s = time.perf_counter() - begin
    page.wait_for_load_state("networkidle")
    context.close()
    assert 10_000 < sum(sizes) < MOST_BYTES, sizes
    with capsys.disabled():
        print(f"\nFirst board after {time_s:.2f} s")


@pytest.mark.slow
def test_a_click_is_answered(open_page, capsys):
    """Reports seconds from a click to the reply, at 100 simulations on Connect Four. Only that it comes is asserted."""
    page = open_page("#g=connect_four")
    hands = Hands(page, seed=3)
    state = hands.new_game(simulations="100", agent="connect_four")
    state = hands.step(state)  # the net is loaded
    times = []
    while not state["isOver"] and len(times) < 5:
        begin = time.perf_counter()
        state = hands.step(state)
        times.append(time.perf_counter() - begin)
    assert times
    with capsys.disabled():
        print(f"\nConnect Four, 100 simulations: {statistics.median(times):.2f} s from click to reply, of {len(times)}")
