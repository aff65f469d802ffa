"""Tests of the site's pages: the reference page has all public names. `make site` checks links and the menu."""

import re
from pathlib import Path

import azero
import azero.authoring

ROOT = Path(__file__).parent.parent
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
DOCUMENTED = re.findall(r"^::: (\S+)$", REFERENCE, re.MULTILINE)


def test_every_public_name_is_on_the_reference_page():
    own = [name for name in azero.__all__ if name != "__version__"]
    of_authors = set(azero.authoring.__all__) - {"WIN", "DRAW", "LOSS", "BadInput"}
    assert "`WIN`, `DRAW` and `LOSS`" in REFERENCE, "the site's tool cannot document a joint assignment"
    expected = {f"azero.{name}" for name in own} | {f"azero.authoring.{name}" for name in of_authors}
    assert set(DOCUMENTED) == expected | {"azero.games.contract.Rules"}
    assert len(DOCUMENTED) == len(set(DOCUMENTED))
