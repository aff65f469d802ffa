"""Load of `azero serve`: many clients analyse at once, on this machine alone.

    python benchmarks/serve_load.py --clients 50 --seconds 120

Starts a server. Each client analyses a position of its own by the same net. Meanwhile the page, positions and the list
of agents are asked for every half second. Prints errors, the least and the most simulations of a client, how long the
answers took, and the server's memory at the quarters. Then 1,000 sockets are opened that say nothing, and the games are
asked for again.
"""

import argparse
import asyncio
import itertools
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx

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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120)
    options = parser.parse_args()
    command = [sys.executable, "-c", "from azero.cli import main; main()", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        try:
            asyncio.run(load(url, process, options.clients, options.seconds))
        finally:
            process.send_signal(signal.SIGINT)
            print(f"exit code {process.wait()}")


if __name__ == "__main__":
    main()
