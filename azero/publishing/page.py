"""The page of `azero serve` as one HTML file, which needs neither Python nor a server."""

import base64
import html
import importlib.metadata
import json
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import azero
from azero.arena.agents.checkpoints import shipped_checkpoints
from azero.arena.agents.names import join_options, parse_name
from azero.games import Game
from azero.games.names import without_folder
from azero.interfaces.web.app import PAGE
from azero.interfaces.web.models import PositionAsked
from azero.interfaces.web.offered.agents import id_of, offered_agent
from azero.interfaces.web.offered.catalogue import Catalogue
from azero.interfaces.web.offered.games import OfferedGame, offered_game
from azero.interfaces.web.positions import describe, position_of
from azero.interfaces.web.routes.agents import describe_agent
from azero.interfaces.web.routes.games import describe_game
from azero.publishing.bundle import joined
from azero.publishing.plain import MADE_BY, hash_of, plain_page
from azero.publishing.tables.make import tables_of

if TYPE_CHECKING:
    from azero.publishing.build import Published

Json = dict[str, Any]

_SCRIPTS = Path(__file__).parent / "scripts"
_LIBRARIES = "preact", "htm"

_MOST_PLIES = 2000
_INDEX = "<p>Each page plays, analyses and explains in your browser. It sends nothing.</p>\n<ul>\n{}\n</ul>"


def html_of(published: "Sequence[Published]") -> str:
    """Returns a page in which agents of one game play, analyse and explain."""
    page, agents, about = _data_of(published)
    blocks = {
        "published": json.dumps(about),
        "page": json.dumps(page, allow_nan=False),
        "licences": licences(),
        "worker": joined(_SCRIPTS / "worker.js"),
    }
    modules = [*dict.fromkeys(each.wasm for each in published)]  # agents may share one
    for number, (agent, each) in enumerate(zip(agents, published, strict=True)):
        agent["module"] = modules.index(each.wasm)
        blocks[f"weights-{number}"] = packed(each.weights)
    blocks |= {f"wasm-{number}": packed(module) for number, module in enumerate(modules)}
    blocks["agents"] = json.dumps(agents, allow_nan=False)
    return document(page["game"]["title"], blocks, has_worker=True)


def _data_of(published: "Sequence[Published]") -> tuple[Json, list[Json], Json]:
    """Returns what the worker knows of the game, of the agents, and what the page says of itself."""
    game = published[0].game
    described, offered, catalogue = about_game(game)
    described["has_net"] = any(each.facts for each in published)
    tables, lacks = tables_of(game)
    page = {
        "game": described,
        "name": without_folder(str(game)),
        "tables": tables,
        "isHistoryFree": bool(game.rules.is_history_free),
        "pictures": _pictures_of(described, offered, catalogue),
    }
    agents = [
        {"about": about, "manifest": each.manifest}
        for about, each in zip(_about_agents(published), published, strict=True)
    ]
    about = {
        "game": offered.id,
        "title": described["title"],
        "azero": azero.__version__,
        "sources": sources(),
        "agents": [
            {"title": agent["about"]["title"], "name": agent["about"]["name"], "facts": each.facts}
            for agent, each in zip(agents, published, strict=True)
        ],
        "lacks": lacks,
    }
    return page, agents, about


def about_game(game: Game) -> tuple[Json, OfferedGame, Catalogue]:
    """Returns a game as the server describes it, but for what a page cannot do, and where the server offers it."""
    catalogue = Catalogue(["random"], [game])
    offered = next(each for each in catalogue.games.values() if each.game == game)
    lacks = {"ranges": {}, "sizes": [offered.id], "has_sgf": False, "has_net": False}
    return describe_game(offered, catalogue) | lacks, offered, catalogue


def sources() -> list[str]:
    """Returns the addresses of the project, such as "Source, https://..."; none if it has none."""
    return importlib.metadata.metadata("azero").get_all("Project-URL") or []


def _about_agents(published: "Sequence[Published]") -> list[Json]:
    """Returns agents as the page shows them, with different titles."""
    found = list[Json]()
    for each in published:
        found.append(about_agent(each.name, each.game, {other["id"] for other in found}))
    titles = [each["title"] for each in found]
    return [
        {**each, "title": f"{each['title']} ({each['id']})"} if titles.count(each["title"]) > 1 else each
        for each in found
    ]


def about_agent(name: str, game: Game, taken: set[str]) -> Json:
    """Returns an agent as a page shows it: without folders, and without its level, since it judges as without one.

    Args:
      taken: ids of other agents.

    Raises BadInput if there is no such agent.
    """
    parsed = parse_name(name)
    if parsed.level is not None:
        name = join_options(parsed.word, parsed.options)
    path = Path(parsed.word).resolve()  # . is a folder, too
    if parsed.kind == "net" and path.is_dir():
        name = f"{path}{name.removeprefix(parsed.word)}"
    title = f"azero {offered_game(game).title}" if parsed.word in shipped_checkpoints() else ""
    agent = offered_agent(name, id_of(name, taken), "given", title=title, game=game)
    of_net = offered_game(agent.game).id if agent.game else None
    return describe_agent(agent, game, "ready") | {"game": of_net}


def licences() -> str:
    """Returns the licences of what the page contains."""
    installed = importlib.metadata.files("azero") or []
    places: list[tuple[str, Any]] = [("azero", each.locate()) for each in installed if each.name == "LICENSE"]
    places += [(name, PAGE / "vendor" / f"LICENSE-{name}") for name in _LIBRARIES]
    return "\n\n".join(f"{name}\n\n{place.read_text(encoding='utf-8').strip()}" for name, place in places)


