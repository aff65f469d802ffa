"""Writes the pages that are made, and the figures that pages name: `make docs`.

docs/configuration.md comes from the settings, docs/commands.md from the commands, docs/reference.md from docstrings.
docs/figures.toml has the figures.
"""

import ast
import importlib
import json
import math
import re
import shlex
import struct
import sys
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer

from azero.commands.app import app
from azero.commands.options import AGENT_HELP
from azero.config.text import settings_page
from azero.training.symptoms import FIGURES as FIGURES_OF_RUNS

ROOT = Path(__file__).resolve().parent.parent
FIGURES = tomllib.loads((ROOT / "docs" / "figures.toml").read_text())


def made() -> dict[Path, str]:
    """Returns the text of each page that is made, and of each page that has figures, as it should be."""
    docs = ROOT / "docs"
    pages = [ROOT / "README.md", ROOT / "checkpoints" / "README.md", *sorted(docs.glob("*.md"))]
    return {page: documented(filled(page.read_text())) for page in pages} | {
        docs / "configuration.md": settings_page(),
        docs / "commands.md": commands_page(),
    }


# --- figures ---


def filled(page: str) -> str:
    """Returns a page with all figures of docs/figures.toml in their places. Raises KeyError for an unknown name."""
    page = re.sub(r"<!--(\w+)(?::(\w+))?-->.*?<!---->", _figure, page)
    return re.sub(r"(<!-- figures: (\w+) -->\n\n).*?\n\n(?=<!-- end -->)", _block, page, flags=re.DOTALL)


def _figure(found: re.Match[str]) -> str:
    name, machine = found.groups()
    figure = {**FIGURES["figures"], **FIGURES["speed"]}[name]
    (first, *_) = (each for each in FIGURES["machines"] if each in figure)
    return f"<!--{name}{f':{machine}' if machine else ''}-->{figure[machine or first]['is']}<!---->"


def _block(found: re.Match[str]) -> str:
    rows = {"speed": _speed, "nets": _nets, "strength": _strength, "symptoms": _symptoms}[found[2]]
    return found[1] + "\n".join(rows()) + "\n\n"


def _speed() -> Iterator[str]:
    """Yields a table of the speeds, with a column for each machine."""
    rows = FIGURES["speed"].values()
    machines = [each for each in FIGURES["machines"] if any(each in row for row in rows)]
    names = [FIGURES["machines"][each] for each in machines]
    yield f"| what | {' | '.join(names)} | command |"
    yield "|---" * (len(names) + 2) + "|"
    for row in rows:
        values = [row[each]["is"] if each in row else "-" for each in machines]
        yield f"| {row['what']} | {' | '.join(values)} | {_code(row['command'])} |"


def _code(command: str) -> str:
    return command if "`" in command else f"`{command}`"


def _nets() -> Iterator[str]:
    """Yields a card for each included net, from its file and from docs/figures.toml."""
    (*_, last) = FIGURES["nets"]
    for name, told in FIGURES["nets"].items():
        path = ROOT / "checkpoints" / f"{name}.safetensors"
        card, parameters = read_card(path)
        net = card["net"]
        config = f"[`{told['config']}`](../configs/{told['config']}.toml)"
        if "changes" in told:
            config += f" with [changes](../notes/2026-11-checkpoints.md#{told['changes']})"
        kind = net.get("name", "tower")
        rows = {
            "plays": f"`{card['game']}`" + (", and other sizes" if kind == "any_size" else ""),
            "strength": told["strength"],
            "against perfect play": told.get("perfect"),
            "trained": f"{told['trained']}. The best net is of iteration {card['iteration']} of the last run",
            "cost": told["cost"],
            "config": f"{config}, seed {card['seed']}",
            "net": f"`{kind}`, {net['blocks']} blocks of {net['channels']} channels, "
            f"{round(parameters, -3):,} parameters",
            "last run": f"{card['positions']:,} positions of self-play, {card['rating']:+.0f} Elo above its first net",
        }
        yield "\n".join([f"### {name}", "", "| | |", "|---|---|"])
        yield "\n".join(f"| {key} | {value} |" for key, value in rows.items() if value) + "\n" * (name != last)


