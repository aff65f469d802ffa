"""Work in slices: a generator that pauses after each slice of its work, so that other work can come in between."""

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")

Slices = Generator[None, None, T]
"""Work in slices whose result is a T. Whoever stops asking for slices has given it up."""

SLICE_S = 0.05
"""About how long a slice should take, in seconds."""


def finish(work: Slices[T]) -> T:
    """Does all slices of some work without a pause; returns its result."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value
