"""Tests of the notebooks: all cells run in order, except the one that installs azero."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from azero.compiler.cache import cache_root

pytestmark = pytest.mark.thorough

FOLDER = Path(__file__).parent.parent / "examples"


def printed(cell: nbformat.NotebookNode) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


@pytest.fixture
def executed(monkeypatch, tmp_path):
    """Returns a function that runs a notebook, and returns its cells of code without the one that installs azero."""
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("MPLCONFIGDIR", str(cache_root() / "matplotlib"))

    def run(name):
        notebook = nbformat.read(FOLDER / name, as_version=4)
        resources = {"metadata": {"path": str(FOLDER)}}
        NotebookClient(notebook, timeout=300, skip_cells_with_tag="install", resources=resources).execute()
        install, *cells = (cell for cell in notebook.cells if cell.cell_type == "code")
        assert install.outputs == []
        return cells

    return run


def has_picture(cell: nbformat.NotebookNode) -> bool:
    return any("image/png" in output.get("data", {}) for output in cell.outputs)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_it_has_no_outputs(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)
    assert ["%pip install" in cell.source for cell in cells] == [True] + [False] * (len(cells) - 1)


def test_first_steps(executed):
    position, suggested, played, match, trained, plotted, last = executed("first_steps.ipynb")
    assert "O X X" in printed(position)
    assert "play 4, value -0." in printed(suggested)
    assert printed(played).splitlines()[-1] in ("The net wins.", "A draw.", "UCT wins.")
    assert "95 % interval" in printed(match)
    assert "best.safetensors" in printed(trained)
    assert has_picture(plotted)
    assert int(printed(last).split()[1].rstrip(",")) > 30


@pytest.mark.long
def test_tic_tac_toe(executed):
    trained, plotted, played, tree = executed("tic_tac_toe.ipynb")
    assert "6 iterations" in printed(trained)
    assert has_picture(plotted) and has_picture(tree)
    assert printed(played).splitlines()[-1] in ("You win.", "A draw.", "The net wins.")
    assert int(printed(tree).split(", ")[1].split()[0]) > 50
