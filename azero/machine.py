"""What this machine has."""

import os


def count_cores() -> int:
    """Returns the cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
