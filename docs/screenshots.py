"""Screenshots of the page: each screen and each board, light and dark, in three sizes; and the panel in some states.

    python docs/screenshots.py [--run FOLDER] [--only NAME] [--out docs/pictures/browser]

Needs Chromium and the font Inter: `apt-get install chromium fonts-inter`. `--run` is a run of Connect Four for the
screen of runs; without it that screen is left out. Positions and numbers of simulations are fixed; the rate of
simulations is the machine's.
"""

import argparse
import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
SIZES = {"desktop": (1440, 900), "laptop": (1280, 720), "phone": (390, 844)}
THEMES = "light", "dark"
MARGIN = 20  # pixels left of and above the panel, in pictures of states
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<dir>/usr/share/fonts</dir><cachedir>{cache}</cachedir>
<match target="pattern"><test name="family"><string>system-ui</string></test>
<edit name="family" mode="assign" binding="strong"><string>Inter</string></edit></match></fontconfig>"""
"""`system-ui` is Inter, which a bare Debian does not choose."""

OTHELLO = "d3 c3 c4 e3 f4 c5 b4 d2 c6 d6 e6 f5 f6 b5 c7 f3 g5 b6"
LINKS = {
    "play": "#g=connect_four&m=4 4 5 3 3 4 5 5 2 6 4 5 3 2 2 6",
    "analyse": "#v=analyse&g=go(size=7,komi=8.5)&m=d4 e3 d3 d5(c5 c4)c5 e4&at=6&a=go_7x7",
    "compare": "#v=analyse&g=connect_four&m=4 4 4 4 3&a=connect_four",
    "review": "#v=review&g=othello(size=6)&m=c2 b2 b3 d2 e3 b4 a3 e4&at=0&a=othello_6x6",
    "runs": "#v=runs&g=connect_four",
    "learn": "#v=learn&g=tic_tac_toe&m=b2 a1",
    "new_game": "#g=connect_four",
    "own_game": "#g=own:Nim&m=0 2",
    "bad_link": "#g=connect_four&m=4 4 3 5 9",
}
STATES = {
    "queue_full": "#v=analyse&g=connect_four&m=4 4 5&a=uct@1000",
    "server_lost": "#g=connect_four&m=4 4",
}
"""Pictures of the panel alone, from servers that take one search at a time."""

BOARDS = {
    "amazons": "#g=amazons&m=d1 d7 g7",
    "breakthrough": "#g=breakthrough&m=d2d3 e7e6 d3d4 e6e5",
    "clobber": "#g=clobber&m=a1a2 c1c2",
    "connect_four": "#g=connect_four&m=4 4 3 5 2 1 5 6",
    "go": "#g=go&m=e5 c3 g3 e3 f4 c7 g7",
    "gomoku": "#g=gomoku&m=h8 g9 h9 h10 g8 i8",
    "hex": "#g=hex&m=f6 e7 g5 h4 d7",
    "othello": f"#g=othello&m={OTHELLO}",
    "p_game": "#g=p_game(branching=2,depth=5)&m=1 0",
    "tic_tac_toe": "#g=tic_tac_toe&m=b2 a1 c1 a3",
}


@contextlib.contextmanager
def serving(run: Path | None, *more: str) -> Iterator[tuple[str, subprocess.Popen]]:
    """Runs a server of some shipped agents, with more options; yields its address and its process."""
    words = [sys.executable, "-c", "from azero.cli import main; main()", "serve", "--port", "0"]
    words += ["connect_four", "go_7x7", "othello_6x6", "tic_tac_toe", "--game", "tests/data/nim.py:Nim"]
    words += [*more, *(["--runs", str(run)] if run else [])]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
    assert process.stdout
    found = re.search(r"http://\S+/", process.stdout.readline())
    try:
        assert found, "the server did not start"
        yield found[0], process
    finally:
        process.send_signal(signal.SIGINT)  # does nothing if it has ended
        process.wait(120)


@contextlib.contextmanager
def opened(browser: Browser, size: str, theme: str) -> Iterator[Page]:
    """Yields a page of a browser context of its own."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
    )
    yield context.new_page()
    context.close()


def prepare(page: Page, name: str) -> None:
    """Brings a screen from its link to the state that the picture shows."""
    table = page.get_by_role("table", name="Candidate moves")
    if name in ("analyse", "compare"):
        if name == "compare":
            page.get_by_role("button", name="Compare").click()
        page.get_by_role("button", name=re.compile("^Limit")).click()
        page.get_by_role("menuitemradio", name="1,000 simulations", exact=True).click()
        table.wait_for(timeout=240_000)
        page.wait_for_timeout(7000)
        page.locator(".panel").hover(position={"x": 5, "y": 5})
    elif name == "review":
        page.get_by_role("button", name=re.compile("^Simulations")).click()
        page.get_by_role("menuitemradio", name=re.compile("^100 simulations")).click()
        page.locator(".controls .start").click()
        page.get_by_role("button", name=re.compile(r"^(\d+) of \1 plies")).wait_for(timeout=240_000)
        page.keyboard.press("e")
    elif name == "new_game":
        page.get_by_role("button", name="New game").click()
        page.get_by_role("dialog").wait_for()
    elif name == "runs":
        page.get_by_text("prior of each move").wait_for(timeout=240_000)


