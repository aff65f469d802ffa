"""Tests of a running server: signals, clients that leave, and clients that read nothing."""

import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
import uvicorn

from azero.compiler.jit import IS_COMPILED
from azero.errors import BadInput
from azero.interfaces.web.offered.catalogue import Catalogue
from azero.interfaces.web.searches.queue import Job
from azero.interfaces.web.server import config_of, listen, make_app
from azero.interfaces.web.settings import ServeSettings
from tests.interfaces.web.conftest import API, events_of

ROOT = Path(__file__).parents[3]

LONG = {"agent": "uct@1000", "game": "connect_four", "interval": 0.05}
"""An analysis that does not end by itself soon."""


class Gate(Job):
    """A job that holds up all others until it is opened."""

    def __init__(self):
        super().__init__("gate")
        self.opened = threading.Event()

    def take(self) -> bool:
        self.opened.wait(60)
        return False


class Running:
    """A server in a thread of this process."""

    def __init__(self, **settings):
        self.settings = ServeSettings(port=0, **settings)
        self.app = make_app(Catalogue(), self.settings)
        self.listener = listen(self.settings)
        self.address = self.listener.getsockname()
        self.url = f"http://127.0.0.1:{self.address[1]}"
        self.server = uvicorn.Server(config_of(self.app))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listener]})

    @property
    def searches(self):
        return self.app.state.context.searches

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.searches.close()
        self.server.should_exit = True
        self.thread.join()


def until(condition, seconds: float) -> float:
    """Waits until a condition is true; returns the seconds that it took."""
    begin = time.perf_counter()
    while not condition():
        assert time.perf_counter() - begin < seconds, "it does not come true"
        time.sleep(0.005)
    return time.perf_counter() - begin


def raw_post(running: Running, route: str, body: dict) -> socket.socket:
    """Returns the socket of a request whose answer nobody has read."""
    data = json.dumps(body).encode()
    head = f"POST {API}/{route} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    running.listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(running.address)
    client.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
    return client


@pytest.mark.parametrize(
    ("route", "asked", "begun", "within_s", "settings"),
    [
        ("analyses", LONG, "event: update", 0.5, {}),
        (
            "reviews",
            {"agent": "uct@1000", "game": "connect_four", "moves": "4 4", "simulations": 1 << 30},
            '"searching"',
            5.0,  # of a search
            {"suggestion_s": 1e6, "most_suggested": 1 << 30},
        ),
    ],
)
def test_a_search_ends_when_its_client_goes(route, asked, begun, within_s, settings):
    with Running(**settings) as running:
        with httpx.stream("POST", f"{running.url}{API}/{route}", json=asked, timeout=60) as stream:
            lines = stream.iter_lines()  # its end would end the stream
            for line in lines:
                if begun in line:
                    break
            assert running.searches.agents.num_searches == 1
        assert until(lambda: running.searches.agents.num_searches == 0, 5.0) < within_s


def test_a_suggestion_does_not_wait_for_an_analysis():
    asked = {"agent": "uct@1000", "game": "connect_four", "moves": "4", "simulations": 10}
    with Running() as running:
        url = f"{running.url}{API}"
        with httpx.stream("POST", f"{url}/analyses", json={**LONG, "interval": 30}, timeout=60) as stream:
            for line in stream.iter_lines():
                if line == "event: update":
                    break
            begin = time.perf_counter()
            assert httpx.post(f"{url}/suggestions", json=asked, timeout=60).status_code == 200
            assert time.perf_counter() - begin < 5


def test_a_client_that_reads_nothing_costs_nothing_and_its_search_ends_in_time():
    with Running(slow_reader_s=0.3) as running, raw_post(running, "analyses", LONG):
        until(lambda: running.searches.agents.num_searches == 1, 5.0)
        assert httpx.get(f"{running.url}{API}/agents").status_code == 200
        until(lambda: running.searches.agents.num_searches == 0, 60.0)


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("suggestions", {"agent": "uct@1000", "game": "connect_four", "simulations": 10}),
        ("simulations", {"method": "uct", "game": "connect_four", "count": 1}),
    ],
)
def test_whoever_has_gone_does_not_keep_others_waiting(route, body):
    with Running() as running:
        queue, gate = running.searches.queue, Gate()
        queue.add(gate)
        try:
            with raw_post(running, route, body):
                until(lambda: len(queue._waiting) == 2, 60.0)
                answer = next(job for job in queue._waiting if job is not gate).answer
            until(lambda: answer.cancelled() and running.searches.agents.num_searches == 0, 5.0)
        finally:
            gate.opened.set()
        until(lambda: not queue._waiting, 5.0)


