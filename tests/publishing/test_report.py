"""Tests of reports of runs, without a browser."""

import html
import re
import shutil
import tomllib
import zlib
from base64 import b64decode

import pytest
from command_line import assert_bad_input
from training.runs import TINY

import azero
from azero.config.reading import check_config
from azero.errors import BadInput
from azero.publishing import report
from azero.runs.settings import differences, find_settings


@pytest.fixture(scope="module")
def starts(tmp_path_factory):
    """The file of a start, which is a folder's secret."""
    file = tmp_path_factory.mktemp("secret") / "starts.txt"
    file.write_text("3/1X1/3 O\n")
    return file


@pytest.fixture(scope="module")
def run(starts, tmp_path_factory):
    """The folder of a tiny run."""
    config = check_config(TINY | {"seed": 7, "selfplay": TINY["selfplay"] | {"starts": str(starts)}})
    return azero.train(config, tmp_path_factory.mktemp("runs") / "tiny <run>").folder


@pytest.fixture
def unplayable(monkeypatch):
    """There is no page to play on, which would take half a minute to make."""

    def build(agent):
        raise BadInput("the rules have no counterpart")

    monkeypatch.setattr(report, "build", build)


def test_a_report(run, starts, unplayable, run_azero):
    """It has all sections and nothing from elsewhere. What a folder is called is no HTML, and no folder is told."""
    code, output, errors = run_azero("report", run, "--out", "report.html")
    assert code == 0 and output.startswith("report.html: "), errors
    with open("report.html") as file:
        page = file.read()
    assert "<h1>tiny &lt;run&gt;: tic_tac_toe</h1>" in page and str(run.parent) not in page and "secret" not in page
    assert len(re.findall(r"<h2>", page)) == 6 and "Its game or net has no such page." in page
    assert page.count("<figure>") == 6 and page.count("Before: ") == 6 and page.count("<li>") == 4
    settings = tomllib.loads(html.unescape(re.search(r"<pre>(seed = .*?)</pre>", page, re.DOTALL)[1]))
    again = check_config(settings | {"selfplay": settings["selfplay"] | {"starts": "none"}})
    assert differences(again, find_settings(run)) == [("selfplay.starts", "none", str(starts))]
    assert 'src="data:image/png;base64,' in page and "<iframe" not in page and "data-link" not in page
    assert not re.search(r"""(src|href)=["']?(http|//)""", page)
    assert_bad_input(run_azero("report", run, "--out", "report.html"), "--force replaces it")


def test_bad_input(run, unplayable, run_azero, tmp_path):
    assert_bad_input(run_azero("report", run, "--out", "report"), "should end in .html")
    assert_bad_input(run_azero("report", tmp_path, "--out", "report.html"), "there is no run")
    shutil.copytree(run, begun := tmp_path / "begun")
    (begun / "metrics.jsonl").write_text("")
    assert_bad_input(run_azero("report", begun, "--out", "report.html"), "has ended no iteration yet")


@pytest.mark.slow
def test_a_report_has_the_page_of_its_net(run):
    """Its policy allows the scripts and styles of the page within, which inherits it."""
    page = report.html_of_report(run)
    inner = zlib.decompress(b64decode(re.search(r'id="page">([^<]+)<', page)[1])).decode()
    policies = [re.search(r'Content-Security-Policy" content="([^"]+)"', each)[1] for each in (page, inner)]
    outer, own = (set(re.findall(r"'sha256-[^']+'", each)) for each in policies)
    assert own and own < outer and "connect-src 'none'" in policies[0]
