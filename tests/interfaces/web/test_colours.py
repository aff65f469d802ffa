"""Tests of the page's colours: contrast by WCAG 2.2, in both themes."""

import re
from pathlib import Path

import pytest

import azero.interfaces.web

STYLE = Path(azero.interfaces.web.__file__).parent / "page" / "style"
TEXT, CONTROL = 4.5, 3.0
"""Least contrasts: of text (success criterion 1.4.3), and of controls and drawings (1.4.11)."""

GROUNDS = "bg", "surface", "sunken"
WORDS = "ink", "ink2", "ink3", "accent", "second", "inaccuracy", "mistake", "blunder", "good"
GLYPHS = "glyph-blunder", "glyph-mistake", "glyph-inaccuracy", "glyph-good"
SQUARES = "square-light", "square-dark"
STONE_GROUNDS = "wood", "felt", *SQUARES

TEXTS = [
    *((word, ground) for word in WORDS for ground in GROUNDS),
    *((word, "accent-soft") for word in ("ink", "ink2", "ink3", "accent")),
    ("on-accent", "accent"),
    *(("bg", ground) for ground in ("ink", "ink2", "blunder")),
    ("wood-label", "wood"),
    ("felt-label", "felt-line"),
    ("square-label", "square-dark"),
    ("frame-label", "frame"),
    ("mark-on-best", "mark-best"),
    ("mark-on-other", "mark-other"),
    ("holes-on-best", "holes-best"),
    ("holes-on-other", "holes-other"),
    *(("glyph-text", glyph) for glyph in GLYPHS),
    ("on-stone-black", "stone-black"),
    ("on-stone-white", "stone-white"),
]
"""Text and its ground."""

DRAWN = [
    *(("control", ground) for ground in GROUNDS),
    *((disc, ground) for disc in ("red", "yellow") for ground in ("frame", "hole")),
    ("yellow-ring", "yellow"),
    ("wood-line", "wood"),
    *(("stone-black", ground) for ground in STONE_GROUNDS),
    *((player, ground) for player in ("orange", "blue") for ground in ("hex", "surface", "bg")),
    *(("burnt", ground) for ground in SQUARES),
    *(("mark-best", ground) for ground in ("wood", "hex", "surface", *SQUARES)),
    *(("mark-edge", ground) for ground in ("mark-other", "wood", "hex", "surface", *SQUARES)),
    ("mark-felt", "felt"),
    *((mark, ground) for mark in ("holes-best", "holes-edge") for ground in ("frame", "hole")),
    ("on-yellow", "yellow"),
    ("glyph-text", "red"),
    ("stone-white-edge", "stone-white"),
    ("win-line", "win-case"),
]
"""What must be seen to use the page, and its ground."""

RIMMED = [("stone-white", ground) for ground in STONE_GROUNDS]
"""White stones: they or their rim."""

QUIET = {
    "line": "divides; nothing is lost without it",
    "felt-line": "the squares are known from the labels and the stones",
    "hex-line": "the cells are known from the labels and the stones",
    "stone-black-2": "a shade on a black stone",
    "stone-white-2": "a shade on a white stone",
}
"""Colours that need no contrast of their own, and why."""


def tokens_of(css: str) -> dict[str, dict[str, str]]:
    """Returns the colours of each theme, by name."""
    shared: dict[str, str] = {}
    themes: dict[str, dict[str, str]] = {}
    for selector, block in re.findall(r"(:root[^{]*)\{([^}]*)\}", css):
        colours = dict(re.findall(r"--([\w-]+):\s*(#[0-9a-fA-F]{6});", block))
        theme = re.search(r'data-theme="(\w+)"', selector)
        (themes.setdefault(theme[1], {}) if theme else shared).update(colours)
    return {theme: shared | colours for theme, colours in themes.items()}


def luminance(colour: str) -> float:
    """Returns the relative luminance of #rrggbb, in [0, 1]."""
    parts = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Returns the ratio of contrast of two colours, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


THEMES = tokens_of((STYLE / "tokens.css").read_text())
OTHER_FILES = [path for path in sorted(STYLE.glob("*.css")) if path.name != "tokens.css"]
CSS = {path.name: re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL) for path in OTHER_FILES}


def test_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("pairs", "least"), [(TEXTS, TEXT), (DRAWN, CONTROL)], ids=["text", "drawn"])
def test_colours_that_are_used_together_can_be_told_apart(theme, pairs, least):
    colours = THEMES[theme]
    measured = {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in measured.items() if ratio < least} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_black_pawns_stand_out(theme):
    """They are slimmer than stones, and have no rim, so they need more."""
    colours = THEMES[theme]
    assert min(contrast(colours["stone-black"], colours[ground]) for ground in SQUARES) >= 1.1 * CONTROL


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_white_stones_can_be_seen_by_themselves_or_by_their_rim(theme):
    colours = THEMES[theme]
    for stone, ground in RIMMED:
        assert max(contrast(colours[part], colours[ground]) for part in (stone, "stone-white-rim")) >= CONTROL, ground


def test_each_colour_is_in_a_pair_or_needs_no_contrast():
    named = {name for pair in (*TEXTS, *DRAWN, *RIMMED) for name in pair} | {"stone-white-rim"}
    assert THEMES["light"].keys() == THEMES["dark"].keys() == named | QUIET.keys()


def test_text_has_the_colours_of_the_table():
    """All that the page's styles give to `color` is a colour of which contrasts are tested as text."""
    tested = {name for name, _ in TEXTS}
    used = {name for css in CSS.values() for name in re.findall(r"(?<![\w-])color:\s*var\(--([\w-]+)\)", css)}
    assert used and used <= tested


def test_pairs_of_one_rule_are_in_the_table():
    for name, css in CSS.items():
        for rule in re.findall(r"\{([^{}]*)\}", css):
            text = re.search(r"(?<![\w-])color:\s*var\(--([\w-]+)\)", rule)
            ground = re.search(r"background(?:-color)?:\s*var\(--([\w-]+)\)", rule)
            assert not (text and ground) or (text[1], ground[1]) in TEXTS, f"{name}: {rule.strip()}"