def _strength() -> Iterator[str]:
    """Yields a table of the matches of benchmarks/strength.toml that docs/strength.json has, and their commands."""
    rows = tomllib.loads((ROOT / "benchmarks" / "strength.toml").read_text())
    results = json.loads((ROOT / "docs" / "strength.json").read_text())
    played = [name for name in rows if name in results]
    yield "| board | azero | opponent | score | wins, draws, losses | Elo | simulations a move | the net's training |"
    yield "|---" * 8 + "|"
    for name in played:
        row, result = rows[name], results[name]
        tally = f"{result['wins']}, {result['draws']}, {result['losses']}"
        score = f"{_percent(result['score'])} [{', '.join(f'{100 * end:.1f}' for end in result['score_ci95'])}]"
        low, high = ("" if end is None else f"{end:+.0f}" for end in result["elo_ci95"])
        elo = f"{result['elo']:+.0f} [{low}, {high}]" if low and high else f"above {low}" if low else f"below {high}"
        cells = row["board"], f"`{row['agent']}`", f"[{row['title']}](#{name})", score, tally, elo
        cost = FIGURES["nets"][row["agent"].partition("@")[0]]["cost"]
        yield f"| {' | '.join(cells)} | {result['simulations']:.0f} | {cost} |"
    for name in played:
        yield from _match(name, rows[name], results[name])


def _match(name: str, row: dict[str, Any], result: dict[str, Any]) -> Iterator[str]:
    """Yields how a match was played."""
    yield from ["", f"### {name}", ""]
    version, distinct = f" ({result['version']})" if result["version"] else "", result["distinct_games"]
    yield f"{row['board']} against {row['title']}{version}: {result['games']} games, {distinct} of them different."
    yield f"Played on {result['on']}, with a mean load of {result['load']}, on {result['cpu']}."
    if "mistakes" in result:
        share = _percent(result["mistakes"] / result["mistakes_of_moves"])
        yield f"azero made {result['mistakes']} mistakes in {result['mistakes_of_moves']:,} moves ({share}),"
        yield f"in {result['games_with_mistakes']} games. A mistake is a move with a worse result than the best one."
        yield "Openings are balanced by a net's judgement, so some are won for one side."
    else:
        command = ["azero", "evaluate", row["agent"], "--against", row["opponent"], *row.get("options", [])]
        yield from ["", "```", shlex.join([*command, "--games", str(result["games"])]), "```"]


def _symptoms() -> Iterator[str]:
    """Yields a table of the figures of a run that `azero doctor` looks at."""
    yield "| cause | figure | limit | what to do |"
    yield "|---" * 4 + "|"
    for figure in FIGURES_OF_RUNS:
        for side, word in ((figure.low, "least"), (figure.high, "most")):
            if side:
                yield f"| {side.cause} | {_coded(figure.name)} | at {word} {side.limit:g} | {_coded(side.advice)} |"


def _coded(text: str) -> str:
    """Returns a text with its settings and metrics as code."""
    return re.sub(r"\b[a-z_]+[./][a-z_]+\b", r"`\g<0>`", text)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def read_card(path: Path) -> tuple[dict[str, Any], int]:
    """Returns a checkpoint's card, and the number of its net's parameters."""
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])
    card = json.loads(header.pop("__metadata__")["azero"])
    learned = [each["shape"] for key, each in header.items() if not re.search("running_|num_batches", key)]
    return card, sum(map(math.prod, learned))


# --- docs/commands.md ---


def commands() -> Iterator[tuple[str, Any]]:
    """Yields the name and the object of each command, in the order of `azero --help`."""

    def below(command: Any, name: str) -> Iterator[tuple[str, Any]]:
        if not hasattr(command, "commands"):
            yield name, command
            return
        for key, each in command.commands.items():
            if not each.hidden:
                yield from below(each, f"{name} {key}")

    return below(typer.main.get_command(app), "azero")


def commands_page() -> str:
    """Returns docs/commands.md: every command with its arguments and options."""
    known = list(commands())
    uses = Counter(_row(option) for _, command in known for option in _options(command))
    lines = [
        "# Commands",
        "",
        "This page lists all commands, with what `--help` says of them. [Agents](agents.md) and [games](games.md) say",
        "how agents and games are named. `make docs` makes this page from `azero/commands/`.",
    ]
    for name, command in known:
        lines += _section(name, command, uses)
    lines += ["", "## Options of several commands", ""]
    lines += sorted(row for row, count in uses.items() if count > 1)
    lines += [
        "",
        "`azero --data-only COMMAND ...` runs no code from outside: no user's game or net, no `gtp:` program.",
    ]
    return "\n".join(lines) + "\n"


