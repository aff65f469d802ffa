"""What this machine has, and how its memory is kept."""

import ctypes
import os
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of malloc.h


def count_cores() -> int:
    """Returns the cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def keep_freed_memory() -> None:
    """Has this process keep what it frees, for its next use; does nothing where the C library is not glibc.

    By itself glibc may give large blocks back to the system and ask for them again, a page fault for every 4 KiB: in
    training, thousands a step, or none, by what was freed before.
    """
    if sys.platform == "linux" and "glibc" in (os.confstr("CS_GNU_LIBC_VERSION") or ""):
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_MMAP_THRESHOLD, 32 << 20)  # the highest that it takes
        libc.mallopt(_M_TRIM_THRESHOLD, 1 << 30)
