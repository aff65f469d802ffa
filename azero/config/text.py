"""Settings as text: TOML with a comment for each setting, and the reference page. Both use the fields' descriptions."""

import json
from collections.abc import Iterator

from pydantic.fields import FieldInfo

from azero.config.schema import FORMAT, Config, Section


def settings() -> Iterator[tuple[str, str, FieldInfo]]:
    """Yields section ("" at the top level), key and field of every setting, in the order of the file."""
    for name, field in Config.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            for key, setting in field.annotation.model_fields.items():
                yield name, key, setting
        else:
            yield "", name, field


def config_to_toml(config: Config) -> str:
    """Returns all settings as TOML. A comment above each says what it does."""
    lines = ["# Format of this file.", f"format = {FORMAT}", ""]
    current = ""
    for section, key, field in settings():
        if section != current:
            lines.append(f"[{section}]")
            current = section
        value = getattr(getattr(config, section) if section else config, key)
        lines += [f"# {field.description}", f"{key} = {_toml(value)}", ""]
    return "\n".join(lines)


def _toml(value: object) -> str:
    """Returns a number, string or boolean as TOML. These are written as in JSON, except that DEL is escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def settings_page() -> str:
    """Returns docs/configuration.md: every setting with its default and the paper's value."""
    lines = [
        "# Settings",
        "",
        "This page lists all settings of a run. A config, such as `configs/smoke.toml`, names only those that differ",
        "from their defaults. `--set section.key=value` changes one on the command line. The `config.toml` in a run's",
        "folder has all of them. Begin with [these](questions.md#which-setting-should-i-change-first).",
        "",
        "The column `paper` has the value that AlphaZero (2018) or AlphaGo Zero (2017) used; `none` means that the",
        "paper has no such switch.",
        "",
        "`make docs` makes this page from `azero/config/`.",
    ]
    current = None
    for section, key, field in settings():
        if section != current:
            title = f"`[{section}]`" if section else "At the top"
            lines += ["", f"## {title}", "", "| setting | default | what it does | paper |", "|---|---|---|---|"]
            current = section
        what, _, paper = (field.description or "").partition(" Paper: ")
        default = "required" if field.is_required() else f"`{json.dumps(field.default)}`"
        cells = [f"`{key}`", default, what, paper.rstrip(".")]
        escaped = [cell.replace("|", r"\|") for cell in cells]
        lines.append(f"| {' | '.join(escaped)} |")
    return "\n".join(lines) + "\n"