def test_clients_share_the_time():
    with Running() as running:
        counts = {}

        def analyse(name: str, moves: str) -> None:
            asked = {**LONG, "moves": moves, "seconds": 3.0}
            text = httpx.post(f"{running.url}{API}/analyses", json=asked, timeout=60).text
            counts[name] = [data["simulations"] for event, data in events_of(text) if event == "update"][-1]

        analyse("first", "")  # compiles
        for _ in range(3):  # a busy machine may share unevenly, too, but not each time
            threads = [threading.Thread(target=analyse, args=(move, move)) for move in ("1", "2", "3", "4")]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
            shares = [counts[move] for move in ("1", "2", "3", "4")]
            if min(shares) > 0.2 * max(shares) > 0:
                return
        raise AssertionError(shares)


def test_a_body_of_100_mb_is_refused_without_reading_it():
    with Running() as running:
        parts = (b"x" * 1_000_000 for _ in range(100))
        headers = {"content-length": "100000000", "content-type": "application/json"}
        response = httpx.post(f"{running.url}{API}/positions", content=parts, headers=headers, timeout=30)
        assert response.status_code == 413 and response.json()["error"]["code"] == "too_large"
        assert httpx.get(f"{running.url}{API}/agents").status_code == 200


def test_a_port_in_use_is_bad_input():
    with listen(ServeSettings(port=0)) as taken, pytest.raises(BadInput, match="--port 0"):
        listen(ServeSettings(port=taken.getsockname()[1]))


