"""The interface of a library that runs nets. Each is a folder beside this module. Nothing here imports torch."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from azero.games import Game
from azero.nets.architectures.drawing import Drawing
from azero.nets.runtimes.session import Session

if TYPE_CHECKING:
    from azero.nets.architectures.contract import Net


class Runnable(Protocol):
    """A net that libraries can open: a `Net`, or one of a file, which is made in torch only if a library needs it."""

    game: Game

    def drawing(self) -> Drawing | None:
        """Returns the drawing of a net of azero's; None for a user's net."""

    @property
    def torch_net(self) -> "Net":
        """The net in torch."""


class Library(ABC):
    """A library that runs nets.

    Attributes:
      name: as in the setting `device.runtime`.
      expected_rank: place among the libraries in ascending order of expected speed. torch has 0.
      takes_any_rows: whether a pass may have fewer rows than its session was opened for, is faster then, and computes
        the same bits.
    """

    name: str
    expected_rank: int
    takes_any_rows: bool = False

    @abstractmethod
    def precisions(self, device: str) -> Sequence[str]:
        """Returns the precisions for a device, in ascending order of expected speed; none if it is not installed.

        Args:
          device: its type, as of `device_type`.

        Raises ImportError or RuntimeError if it is installed and cannot be used.
        """

    def takes(self, net: Runnable) -> bool:
        """Returns whether the library runs nets of this kind."""
        return True

    @abstractmethod
    def open(self, net: Runnable, precision: str, device: str, rows: int, num_threads: int) -> Session:
        """Returns a session; raises RuntimeError if the library cannot run the net.

        Args:
          rows: of every pass, on a CPU.
          num_threads: number of threads that run passes side by side.
        """


LIBRARIES: dict[str, Library] = {}
"""The libraries by name."""

AnyLibrary = TypeVar("AnyLibrary", bound=type[Library])


def library(kind: AnyLibrary) -> AnyLibrary:
    """Registers a class of libraries, as a decorator."""
    LIBRARIES[kind.name] = kind()
    return kind
