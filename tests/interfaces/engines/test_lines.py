"""Tests of the lines between azero and the program that drives it."""

import io
import queue

from azero.interfaces.engines.lines import Lines, Log


def test_a_report_is_left_out_while_one_is_untaken():
    source = queue.Queue()
    lines = Lines(source.get, io.StringIO(), Log())
    for number in range(1000):
        lines.offer((number,))
    lines.put(("last",))
    assert lines.next() == (0,) and lines.next() == ("last",)
    lines.offer((1,))
    assert lines.event() == (1,)
    source.put(b"")
    assert lines.next() is None and lines.is_used_up
