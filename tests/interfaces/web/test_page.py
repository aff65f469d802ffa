"""The page's files: every link resolves, nothing comes from elsewhere, and they are small."""

import gzip
import re
from pathlib import Path

import pytest

import azero.interfaces.web

PAGE = Path(azero.interfaces.web.__file__).resolve().parent / "page"
LARGEST = 300 * 1000  # bytes of what a browser loads before the first board, and of all as the server sends it

FILES = sorted(path for path in PAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
SOURCES = [path for path in FILES if path.suffix in {".js", ".css", ".html"}]
STATIC = re.compile(r"""(?:\bfrom|\bimport)\s*["']([^"'\n]+)["']""")
LINK = re.compile(r"""(?:href|src)="([^"]+)\"""")


def short(path: Path) -> str:
    return str(path.relative_to(PAGE))


@pytest.mark.parametrize("path", SOURCES, ids=short)
def test_nothing_comes_from_elsewhere(path: Path) -> None:
    text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"""["'(]\s*(?:https?:)?//\w""", text), f"{short(path)} names another origin"
    assert "eval(" not in text and "new Function" not in text
    assert "innerHTML" not in text, "text of others is never markup"


def test_index_has_no_inline_scripts_or_styles() -> None:
    text = (PAGE / "index.html").read_text("utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=", text)
    assert re.findall(r"<script([^>]*)>(.*?)</script>", text, re.DOTALL) == [(' type="module" src="src/main.js"', "")]
    links = LINK.findall(text)
    assert links
    for link in links:
        assert (PAGE / link).is_file(), f"index.html names {link}, which is not there"


def reached(*begin: Path) -> set[Path]:
    """The files and those to which their static imports lead."""
    found = {path.resolve() for path in begin}
    waiting = list(found)
    while waiting:
        path = waiting.pop()
        new = {
            (path.parent / name).resolve() for name in STATIC.findall(path.read_text("utf-8")) if path.suffix != ".css"
        }
        waiting += new - found
        found |= new
    return found


def test_all_modules_of_the_first_board_are_named_at_once() -> None:
    """Otherwise the browser would learn of each only from the one that imports it."""
    named = set(re.findall(r'rel="modulepreload" href="([^"]+)"', (PAGE / "index.html").read_text("utf-8")))
    modules = {short(path) for path in reached(PAGE / "src" / "main.js")}
    assert named == modules - {"src/main.js"}


def test_page_is_small() -> None:
    links = LINK.findall((PAGE / "index.html").read_text("utf-8"))
    assert sum(path.stat().st_size for path in reached(*(PAGE / link for link in links))) < LARGEST
    assert sum(len(gzip.compress(path.read_bytes())) for path in FILES) < LARGEST


def test_vendored_libraries_have_their_licences() -> None:
    vendor = PAGE / "vendor"
    assert {path.name for path in vendor.glob("*.mjs")} == {"preact.mjs", "hooks.mjs", "htm.mjs"}
    assert "MIT" in (vendor / "LICENSE-preact").read_text("utf-8")
    assert "Apache License" in (vendor / "LICENSE-htm").read_text("utf-8")
