"""One server and one browser for all tests of the page. A test fails if the browser has anything to complain of."""

import json
import shutil

import pytest
from training.runs import TINY

import azero
from azero.config.reading import check_config
from browser.served import ROOT, serving
from browser.watch import Watch

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NOWHERE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
"""The browser reaches nothing but this machine."""

OWN_GAME = ROOT / "tests" / "data" / "nim.py"
AGENTS = "connect_four", "go_7x7", "othello_6x6", "tic_tac_toe"
WATCHES = pytest.StashKey[list[Watch]]()
DESKTOP, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(ROOT / "tests" / "browser"):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    run = azero.train(check_config(TINY), tmp_path_factory.mktemp("runs") / "tiny")
    with serving(*AGENTS, "--game", f"{OWN_GAME}:Nim", "--runs", str(run.folder)) as server:
        yield server


@pytest.fixture(scope="session")
def chromium():
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # the sandbox needs rights that root in a container lacks
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", NOWHERE])
        yield browser
        browser.close()


class Place:
    """A browser context of its own, which knows nothing of the others. It is used again: a new one costs half a second.

    Its windows share storages and what was loaded, as those of one browser do.
    """

    def __init__(self, chromium, options):
        self.context = chromium.new_context(**options)
        self.context.set_default_timeout(20_000)
        blank = self.context.new_page()  # remains: to close a context's last page takes long
        self.devtools = self.context.new_cdp_session(blank)
        self.blank = blank

    def close_pages(self):
        for page in self.context.pages:
            if page is not self.blank:
                page.close()

    def forget(self, address):
        """Deletes what the pages of a server have kept."""
        self.devtools.send("Storage.clearDataForOrigin", {"origin": address.rstrip("/"), "storageTypes": "all"})


@pytest.fixture(scope="session")
def places(chromium):
    """Places that no test uses at the moment, by their options."""
    return {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Of a failed test, the report has what its pages say: where nobody can look, as in CI, nothing else tells."""
    report = yield
    if report.when == "call" and report.failed:
        for watch in item.stash.get(WATCHES, []):
            report.sections.append((f"the page at {watch.page.url}", watch.seen()))
    return report


@pytest.fixture
def open_page(chromium, server, places, request):
    """Returns a function that opens a link in a browser context of its own, which knows nothing of the others.

    Its keywords are those of Playwright's `new_context`; `at` is another server, `script` runs before the page's own.
    With `has_clock`, the test moves the clock of the page. After the test, no page may have had a problem.
    """
    watches = request.node.stash[WATCHES] = []
    used = []

    def open_link(link="", *, at=None, script=None, has_clock=False, **options):
        options = {"viewport": DESKTOP, "reduced_motion": "reduce", "color_scheme": "light", **options}
        free = [] if has_clock else places.setdefault(json.dumps(options), [])
        place = free.pop() if free else Place(chromium, options)
        used.append((free, place))
        home = (at or server).address
        place.forget(home)
        if has_clock:
            place.context.clock.install()
        page = place.context.new_page()
        if script:
            page.add_init_script(script)
        page.watch = Watch(page)
        watches.append(page.watch)
        page.watch.home = home
        page.goto(home + link)
        page.get_by_role("grid").wait_for()
        return page

    yield open_link
    for free, place in used:
        place.close_pages()
        free.append(place)
    for watch in watches:
        assert watch.problems == []
