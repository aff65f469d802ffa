"""`azero report`: a run as one HTML file, with the page in it that plays, analyses and explains.

The page of the run's best net is a block of data. A script makes it a document in a frame, so that links of the report
open positions and games in it. No text of the report has a folder's path.
"""

import base64
import html
import json
import platform
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path, PurePath
from typing import NamedTuple

import numpy as np

import azero
from azero.arena.agents.make import make_agent
from azero.arena.agents.names import split_program
from azero.arena.solved.mistakes import NetAnswer, answers_of_net
from azero.config.schema import Config
from azero.errors import BadInput
from azero.games import State
from azero.games.names import without_folder
from azero.publishing.build import build
from azero.publishing.page import about_game, html_of, link_of, packed
from azero.publishing.plain import figure, lines, plain_page
from azero.runs.folder import BEST, CONFIG, METRICS, RunFolder, check_is_run
from azero.runs.metrics import read_rows
from azero.runs.settings import differences, find_settings, game_of_run
from azero.runs.shards import load_games
from azero.selfplay.data.games import Games, records_of
from azero.system.machine import count_cores, cpu_name
from azero.training.comparison import compare_runs
from azero.training.doctor import describe, diagnose
from azero.training.health import Line, number_of

_NEWEST, _SHOWN = 32, 6
"""Games whose positions the first net and the best one judge, and positions that are shown."""

_GAMES = 4  # that are shown

_SCRIPT = """
const unpack = async (text) => {
  const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
};
const frame = document.querySelector("iframe");
unpack(document.getElementById("page").textContent).then((text) => {
  const address = URL.createObjectURL(new Blob([text], { type: "text/html" }));
  frame.src = address;
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-link]");
    if (!link) return;
    event.preventDefault();
    frame.src = address + link.dataset.link;
    frame.scrollIntoView();
  });
});
"""


Link = Callable[[State, int], str]
"""Returns the link of a position in the page, given the number of its moves after which the page begins."""


class Change(NamedTuple):
    """A position in which the first net and the best one differ."""

    state: State
    before: NetAnswer
    after: NetAnswer


def html_of_report(folder: Path) -> str:
    """Returns a page about a run. Raises BadInput if there is no run, or if no iteration has ended."""
    check_is_run(folder)
    config, rows = find_settings(folder), read_rows(folder / METRICS)
    if not rows:
        raise BadInput(f"run {str(folder)!r} has ended no iteration yet, so there is nothing to report")
    game = game_of_run(folder, config.game)
    newest = _newest_games(folder, config)
    paths = {game.name: without_folder(game.name), str(folder): folder.resolve().name}
    findings = [_without(text, paths) for text in describe(diagnose(folder))[1:]]
    curves, page = _curves(folder), _playable(folder)
    game_id = about_game(game)[0]["id"] if page else ""

    def link(state: State, at: int) -> str:
        return link_of("analyse", game_id, _moves_of(state), at) if page and state.is_replayable() else ""

    parts = [
        _table(_facts(config, rows)),
        "<h2>What the doctor finds</h2>",
        lines(findings),
        "<h2>Curves</h2>",
        curves,
        "<h2>What it has learned</h2>",
        _changes(newest, folder, link),
        "<h2>The newest games</h2>",
        _games(newest, link),
        "<h2>Play against it</h2>",
        '<iframe title="The page of the best net"></iframe>' if page else lines(["Its game or net has no such page."]),
        "<h2>How to repeat it</h2>",
        lines([f"azero train {CONFIG} --run NEW, with this {CONFIG}:"]),
        f"<pre>{html.escape(_settings(config))}</pre>",
    ]
    title = f"{folder.resolve().name}: {without_folder(str(game))}"
    return _document(title, "\n".join(parts), page)


def _without(text: str, paths: dict[str, str]) -> str:
    """Returns a text with names in place of paths."""
    for path, name in paths.items():
        text = text.replace(path, name)
    return text


def _newest_games(folder: Path, config: Config) -> Games | None:
    """Returns the games of the newest iteration that has some; of several sizes, those of the largest."""
    try:
        return load_games(folder, game=game_of_run(folder, config.game))
    except BadInput:
        return None


def _playable(folder: Path) -> str:
    """Returns the page of a run's best net; empty if there is none."""
    try:
        return html_of([build(str(folder / BEST))])
    except BadInput:
        return ""


