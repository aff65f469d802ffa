"""Code that comes from outside: a user's files and programs. One switch refuses all of it."""

import os

from azero.errors import BadInput

DATA_ONLY = "AZERO_DATA_ONLY"
"""The environment variable of the switch. Any value but "" and "0" switches it on, also in worker processes."""


def check_may_run(what: str) -> None:
    """Raises BadInput if only data may be read. Call it before code from outside runs."""
    if os.environ.get(DATA_ONLY, "0") not in ("", "0"):
        raise BadInput(f"{what} is code, and does not run with --data-only or {DATA_ONLY}=1")
