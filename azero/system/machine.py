"""The machine's cores, and how its memory is used."""

import contextlib
import ctypes
import functools
import math
import mmap
import os
import platform
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # from malloc.h


def count_cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def total_memory() -> float:
    """Returns the bytes of the machine's memory; infinity where the system does not tell."""
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) if hasattr(os, "sysconf") else math.inf


def peak_memory() -> float:
    """Returns the most bytes of memory that this process has had; infinity on other systems than Linux."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name == "VmHWM":
                return 1024.0 * int(value.split()[0])
    return math.inf


@functools.cache
def cpu_flags() -> frozenset[str]:
    """Returns the CPU's features by the names of Linux, e.g. "avx2"; none on other systems."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, flags = line.partition(":")
            if name.strip() in ("flags", "Features"):
                return frozenset(flags.split())
    return frozenset()


@functools.cache
def cpu_name() -> str:
    """Returns what the system calls the CPU."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, model = line.partition(":")
            if name.strip() == "model name":
                return model.strip()
    return platform.processor() or platform.machine()


def keep_freed_memory() -> None:
    """Makes this process keep freed memory for later use; does nothing if the C library is not glibc.

    By default glibc may return large blocks to the system and request them again, with a page fault per 4 KiB. In
    training that caused thousands of page faults per step, or none, depending on earlier frees.
    """
    if sys.platform == "linux" and "glibc" in (os.confstr("CS_GNU_LIBC_VERSION") or ""):
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_MMAP_THRESHOLD, 32 << 20)  # the largest value that glibc accepts
        libc.mallopt(_M_TRIM_THRESHOLD, 1 << 30)


def keep_torch_files(folder: Path) -> None:
    """Makes torch keep the files of its compiler in `folder`, unless the user has named another one.

    Call it before an optimiser is made: torch then creates a folder, by default one in TMPDIR, which stays.
    """
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(folder / "torch"))


def sparse_zeros(shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
    """Returns zeros, of which little will be written. Only pages that are written take memory.

    Linux may give huge pages of 2 MiB to large arrays, and NumPy asks for that. Here the pages stay small.
    """
    size = max(1, math.prod(shape) * np.dtype(dtype).itemsize)
    if sys.platform == "win32":
        memory = mmap.mmap(-1, size)
    else:
        memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # a kernel without huge pages
            memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, dtype, math.prod(shape)).reshape(shape)
