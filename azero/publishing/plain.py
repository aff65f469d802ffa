"""Plain pages: HTML that azero writes without the page of the server."""

import base64
import hashlib
import html
from collections.abc import Sequence

from azero.arena.solved.blindspots import Blindspots, Spot, describe
from azero.arena.solved.judges import RESULT_WORDS
from azero.games import State

MADE_BY = '<meta name="generator" content="azero" />'
"""What stands in each page, so that azero replaces no other ones."""

_STYLE = (
    "body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; "
    "color: #1B1B1A; background: #F7F6F3 } a { color: #2257B5 } img { max-width: 100% } td, th { text-align: left; "
    "padding: 0 1.5rem 0 0; vertical-align: top } section { display: flex; flex-wrap: wrap; gap: 2rem } "
    "figure { margin: 0; max-width: 100% } pre { line-height: 1.2; overflow: auto } .lines { white-space: pre-wrap } "
    "iframe { width: 100%; height: 46rem; border: 1px solid #C9C7C1 }"
)
_PICTURES = 60  # boards of blind spots


def plain_page(title: str, body: str, script: str = "", scripts: str = "", styles: str = "", data: str = "") -> str:
    """Returns a page that loads nothing from elsewhere.

    Args:
      title: as text.
      body, data: as HTML; the data come after the body.
      script: the page's own.
      scripts, styles: what a frame of the page may use besides, as a content security policy names it. A frame inherits
        the page's policy.
    """
    of_script = f"script-src {hash_of(script)} {scripts}; worker-src blob:; frame-src blob:; " if script else ""
    policy = (
        f"default-src 'none'; {of_script}style-src {hash_of(_STYLE)} {styles}; img-src data:; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
{MADE_BY}
<meta http-equiv="Content-Security-Policy" content="{policy}" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>{html.escape(title)}, azero</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{html.escape(title)}</h1>
{body}
{data}
{f"<script>{script}</script>" if script else ""}
</body>
</html>
"""


def hash_of(text: str) -> str:
    """Returns a script or a style as a content security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def figure(state: State, caption: str, more: str = "") -> str:
    """Returns a board with a caption, as HTML. `more` is HTML after the caption."""
    board = html.escape(state.draw())
    return f"<figure><pre>{board}</pre><figcaption>{html.escape(caption)} {more}</figcaption></figure>"


def lines(texts: Sequence[str]) -> str:
    """Returns lines of text as HTML."""
    return f'<p class="lines">{html.escape(chr(10).join(texts))}</p>'


def html_of_blindspots(found: Blindspots) -> str:
    """Returns a page with boards of the positions that a net misjudges."""
    parts, left = [lines(describe(found)[:1])], _PICTURES
    for what, own in found.groups():
        boards = "".join(map(_spot, own[:left]))
        left -= len(own[:left])
        if boards:
            parts.append(f"<h2>{len(own)}: {html.escape(what)}</h2><section>{boards}</section>")
    return plain_page(f"Blind spots of {found.agent}", "\n".join(parts))


def _spot(spot: Spot) -> str:
    by = "solved" if spot.is_solved else "by a deep search"
    caption = f"The player to move {RESULT_WORDS[spot.result]} ({by}). The net's move: {spot.move}."
    return figure(spot.state, caption, f"<br><code>{html.escape(spot.state.to_text())}</code>")
