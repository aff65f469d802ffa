"""A cache of what stays open for its next use, such as agents and nets."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")


class AllInUse(Exception):
    """There is no room, and nothing can be closed."""


class Opened(Generic[Key, Thing]):
    """What is open, by key. Where there is no room for more, what was not used for longest is closed.

    Args:
      most: how much may be open, in the unit of the sizes.
      close: closes one.
      is_free: whether one may be closed now.
    """

    def __init__(
        self,
        most: float,
        close: Callable[[Thing], object] = lambda thing: None,
        is_free: Callable[[Thing], bool] = lambda thing: True,
    ):
        self._most, self._close, self._is_free = most, close, is_free
        self._open: OrderedDict[Key, tuple[Thing, float]] = OrderedDict()  # with their sizes

    def use(self, key: Key, make: Callable[[], Thing], size: float = 1) -> Thing:
        """Returns what a key stands for, which is made now if it is not open; raises AllInUse if there is no room.

        Something larger than all room is open alone.
        """
        if key not in self._open:
            while self._open and sum(own for _, own in self._open.values()) + size > self._most:
                self.drop(next((each for each, (thing, _) in self._open.items() if self._is_free(thing)), None))
            self._open[key] = make(), size
        self._open.move_to_end(key)
        return self._open[key][0]

    def drop(self, key: Key | None) -> None:
        """Closes what a key stands for; raises AllInUse for None."""
        if key is None:
            raise AllInUse
        self._close(self._open.pop(key)[0])

    def forget(self, key: Key) -> None:
        """Removes what has closed itself, if it is there."""
        self._open.pop(key, None)

    def close(self) -> None:
        """Closes everything."""
        while self._open:
            self.drop(next(reversed(self._open)))

    def get(self, key: Key) -> Thing | None:
        """Returns what a key stands for, if it is open."""
        return self._open[key][0] if key in self._open else None

    def items(self) -> Iterator[tuple[Key, Thing]]:
        """Yields what is open, with its key; what was used last comes last."""
        return ((key, thing) for key, (thing, _) in self._open.items())
