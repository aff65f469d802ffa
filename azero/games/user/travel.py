"""A user's game or net on its way to another machine: its file, and the user's own modules that it imports."""

from pathlib import Path

from azero.games.names import file_of
from azero.games.user.sources import Sources
from azero.system.packed_files import PackedFiles, pack


def pack_code(name: str, kind: str = "game") -> PackedFiles:
    """Returns the files of the game or net of that name; empty for azero's own. Raises BadInput if one cannot be read.

    Args:
      kind: "game" or "net".
    """
    file = file_of(name, kind)
    if file is None:
        return ()
    places: dict[str | Path, str] = {file: f"{kind}/{Path(file).name}"}
    for module, (path, _) in Sources(file, kind).modules.items():
        stem = module.replace(".", "/")
        places[path] = f"{kind}/{stem}/__init__.py" if path.name == "__init__.py" else f"{kind}/{stem}.py"
    return pack(places)


def name_here(name: str, found: dict[str, Path], kind: str = "game") -> str:
    """Returns the name with the place of its file on this machine.

    Args:
      found: the places of files by their sender's paths, from `unpack`.
    """
    file = file_of(name, kind)
    is_same = file is None or found[file] == Path(file)
    return name if is_same else name.replace(str(file), str(found[str(file)]), 1)
