"""Adds the libraries of kernels to a wheel, if `make_libraries.py` has made them, and names their platform in it.

The platform is manylinux (PEP 600) with the version of glibc that the libraries need, so that pip installs the wheel
where they can be opened.
"""

from __future__ import annotations  # Pythons that are too old read this, too

import re
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LIBRARIES = "azero/compiler/libraries"


class LibrariesHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict) -> None:
        libraries = sorted(Path(self.root, LIBRARIES).glob("*.so"))
        if version == "editable" or not libraries:
            return
        build_data["artifacts"].append(f"/{LIBRARIES}/*")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform(libraries)}"


def _platform(libraries: list[Path]) -> str:
    content = b"".join(each.read_bytes() for each in libraries)
    needed = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", content)]
    here = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return here.replace("linux", f"manylinux_2_{max(needed)}", 1) if needed else here
