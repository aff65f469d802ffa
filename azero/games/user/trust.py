"""Decides which of a user's Python files may run. They can do anything.

A file runs if this command, a config that the command names, or this Python program names it, or if this user named it
before and it is unchanged. Checkpoints, runs and records hold a name and a digest; nothing that somebody sent makes a
file run.

What the user has named is known by its identity, a digest of the file and of the user's modules that it imports. The
user's config folder has a file for each identity that a command has named. To end the trust, delete it.
"""

import contextlib
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from azero.errors import BadInput
from azero.games.names import file_of
from azero.games.user.sources import Sources
from azero.system.console import warn_once
from azero.system.data_only import check_may_run
from azero.system.files import others_can_write, write_whole

if TYPE_CHECKING:  # most games need no settings
    from azero.config.schema import Config

_NAMED: set[str] = set()
"""Identities that this process trusts."""


class Untrusted(BadInput):
    """A user's file is code that the user has not named yet."""


def trust_name(name: str, kind: str = "game", is_kept: bool = False) -> None:
    """Trusts the file in a name, if it has one; see `trust_file`."""
    if file := file_of(name, kind):
        trust_file(file, kind, is_kept)


def trust_config(config: "Config", is_kept: bool = False) -> None:
    """Trusts the files of game, net and search that a config names, because the user has named the config."""
    from azero.config.schema import named_files

    for kind, name in named_files(config).items():
        trust_name(name, kind, is_kept)


def trust_file(file: str, kind: str = "game", is_kept: bool = False) -> None:
    """Trusts the present code of a file, because the user has named it. Raises BadInput if it cannot be read.

    Args:
      kind: what the file has: "game", "net", "rule" or "root".
      is_kept: whether later processes trust it, too. If the config folder cannot be used, a notice says so.
    """
    check_may_run(f"{kind} file {file!r}")
    sources = Sources(file, kind)
    trust_identity(sources.identity)
    if is_kept and not _is_kept(sources.identity):
        note = f"{sources.path}\n{time.strftime('%Y-%m-%d %H:%M:%S')}\n"
        with contextlib.suppress(OSError, RuntimeError):  # without a home folder, Path.home() raises RuntimeError
            folder = trust_folder()
            for each in (folder.parent, folder):
                each.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(folder / sources.identity, note.encode("utf-8", "surrogateescape"))
        if not _is_kept(sources.identity):
            warn_once(f"{sources.what} is trusted by this command only: azero's config folder cannot be used")


def trust_identity(identity: str) -> None:
    """Trusts all code with this identity in this process, because the process that gave it its task does."""
    _NAMED.add(identity)


def check_trusted(sources: Sources) -> None:
    """Raises BadInput if this code may not run: Untrusted, or because nothing but data may be read."""
    check_may_run(sources.what)
    if sources.identity not in _NAMED and not _is_kept(sources.identity):
        raise Untrusted(f"{sources.what} is code that you have not named, or it has changed since")


def trust_folder() -> Path:
    """Returns the folder of trusted identities, in `$AZERO_CONFIG_DIR` or `azero` in the user's config folder."""
    if chosen := os.environ.get("AZERO_CONFIG_DIR"):
        return Path(chosen) / "trusted"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "azero" / "trusted"


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