def serve(*words: str, before: tuple[str, ...] = ()) -> subprocess.Popen:
    """Returns a server in a process of its own; `before` are words before the command."""
    code = "from azero.cli import main; main()"
    return subprocess.Popen(
        [*before, sys.executable, "-c", code, "serve", "--port", "0", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_a_server_compiles_in_another_process_and_tells_how_far_it_is(tmp_path, monkeypatch):
    """Of a user's game, since the other process has to know it."""
    monkeypatch.setenv("AZERO_CACHE_DIR", str(tmp_path))
    with serve("uct@100", "--game", f"{ROOT / 'tests/data/nim.py'}:Nim") as process:
        try:
            url = process.stdout.readline().split()[-1]
            answer = httpx.post(f"{url}api/v1/analyses", json={"agent": "uct@100", "game": "own:Nim"}, timeout=300)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    events = events_of(answer.text)
    shares = [data["share"] for event, data in events if data.get("stage") == "compiling"]
    assert events[-1] == ("done", {"reason": "proven"}) and shares == sorted(shares) and shares[-1] > 0.5
    assert errors == "azero: stopped\n", "it has not told that it compiles by itself"


def begun_by(process: int) -> set[int]:
    """Returns the processes that a process has begun, and those that they have begun."""
    listed = subprocess.run(["ps", "-A", "-o", "ppid=,pid="], capture_output=True, text=True, check=True).stdout
    found, pairs = {process}, [tuple(map(int, line.split())) for line in listed.splitlines()]
    while more := {child for parent, child in pairs if parent in found} - found:
        found |= more
    return found - {process}


@pytest.mark.slow
@pytest.mark.skipif(not IS_COMPILED or sys.platform != "linux", reason="nothing is compiled, or there is no /proc")
def test_a_server_that_is_killed_leaves_no_process_that_compiles(tmp_path, monkeypatch):
    monkeypatch.setenv("AZERO_CACHE_DIR", str(tmp_path))
    begun = set()
    with serve() as process:
        try:
            url = process.stdout.readline().split()[-1]
            with (
                contextlib.suppress(httpx.HTTPError),
                httpx.stream("POST", f"{url}api/v1/analyses", json=LONG, timeout=300) as answer,
            ):
                for line in answer.iter_lines():
                    if '"compiling"' in line and '"share": 0.0' not in line:  # the other process is at work
                        begun = begun_by(process.pid)
                        process.kill()
                        break
        finally:
            process.kill()
    assert begun

    def is_running(pid: int) -> bool:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            return "(zombie)" not in (Path("/proc") / str(pid) / "status").read_text()
        return False

    until(lambda: not any(map(is_running, begun)), 30)


IN_BACKGROUND = "sh", "-c", "trap '' INT; exec \"$@\"", "sh"
"""Words before a command that a script starts with `&`: the shell lets it ignore Ctrl-C."""


@pytest.mark.parametrize("before", [(), pytest.param(IN_BACKGROUND, marks=pytest.mark.slow)], ids=["", "background"])
def test_ctrl_c_ends_what_is_open(before):
    with serve(before=before) as process:
        try:
            url = process.stdout.readline().split()[-1]
            events = []

            def analyse() -> None:
                events.extend(events_of(httpx.post(f"{url}api/v1/analyses", json=LONG, timeout=60).text))

            client = threading.Thread(target=analyse)
            client.start()
            busy = f"{url}api/v1/agents"
            until(lambda: "loading" in (text := httpx.get(busy).text) or "ready" in text, 10)
            process.send_signal(signal.SIGINT)
            begin = time.perf_counter()
            _, errors = process.communicate(timeout=30)
            assert time.perf_counter() - begin < 5
            client.join()
        finally:
            process.kill()
    assert process.returncode == 130 and errors.splitlines()[-1] == "azero: stopped"
    assert events[-1] == ("done", {"reason": "stopped"})


@pytest.mark.parametrize(
    ("signals", "code", "line"),
    [
        ([signal.SIGINT], 130, "azero: stopped\n"),
        pytest.param([signal.SIGINT] * 3, 130, "azero: stopped\n", marks=pytest.mark.slow),
        pytest.param([signal.SIGTERM], -signal.SIGTERM, "", marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_many_searches_without_a_trace(signals, code, line):
    answers = []

    def ask(url: str, route: str) -> None:
        asked = {"agent": "uct@1000000", "game": "connect_four", "moves": ["4"] * 3}
        with contextlib.suppress(httpx.HTTPError):  # after several signals some are not answered
            answers.append(httpx.post(f"{url}api/v1/{route}", json=asked, timeout=60))

    with serve("uct@1000000") as process:
        try:
            url = process.stdout.readline().split()[-1]
            routes = "suggestions", "suggestions", "suggestions", "analyses", "reviews"
            clients = [threading.Thread(target=ask, args=[url, route]) for route in routes]
            for each in clients:
                each.start()
            until(lambda: "loading" in httpx.get(f"{url}api/v1/agents").text, 60)
            for each in signals:
                process.send_signal(each)
            _, errors = process.communicate(timeout=30)
            for each in clients:
                each.join()
        finally:
            process.kill()
    assert (process.returncode, errors) == (code, line)
    assert {each.status_code for each in answers} <= {200, 503}


def test_a_suggestion_that_waits_is_answered_when_the_server_ends():
    with Running() as running:
        running.searches.queue.add(gate := Gate())
        asked = {"agent": "uct@1000", "game": "connect_four"}
        answers = []
        client = threading.Thread(
            target=lambda: answers.append(httpx.post(f"{running.url}{API}/suggestions", json=asked, timeout=60))
        )
        client.start()
        until(lambda: running.searches.agents.num_searches, 10)
        running.searches.close()
        client.join()
        gate.opened.set()
    assert answers[0].status_code == 503 and answers[0].json()["error"]["code"] == "stopped"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["no_such_agent"], "no_such_agent"),
        (["--runs", "."], "has no run"),
        (["--runs", "nowhere"], "not a folder"),
        (["--game", "nowhere.py:Game"], "nowhere.py"),
        (["--host", "not an address"], "cannot listen"),
        (["--host", "\udcff"], "cannot listen"),
        (["--host", ""], "the host is empty"),
        (["--threads", "0"], "--threads 0 should be 1 or more"),
        (["--memory", "16384"], "--memory 16384 should be 8192 or less"),
        (["--allow-origin", "*"], "'*' should be one origin"),
        (["--allow-origin", "http://localhost/page"], "should be one origin"),
        (["--allow-host", "azero.example:80"], "without a port"),
        (["gtp:"], "names no command"),
    ],
)
def test_bad_input_is_one_line(run_azero, words, says):
    code, printed, errors = run_azero("serve", "--port", "0", *words)
    assert code == 2 and printed == "" and errors.count("\n") == 1 and says in errors


@pytest.mark.slow
def test_a_server_that_was_killed_is_followed_by_another():
    with serve() as first:
        url = first.stdout.readline().split()[-1]
        port = url.rsplit(":", 1)[1].strip("/")
        analysis = httpx.stream("POST", f"{url}api/v1/analyses", json=LONG, timeout=60)
        with pytest.raises(httpx.HTTPError), analysis as stream:
            for line in stream.iter_lines():
                if line == "event: update":
                    first.kill()
    with serve("--port", port) as second:
        assert second.stdout.readline().split()[-1] == url
        asked = {**LONG, "simulations": 1000}
        events = events_of(httpx.post(f"{url}api/v1/analyses", json=asked, timeout=60).text)
        assert events[-1] == ("done", {"reason": "simulations"})
        second.terminate()
