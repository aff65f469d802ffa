"""Makes the libraries of kernels that a wheel carries: for the boards of the shipped nets, and each game's default.

`make wheel` runs it without arguments. Each library is made in a process of its own, `make_libraries.py NAME`, from
warm runs of what people do: the commands of the README, and what each view of the page asks the server. Numba compiles
for the libraries' level of CPUs there, into an empty cache.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
from numba.core.caching import NullCache

import azero
from azero import cli
from azero.compiler import jit
from azero.compiler.arguments import packed
from azero.compiler.libraries import FEATURES, FOLDER, LEVEL
from azero.compiler.linking import Used, link
from azero.interfaces.web.app import make_app
from azero.interfaces.web.offered.catalogue import Catalogue
from azero.interfaces.web.settings import ServeSettings
from azero.system.machine import count_cores, cpu_flags

ROOT = Path(__file__).parents[1]
TARGET = {"NUMBA_CPU_NAME": LEVEL, "NUMBA_CPU_FEATURES": ",".join(f"+{each}" for each in FEATURES)}
API = "/api/v1/"

FEW = (
    "selfplay.num_workers=1 selfplay.games_per_iteration=4 selfplay.games_per_shard=2 selfplay.parallel_games=2 "
    "selfplay.num_simulations=8 selfplay.fast_simulations=4 training.iterations=1 training.batch_size=32 "
    "training.warmup_steps=1 gate.games=2 gate.num_simulations=8 evaluation.every=1 evaluation.games=2 "
    "evaluation.opponent=uct@8 evaluation.num_simulations=8"
)
"""Settings of a training of seconds."""

USED: dict[tuple[jit.Kernel, tuple[str, ...]], tuple[tuple, int]] = {}
"""Signature and number of words of each kernel that was called, by kernel and types."""


def boards() -> list[str]:
    """Returns the names of the libraries: those of shipped nets, and games without one."""
    nets = sorted(path.stem for path in (ROOT / "checkpoints").glob("*.safetensors"))
    games = {str(azero.load_checkpoint(ROOT / "checkpoints" / f"{each}.safetensors").game) for each in nets}
    return [*nets, *(name for name in azero.registered_games() if str(azero.make_game(name)) not in games)]


def note_and_call(kernel: jit.Kernel, *arguments):
    """Stands in for a kernel's call: notes the types of the arguments, and has Numba compile it."""
    kinds, words = packed(arguments)
    kernel.by_numba._cache = NullCache()  # code from the disk cannot be linked
    result = kernel.by_numba(*arguments)
    if (kernel, kinds) not in USED:
        USED[kernel, kinds] = tuple(map(numba.typeof, arguments)), len(words) // 8
    return result


def run(command: str) -> None:
    """Runs a command of azero in this process."""
    print("$ azero", command, file=sys.stderr, flush=True)
    sys.argv = ["azero", *shlex.split(command)]
    if code := cli.run():
        sys.exit(code)


def run_commands(agents: list[str], game: str, config: Path | None, folder: str) -> None:
    """Runs the commands that people use."""
    for each in agents:
        for threads in 1, 2:
            run(f"suggest {each}@200 --game {game} --threads {threads}")
        run(f"suggest {each} --game {game} --watch 0.2 --time 0.5")
        run(f"evaluate {each}@8 --against uct@8 --games 2 --game {game} --record {folder}/games.txt --threads 1")
        run(f"evaluate {each}@8 --against uct@8 --games 2 --game {game} --clock 2s --record {folder}/games.txt")
        run(f"review {folder}/games.txt {each}@20 --game {game}")
    run(f"show {folder}/games.txt")
    if config:
        run(f"train {config} --run {folder}/run {' '.join(f'--set {each}' for each in FEW.split())}")


def use_page(game: azero.Game) -> None:
    """Asks a server what the views of the page ask."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Starlette asks for a later httpx
        from starlette.testclient import TestClient

    state = game.new_initial_state()
    moves = game.rules.action_to_text(state.record, state.legal_actions()[0])
    with TestClient(make_app(Catalogue(), ServeSettings()), base_url="http://127.0.0.1") as client:

        def ask(route: str, **fields) -> None:
            print("POST", route, fields, file=sys.stderr, flush=True)
            client.post(API + route, json={"game": str(game), **fields}).raise_for_status()

        ask("positions", moves=moves)
        ask("simulations", method="uct", count=5)
        for each in client.get(f"{API}agents", params={"game": str(game)}).json():
            agent = each["id"]
            ask("suggestions", agent=agent, simulations=50)
            if each["levels"]:
                ask("suggestions", agent=agent, level=3)
            if each["judges"]:
                ask("analyses", agent=agent, simulations=50, seconds=1)
                ask("reviews", agent=agent, moves=moves, simulations=20)
            if each["kind"] == "net":
                ask("simulations", method="puct", agent=agent, count=5)
        client.app.state.context.searches.close()  # type: ignore[attr-defined]


def make(name: str, out: Path) -> None:
    """Makes the library of a board."""
    jit.Kernel.__call__ = note_and_call  # type: ignore[method-assign]
    net, config = ROOT / "checkpoints" / f"{name}.safetensors", ROOT / "configs" / f"{name}.toml"
    game = azero.load_checkpoint(net).game if net.exists() else azero.make_game(name)
    agents = ["uct", name] if net.exists() else ["uct"]
    with tempfile.TemporaryDirectory() as folder:
        run_commands(agents, str(game), config if net.exists() and config.exists() else None, folder)
    use_page(game)
    used = []
    for (kernel, kinds), (signature, num_words) in USED.items():
        function = f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"
        used.append(Used(function, kinds, num_words, kernel.by_numba.overloads[signature]))
    link(used, out / name)
    print(f"{name}: {len(used)} kernels, {(out / name).with_suffix('.so').stat().st_size >> 10} KiB", file=sys.stderr)


def make_all(out: Path) -> None:
    """Makes all libraries, each in a process of its own."""
    if not cpu_flags() >= set(FEATURES.values()):
        sys.exit(f"libraries can only be made on Linux, on a CPU of level {LEVEL}")
    shutil.rmtree(out, ignore_errors=True)
    with ThreadPoolExecutor(count_cores()) as pool:
        list(pool.map(make_apart, boards()))


def make_apart(name: str) -> None:
    """Makes the library of a board in a process of its own."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, **TARGET, "AZERO_CACHE_DIR": cache}
        command = [sys.executable, __file__, name]
        done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr}")
    print(done.stderr.splitlines()[-1], file=sys.stderr, flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        make(sys.argv[1], FOLDER)
    else:
        make_all(FOLDER)
