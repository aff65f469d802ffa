"""Reads settings from TOML files and the command line, and checks them. An error is one line."""

import contextlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from azero.config.checks import check_together
from azero.config.schema import FILE_SETTINGS, FORMAT, AnySection, Config, DeviceConfig
from azero.config.text import settings
from azero.errors import BadInput, suggest_nearest
from azero.system.files import PACKAGE, read_regular
from azero.system.formats import check_format, check_names

_PLACES = (PACKAGE / "configs", PACKAGE.parent / "configs")

_LARGEST = 1 << 16  # bytes of a config

_MOST_DOTS = 100  # in a line


def find_config(name: str) -> Path:
    """Returns the file of a config, given by its path or by the name of an included config; raises BadInput."""
    shipped = {path.stem: path for place in _PLACES for path in place.glob("*.toml")}
    if name in shipped:  # first: a stranger's file in the working folder should not take its place
        return shipped[name]
    with contextlib.suppress(OSError, ValueError):  # not a valid file name
        if Path(name).is_file():
            return Path(name)
    raise BadInput(f"config {name!r} is not a file and not an included config; {suggest_nearest(name, shipped)}")


def load_config(
    path: str | Path, settings: Sequence[str] | Mapping[str, object] = (), is_of_run: bool = False
) -> Config:
    """Returns the settings of a TOML file, complete and checked; raises BadInput.

    A relative path to a user's file is looked up in the working folder first, then in the TOML file's.

    Args:
      path: the file; a text may also be the name of an included config, such as "tic_tac_toe".
      settings: changes of settings: {"training.iterations": 10} or ["training.iterations=10"].
      is_of_run: whether the file is a run's `config.toml`, which has all settings. If it lacks one, or has an unknown
        one, another version of azero has written it.
    """
    path = find_config(path) if isinstance(path, str) else path
    try:
        tables = _parse(read_regular(path, _LARGEST).decode())
    except OSError as error:
        raise BadInput(f"config {str(path)!r} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or too many digits or brackets
        raise BadInput(f"config {str(path)!r} is not TOML: {error}") from None
    check_format(f"config {str(path)!r}", tables.pop("format", None if is_of_run else FORMAT), FORMAT)
    if is_of_run:
        check_all_settings(f"config {str(path)!r}", tables)
    for section, key in FILE_SETTINGS:
        _find_own_file(tables.get(section), key, path.parent)
    for override in as_overrides(settings):
        _apply_override(tables, override)
    return check_config(tables)


def as_overrides(settings: Sequence[str] | Mapping[str, object]) -> list[str]:
    """Returns changes of settings as `section.key=value`; raises BadInput if they are neither list nor dict."""
    if isinstance(settings, Mapping):
        with contextlib.suppress(TypeError, ValueError):  # not a value of JSON, which TOML shares
            return [f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in settings.items()]
    elif not isinstance(settings, str) and all(isinstance(each, str) for each in settings):
        return list(settings)
    raise BadInput(
        f"settings = {settings!r} should be like {{'training.iterations': 10}} or ['training.iterations=10']"
    )


def _parse(text: str) -> dict[str, Any]:
    """Returns the tables of a TOML text; raises ValueError, RecursionError.

    Long dotted keys are refused first, since the parser takes the square of their length. Integers have 64 bits in
    TOML, and Python cannot print much longer ones.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _MOST_DOTS and not line.lstrip().startswith("#"):
            raise ValueError(f"line {number} has more than {_MOST_DOTS} dots")
    tables = tomllib.loads(text)
    waiting: list[Any] = [tables]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict | list):
            waiting += each.values() if isinstance(each, dict) else each
        elif isinstance(each, int) and not -(1 << 63) <= each < 1 << 63:
            raise ValueError("it has an integer of more than 64 bits")
    return tables


def check_all_settings(what: str, tables: Mapping[str, Any]) -> None:
    """Raises OtherFormat if nested tables of a run's settings have an unknown one, or lack one.

    A run without `training.convolution` was trained by torch, so that is set.
    """
    if isinstance(tables.get("training"), dict):
        tables["training"].setdefault("convolution", "torch")
    known = [f"{section}.{key}" if section else key for section, key, _ in settings()]
    found = []
    for name, value in tables.items():
        found += [f"{name}.{key}" for key in value] if isinstance(value, dict) else [name]
    check_names(what, found, known)


def _find_own_file(section: object, key: str, folder: Path) -> None:
    """Puts `folder` before the path of a user's file if the file is in `folder` and not in the working folder."""
    name = section.get(key) if isinstance(section, dict) else None
    if isinstance(section, dict) and isinstance(name, str) and ".py:" in name:
        file = Path(name.rpartition(".py:")[0] + ".py")
        with contextlib.suppress(OSError, ValueError):  # not a valid file name
            if not file.exists() and (folder / file).exists():
                section[key] = str(folder / name)


def check_config(tables: dict[str, Any]) -> Config:
    """Returns the settings of nested tables, complete and checked; raises BadInput with the first error."""
    try:
        config = Config.model_validate(tables)
    except ValidationError as error:
        raise BadInput(_explain(error)) from None
    check_together(config)
    return config


def override_section(section: type[AnySection], values: dict[str, Any], overrides: dict[str, str]) -> AnySection:
    """Returns a section with these values, after the overrides; raises BadInput."""
    tables: dict[str, Any] = {"own": dict(values)}
    for key, text in overrides.items():
        _apply_override(tables, f"own.{key}={text}")
    try:
        return section.model_validate(tables["own"])
    except ValidationError as error:
        raise BadInput(_explain(error, section)) from None


def check_device(device: str, precision: str, runtime: str = "auto") -> DeviceConfig:
    """Returns the settings of where and how a net runs; raises BadInput."""
    try:
        return DeviceConfig.model_validate({"device": device, "precision": precision, "runtime": runtime})
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(f"{first['loc'][0]} {first['input']!r} {_fault_of(first['msg'])}") from None


def _apply_override(tables: dict[str, Any], override: str) -> None:
    """Sets one `section.key=value`. The value is TOML; text that is not TOML is taken as a string."""
    key, separator, text = override.partition("=")
    *sections, name = key.strip().split(".")
    if not separator or not name:
        raise BadInput(f"--set {override!r} should be of the form section.key=value, e.g. training.iterations=10")
    value: object = text.strip()
    if "\n" not in text:
        with contextlib.suppress(ValueError, RecursionError):
            value = _parse(f"value = {text}")["value"]
    for section in sections:
        tables = tables.setdefault(section, {})
        if not isinstance(tables, dict):
            raise BadInput(f"--set {override!r}: {section!r} is a setting, not a section")
    tables[name] = value


def _explain(error: ValidationError, root: type[BaseModel] = Config) -> str:
    """Returns the first error as one line that names the setting, its value and what would be right.

    Unknown names come first, because a misspelt table also counts as a missing one.
    """
    first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        section = root
        for part in first["loc"][:-1]:
            section = section.model_fields[str(part)].annotation  # type: ignore[assignment]
        key = str(first["loc"][-1])
        homes = _homes_of(key) if root is Config else []
        known = f"did you mean {' or '.join(homes)}?" if homes else suggest_nearest(key, section.model_fields)
        return f"unknown setting {name!r}; {known}"
    if first["type"] == "missing":
        return f"setting {name!r} is missing"
    return f"setting {name} = {first['input']!r} {_fault_of(first['msg'])}"


def _homes_of(key: str) -> list[str]:
    """Returns the settings of this name in all sections, each as `section.key`."""
    sections = ((name, field.annotation) for name, field in Config.model_fields.items())
    return [f"{name}.{key}" for name, kind in sections if isinstance(kind, type) and key in _fields_of(kind)]


def _fields_of(kind: type) -> Iterable[str]:
    return kind.model_fields if issubclass(kind, BaseModel) else ()


_WORDS = {
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "string": "text",
    "tuple": "a list",
    "dictionary": "a table of settings",
}


def _fault_of(message: str) -> str:
    """Returns pydantic's message as `should be ...`, with the words of a config file."""
    wanted = message.removeprefix("Input ").removeprefix("Value error, ")
    kind = re.match(r"should be a valid (\w+)", wanted)
    if kind:
        return f"should be {_WORDS.get(kind[1], kind[1])}"
    return wanted if wanted != message else f"is not valid: {message[0].lower()}{message[1:]}"
