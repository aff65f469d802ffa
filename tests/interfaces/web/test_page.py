"""The page's files are whole: every import and link resolves, nothing comes from elsewhere, and they are small."""

import gzip
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import azero.interfaces.web

PAGE = Path(azero.interfaces.web.__file__).resolve().parent / "page"
LARGEST = 300 * 1000  # bytes of what a browser loads before the first board, and of all as the server sends it

FILES = sorted(path for path in PAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
SOURCES = [path for path in FILES if path.suffix in {".js", ".css", ".html"}]
IMPORT = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*["']([^"'\n]+)["']""")
STATIC = re.compile(r"""(?:\bfrom|\bimport)\s*["']([^"'\n]+)["']""")
LINK = re.compile(r"""(?:href|src)="([^"]+)\"""")
NAMES = re.compile(r"import\s*\{([^}]*)\}\s*from\s*\"([^\"]+)\"")
LATER = re.compile(r"const \{([^}]*)\} = await import\(\"([^\"]+)\"\)")
VIEW = re.compile(r"import\(\"([^\"]+)\"\), \"(\w+)\"")
EXPORT = re.compile(r"export (?:async )?(?:function\*?|const|let|class) (\w+)|export \{([^}]*)\}")


def short(path: Path) -> str:
    return str(path.relative_to(PAGE))


def scripts() -> list[Path]:
    return [path for path in FILES if path.suffix in {".js", ".mjs"}]


@pytest.mark.parametrize("path", scripts(), ids=short)
def test_imports_resolve(path: Path) -> None:
    for name in IMPORT.findall(path.read_text("utf-8")):
        assert name.startswith("."), f"{short(path)} imports the bare name {name}"
        assert (path.parent / name).is_file(), f"{short(path)} imports {name}, which is not there"


@pytest.mark.parametrize("path", [path for path in SOURCES if path.suffix == ".js"], ids=short)
def test_imported_names_are_exported(path: Path) -> None:
    for names, file in NAMES.findall(path.read_text("utf-8")):
        target = path.parent / file
        if target.suffix == ".mjs":
            continue
        found = EXPORT.findall(target.read_text("utf-8"))
        exported = {one for one, _ in found} | {
            name.split(" as ")[-1].strip() for _, many in found for name in many.split(",")
        }
        wanted = {name.split(" as ")[0].strip() for name in names.split(",") if name.strip()}
        assert wanted <= exported, f"{short(path)} wants {wanted - exported} of {file}"


def test_exported_names_are_imported() -> None:
    """A name that only its own file uses is private."""
    wanted: dict[Path, set[str]] = {}
    for path in scripts():
        for names, file in [*NAMES.findall(path.read_text("utf-8")), *LATER.findall(path.read_text())]:
            found = {name.split(" as ")[0].strip() for name in names.split(",")}
            wanted.setdefault((path.parent / file).resolve(), set()).update(found)
        for file, view in VIEW.findall(path.read_text("utf-8")):
            wanted.setdefault((path.parent / file).resolve(), set()).add(view)
    for path in SOURCES:
        if path.suffix == ".js" and path.name != "html.js":
            exported = {name for name, _ in EXPORT.findall(path.read_text("utf-8")) if name}
            assert exported <= wanted.get(path, set()), f"{short(path)} exports {exported - wanted.get(path, set())}"


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


def test_no_module_leads_back_to_itself() -> None:
    imports = {
        path: [(path.parent / name).resolve() for name in STATIC.findall(path.read_text("utf-8"))] for path in scripts()
    }
    TopologicalSorter(imports).prepare()  # raises CycleError


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
