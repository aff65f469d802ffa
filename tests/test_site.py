"""Tests of the site's pages: the reference page has all public names. `make site` checks links and the menu."""

import re
from pathlib import Path

import azero
import azero.authoring

ROOT = Path(__file__).parent.parent
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
DOCUMENTED = [
    f"{module}.{name}"
    for module, names in re.findall(r"^<!-- names: (\S+) (.*) -->$", REFERENCE, re.MULTILINE)
    for name in names.split()
]
CONSTANTS = {"WIN", "DRAW", "LOSS", "ONGOING", "Ranges", "ZERO", "ONE", "LETTERS"}


def test_every_public_name_is_on_the_reference_page():
    own = [name for name in azero.__all__ if name != "__version__"]
    of_authors = set(azero.authoring.__all__) - CONSTANTS - {"BadInput"}
    assert all(f"`{name}`" in REFERENCE for name in CONSTANTS)
    expected = {f"azero.{name}" for name in own} | {f"azero.authoring.{name}" for name in of_authors}
    assert set(DOCUMENTED) == expected | {"azero.games.contract.Rules"}
    assert len(DOCUMENTED) == len(set(DOCUMENTED))
