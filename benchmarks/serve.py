"""Measures `azero serve`, on this machine alone: many clients, requests of all kinds, and a page that watches a run.

    python benchmarks/serve.py load --clients 50 --seconds 120
    python benchmarks/serve.py fuzz --requests 10000        (it needs schemathesis)
    python benchmarks/serve.py runs --iterations 12

`load`: each client analyses a position of its own by the same net. Meanwhile the page, positions and the list of agents
are asked for every half second. Prints errors, the least and the most simulations of a client, how long the answers
took, and the server's memory at the quarters. Then 1,000 sockets are opened that say nothing, and the games are asked
for again.

`fuzz`: schemathesis makes requests from the server's OpenAPI page. Searches are short, so that valid requests end soon.
Prints how many answers of each status there were. Fails if one was an error of the server (5xx but 503).

`runs`: trains on Connect Four, with a server beside it. In every second iteration a client asks what the page asks:
metrics and games every 5 s, and every 2 s a move further in a game, with the opinions of all nets. Prints the mean
simulations and training steps per second of both kinds of iterations, and their ratios. Neighbours are compared, so
that slow changes of the machine's load do not matter.
"""

import argparse
import asyncio
import collections
import contextlib
import itertools
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from statistics import fmean

import httpx
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from azero.interfaces.web.app import make_app
from azero.interfaces.web.offered.catalogue import Catalogue
from azero.interfaces.web.server import config_of, listen
from azero.interfaces.web.settings import ServeSettings

AGENT = GAME = "connect_four"


def positions(number: int) -> list[str]:
    """Returns moves to different positions near the beginning, which cost about the same; at most 98."""
    pairs = [" ".join(moves) for moves in itertools.product("4352617", repeat=2)]
    return [*pairs, *(f"{pair} {pair[-1]} {pair[-1]}" for pair in pairs)][:number]


async def analyse(client: httpx.AsyncClient, moves: str, seconds: float, errors: list[str]) -> int | None:
    """Analyses a position; returns the simulations of this client, None if the result was proven before the end."""
    asked = {"agent": AGENT, "game": GAME, "moves": moves, "seconds": 10 * seconds}
    last = 0
    try:
        async with client.stream("POST", "api/v1/analyses", json=asked) as stream:
            if stream.status_code != 200:
                errors.append(f"status {stream.status_code}")
            end = time.perf_counter() + seconds
            event = ""
            async for line in stream.aiter_lines():
                event = line.removeprefix("event: ") if line.startswith("event: ") else event
                if event == "error" and line.startswith("data"):
                    errors.append(line)
                if event == "done" and line.startswith("data"):
                    if "proven" in line:
                        return None
                    errors.append(f"{moves}: {line}")
                if event == "update" and line.startswith("data: "):
                    last = json.loads(line[6:])["simulations"]
                if time.perf_counter() > end:
                    break
    except httpx.HTTPError as error:
        errors.append(repr(error))
    return last


async def look(client: httpx.AsyncClient, seconds: float, times: list[float], errors: list[str]) -> None:
    """Asks for the page, a position and the agents, again and again."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for method, path, body in (
            ("GET", "/", None),
            ("POST", "/api/v1/positions", {"game": GAME, "moves": "4 4 5"}),
            ("GET", f"/api/v1/agents?game={GAME}", None),
        ):
            begin = time.perf_counter()
            try:
                response = await client.request(method, path, json=body)
                if response.status_code != 200:
                    errors.append(f"{path}: {response.status_code}")
            except httpx.HTTPError as error:
                errors.append(f"{path}: {error!r}")
            times.append(time.perf_counter() - begin)
        await asyncio.sleep(0.5)


def memory_mib(process: subprocess.Popen) -> float:
    """Returns the memory of a process."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * 4096 / (1 << 20)


