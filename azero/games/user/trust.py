"""Trust in users' files, which are code. A file runs only if the user has named it, now or before with the same code.

A trusted file is known by its identity, a digest of its code and of the user's modules that it imports. The user's
config folder has a file for each identity. To end the trust, delete it.
"""

import contextlib
import os
import re
import time
from pathlib import Path

from azero.errors import BadInput
from azero.games.user.sources import Sources
from azero.system.code import check_may_run
from azero.system.files import others_can_write, write_whole
from azero.system.formats import warn_once

_NAMED: set[str] = set()
"""Identities that this process trusts."""


class Untrusted(BadInput):
    """A user's file is code that the user has not named yet."""


def trust_folder() -> Path:
    """Returns the folder of trusted identities, in `$AZERO_CONFIG_DIR` or `azero` in the user's config folder."""
    if chosen := os.environ.get("AZERO_CONFIG_DIR"):
        return Path(chosen) / "trusted"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "azero" / "trusted"


def trust_file(file: str, is_kept: bool = False, kind: str = "game") -> None:
    """Trusts the present code of a file, because the user has named it. Raises BadInput if it cannot be read.

    Args:
      is_kept: whether later processes trust it, too. If the config folder cannot be used, a notice says so.
      kind: what the file has, "game" or "net".
    """
    what = f"{kind} file {file!r}"
    check_may_run(what)
    identity = Sources(file, kind).identity
    trust_identity(identity)
    if is_kept and not _is_kept(identity):
        note = f"{Path(file).resolve()}\n{time.strftime('%Y-%m-%d %H:%M:%S')}\n"
        with contextlib.suppress(OSError, RuntimeError):  # without a home folder, Path.home() raises RuntimeError
            folder = trust_folder()
            for each in (folder.parent, folder):
                each.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(folder / identity, note.encode("utf-8", "surrogateescape"))
        if not _is_kept(identity):
            warn_once(f"{what} is trusted by this command only: azero's config folder cannot be used")


def trust_identity(identity: str) -> None:
    """Trusts all code with this identity in this process."""
    _NAMED.add(identity)


def check_trusted(sources: Sources, what: str) -> None:
    """Raises BadInput if this code may not run: Untrusted, or because nothing but data may be read.

    Args:
      what: names the file in errors, e.g. "game file 'nim.py'".
    """
    check_may_run(what)
    if sources.identity not in _NAMED and not _is_kept(sources.identity):
        raise Untrusted(f"{what} is code that you have not named, or it has changed since")


def _is_kept(identity: str) -> bool:
    """Returns whether the config folder has this identity. A folder that others can write counts as empty."""
    try:
        folder = trust_folder()
        if re.fullmatch("[0-9a-f]{64}", identity) is None or not (folder / identity).is_file():
            return False
        for each in (folder, folder.parent):
            if others_can_write(each):
                warn_once(f"others can write to {str(each)!r}, so what is trusted there does not count; chmod 700 it")
                return False
        return True
    except (OSError, RuntimeError):  # without a home folder, Path.home() raises RuntimeError
        return False
