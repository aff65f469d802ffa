"""The interface of a library that runs nets. Each is a folder beside this module."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

import torch

from azero.nets.architectures.contract import Net
from azero.nets.runtimes.session import Session


class Library(ABC):
    """A library that runs nets.

    Attributes:
      name: as in the setting `device.runtime`.
      expected_rank: place among the libraries in ascending order of expected speed. torch has 0.
    """

    name: str
    expected_rank: int

    @abstractmethod
    def precisions(self, device: torch.device) -> Sequence[str]:
        """Returns the precisions for a device, in ascending order of expected speed; none if it is not installed.

        Raises ImportError or RuntimeError if it is installed and cannot be used.
        """

    @abstractmethod
    def open(self, net: Net, precision: str, device: torch.device, rows: int, num_threads: int) -> Session:
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