async def load(url: str, process: subprocess.Popen, clients: int, seconds: float) -> None:
    errors: list[str] = []
    times: list[float] = []
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits) as client:
        await analyse(client, "1 1 1 1 1", 5, [])  # loads the net
        searches = [asyncio.create_task(analyse(client, each, seconds, errors)) for each in positions(clients)]
        looking = asyncio.create_task(look(client, seconds, times, errors))
        memory = []
        for _ in range(4):
            await asyncio.sleep(seconds / 4 - 0.2)
            memory.append(round(memory_mib(process)))
        found = await asyncio.gather(*searches)
        counts = sorted(each for each in found if each is not None)
        await looking
        print(f"{clients} clients, {seconds:g} s: {len(errors)} errors {sorted(set(errors))[:3]}")
        print(f"positions proven before the end: {clients - len(counts)}; of the others, simulations of a client:")
        middle = counts[len(counts) // 2]
        print(f"least {counts[0]}, median {middle}, most {counts[-1]}, least / most {counts[0] / counts[-1]:.2f}")
        times.sort()
        print(f"answers: {len(times)}, median {times[len(times) // 2]:.3f} s, slowest {times[-1]:.3f} s")
        print(f"memory in MiB at the four quarters: {memory}")
    sockets = []
    for _ in range(1000):
        sockets.append(await asyncio.open_connection("127.0.0.1", int(url.rsplit(":", 1)[1].strip("/"))))
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        begin = time.perf_counter()
        status = (await client.get("/api/v1/games")).status_code
        print(f"with 1,000 open sockets: {status} after {time.perf_counter() - begin:.3f} s")
    for _, writer in sockets:
        writer.close()


def add_load(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120)


def measure_load(options: argparse.Namespace) -> None:
    """Many clients analyse at once."""
    command = [sys.executable, "-c", "from azero.cli import main; main()", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        try:
            asyncio.run(load(url, process, options.clients, options.seconds))
        finally:
            process.send_signal(signal.SIGINT)
            print(f"exit code {process.wait()}")


class Counted:
    """An application that counts its answers by status."""

    def __init__(self, app: ASGIApp):
        self._app = app
        self.statuses: collections.Counter[int] = collections.Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.statuses[message["status"]] += 1
            await send(message)

        await self._app(scope, receive, counted)


def add_fuzz(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--requests", type=int, default=10_000)


def measure_fuzz(options: argparse.Namespace) -> None:
    """Requests of all kinds, right and wrong."""
    program = Path(sys.executable).with_name("schemathesis")
    if not program.exists():
        raise SystemExit("schemathesis is missing: pip install schemathesis")
    settings = ServeSettings(port=0, analysis_s=0.1, suggestion_s=0.2, most_suggested=100)
    app = make_app(Catalogue(), settings)
    counted = Counted(app)
    listener = listen(settings)
    server = uvicorn.Server(config_of(counted))  # type: ignore[arg-type]
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/openapi.json"
    begin, seed = time.perf_counter(), 0
    try:
        while counted.statuses.total() < options.requests:
            seed += 1
            words = ["--checks", "not_a_server_error", "--max-examples", "300", "--seed", str(seed), "--no-color"]
            phases = "examples,coverage,fuzzing" if seed == 1 else "fuzzing"
            subprocess.run(
                [str(program), "run", url, *words, "--phases", phases, "--request-timeout", "60"], check=False
            )
    finally:
        app.state.context.searches.close()
        server.should_exit = True
        thread.join()
    print(f"{counted.statuses.total()} answers in {time.perf_counter() - begin:.0f} s: {dict(counted.statuses)}")
    if any(status >= 500 and status != 503 for status in counted.statuses):
        raise SystemExit("the server failed")


AZERO = [sys.executable, "-m", "azero.cli"]
SETTINGS = {"selfplay.games_per_iteration": 120, "selfplay.games_per_shard": 60, "evaluation.every": 0}
SPEEDS = "selfplay/simulations_per_s", "train/steps_per_s"


class Page:
    """Asks the server what the page asks while a user looks at a run."""

    def __init__(self, address: str):
        self._runs = f"{address}api/v1/runs"
        self._polled_s = 0.0
        self._moves: list[str] = []
        self.latencies: list[float] = []

    def last_iteration(self) -> int:
        """Returns the last iteration that is over."""
        return self._ask("run/metrics?after=1000000")["last"]

    def look(self) -> None:
        """Asks once."""
        if time.monotonic() - self._polled_s > 5:
            self._polled_s = time.monotonic()
            self._ask("run/metrics?after=0")
            games = self._ask("run/games?limit=30")["games"]
            if games and not self._moves:
                self._moves = self._ask(f"run/games/{games[0]['id']}")["moves"][:-1]
        if self._moves:
            self._moves.pop()
            while not self._ask("run/opinions", {"moves": " ".join(self._moves)})["is_whole"]:
                pass

    def _ask(self, route: str, fields: dict | None = None) -> dict:
        begin = time.perf_counter()
        data = None if fields is None else json.dumps(fields).encode()
        request = urllib.request.Request(f"{self._runs}/{route}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            found = json.load(answer)
        self.latencies.append(time.perf_counter() - begin)
        return found


def watch(folder: Path, iterations: int) -> Page:
    """Trains, and looks at the run in every second iteration; returns the page."""
    settings = SETTINGS | {"training.iterations": iterations}
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    train = [*AZERO, "train", "connect_four_quick", "--run", str(folder), *words]
    with subprocess.Popen(train, stdout=subprocess.DEVNULL) as training:
        while not (folder / "config.toml").exists() and training.poll() is None:
            time.sleep(0.1)
        serve = [*AZERO, "serve", "--runs", str(folder), "--port", "0", "--threads", "1"]
        with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout, "it is a pipe"
            page = Page(server.stdout.readline().split()[-1])
            while training.poll() is None:
                with contextlib.suppress(urllib.error.HTTPError):  # a run that is just beginning
                    if page.last_iteration() % 2:
                        page.look()
                time.sleep(2)
            server.terminate()
    return page


def add_runs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--iterations", type=int, default=12, help="of the run; an even number")


def measure_runs(options: argparse.Namespace) -> None:
    """What a page that watches a run costs the run."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        page = watch(folder, options.iterations)
        rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    counted = rows[2:]  # the first two compile and open everything
    for speed in SPEEDS:
        alone, watched = (fmean(row[speed] for row in counted if row["iteration"] % 2 == k) for k in (1, 0))
        print(f"{speed}: {alone:,.0f} alone, {watched:,.0f} watched, ratio {watched / alone:.2f}")
    slowest = max(page.latencies)
    print(f"{len(page.latencies)} answers, {fmean(page.latencies):.3f} s in the mean, the slowest {slowest:.2f} s")


COMMANDS = {
    "load": (add_load, measure_load, "many clients analyse at once"),
    "fuzz": (add_fuzz, measure_fuzz, "requests of all kinds, right and wrong"),
    "runs": (add_runs, measure_runs, "what a page that watches a run costs the run"),
}
"""See `subcommands.py`."""


if __name__ == "__main__":
    from subcommands import run_command

    run_command(COMMANDS, __doc__)
