"""Errors on their way from one process to another. Each arrives once, with the name of its type and its message."""

import pickle
import traceback
from contextlib import suppress
from dataclasses import dataclass

from azero.errors import BadInput


@dataclass(frozen=True)
class CarriedError:
    """An error of another process. It can be pickled, whatever the error is.

    Args:
      shown: the name of the error's type, and its message.
      data: the error, pickled; empty if it cannot be.
      plain: stands for the error where it cannot be made again.
      note: says where it was raised, with the trace.
    """

    shown: str
    data: bytes
    plain: Exception
    note: str

    @classmethod
    def of(cls, error: BaseException, place: str) -> "CarriedError":
        """Packs an error that is being handled.

        Args:
          place: where it was raised, e.g. "In a worker process".
        """
        shown, data = type(error).__name__, b""
        with suppress(Exception):  # it may have no message, and attributes of any kind
            shown = _shown(error)
            data = pickle.dumps(error, protocol=5)
        plain = BadInput(str(error)) if isinstance(error, BadInput) else RuntimeError(shown)
        return cls(shown, data, plain, f"{place}:\n{traceback.format_exc()}")

    def error(self) -> Exception:
        """Returns the error. If it cannot be made again as it was, another one has its type's name and its message."""
        error = self.plain
        with suppress(Exception):  # its type may not exist here, or take other arguments than pickle gives it
            found = pickle.loads(self.data)
            if isinstance(found, Exception) and _shown(found) == self.shown:
                error = found
        error.add_note(self.note)
        return error


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
