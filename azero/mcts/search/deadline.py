"""When a search has to end."""

import math
import time


class Deadline:
    """A time by `time.perf_counter`, in seconds. Any thread may move it, or stop the search at once.

    Attributes:
      time_s: when the search has to end.
      is_stopped: whether `stop` was called. It stays so.
    """

    def __init__(self, time_s: float = math.inf):
        self.time_s = time_s
        self.is_stopped = False

    def stop(self) -> None:
        """Ends the search as soon as possible."""
        self.is_stopped = True

    def has_passed(self) -> bool:
        """Returns whether the search has to end now."""
        return self.is_stopped or time.perf_counter() >= self.time_s

    def left_s(self) -> float:
        """Returns the seconds that are left; 0 or less if the search has to end."""
        return 0.0 if self.is_stopped else self.time_s - time.perf_counter()
