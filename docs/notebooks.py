"""Runs the notebooks of examples/, and keeps their outputs: `python docs/notebooks.py [NAME ...]`."""

import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent.parent / "examples"


def run(path: Path) -> nbformat.NotebookNode:
    """Returns a notebook with the outputs of all cells but the one that installs azero.

    It runs in a copy of its folder, so that what it writes does not stay, with a home folder of its own.
    """
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
            os.environ[name] = folder
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=600, skip_cells_with_tag="install", resources=resources).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times
        if cell.cell_type == "code":
            cell.outputs = tidied(cell.outputs)
    return notebook


def tidied(outputs: list) -> list:
    """Returns outputs as a terminal shows them in the end: without progress, and without what went to stderr."""
    kept: list = []
    for output in outputs:
        if output.output_type != "stream":
            kept.append(output)
        elif output.name == "stdout" and kept and kept[-1].output_type == "stream":
            kept[-1].text += output.text
        elif output.name == "stdout":
            kept.append(output)
    for output in kept:
        if output.output_type == "stream":
            lines = re.sub(r"\x1b\[\w*K", "\r", output.text).split("\n")
            text = "\n".join(line.rstrip("\r ").split("\r")[-1].rstrip() for line in lines)
            output.text = re.sub(r"\n{3,}", "\n\n", text).lstrip("\n")
    return kept


if __name__ == "__main__":
    for each in sorted(FOLDER.glob("*.ipynb")):
        if each.stem in (sys.argv[1:] or [each.stem]):
            nbformat.write(run(each), each)
            print(f"{each.name}: {each.stat().st_size:,} bytes", flush=True)
