"""Adds the libraries of kernels to a wheel, if `make_libraries.py` has made them, and names their platform in it."""

import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LIBRARIES = "azero/compiler/libraries"


class LibrariesHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict) -> None:
        if version == "editable" or not any(Path(self.root, LIBRARIES).glob("*.so")):
            return
        build_data["artifacts"].append(f"/{LIBRARIES}/*")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
