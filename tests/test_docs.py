"""Tests of the documentation: its commands and its Python run, and what is made in it is up to date."""

import re
import shlex
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from azero import cli

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOTES = [ROOT / "checkpoints" / "README.md", *sorted((ROOT / "notes").glob("*.md"))]
GUIDES = [
    ROOT / "docs" / f"{name}.md"
    for name in ("your_own_game", "second_game", "rules_of_a_game", "your_own_loop", "your_own_net", "export")
]
"""Other tests run these: tests/test_guide.py, tests/test_own_loop.py and tests/nets/test_export.py."""


def blocks(language):
    pages = [page for page in PAGES if page not in GUIDES]
    return [block for page in pages for block in re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)]


COMMANDS = dict.fromkeys(  # each once
    line.split("azero ", 1)[1]
    for block in blocks("sh")
    for line in block.splitlines()
    if re.match(r"(\.venv/bin/)?azero ", line)
)


FEWER = {"200": "20", "20": "4", "2s": "0.5s"}
"""Fewer games, and shorter clocks, than in the docs. Searches have fewer simulations, too."""


def run(monkeypatch, words):
    monkeypatch.setattr("sys.argv", ["azero", *words])
    monkeypatch.setattr("builtins.input", lambda prompt: "quit")
    return cli.run()


@pytest.mark.thorough
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_docs_run(command, monkeypatch, capsys, tmp_path):
    """Commands run with fewer games and simulations, and a shipped agent for the one that `make train` makes."""
    words = shlex.split(command.replace("runs/connect_four_quick@", "connect_four@"))
    if words[0] != "train":
        words = [re.sub(r"^(\S+@\d\d+)0$", r"\g<1>", FEWER.get(word, word)) for word in words]
        assert run(monkeypatch, words) == 0
        assert capsys.readouterr().out
        return
    run_folder = str(tmp_path / "run")
    words = [run_folder if word.startswith("runs/") else word for word in words if word != "--resume"]
    assert run(monkeypatch, [*words, "--set", "training.iterations=0"]) == 2
    assert "training.iterations = 0" in capsys.readouterr().err, "only the added setting should be refused"


def skeleton(output):
    """Returns what does not vary in a printed suggestion: the board, the moves in their order, the best move.

    The values depend on the net's arithmetic, which the machine chooses, and the width of a cell on the values.
    """
    lines = [" ".join(line.split()) for line in output.splitlines() if line.strip()]
    head = next(place for place, line in enumerate(lines) if line.startswith("move "))
    return lines[2 : head + 1], [line.split()[0] for line in lines[head + 1 : -1]], lines[-1].partition("(")[0]


def test_the_suggestion_in_the_docs_is_what_its_command_prints(monkeypatch, capsys):
    page = (ROOT / "docs" / "suggestions.md").read_text()
    command = re.search(r"azero (suggest .*)", page)[1]
    shown = re.search(r"The first command prints:\n\n```\n(.*?)```", page, re.DOTALL)[1]
    assert run(monkeypatch, shlex.split(command)) == 0
    board, moves, best = skeleton(capsys.readouterr().out)
    assert (board, moves, best) == skeleton(shown)
    assert len(board) == 9 and len(moves) == 7 and best.strip() == f"best: {moves[0]}"


@pytest.mark.parametrize("code", blocks("python"))
def test_python_of_the_docs_runs(code, capsys):
    exec(compile(code, "docs", "exec"), {})


@pytest.fixture(scope="module")
def make():
    """The script docs/make.py, as a module."""
    source = spec_from_file_location("make", ROOT / "docs" / "make.py")
    script = module_from_spec(source)
    source.loader.exec_module(script)
    return script


def test_pages_are_what_settings_commands_and_figures_say(make):
    for page, text in make.made().items():
        assert page.read_text() == text, f"{page.name}: run `make docs`"


def test_figures_are_measured_somewhere_at_some_time_by_a_command(make):
    """And `make train` trains as long as the pages say, wherever they do."""
    for name, figure in {**make.FIGURES["figures"], **make.FIGURES["speed"]}.items():
        machines = figure.keys() - {"what", "command"}
        assert machines and machines <= make.FIGURES["machines"].keys(), name
        assert all(re.match(r"2\d{3}-\d\d", str(figure[each]["on"])) for each in machines), name
    minutes = make.FIGURES["figures"]["make_train"]["any"]["is"]
    for told in (ROOT / "Makefile", ROOT / "configs" / "connect_four_quick.toml"):
        assert set(re.findall(r"--minutes (\d+)|for (\d+) minutes", told.read_text())) <= {(minutes, ""), ("", minutes)}
    for page in PAGES:
        assert not re.search(r"`make train`[^.\n]{0,40} \d+ min", page.read_text()), f"{page.name}: not a figure's name"


def test_links_of_the_docs_lead_somewhere():
    for page in [*PAGES, *NOTES]:
        text = page.read_text()
        pictures = re.findall(r'(?:src|srcset)="([^"]+)"', text)
        for target in [*pictures, *re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)]:
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.name}: {target}"


def test_files_that_the_docs_name_are_there():
    """Names in capitals stand for any name. Folders of azero may go without `azero/`."""
    rooms = [path.name for path in (ROOT / "azero").iterdir() if path.is_dir() and not path.name.startswith("_")]
    pattern = (
        rf"`((?:azero|tests|benchmarks|docs|configs|notes)/[a-z_0-9/.-]+|(?:{'|'.join(rooms)})/[a-z_0-9/]*(?:\.py|/))`"
    )
    known = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("[a-z]*/**/*")}
    known |= {path.removeprefix("azero/") for path in known}
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        paths = [path.rstrip("/") for path in re.findall(pattern, page.read_text())]
        assert [path for path in paths if path not in known] == [], page.name
