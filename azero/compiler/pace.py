"""How much compiled code does in one call: so much that Python gets to see the clock, and Ctrl-C, every so often."""

CALL_S = 0.05
_MOST_TIMES_MORE = 8


def next_size(size: int, elapsed_s: float, wanted_s: float = CALL_S) -> int:
    """Returns how much to ask of a call for it to last `wanted_s`, where `size` took the last one `elapsed_s`.

    At least 1, and no more than a few times as much at once: what comes may be slower than what was.
    """
    return max(1, int(size * min(wanted_s / max(elapsed_s, 1e-9), _MOST_TIMES_MORE)))