def _section(name: str, command: Any, uses: Counter[str]) -> Iterator[str]:
    """Yields the lines of a command."""
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    usage = " ".join([name, *map(_argument, arguments), "[OPTIONS]"])
    example = (command.epilog or "").removeprefix("Example:").strip()
    yield from ["", f"## {name}", ""]
    yield "\n\n".join(_wrap(each) for each in _paragraphs(command))
    yield from ["", "```", usage, *filter(None, [example]), "```"]
    agent = "An agent's [name](agents.md)."
    rows = [f"- `{_argument(each)}`: {each.help.replace(AGENT_HELP, agent)}" for each in arguments]
    rows += [row for option in _options(command) if uses[row := _row(option)] == 1]
    if rows:
        yield from ["", *rows]
    shared = [f"`{option.opts[0]}`" for option in _options(command) if uses[_row(option)] > 1]
    if shared:
        yield from ["", _wrap(f"[Also](#options-of-several-commands): {', '.join(shared)}.")]


def _options(command: Any) -> Iterable[Any]:
    return [each for each in command.params if each.param_type_name == "option" and not each.hidden]


def _row(option: Any) -> str:
    """Returns an option as the item of a list."""
    words = ", ".join(option.opts)
    if not option.is_flag:
        words += f" {option.metavar or ('N' if 'int' in str(option.type_descriptor.annotation) else 'TEXT')}"
    return f"- `{words}`: {option.help}"


def _argument(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _paragraphs(command: Any) -> list[str]:
    return [" ".join(each.split()) for each in command.help.split("\n\n")]


def _wrap(text: str) -> str:
    return textwrap.fill(text, 120, break_on_hyphens=False, break_long_words=False)


# --- docs/reference.md ---


def documented(page: str) -> str:
    """Returns a page with the definition of each public name after a line `<!-- names: MODULE NAME ... -->`."""
    return re.sub(r"(<!-- names: (\S+) (.*?) -->\n\n).*?(?=<!-- end -->)", _definitions, page, flags=re.DOTALL)


def _definitions(found: re.Match[str]) -> str:
    module = importlib.import_module(found[2])
    lines = [line for name in found[3].split() for line in _definition(getattr(module, name), name)]
    return found[1] + "\n".join(lines) + "\n"


def _definition(found: Any, name: str) -> Iterator[str]:
    """Yields the lines of a class or a function: how it is written in its module, and its docstring."""
    source = Path(sys.modules[found.__module__].__file__ or "").read_text()
    (node,) = (each for each in ast.parse(source).body if getattr(each, "name", "") == name)
    assert isinstance(node, ast.ClassDef | ast.FunctionDef)
    yield from [f"### {name}", "", "```py"]  # tests run blocks of "python"
    yield from source.splitlines()[node.lineno - 1 : node.body[0].lineno - 1]
    within = node.body if isinstance(node, ast.ClassDef) else []
    for field in within:
        written = "\n".join(source.splitlines()[field.lineno - 1 : field.end_lineno])
        if isinstance(field, ast.AnnAssign) and not written.startswith("    _"):
            yield re.sub(r" = (Field\(|field\(|_)[^#]*(?=  #|$)", " = ...", written)
    yield from ["```", "", *_markdown(ast.get_docstring(node) or ""), ""]
    methods = [each for each in within if isinstance(each, ast.FunctionDef) and ast.get_docstring(each)]
    lines = [_method(each) for each in methods if not each.name.startswith("_")]
    yield from ["Methods and properties:", "", *lines, ""] if lines else []


def _method(node: ast.FunctionDef) -> str:
    """Returns a method as the item of a list, with its docstring up to the first section or example."""
    (text, *_) = re.split(r"\n\n(?=\w+:\n| )", ast.get_docstring(node) or "")
    is_property = any("property" in ast.unparse(each) for each in node.decorator_list)
    (_, _, arguments) = ast.unparse(node.args).partition(", ")
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"- `{node.name}{'' if is_property else f'({arguments})'}{returned}`: {' '.join(text.split())}"


def _markdown(docstring: str) -> Iterator[str]:
    """Yields the lines of a docstring, with its sections as lists."""
    is_section = False
    for line in docstring.splitlines():
        if re.fullmatch(r"[A-Z]\w+:", line):
            is_section = True
            yield from [line.replace("Args", "Arguments"), ""]
        elif is_section and re.match(r"  \S", line):
            yield re.sub(r"^  (?:(\w+): )?", lambda entry: f"- `{entry[1]}`: " if entry[1] else "- ", line)
        else:
            is_section &= not line or line.startswith(" ")
            yield line


if __name__ == "__main__":
    for path, text in made().items():
        path.write_text(text)
