"""Joins modules of JavaScript to one classic script, without a bundler.

Each module becomes a function that runs at its first use and returns its exports. The modules are ours, and their
imports and exports stand at the beginnings of lines; the libraries in `page/vendor/` have them in the forms that
`_IMPORT` and `_EXPORTS` know.
"""

import json
import re
from pathlib import Path

from azero.system.files import PACKAGE

_NAMES = r"[\w\s,$]*"
_IMPORT = re.compile(
    rf'^import\s*(?:(?P<default>\w+)\s*from\s*|\{{(?P<names>{_NAMES})\}}\s*from\s*)?"(?P<path>\.[^"]+)";', re.M
)
_DYNAMIC = re.compile(r'\bimport\("(?P<path>\.[^"]+)"\)')
_DEFAULT = re.compile(r"\bexport default\b")
_DECLARED = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (?P<name>\w+))", re.M)
_DESTRUCTURED = re.compile(r"^export \w+ [\[{]|^export (?:let|var) |^export \*", re.M)
_LISTED = re.compile(rf"\bexport\s*\{{(?P<names>{_NAMES})\}};?")

_BEGIN = """(() => {
"use strict";
const made = new Map();
const need = (name) => {
  if (!made.has(name)) made.set(name, modules[name]());
  return made.get(name);
};
const modules = {
"""


def joined(entry: Path) -> str:
    """Returns a script that does what the module `entry` does, with all modules that it imports."""
    names: dict[Path, str] = {}
    texts = dict[str, str]()
    _add(entry.resolve(), names, texts)
    modules = "".join(f"{json.dumps(name)}() {{\n{text}\n}},\n" for name, text in texts.items())
    return f"{_BEGIN}{modules}}};\nneed({json.dumps(names[entry.resolve()])});\n}})();\n"


def _add(path: Path, names: dict[Path, str], texts: dict[str, str]) -> str:
    """Adds a module and those that it imports; returns its name."""
    if path in names:
        return names[path]
    names[path] = path.relative_to(PACKAGE).as_posix()
    texts[names[path]] = ""  # before the modules that it imports
    source = path.read_text(encoding="utf-8")
    assert not _DESTRUCTURED.search(source), f"{path.name} exports in a form that cannot be joined"

    def name_of(found: re.Match[str]) -> str:
        return json.dumps(_add((path.parent / found["path"]).resolve(), names, texts))

    def static(found: re.Match[str]) -> str:
        need = f"need({name_of(found)});"
        if found["default"]:
            return f"const {found['default']} = {need.removesuffix(';')}.default;"
        return f"const {{{found['names'].replace(' as ', ': ')}}} = {need}" if found["names"] else need

    exports = {match["name"]: match["name"] for match in _DECLARED.finditer(source)}
    for match in _LISTED.finditer(source):
        for each in filter(None, map(str.strip, match["names"].split(","))):
            own, _, public = each.partition(" as ")
            exports[public or own] = own
    text = _LISTED.sub("", _DECLARED.sub("", _IMPORT.sub(static, source)))
    text = _DYNAMIC.sub(lambda found: f"Promise.resolve().then(() => need({name_of(found)}))", text)
    if _DEFAULT.search(text):
        text = _DEFAULT.sub("const byDefault =", text)
        exports["default"] = "byDefault"
    listed = ", ".join(public if public == own else f"{public}: {own}" for public, own in exports.items())
    texts[names[path]] = f"{text}\nreturn {{ {listed} }};"
    return names[path]