def take(page: Page, address: str, name: str, link: str, path: Path) -> None:
    """Saves one picture."""
    page.goto("about:blank")
    page.goto(address + link)
    page.get_by_role("grid").wait_for()
    prepare(page, name)
    page.wait_for_timeout(900)
    page.get_by_text("Getting the engine ready").wait_for(state="hidden", timeout=240_000)
    raw = path.with_suffix(".raw.png")
    page.screenshot(path=raw)
    save_small(Image.open(raw), path)
    raw.unlink()


def take_board(page: Page, address: str, link: str, path: Path) -> None:
    """Saves a small picture of the board alone."""
    page.goto("about:blank")
    page.goto(address + link)
    board = page.get_by_role("grid")
    board.wait_for()
    page.wait_for_timeout(900)
    raw = path.with_suffix(".raw.png")
    board.screenshot(path=raw)
    image = Image.open(raw).convert("RGB")
    save_small(image.resize((300, image.height * 300 // image.width), Image.Resampling.LANCZOS), path)
    raw.unlink()


def take_state(browser: Browser, name: str, theme: str, path: Path) -> None:
    """Saves a picture of the panel in one of STATES."""
    with serving(None, "--searches", "1") as (address, process), opened(browser, "laptop", theme) as page:
        if name == "queue_full":
            asked = {"agent": "uct@1000", "game": "connect_four", "seconds": 600}
            headers = {"Content-Type": "application/json"}
            request = urllib.request.Request(f"{address}api/v1/analyses", json.dumps(asked).encode(), headers)
            with urllib.request.urlopen(request) as answer:  # it has the only place, while it is read
                threading.Thread(target=read_to_the_end, args=(answer,), daemon=True).start()
                page.goto(address + STATES[name])
                page.get_by_text("In the queue").wait_for()
                page.wait_for_timeout(500)
                save_panel(page, path)
        else:
            page.goto(address + STATES[name])
            page.get_by_role("grid").wait_for()
            page.wait_for_timeout(1500)
            page.get_by_text("Getting the engine ready").wait_for(state="hidden", timeout=240_000)
            process.kill()
            process.wait()
            page.keyboard.press("3")
            page.get_by_role("status", name="Reconnecting").wait_for()
            page.wait_for_timeout(500)
            save_panel(page, path)


def read_to_the_end(answer: Iterable[bytes]) -> None:
    with contextlib.suppress(Exception):  # that of an answer that has been closed
        for _ in answer:
            pass


def save_panel(page: Page, path: Path) -> None:
    """Saves a picture of the panel with its surroundings, and of what lies over it."""
    raw = path.with_suffix(".raw.png")
    box = page.locator(".panel").bounding_box()
    assert box and page.viewport_size
    left, top = box["x"] - MARGIN, box["y"] - MARGIN
    width, height = page.viewport_size["width"] - left, page.viewport_size["height"] - top
    page.screenshot(path=raw, clip={"x": left, "y": top, "width": width, "height": height})
    save_small(Image.open(raw), path)
    raw.unlink()


def save_small(image: Image.Image, path: Path) -> None:
    """Saves a picture as PNG with a palette of 128 colours."""
    image.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def join(pictures: list[Path], path: Path, width: int = 320) -> None:
    """Saves a sheet of pictures, five in a row, and deletes them."""
    small = []
    for picture in pictures:
        image = Image.open(picture).convert("RGB")
        small.append(image.resize((width, image.height * width // image.width), Image.Resampling.LANCZOS))
        picture.unlink()
    height = max(image.height for image in small)
    sheet = Image.new("RGB", (5 * width, height * -(-len(small) // 5)))
    for k, image in enumerate(small):
        sheet.paste(image, (k % 5 * width, k // 5 * height))
    save_small(sheet, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--run", type=Path)
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="a screen, a state, `boards` or `gallery`; repeatable"
    )
    parser.add_argument("--sizes", nargs="*", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures" / "browser")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out.parent / "games").mkdir(exist_ok=True)
    wanted = options.only or [*LINKS, *STATES, "boards", "gallery"]
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        address = stack.enter_context(serving(None))[0]
        address_of_run = stack.enter_context(serving(options.run))[0] if options.run else None
        playwright = stack.enter_context(sync_playwright())
        fonts = Path(folder) / "fonts.conf"
        fonts.write_text(FONTS.format(cache=folder))
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
            env={**os.environ, "FONTCONFIG_FILE": str(fonts)},
        )
        for size in options.sizes:
            for theme in THEMES:
                with opened(browser, size, theme) as page:
                    for name, link in LINKS.items():
                        where = address_of_run if name == "runs" else address
                        if name in wanted and where:
                            take(page, where, name, link, options.out / f"{name}_{size}_{theme}.png")
                    if "boards" in wanted:
                        pictures = []
                        for name, link in BOARDS.items():
                            pictures.append(Path(folder) / f"{name}.png")
                            take(page, address, name, link, pictures[-1])
                        join(pictures, options.out / f"boards_{size}_{theme}.png", 390 if size == "phone" else 480)
        for name, theme in itertools.product(BOARDS, THEMES) if "gallery" in wanted else ():
            with opened(browser, "laptop", theme) as page:  # a new one, which remembers no other game
                take_board(page, address, BOARDS[name], options.out.parent / "games" / f"{name}_{theme}.png")
        for name in STATES:
            for theme in THEMES if name in wanted else ():
                take_state(browser, name, theme, options.out / f"{name}_{theme}.png")
        browser.close()


if __name__ == "__main__":
    main()
