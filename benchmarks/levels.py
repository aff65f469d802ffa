"""Calibrates the levels of a game by matches, and writes their table.

    python benchmarks/levels.py connect_four --minutes 30
    python benchmarks/levels.py uct --game hex --minutes 30

First, settings along a path from weak to strong are rated together with `random`, `uct@1000` and full strength. Then
settings are interpolated so that the levels are equal steps of Elo, and these are rated, mainly against their
neighbours. The settings are interpolated again with what has been learnt, until half of the time is over. A game in
which eight levels would be less than a step apart gets fewer. All games are kept in `--keep`, so that another call
goes on from there. The table is written after each round.
"""

import argparse
import itertools
import json
import time
from datetime import date
from pathlib import Path

import numpy as np

import azero
from azero.arena.agents.agent import Agent
from azero.arena.agents.levels.agent import LevelAgent
from azero.arena.agents.levels.level import ADAPTIVE, MOST_LEVELS, Level
from azero.arena.agents.levels.table import ADAPTIVE_SETTINGS, FORMAT
from azero.arena.agents.names import identity_of, make_agent
from azero.arena.matches.match import play_match
from azero.arena.matches.results import pair_scores
from azero.arena.matches.statistics import score_interval
from azero.arena.ratings.model import ELO, Posterior, Scores, estimate
from azero.arena.ratings.pairing import choose_pairings
from azero.compiler.rng import derive_seed
from azero.games import Game
from azero.system.files import PACKAGE, write_whole

RECIPE = (
    *((20, 100, 100, 0.86), (30, 45, 80, 0.9), (60, 25, 60, 0.95), (60, 14, 45, 0.98), (100, 9, 35, 1.0)),
    *((100, 6, 25, 1.0), (200, 4, 18, 1.0), (400, 1.5, 8, 1.0), (1000, 0.4, 3, 1.0)),
)
"""The path of settings: simulations for ten legal moves or fewer, temperature, cap, sight."""

LEAST_STEP, BEST_STEP = 85.0, 165.0  # Elo between levels: 62 % and 72 %
FIRST_ELO = 110.0  # of the weakest level above `random`, at least: 65 %
EXPLORING, REFITTING = 0.35, 0.7  # shares of the time
LEAST_EXPLORED, EXPLORED = 12, 40  # games of a player on average, before and after which exploring does not end
RANDOM, ANCHOR, FULL = "random", "uct@1000", "full"
GIFTS = (1.0, 1.5, 2.0, 2.5, 3.0)  # of the adaptive level, see `Level.gift`
PAIRS = 6  # of neighbours in a round


