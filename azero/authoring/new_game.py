"""`azero new-game`: writes a complete small game to begin with."""

import keyword
import sys
from pathlib import Path
from typing import Literal

import azero.authoring
from azero.errors import BadInput

Kind = Literal["placement", "capture", "moving", "score"]
"""Each is a file of `templates/`."""

_TEMPLATES = Path(__file__).with_name("templates")
_CLASS = "NewGame"  # in the templates
_CONFIG = """# `azero train {name}.toml --run runs/{name} --minutes 5` chooses what is not set here.

[game]
name = "{name}.py:{rules}"
"""


def write_new_game(name: str, kind: Kind, folder: Path = Path()) -> tuple[Path, Path, str]:
    """Writes `name`.py and `name`.toml into a folder; returns their paths and the game's name.

    Raises BadInput, and writes nothing, if the name is no Python name or that of a library, or a file exists.
    """
    is_name = name.isidentifier() and name.isascii() and name == name.lower() and len(name) <= 60
    if not is_name or keyword.iskeyword(name) or name.startswith("_"):
        raise BadInput(f"{name!r} is no name for a game; take lower-case letters, digits and _, e.g. my_game")
    if name in sys.stdlib_module_names or name in ("azero", "numpy"):
        raise BadInput(f"{name!r} is the name of a library, which a file {name}.py would hide; take another name")
    rules = "".join(part.capitalize() for part in name.split("_"))
    template = (_TEMPLATES / f"{kind}.py").read_text(encoding="utf-8")
    if keyword.iskeyword(rules) or rules in ("NamedTuple", *azero.authoring.__all__):
        raise BadInput(f"{name!r} would be the class {rules}, a name with another meaning; take another name")
    source, config = folder / f"{name}.py", folder / f"{name}.toml"
    for path in (source, config):
        if path.exists():
            raise BadInput(f"{path} exists; take another name, or remove it")
    source.write_text(template.replace(_CLASS, rules), encoding="utf-8")
    config.write_text(_CONFIG.format(name=name, rules=rules), encoding="utf-8")
    return source, config, f"{source.name}:{rules}"
