"""The machine's cores, and the reuse of freed memory."""

import ctypes
import os
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # from malloc.h


def count_cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def keep_freed_memory() -> None:
    """Makes this process keep freed memory for later use; does nothing if the C library is not glibc.

    By default glibc may return large blocks to the system and request them again, with a page fault per 4 KiB. In
    training that caused thousands of page faults per step, or none, depending on earlier frees.
    """
    if sys.platform == "linux" and "glibc" in (os.confstr("CS_GNU_LIBC_VERSION") or ""):
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_MMAP_THRESHOLD, 32 << 20)  # the largest value that glibc accepts
        libc.mallopt(_M_TRIM_THRESHOLD, 1 << 30)
