"""Tests of docs/your_own_loop.md: its code blocks run in order, as one program, and `mypy --strict` accepts them."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "your_own_loop.md"
CODE = "\n\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))

pytestmark = pytest.mark.slow


def test_the_page_runs_from_its_first_line_to_its_last(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    Path("loop.py").write_text(CODE)
    found = runpy.run_path("loop.py")
    assert found["result"].N.sum(axis=1).tolist() == [99, 99], "the first simulation evaluates the root"
    assert {path.name for path in tmp_path.iterdir()} == {"loop.py", "mine.safetensors", "runs"}
    assert found["run"].iteration == 3 and set(found["games"].iterations) <= {1, 2, 3}
    assert found["match"].tally.games == 20 and found["match"].tally.score > 0.6
    assert np.isfinite(found["loss"].item())
    out = capsys.readouterr().out
    assert out.count("promoted") >= 3 and len(re.findall(r"^policy loss \d", out, re.MULTILINE)) == 3


def errors_of(path: Path) -> str:
    """Returns the output of `mypy --strict` for a file outside azero."""
    words = ["--strict", "--follow-imports=silent", "--config-file=", f"--cache-dir={ROOT}/.mypy_cache/strict"]
    command = [sys.executable, "-m", "mypy", *words, str(path)]
    environment = os.environ | {"MYPYPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=path.parent).stdout


@pytest.mark.long
def test_mypy_strict_accepts_the_page(tmp_path):
    (tmp_path / "loop.py").write_text(CODE)
    assert errors_of(tmp_path / "loop.py").startswith("Success")
    (tmp_path / "wrong.py").write_text("import azero\n\nazero.Search(azero.make_game(1), num_simulations='8').run()\n")
    assert errors_of(tmp_path / "wrong.py").count("error:") == 3
    assert (ROOT / "azero" / "py.typed").is_file(), "without it, mypy ignores the types of an installed azero"
