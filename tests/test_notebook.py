"""Tests of the notebooks: all cells run in order, except the one that installs azero."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from azero.compiler.cache import cache_root

FOLDER = Path(__file__).parent.parent / "examples"


def printed(cell: nbformat.NotebookNode) -> str:
    return "".join(output.get("text", "") for output in cell.outputs if output.get("name") != "stderr")


@pytest.fixture
def executed(monkeypatch, tmp_path):
    """Returns a function that runs a notebook, and returns its cells of code without the one that installs azero."""
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("MPLCONFIGDIR", str(cache_root() / "matplotlib"))

    def run(name):
        notebook = nbformat.read(FOLDER / name, as_version=4)
        resources = {"metadata": {"path": str(tmp_path)}}
        NotebookClient(notebook, timeout=300, skip_cells_with_tag="install", resources=resources).execute()
        return [cell for cell in notebook.cells if cell.cell_type == "code"][1:]

    return run


def has_picture(cell: nbformat.NotebookNode) -> bool:
    return any("image/png" in output.get("data", {}) for output in cell.outputs)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_it_has_outputs_of_all_cells_that_a_reader_may_want(path):
    """`python docs/notebooks.py` makes them."""
    install, *cells = (cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
    assert "%pip install" in install.source and install.outputs == []
    assert all(cell.execution_count for cell in cells) and any(has_picture(cell) for cell in cells)
    kinds = {output.output_type for cell in cells for output in cell.outputs}
    assert kinds <= {"stream", "display_data", "execute_result"} and path.stat().st_size < 300_000


@pytest.mark.thorough
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


@pytest.mark.long
def test_own_game(executed):
    _, checked, searched, trained, plotted = executed("own_game.ipynb")
    assert "keys             ok" in printed(checked)
    assert "take 2:" in printed(searched).splitlines()[0] and "win" in printed(searched).splitlines()[0]
    assert "8 iterations" in printed(trained) and has_picture(plotted)
    assert int(printed(plotted).split()[2]) >= 19


@pytest.mark.thorough
def test_one_simulation(executed):
    _, judged, stepped, grown, answered = executed("one_simulation.ipynb")
    assert printed(judged).startswith("4  P = 0.")
    assert printed(stepped).splitlines()[1].startswith(" 2  new: 4")
    assert has_picture(grown) and printed(answered).startswith("play 4, value +0.9")


@pytest.mark.thorough
def test_analyse_a_game(executed):
    _, reviewed, plotted, analysed, ranked, kept = executed("analyse_a_game.ipynb")
    assert "blunders: [" in printed(reviewed) and "better: 4 4 5" in printed(reviewed) and has_picture(plotted)
    assert "simulations: best 4" in printed(analysed) and printed(ranked).startswith("4  visits")
    assert "4 3 7 2 4 5 3 2 2 7 3 1 4 4 1 6 1 1-0" in printed(kept)
