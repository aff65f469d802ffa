"""Refuses a Python that is too old, before pip looks for packages that fit it and reports a conflict instead."""

import sys

from hatchling.metadata.plugin.interface import MetadataHookInterface


class PythonVersion(MetadataHookInterface):
    def update(self, metadata: dict) -> None:
        if sys.version_info < (3, 11):  # noqa: UP036
            sys.exit(f"azero needs Python 3.11 or newer; this is Python {sys.version.split()[0]}")
