"""Settings as text: TOML with a comment for each, and the reference page. Both from the fields' own descriptions."""

import json
from collections.abc import Iterator

from pydantic.fields import FieldInfo

from azero.config.schema import FORMAT, Config
from azero.config.section import Section


def settings() -> Iterator[tuple[str, str, FieldInfo]]:
    """Yields section ("" at the top), key and field of every setting, in the order they are written."""
    for name, field in Config.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            for key, setting in field.annotation.model_fields.items():
                yield name, key, setting
        else:
            yield "", name, field


def config_to_toml(config: Config) -> str:
    """Returns all settings as TOML, each below a comment that says what it does."""
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
    """Returns a number, word or truth value as TOML, which for these is JSON, but that it wants DEL escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def settings_page() -> str:
    """Returns docs/configuration.md: every setting with its default, and the paper's value."""
    lines = [
        "# Settings",
        "",
        "Every setting of a run, its default, what it does, and what AlphaZero (2018) or AlphaGo Zero (2017) used. A",
        "config names those that differ: `configs/*.toml`, or `--set section.key=value`. A run's own has all of them.",
        "",
        "This page is made by `make docs` from `azero/config/`.",
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


if __name__ == "__main__":
    print(settings_page(), end="")
