"""Measures an analysis: when its reports come, and how soon it stops.

    python benchmarks/analysis.py --agents go_7x7 "uct(prove=false) --game connect_four" --threads 2

Prints, for each agent, milliseconds to the first report, the largest distance of later reports from the interval in
percent of it, and the milliseconds from `stop` to the end. The figures are the median and the largest of all repeats.
Also: the processor time of a second in which an analysis that has reached its limit is kept open.
"""

import argparse
import statistics
import threading
import time
from itertools import islice

from azero import make_agent, make_game
from azero.arena.agents.agent import Agent
from azero.arena.matches.openings import draw_openings

REPORTS = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", nargs="+", default=["connect_four(prove=false)", "go_7x7"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--interval", type=float, default=0.2)
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    print(f"{'agent':32}{'first report, ms':>20}{'off the interval, %':>22}{'to stop, ms':>16}{'idle, ms':>10}")
    for each in options.agents:
        name, _, game = each.partition(" --game ")
        agent = make_agent(name, make_game(game) if game else None, threads=options.threads)
        runs = [one_analysis(agent, options.interval, number) for number in range(options.repeats)]
        columns = [f"{statistics.median(each):.0f}, at most {max(each):.0f}" for each in zip(*runs, strict=True)]
        print(f"{each:32}{columns[0]:>20}{columns[1]:>22}{columns[2]:>16}{idle_ms(agent):10.0f}", flush=True)
        agent.close()


def one_analysis(agent: Agent, interval: float, number: int) -> tuple[float, float, float]:
    """Returns the milliseconds to the first report, percent off the interval, and milliseconds from stop to end."""
    state = next(islice(draw_openings(agent.game, 4, seed=0), number, None))
    begin = time.perf_counter()
    analysis = agent.analyse(state, interval=interval, memory_mib=8192)
    times = [time.perf_counter() - begin for _, _ in zip(range(REPORTS), analysis, strict=False)]
    off = (
        max(abs(at - interval * k) / interval for k, at in enumerate(times[1:], start=1)) if times[1:] else float("nan")
    )
    stopped = []
    timer = threading.Timer(interval / 2, lambda: (stopped.append(time.perf_counter()), analysis.stop()))
    timer.start()
    list(analysis)
    timer.join()
    return 1000 * times[0], 100 * off, 1000 * (time.perf_counter() - stopped[0])


def idle_ms(agent: Agent) -> float:
    """Returns the processor time, in milliseconds, of a second after an analysis has reached its limit."""
    analysis = agent.analyse(agent.game.new_initial_state(), simulations=1000)
    list(analysis)
    before = time.process_time()
    time.sleep(1.0)
    return 1000 * (time.process_time() - before)


if __name__ == "__main__":
    main()
