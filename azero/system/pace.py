"""The amount of work in one call of compiled code: small, so that Python checks the clock and Ctrl-C often."""

CALL_S = 0.05
_MOST_TIMES_MORE = 8


def next_size(size: int, elapsed_s: float, wanted_s: float = CALL_S) -> int:
    """Returns the amount of work with which the next call lasts `wanted_s`, if `size` took the last one `elapsed_s`.

    It is at least 1, and at most `_MOST_TIMES_MORE` times `size`, because later work may be slower.
    """
    return max(1, int(size * min(wanted_s / max(elapsed_s, 1e-9), _MOST_TIMES_MORE)))