class Pool:
    """Players by their names: `random`, `uct@1000`, `full`, or a place on the path, e.g. `2.50`."""

    def __init__(self, game: Game, agent: str, full: int, keep: Path):
        self.game, self.agent, self.full, self.keep = game, agent, full, keep
        self.breadth = max(1.0, mean_legal_moves(game) / 10)
        self._agents: dict[str, Agent] = {}
        self.pairs: list[list] = json.loads(keep.read_text()) if keep.exists() else []  # [a, b, score of a]

    def settings(self, place: float) -> tuple[int, float, float, float]:
        """Returns simulations, temperature, cap and sight at a place on the path, 0 to len(RECIPE) - 1."""
        low = min(int(place), len(RECIPE) - 2)
        (n0, t0, c0, s0), (n1, t1, c1, s1) = RECIPE[low], RECIPE[low + 1]
        share = place - low
        simulations = min(self.full, round(self.breadth * n0 ** (1 - share) * n1**share))
        temperature = float(f"{t0 ** (1 - share) * t1**share:.2g}")
        return simulations, temperature, round(c0 + share * (c1 - c0)), round(s0 + share * (s1 - s0), 2)

    def player(self, name: str) -> Agent:
        """Returns a player, which is made once."""
        if name not in self._agents:
            self._agents[name] = self._make(name, derive_seed(0, "levels", name))
        return self._agents[name]

    def _make(self, name: str, seed: int) -> Agent:
        if name in (RANDOM, ANCHOR):
            return make_agent(name, self.game, seed)
        if name == FULL:
            return make_agent(f"{self.agent}@{self.full}", self.game, seed)
        if name.startswith(ADAPTIVE):
            level = Level(None, name, self.full // 2, **ADAPTIVE_SETTINGS, gift=float(name.split()[1]))
        else:
            level = Level(1, name, *self.settings(float(name)))
        return LevelAgent(make_agent(self.agent, self.game, seed), level, seed=derive_seed(seed, "level"))

    def play(self, a: str, b: str, num_pairs: int) -> None:
        """Plays pairs of games of two players, and keeps them."""
        first = sum({a, b} == {one, other} for one, other, _ in self.pairs)
        seed = derive_seed(0, "levels", *sorted((a, b)))
        result = play_match(self.player(a), self.player(b), self.game, 2 * num_pairs, seed, first_pair=first)
        self.pairs += [[a, b, score] for score in pair_scores(result.results)]
        write_whole(self.keep, f"{json.dumps(self.pairs)}\n".encode())

    def posterior(self, names: list[str]) -> Posterior:
        scores = Scores.none(len(names))
        for a, b, score in self.pairs:
            if a in names and b in names:
                scores.add(names.index(a), names.index(b), score)
        return estimate(scores)

    def between(self, a: str, b: str) -> list[float]:
        """Returns the scores of a's pairs of games with b."""
        mine = [score for one, other, score in self.pairs if (one, other) == (a, b)]
        return mine + [1 - score for one, other, score in self.pairs if (one, other) == (b, a)]

    def names(self) -> list[str]:
        """Returns all players that have played, but adaptive ones."""
        names = {each for pair in self.pairs for each in pair[:2]}
        return sorted(name for name in names if not name.startswith(ADAPTIVE))


def mean_legal_moves(game: Game) -> float:
    """Returns the mean number of legal moves in ten random games."""
    rng, counts = np.random.default_rng(0), []
    for _ in range(10):
        state = game.new_initial_state()
        while not state.is_terminal():
            counts.append(len(state.legal_actions()))
            state.apply_action(int(rng.choice(state.legal_actions())))
    return float(np.mean(counts))


def rising(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Returns the closest values that never fall (isotonic regression, pool adjacent violators)."""
    blocks: list[list[float]] = []  # value, weight, length
    for value, weight in zip(values, weights, strict=True):
        blocks.append([value, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (v0, w0, n0), (v1, w1, n1) = blocks[-2:]
            blocks[-2:] = [[(v0 * w0 + v1 * w1) / (w0 + w1), w0 + w1, n0 + n1]]
    return np.concatenate([np.full(int(n), value) for value, _, n in blocks])


def curve_of(pool: Pool) -> tuple[np.ndarray, np.ndarray, float]:
    """Returns places along the path, their Elo above random, and that of full strength.

    The curve is the parabola closest to the ratings, by their covariance (generalized least squares).
    """
    names = [RANDOM, FULL, *(name for name in pool.names() if name not in (RANDOM, FULL, ANCHOR))]
    posterior = pool.posterior(names)
    places = np.array([float(name) for name in names[2:]])
    powers = np.vander(places / len(RECIPE), 3)
    precision = np.linalg.inv(posterior.covariance[2:, 2:] + 1e-6 * np.eye(len(places)))
    fit = np.linalg.solve(powers.T @ precision @ powers, powers.T @ precision @ posterior.mean[2:])
    grid = np.arange(0, len(RECIPE) - 1 + 0.05, 0.1)
    curve = rising(np.vander(grid / len(RECIPE), 3) @ fit, np.ones(len(grid)))
    at_random, at_full = posterior.mean[:2]
    return grid, ELO * (curve - at_random) + np.arange(len(grid)) * 1e-3, float(ELO * (at_full - at_random))


def spread_levels(pool: Pool) -> list[str]:
    """Returns the players that are to be the levels, weakest first; the last one is full strength."""
    grid, curve, full = curve_of(pool)
    first = max(float(curve[0]), FIRST_ELO)
    num_steps = min(MOST_LEVELS - 1, max(1, int((full - first) / LEAST_STEP)))
    step = min((full - first) / num_steps, BEST_STEP)
    wanted = [full - step * k for k in range(num_steps, 0, -1)]
    chosen = dict.fromkeys(f"{round(float(np.interp(each, curve, grid)), 1):.2f}" for each in wanted)
    return [*chosen, FULL]


def table(pool: Pool, levels: list[str], gift: float) -> dict:
    """Returns the object of the table's file."""
    names = pool.names()
    posterior = pool.posterior(names)
    anchor = names.index(RANDOM)
    elo, halves = posterior.elo(anchor), posterior.half_widths(anchor)

    def rated(name: str) -> dict:
        at = names.index(name)
        ends = [round(float(elo[at] - halves[at])), round(float(elo[at] + halves[at]))]
        return {"elo": round(float(elo[at])), "elo_ci95": ends}

    rows, steps = [], []
    for place, name in enumerate(levels):
        settings = (pool.full, 0.0, 0.0, 1.0) if name == FULL else pool.settings(float(name))
        fields = dict(zip(("simulations", "temperature", "cap", "sight"), settings, strict=True))
        games = 2 * sum(name in pair[:2] for pair in pool.pairs)
        rows.append({**fields, **rated(name), "games": games})
        if place and (scores := pool.between(name, levels[place - 1])):
            ends = [round(end, 3) for end in score_interval(scores)]
            steps.append({"score": round(float(np.mean(scores)), 3), "ci95": ends, "games": 2 * len(scores)})
    anchors = [{"name": name, **rated(name)} for name in (RANDOM, ANCHOR) if name in names]
    scores_of_adaptive = {
        str(levels.index(name) + 1): [round(float(np.mean(scores)), 3), *(round(e, 3) for e in score_interval(scores))]
        for name in levels
        if (scores := pool.between(f"{ADAPTIVE} {gift}", name))
    }
    return {
        "format": FORMAT,
        "game": str(pool.game),
        "agent": identity_of(pool.agent),
        "name": pool.agent,
        "date": date.today().isoformat(),
        "azero": azero.__version__,
        "opponents": "the other levels, random and uct@1000, in pairs of games from random openings",
        "anchors": anchors,
        "adaptive": {"simulations": pool.full // 2, **ADAPTIVE_SETTINGS, "gift": gift},
        "adaptive_scores": scores_of_adaptive,
        "levels": rows,
        "steps": steps,
    }


def write(pool: Pool, levels: list[str], out: Path, gift: float = GIFTS[1]) -> None:
    data = table(pool, levels, gift)
    rows = ",\n".join("    " + json.dumps(each) for each in data.pop("levels"))
    steps = ",\n".join("    " + json.dumps(each) for each in data.pop("steps"))
    fields = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in data.items())
    text = f'{{\n{fields},\n  "levels": [\n{rows}\n  ],\n  "steps": [\n{steps}\n  ]\n}}\n'
    write_whole(out, text.encode())


def play_chosen(pool: Pool, names: list[str], num_pairs: int, is_over) -> None:
    """Plays the pairs that tell most about the ratings of these players."""
    for (a, b), count in choose_pairings(pool.posterior(names), num_pairs).items():
        if not is_over():
            pool.play(names[a], names[b], count)


def calibrate(pool: Pool, minutes: float, out: Path, games_of_adaptive: int) -> None:
    begin = time.monotonic()

    def share() -> float:
        return (time.monotonic() - begin) / (60 * minutes)

    pool.play(RANDOM, FULL, 1)  # compiles
    others = [RANDOM, FULL] if (pool.agent, pool.full) == ("uct", 1000) else [RANDOM, ANCHOR, FULL]
    grid = [*others, *(f"{place:.2f}" for place in range(0, len(RECIPE), 2))]
    begin = time.monotonic()
    while 4 * len(pool.pairs) < (LEAST_EXPLORED if share() > EXPLORING else EXPLORED) * len(grid):
        play_chosen(pool, grid, 2 * len(grid), lambda: share() > 1)
    levels = spread_levels(pool)
    is_rated = False
    while share() < 1 or not is_rated:
        if share() < REFITTING:
            levels = spread_levels(pool)
        for low, high in itertools.pairwise(levels):
            if share() < 1 or not is_rated:
                pool.play(high, low, PAIRS)
        is_rated = True
        play_chosen(pool, [*others[:-1], *levels], len(levels), lambda: share() > 1)
        write(pool, levels, out)
        print(f"{share():.2f} {levels}", flush=True)
    if games_of_adaptive:
        write(pool, levels, out, fit_adaptive(pool, levels, games_of_adaptive // 2))


def fit_adaptive(pool: Pool, levels: list[str], num_pairs: int) -> float:
    """Returns the gift by which the adaptive level scores half against the middle level, of those that were tried.

    It then plays levels 2, 4 and 6.
    """
    middle = levels[(len(levels) - 1) // 2]
    for gift in GIFTS:
        pool.play(f"{ADAPTIVE} {gift}", middle, num_pairs // 2)
    gaps = {gift: abs(float(np.mean(pool.between(f"{ADAPTIVE} {gift}", middle))) - 0.5) for gift in GIFTS}
    best = min(GIFTS, key=lambda gift: gaps[gift])
    for name in dict.fromkeys((levels[1], middle, levels[5 if len(levels) > 6 else -2])):
        pool.play(f"{ADAPTIVE} {best}", name, num_pairs)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", help="uct, or a net")
    parser.add_argument("--game", help="the game, for agents without a net")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--full", type=int, help="simulations of full strength; 1000, or 400 with a net")
    parser.add_argument("--adaptive", type=int, default=40, help="games of the adaptive level with levels 2, 4 and 6")
    parser.add_argument("--keep", type=Path, default=Path("runs/levels"), help="folder of the games")
    parser.add_argument("--out", type=Path, default=PACKAGE / "data" / "levels", help="folder of the tables")
    options = parser.parse_args()
    agent = make_agent(options.agent, options.game)
    game = agent.game
    agent.close()
    stem = str(game).translate(str.maketrans("(,=", "___", ")"))
    full = options.full or (400 if identity_of(options.agent).startswith("net:") else 1000)
    pool = Pool(game, options.agent, full, options.keep / f"{stem}.json")
    calibrate(pool, options.minutes, options.out / f"{stem}.json", options.adaptive)


if __name__ == "__main__":
    main()