def _facts(config: Config, rows: Sequence[Line]) -> Iterator[tuple[str, str]]:
    def last(key: str) -> float:
        return number_of(rows[-1], key) or 0.0

    seconds = sum(number_of(row, "time/iteration_s") or 0.0 for row in rows)
    scores = [score for row in rows if (score := number_of(row, "evaluation/score")) is not None]
    yield "iterations", f"{last('iteration'):.0f} of {config.training.iterations}, {seconds / 60:.0f} minutes"
    yield "positions", f"{last('positions'):,.0f} of self-play, {last('steps'):,.0f} steps of training"
    yield "rating", f"{last('gate/rating'):+.0f} Elo above the first net, by games between nets of the run"
    if scores:
        yield f"score against {_public(config.evaluation.opponent)}", ", ".join(f"{each:.0%}" for each in scores)
    yield "net", f"{_public(config.net.name)}, {config.net.blocks} x {config.net.channels}"
    yield "this report", f"azero {azero.__version__}, {count_cores()} cores, {cpu_name()}, {platform.system()}"


def _settings(config: Config) -> str:
    """Returns the settings that are not the defaults, as TOML."""
    sections: dict[str, list[str]] = {"": [], "game": [f"name = {json.dumps(_public(config.game.name))}"]}
    for name, own, _ in differences(config, Config(game={"name": config.game.name})):
        section, _, key = name.rpartition(".")
        sections.setdefault(section, []).append(f"{key} = {json.dumps(_public(own))}")
    heads = {section: [f"[{section}]"] if section else [] for section in sections}
    return "\n\n".join("\n".join([*heads[section], *own]) for section, own in sections.items() if own)


def _public(value: object) -> object:
    """Returns a setting without folders, and without the command of a program."""
    if not isinstance(value, str):
        return value
    return f"{value.partition(':')[0]}:..." if split_program(value) else PurePath(value.replace("\\", "/")).name


def _curves(folder: Path) -> str:
    with tempfile.TemporaryDirectory() as place:
        compare_runs([folder]).draw(path := Path(place) / "curves.png")
        data = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="Curves of the run&#39;s metrics over time" src="data:image/png;base64,{data}">'


def _changes(newest: Games | None, folder: Path, link: Link) -> str:
    if newest is None or not (folder / BEST).exists():
        return lines(["There are no games, or there is no net yet."])
    said = "<p>Positions of the newest games in which the values of the first net and of the best one differ most.</p>"
    return f"{said}<section>{''.join(_figure(each, link) for each in _most_changed(newest, folder))}</section>"


def _most_changed(newest: Games, folder: Path) -> list[Change]:
    """Returns positions of the newest games, each of another game, in which values of the two nets differ most."""
    ends = np.cumsum(newest.lengths)
    places = range(int(ends[-1]) - int(newest.lengths[-_NEWEST:].sum()), int(ends[-1]))
    states = [newest.state(place) for place in places]
    before, after = (_judged(path, states) for path in (RunFolder(folder).first_path, folder / BEST))
    order = sorted(range(len(states)), key=lambda number: -abs(after[number].value - before[number].value))
    chosen: dict[int, int] = {}
    for number in order:
        chosen.setdefault(int(np.searchsorted(ends, places[number], side="right")), number)
    return [Change(states[number], before[number], after[number]) for number in [*chosen.values()][:_SHOWN]]


def _judged(path: Path, states: Sequence[State]) -> list[NetAnswer]:
    with closing(make_agent(f"{path}@1", states[0].game)) as agent:
        return answers_of_net(agent, states)


def _games(newest: Games | None, link: Link) -> str:
    items = []
    for record in records_of(newest, range(len(newest.lengths))[-_GAMES:], "") if newest else ():
        *_, last = record.states()
        text = " ".join(record.game.lines_to_text(record.start, [record.actions()])[0])
        items.append(f"<li>{_anchor(text, link(last, 0))}</li>")
    return f"<ol>{''.join(items)}</ol>" if items else lines(["There are no games."])


def _moves_of(state: State) -> list[str]:
    line = state.history()
    return state.game.lines_to_text(state.game.new_initial_state(), [line])[0] if line else []


def _figure(change: Change, link: Link) -> str:
    state = change.state
    old, new = (state.game.action_to_text(state, each.action) for each in change[1:])
    caption = f"Before: {old}, value {change.before.value:+.2f}. After: {new}, value {change.after.value:+.2f}."
    return figure(state, caption, _anchor("Open", link(state, len(state.history()))))


def _anchor(text: str, link: str) -> str:
    """Returns a link into the page; nothing to click on without one."""
    shown = html.escape(text)
    if not link:
        return shown if text != "Open" else ""
    return f'<a href="#page" data-link="{html.escape(link)}">{shown}</a>'


def _table(rows: Iterator[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in rows)
    return f"<table>{cells}</table>"


def _document(title: str, body: str, page: str) -> str:
    """Returns the report, with the scripts and styles of the page within in its policy."""
    if not page:
        return plain_page(title, body)
    inner = page.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    allowed = dict(part.strip().partition(" ")[::2] for part in inner.split(";"))
    data = f'<script type="text/plain" id="page">{packed(page.encode())}</script>'
    return plain_page(title, body, _SCRIPT, allowed["script-src"], allowed["style-src"], data)
