"""Makes the moving picture of the README, light and dark: a net learns, then a game against it in the page.

    python docs/film.py

The curve is that of docs/figures.toml. Needs Chromium and Inter, as docs/screenshots.py does.
"""

import io
import os
import shutil
import tempfile
import tomllib
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from screenshots import FONTS, SIZES, THEMES, opened, serving

import azero
from azero.compiler.cache import cache_root

os.environ.setdefault("MPLCONFIGDIR", str(cache_root() / "matplotlib"))
from matplotlib.figure import Figure

PICTURES = Path(__file__).resolve().parent / "pictures"
CURVE = tomllib.loads((PICTURES.parent / "figures.toml").read_text())["curve"]
WIDTH, HEIGHT = 840, 525
SIZES["film"] = (1024, 640)
COLOURS = {"light": ("#ffffff", "#24292f", "#0072b2"), "dark": ("#16181d", "#e6e6e6", "#56b4e9")}
"""Of the paper, the ink, and the curve (Okabe and Ito, 2008)."""


def curve_frames(theme: str) -> list[Image.Image]:
    """Returns pictures in which the curve grows, net by net."""
    return [draw_curve(theme, count) for count in range(1, len(CURVE["games"]) + 1)]


def draw_curve(theme: str, count: int) -> Image.Image:
    """Returns the curve of the first nets."""
    paper, ink, colour = COLOURS[theme]
    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100, layout="constrained", facecolor=paper)
    axes = figure.subplots()
    axes.set_facecolor(paper)
    games, scores = CURVE["games"][:count], CURVE["scores"][:count]
    axes.plot(games, scores, "-o", color=colour, linewidth=3, markersize=8)
    axes.axhline(50, linestyle="--", color=ink, linewidth=1)
    axes.text(CURVE["games"][-1], 52, "equal", ha="right", color=ink, fontsize=13)
    axes.annotate(f"{scores[-1]:.0f} %", (games[-1], scores[-1]), (0, 14), textcoords="offset points", ha="center",
                  color=colour, fontsize=18, weight="bold")  # fmt: skip
    axes.set(xlim=(-200, CURVE["games"][-1] + 300), ylim=(0, 105))
    axes.set_xlabel("games of self-play", color=ink, fontsize=15)
    axes.set_ylabel("score against uct@1000, %", color=ink, fontsize=15)
    axes.set_title("azero learns Connect Four from nothing", color=ink, fontsize=19, pad=14)
    axes.tick_params(colors=ink, labelsize=13)
    for place, spine in axes.spines.items():
        spine.set_visible(place in ("left", "bottom"))
        spine.set_color(ink)
    data = io.BytesIO()
    figure.savefig(data, format="png")
    return Image.open(data).convert("RGB").resize((WIDTH, HEIGHT))


def game_frames(browser: Browser, address: str, theme: str) -> list[Image.Image]:
    """Returns the page during a game against level 2. Level 5 plays the other side."""
    net = azero.make_agent("connect_four(level=5)", seed=0, threads=1)
    with opened(browser, "film", theme) as page:

        def moves() -> list[str]:
            return page.locator("[role=log] button").all_inner_texts()

        page.goto(f"{address}#g=connect_four")
        page.get_by_role("grid").wait_for()
        page.wait_for_timeout(3000)
        frames = [shot(page)]
        while not (state := net.game.state_from_moves(" ".join(moves()))).is_terminal():
            page.keyboard.press(net.suggest(state).best)
            page.wait_for_timeout(250)
            frames.append(shot(page))
            for _ in range(100):
                page.wait_for_timeout(100)
                state = net.game.state_from_moves(" ".join(moves()))
                if state.is_terminal() or state.current_player() == 0:
                    break
            page.wait_for_timeout(250)
            frames.append(shot(page))
        page.get_by_text("Looking for the weakest move").wait_for(state="hidden", timeout=120_000)
        page.wait_for_timeout(500)
        return [*frames[:-1], shot(page)]


def shot(page: Page) -> Image.Image:
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    return picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)


def save(frames: list[Image.Image], seconds: list[float], path: Path) -> None:
    """Saves a film as an endless GIF, with one palette for all frames, and its last curve as a still."""
    sheet = Image.new("RGB", (WIDTH, HEIGHT * len(frames)))
    for k, frame in enumerate(frames):
        sheet.paste(frame, (0, k * HEIGHT))
    palette = sheet.quantize(96, dither=Image.Dither.NONE)
    small = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    times = [round(1000 * each) for each in seconds]
    small[0].save(path, save_all=True, append_images=small[1:], duration=times, loop=0, optimize=True)
    print(f"{path}: {len(frames)} frames, {path.stat().st_size:,} bytes")


def main() -> None:
    with serving(None) as (address, _), sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        fonts = Path(folder) / "fonts.conf"
        fonts.write_text(FONTS.format(cache=folder))
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox"],
            env={**os.environ, "FONTCONFIG_FILE": str(fonts)},
        )
        for theme in THEMES:
            curve, game = curve_frames(theme), game_frames(browser, address, theme)
            while not 24 <= len(game) <= 40:  # too short or too long to watch
                game = game_frames(browser, address, theme)
            seconds = [0.35] * (len(curve) - 1) + [2.0] + [0.5] * (len(game) - 1) + [3.0]
            save(curve + game, seconds, PICTURES / f"film_{theme}.gif")
            curve[-1].save(PICTURES / f"film_{theme}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
