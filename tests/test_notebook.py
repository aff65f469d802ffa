"""Tests of the notebook: all cells run in order, except the one that installs azero."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from azero.compiler.cache import cache_root

pytestmark = pytest.mark.thorough

PATH = Path(__file__).parent.parent / "examples" / "first_steps.ipynb"


def printed(cell: nbformat.NotebookNode) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


def test_it_has_no_outputs():
    cells = [cell for cell in nbformat.read(PATH, as_version=4).cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)
    assert ["%pip install" in cell.source for cell in cells] == [True] + [False] * (len(cells) - 1)


def test_it_runs(monkeypatch, tmp_path):
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("MPLCONFIGDIR", str(cache_root() / "matplotlib"))
    notebook = nbformat.read(PATH, as_version=4)
    resources = {"metadata": {"path": str(PATH.parent)}}
    NotebookClient(notebook, timeout=300, skip_cells_with_tag="install", resources=resources).execute()
    install, position, suggested, played, match, trained, plotted, last = (
        cell for cell in notebook.cells if cell.cell_type == "code"
    )
    assert install.outputs == [] and "O X X" in printed(position)
    assert "play 4, value -0." in printed(suggested)
    assert printed(played).splitlines()[-1] in ("The net wins.", "A draw.", "UCT wins.")
    assert "95 % interval" in printed(match)
    assert "best.safetensors" in printed(trained)
    assert any("image/png" in output.get("data", {}) for output in plotted.outputs)
    assert int(printed(last).split()[1].rstrip(",")) > 30