def _pictures_of(described: Json, offered: OfferedGame, catalogue: Catalogue) -> list[Json]:
    """Returns the positions of other games that the rules show, as the server describes them."""
    asked = [
        {"game": block["game"], "moves": block["moves"]}
        for block in described["sheet"]
        if block["kind"] == "picture" and block["game"] not in ("", offered.id)
    ]
    return [{"asked": each, "position": position_of_rules(each, catalogue)} for each in asked]


def position_of_rules(asked: Json, catalogue: Catalogue) -> Json:
    """Returns a position that the rules show, as the server describes it."""
    request = PositionAsked(game=asked["game"], moves=asked["moves"])
    return describe(position_of(catalogue.game(asked["game"]), request, _MOST_PLIES))


_UNTOUCHED = "!$&'*+,-./:;=?@_~[]{}|#"  # of a move's text in a link; brackets begin variations


def link_of(view: str, game: str, moves: Sequence[str], at: int, agent: str = "") -> str:
    """Returns the link of a view of the page, as `router.js` reads it.

    Args:
      game: its id.
      at: the position that is shown, by the number of moves before it.
      agent: the id of the agent that judges; empty: the page's first one.
    """
    words = " ".join(quote(move, safe=_UNTOUCHED) for move in moves)
    parts = {"v": view, "g": game, "m": words, "at": str(at), "a": agent}
    return "#" + "&".join(f"{name}={quote(text, safe='')}" for name, text in parts.items() if text)


def packed(content: bytes) -> str:
    """Returns bytes as text: deflated, in base64."""
    return base64.b64encode(zlib.compress(content, 9)).decode() if content else ""


def site_of(games: "dict[str, list[Published]]", others: dict[str, str] | None = None) -> dict[str, bytes]:
    """Returns the files of a site by their names: a page for each game, then one that leads to them.

    Args:
      games: agents by the name of their game's file, without its ending.
      others: titles of pages that are there already, as HTML, by the names of their files; none by default.
    """
    files = {f"{name}.html": html_of(published).encode() for name, published in games.items()}
    links = []
    for name, published in games.items():
        page, agents, _ = _data_of(published)
        who = ", ".join(agent["about"]["title"] for agent in agents)
        title = " ".join(filter(None, (page["game"]["title"], page["game"]["subtitle"])))
        links.append(f'<li><a href="{html.escape(name)}.html">{html.escape(title)}</a> {html.escape(who)}</li>')
    for name, title in (others or {}).items():
        links.append(f'<li><a href="{html.escape(name)}">{title}</a> {html.escape(name)}</li>')
    return {**files, "index.html": plain_page("Games", _INDEX.format("\n".join(links))).encode()}


# ---- the document


def document(title: str, blocks: dict[str, str], has_worker: bool) -> str:
    """Returns the page of the server with its styles and scripts within, and blocks of data by their ids.

    Args:
      has_worker: whether a worker with WebAssembly may run, which has the block `worker`.
    """
    served = (PAGE / "index.html").read_text(encoding="utf-8")
    style, script = _style_of(served), _as_script(joined(_SCRIPTS / "main.js"))
    of_script, of_worker = (" 'wasm-unsafe-eval'", "worker-src blob:; ") if has_worker else ("", "")
    policy = (
        f"default-src 'none'; script-src {hash_of(script)}{of_script}; style-src {hash_of(style)}; "
        f"img-src data:; {of_worker}connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    icon = base64.b64encode((PAGE / "icon.svg").read_bytes()).decode()
    head = [
        '<meta charset="utf-8" />',
        MADE_BY,
        f'<meta http-equiv="Content-Security-Policy" content="{policy}" />',
        *re.findall(r'<meta name="[^>]*>', served),
        f"<title>{html.escape(title)}, azero</title>",
        f'<link rel="icon" href="data:image/svg+xml;base64,{icon}" />',
        f"<style>{style}</style>",
    ]
    data = [f'<script type="text/plain" id="{name}">{_as_data(name, text)}</script>' for name, text in blocks.items()]
    body = re.sub(r"<noscript>.*?</noscript>", "<noscript>This page needs JavaScript.</noscript>", _body_of(served))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n' + "\n".join(head) + "\n</head>\n<body>\n" + body + "\n"
        + "\n".join(data) + f"\n<script>{script}</script>\n</body>\n</html>\n"
    )  # fmt: skip


def _body_of(served: str) -> str:
    return served.partition("<body>")[2].partition("</body>")[0].strip()


def _style_of(served: str) -> str:
    """Returns the styles that a page names, in their order."""
    found = list[str]()
    for tag in re.findall(r'<link rel="stylesheet"[^>]*>', served):
        text = (PAGE / re.search(r'href="([^"]+)"', tag)[1]).read_text(encoding="utf-8")  # type: ignore[index]
        media = re.search(r'media="([^"]+)"', tag)
        found.append(f"@media {media[1]} {{\n{text}}}" if media else text)
    return "\n".join(found)


def _as_script(text: str) -> str:
    """Returns a script that ends or hides no part of a page, of the same meaning."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _as_data(name: str, text: str) -> str:
    """Returns text that ends no block of data, of the same meaning."""
    if name == "worker":
        return _as_script(text)
    return text.replace("<", "\\u003c") if text.startswith(("{", "[")) else text
