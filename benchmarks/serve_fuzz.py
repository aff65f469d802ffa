"""Requests of all kinds to `azero serve`, made by schemathesis from its OpenAPI page, to this machine alone.

    pip install schemathesis
    python benchmarks/serve_fuzz.py --requests 10000

The server's searches are short, so that valid requests end soon. Prints how many answers of each status there were.
Fails if one was an error of the server (5xx but 503).
"""

import argparse
import collections
import subprocess
import sys
import threading
import time
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from azero.interfaces.web.app import make_app
from azero.interfaces.web.offered.offered import Offered
from azero.interfaces.web.server import config_of, listen
from azero.interfaces.web.settings import ServeSettings


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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=10_000)
    options = parser.parse_args()
    settings = ServeSettings(port=0, analysis_s=0.1, suggestion_s=0.2, most_suggested=100)
    app = make_app(Offered(), settings)
    counted = Counted(app)
    listener = listen(settings)
    server = uvicorn.Server(config_of(counted, settings))  # type: ignore[arg-type]
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/openapi.json"
    program = str(Path(sys.executable).with_name("schemathesis"))
    begin, seed = time.perf_counter(), 0
    try:
        while counted.statuses.total() < options.requests:
            seed += 1
            words = ["--checks", "not_a_server_error", "--max-examples", "300", "--seed", str(seed), "--no-color"]
            phases = "examples,coverage,fuzzing" if seed == 1 else "fuzzing"
            subprocess.run([program, "run", url, *words, "--phases", phases, "--request-timeout", "60"], check=False)
    finally:
        app.state.context.searches.close()
        server.should_exit = True
        thread.join()
    print(f"{counted.statuses.total()} answers in {time.perf_counter() - begin:.0f} s: {dict(counted.statuses)}")
    if any(status >= 500 and status != 503 for status in counted.statuses):
        raise SystemExit("the server failed")


if __name__ == "__main__":
    main()
