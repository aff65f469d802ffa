"""Writes pages to files, and shows them in notebooks: `azero.publish`."""

import html
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from azero.errors import BadInput
from azero.games import Game
from azero.games.names import without_folder
from azero.publishing.build import Published, build_all, game_of
from azero.publishing.page import about_agent, html_of, site_of
from azero.publishing.plain import MADE_BY
from azero.system.files import write_whole

_HEIGHT = 760  # pixels of the frame in a notebook

_HEAD = 4096
"""Bytes of a page within which it says that azero has written it."""

_BESIDE = re.compile(r"\..*|CNAME|(README|LICEN[CS]E)(\.(md|txt))?", re.IGNORECASE)
"""What may lie beside the pages of a folder, such as .git, .nojekyll and CNAME."""


@dataclass(frozen=True, repr=False)
class Page:
    """A page that plays, analyses and explains without azero.

    Attributes:
      html: the whole document.
    """

    html: str

    def save(self, path: str | Path) -> None:
        """Writes the page to a file, atomically."""
        write_whole(Path(path), self.html.encode())

    def _repr_html_(self) -> str:
        """Returns a frame with the page for a notebook."""
        content = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{content}" style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"<Page of {len(self.html):,} bytes; save(path) writes it>"


def publish(*agents: str, game: Game | str | None = None) -> Page:
    """Returns a page in which agents of one game play, analyse and explain, in any browser.

    Args:
      agents: nets by the names of shipped ones, checkpoints or runs, or uct, as `make_agent` takes them.
      game: needed for uct; a checkpoint has its own.

    Raises BadInput if there is no agent, or if an agent, its net or its rules cannot run there.
    """
    if not agents:
        raise BadInput("name an agent to publish, e.g. connect_four")
    games = games_of(agents, game)
    if len(games) > 1:
        found = ", ".join(sorted(str(each) for each, _ in games.values()))
        raise BadInput(f"a page is for one game; these agents play {found}")
    ((own, names),) = games.values()
    return Page(html_of(build_all(names, own)))


def games_of(agents: Sequence[str], game: Game | str | None) -> dict[str, tuple[Game, list[str]]]:
    """Returns the game and the agents of each page, by the name of its file; each agent once.

    Raises BadInput if a page cannot hold an agent, or if two games would have the same file.
    """
    found = dict[str, tuple[Game, list[str]]]()
    for agent in dict.fromkeys(agents):
        own = game_of(agent, game)
        about_agent(agent, own, set())  # raises BadInput before anything is compiled
        known, names = found.setdefault(stem_of(own), (own, []))
        if known != own:
            raise BadInput(f"{known} and {own} would both be {stem_of(own)}.html; publish them one by one")
        names.append(agent)
    return found


def stem_of(game: Game) -> str:
    """Returns a game's name as a file can have it, e.g. go_size_7."""
    return re.sub(r"\W+", "_", without_folder(str(game)).replace(".py:", "_")).strip("_").lower()


def is_page(out: Path) -> bool:
    """Returns whether a path names a page, not a folder of pages."""
    return out.suffix.lower() in (".html", ".htm")


def check_target(out: Path, is_forced: bool) -> None:
    """Raises BadInput if a page, or a folder of pages, must not or cannot be written there.

    Only pages that azero has written are replaced. A folder may have what a static host needs beside them.
    """
    if is_page(out):
        if out.is_dir():
            raise BadInput(f"--out {str(out)!r} is a folder; name a file that does not exist")
        if out.exists() and not _is_ours(out):
            raise BadInput(f"--out {str(out)!r} exists, and azero has not written it; name another file")
        if out.exists() and not is_forced:
            raise BadInput(f"--out {str(out)!r} exists; --force replaces it")
        if not out.parent.is_dir():
            raise BadInput(f"--out {str(out)!r}: there is no folder {str(out.parent)!r}")
    elif out.is_dir():
        pages = [each for each in sorted(out.iterdir()) if not _BESIDE.fullmatch(each.name)]
        others = [each.name for each in pages if not (is_page(each) and _is_ours(each))]
        if others:
            raise BadInput(f"--out {str(out)!r} holds other files, such as {others[0]!r}; name another folder")
        if pages and not is_forced:
            raise BadInput(f"--out {str(out)!r} holds pages; --force replaces those of the same names")
    elif out.exists():
        raise BadInput(f"--out {str(out)!r} is a file; a page's name ends in .html")
    _check_writable(out)


def _is_ours(path: Path) -> bool:
    """Returns whether azero has written a page."""
    return path.is_file() and MADE_BY in _head_of(path)


def _head_of(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_HEAD).decode(errors="replace")


def _check_writable(out: Path) -> None:
    folder = out if out.is_dir() else next(each for each in out.absolute().parents if each.exists())
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BadInput(f"--out {str(out)!r} cannot be written: {error.strerror}: {str(folder)!r}") from None


def write_page(out: Path, published: Sequence[Published]) -> dict[str, int]:
    """Writes the page of a game; returns its size in bytes, by the name of the game."""
    content = html_of(published).encode()
    write_whole(out, content)
    return {stem_of(published[0].game): len(content)}


def write_site(out: Path, games: dict[str, list[Published]]) -> dict[str, int]:
    """Writes a folder with a page for each game; returns their sizes in bytes, by the games' names.

    Other pages that azero has written there stay, and the list of pages has them, too.
    """
    files = site_of(games, _others_in(out, {"index.html", *(f"{stem}.html" for stem in games)}))
    for name, content in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    return {stem: len(files[f"{stem}.html"]) for stem in games}


def _others_in(folder: Path, names: set[str]) -> dict[str, str]:
    """Returns the titles of azero's pages in a folder, as HTML, by the names of their files, but for these names."""
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    heads = {each.name: _head_of(each) for each in files if each.name not in names and is_page(each) and _is_ours(each)}
    return {name: head.partition("<title>")[2].partition(", azero</title>")[0] for name, head in heads.items()}
