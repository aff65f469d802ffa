"""Calibrates the levels of a game by matches, and counts the wins and blocks that levels overlook.

    python benchmarks/levels.py calibrate connect_four
    python benchmarks/levels.py calibrate uct --game hex --check 100
    python benchmarks/levels.py calibrate tic_tac_toe --levels=-1.00,0.00,full --explore 300 --check 600
    python benchmarks/levels.py overlooks "connect_four(solve_nodes=0)" --games 400

`calibrate`: settings lie on a path from weak to strong. The script plays neighbours along the path, fits the path's Elo
as a smooth rising curve, and takes settings that are equal steps of Elo apart. It plays these against each other and
fits again, `--rounds` times. Then the levels are fixed, and each plays fresh games with the next lower one. The table
is written after every 20 pairs of these. A game in which eight levels would be less than a step apart gets fewer. All
games are kept in `--keep`: another call goes on from there, and `--again` lets the levels move before it checks them. A
small game may have too few levels so; `--levels` gives their places on the path instead. A player is `random`, `full`
(full strength), or a place on the path, e.g. `2.50`.

`overlooks`: each level, and "the best move, sometimes a random one", plays against `uct@100`, with the judgement of the
agent that is named. The best move is that of its full strength. A win is overlooked if another move is played. A block
is overlooked if one move alone keeps the opponent from winning at once, and another is played. The script prints a line
per player: its Elo against `uct@100`, the cases, and the share that it overlooked with a 95 % interval.
"""

import argparse
import itertools
import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np

import azero
from azero.arena.agents.agent import Agent
from azero.arena.agents.checkpoints import identity_of_agent
from azero.arena.agents.clock import Limit
from azero.arena.agents.game_player import GamePlayer
from azero.arena.agents.levels import LevelAgent, table_of
from azero.arena.agents.levels.level import ADAPTIVE, FORMAT, MOST_LEVELS, Level
from azero.arena.agents.make import make_agent
from azero.arena.agents.suggestion import Suggestion
from azero.arena.matches.match import play_match
from azero.arena.matches.results import MatchResult, pair_scores
from azero.arena.matches.statistics import elo_from_score, elo_interval, score_from_elo, score_interval
from azero.arena.ratings.model import ELO, Scores, estimate
from azero.compiler.rng import derive_seed
from azero.games import Game, State
from azero.mcts.proving.wins import LETS_WIN, QUIET, WINS, wins_in_one
from azero.system.files import PACKAGE, write_whole

RANDOM, FULL = "random", "full"
KNOTS = np.arange(0, 8.25, 0.5)
"""Places on the path between which the curve is straight; the path ends at the last one."""

ROUGHNESS = 40.0  # Elo by which the curve bends at a knot, as a standard deviation
LEAST_STEP, BEST_STEP, MOST_STEP = 100.0, 120.0, 150.0  # Elo between levels: 64 %, 67 % and 70 %


def curve_of(pairs: list[list]) -> tuple[np.ndarray, float]:
    """Returns the Elo above random of the places KNOTS, which never falls, and that of full strength.

    A pair's score has the mean 1 / (1 + exp(t_b - t_a)). The curve's ratings t maximise the likelihood times a normal
    prior of the curve's bends [1], by Newton's method.

    Args:
      pairs: pairs of games, as [a, b, score of a].

    Source:
      [1] Eilers and Marx, Flexible smoothing with B-splines and penalties, Statistical Science 11 (1996).
    """
    num = len(KNOTS)

    def row(name: str) -> np.ndarray:
        if name == RANDOM:
            return np.zeros(num + 1)
        if name == FULL:
            return np.eye(num + 1)[num]
        return np.append([np.interp(float(name), KNOTS, unit) for unit in np.eye(num)], 0.0)

    X = np.array([row(a) - row(b) for a, b, _ in pairs])  # [pairs, knots + 1]
    y = np.array([score for _, _, score in pairs])
    bends = np.diff(np.eye(num + 1)[:num], 2, axis=0) * ELO / ROUGHNESS
    penalty = bends.T @ bends + 1e-3 * np.eye(num + 1)
    t = np.zeros(num + 1)
    for _ in range(50):
        s = 1 / (1 + np.exp(-X @ t))
        precision = 2 * X.T @ (X * (s * (1 - s))[:, None]) + penalty  # a pair is two games
        t += np.clip(np.linalg.solve(precision, 2 * X.T @ (y - s) - penalty @ t), -1, 1)
    return np.maximum.accumulate(ELO * t[:num]), float(ELO * t[num])


def spread_levels(pairs: list[list]) -> list[str]:
    """Returns the players that are to be the levels, weakest first; the last one is full strength."""
    curve, full = curve_of(pairs)
    span = full - max(float(curve[0]), BEST_STEP)
    num_steps = int(np.clip(round(span / BEST_STEP), 1, MOST_LEVELS - 1))
    if span / num_steps < LEAST_STEP:
        num_steps = max(1, num_steps - 1)
    step = min(span / num_steps, MOST_STEP)
    wanted = [full - step * k for k in range(num_steps, 0, -1)]
    rising = curve + 1e-3 * np.arange(len(curve))
    return [*dict.fromkeys(f"{float(np.interp(each, rising, KNOTS)):.2f}" for each in wanted), FULL]


RECIPE = (
    *((20, 100, 100, 0.86), (30, 45, 80, 0.9), (60, 25, 60, 0.95), (60, 14, 45, 0.98), (100, 9, 35, 1.0)),
    *((100, 6, 25, 1.0), (200, 4, 18, 1.0), (400, 1.5, 8, 1.0), (1000, 0.4, 3, 1.0)),
)
"""The path of settings: simulations for ten legal moves or fewer, temperature, cap, sight."""

BELOW = (20, 300.0, 100, 0.3)
"""Settings below the path, at place -1. They overlook much, so only a game that is too small for the path has them."""

ANCHOR = "uct@1000"
BRIDGE = "uct@20"  # it loses to most levels, and `random` now and then wins against it
BATCH = 20  # pairs after which the table is written


class Pool:
    """Players and their games. Names: those of agents, `full`, `adaptive`, or a place on the path, e.g. `2.50`.

    Attributes:
      pairs: the pairs of games, as [a, b, score of a].
      levels: the players that are the levels, weakest first, once they are fixed.
      since: the number of pairs that had been played then.
    """

    def __init__(self, game: Game, agent: str, full: int, keep: Path):
        self.game, self.agent, self.full, self.keep = game, agent, full, keep
        self.breadth = max(1.0, mean_legal_moves(game) / 10)
        self._agents: dict[str, Agent] = {}
        kept = json.loads(keep.read_text()) if keep.exists() else {"pairs": [], "levels": [], "since": 0}
        self.pairs, self.levels, self.since = kept["pairs"], kept["levels"], kept["since"]

    def settings(self, place: float) -> tuple[int, float, float, float]:
        """Returns simulations, temperature, cap and sight at a place on the path, 0 to len(RECIPE) - 1, or below it."""
        if place < 0:
            return BELOW
        low = min(int(place), len(RECIPE) - 2)
        (n0, t0, c0, s0), (n1, t1, c1, s1) = RECIPE[low], RECIPE[low + 1]
        share = place - low
        simulations = min(self.full, round(self.breadth * n0 ** (1 - share) * n1**share))
        temperature = float(f"{t0 ** (1 - share) * t1**share:.2g}")
        return simulations, temperature, round(c0 + share * (c1 - c0)), round(s0 + share * (s1 - s0), 2)

    def player(self, name: str) -> Agent:
        """Returns a player, which is made once."""
        if name not in self._agents:
            seed = derive_seed(0, "levels", name)
            if name in (RANDOM, BRIDGE, ANCHOR):
                self._agents[name] = make_agent(name, self.game, seed)
            elif name == FULL:
                self._agents[name] = make_agent(f"{self.agent}@{self.full}", self.game, seed)
            else:
                inner = make_agent(self.agent, self.game, seed)
                self._agents[name] = LevelAgent(inner, self.level(name), seed=derive_seed(seed, "level"))
        return self._agents[name]

    def level(self, name: str) -> Level:
        if name == ADAPTIVE:
            return Level(None, name, self.full // 2, levels=tuple(self.level(each) for each in self.levels))
        if name == FULL:
            return Level(len(self.levels), name, self.full, is_full=True)
        return Level(1, name, *self.settings(float(name)))

    def play(self, a: str, b: str, num_pairs: int) -> None:
        """Plays pairs of games of two players, and keeps them."""
        seed = derive_seed(0, "levels", *sorted((a, b)))
        first = len(self.between(a, b))
        result = play_match(self.player(a), self.player(b), self.game, 2 * num_pairs, seed, first_pair=first)
        self.pairs += [[a, b, score] for score in pair_scores(result.results)]
        self.save()

    def save(self) -> None:
        kept = {"pairs": self.pairs, "levels": self.levels, "since": self.since}
        write_whole(self.keep, f"{json.dumps(kept)}\n".encode())

    def between(self, a: str, b: str, since: int = 0) -> list[float]:
        """Returns the scores of a's pairs of games with b, of those from this number on."""
        pairs = self.pairs[since:]
        mine = [score for one, other, score in pairs if (one, other) == (a, b)]
        return mine + [1 - score for one, other, score in pairs if (one, other) == (b, a)]

    def without(self, *names: str) -> list[list]:
        """Returns the pairs of the other players."""
        return [pair for pair in self.pairs if not {*names} & {*pair[:2]}]


def mean_legal_moves(game: Game) -> float:
    """Returns the mean number of legal moves in ten random games."""
    rng, counts = np.random.default_rng(0), []
    for _ in range(10):
        state = game.new_initial_state()
        while not state.is_terminal():
            counts.append(len(state.legal_actions()))
            state.apply_action(int(rng.choice(state.legal_actions())))
    return float(np.mean(counts))


def table(pool: Pool) -> dict:
    """Returns the object of the table's file. Steps count the games since the levels were fixed, Elo counts all."""
    rated_pairs = pool.without(ADAPTIVE)
    names = sorted({each for pair in rated_pairs for each in pair[:2]})
    scores = Scores.none(len(names))
    for a, b, score in rated_pairs:
        scores.add(names.index(a), names.index(b), score)
    posterior, anchor = estimate(scores), names.index(RANDOM)
    elo, halves = posterior.elo(anchor), posterior.half_widths(anchor)

    def rated(name: str) -> dict:
        at = names.index(name)
        ends = [round(float(elo[at] - halves[at])), round(float(elo[at] + halves[at]))]
        return {"elo": round(float(elo[at])), "elo_ci95": ends}

    def met(a: str, b: str) -> dict:
        fresh = pool.between(a, b, pool.since)
        ends = [round(end, 3) for end in score_interval(fresh)]
        return {"score": round(float(np.mean(fresh)), 3), "ci95": ends, "games": 2 * len(fresh)}

    rows = []
    for name in pool.levels:
        settings = {key: getattr(pool.level(name), key) for key in ("simulations", "temperature", "cap", "sight")}
        rows.append({**settings, **rated(name), "games": 2 * sum(name in pair[:2] for pair in rated_pairs)})
    adaptive = {
        str(number): met(ADAPTIVE, name)
        for number, name in enumerate(pool.levels, 1)
        if pool.between(ADAPTIVE, name, pool.since)
    }
    return {
        "format": FORMAT,
        "game": str(pool.game),
        "agent": identity_of_agent(pool.agent),
        "name": pool.agent,
        "date": date.today().isoformat(),
        "azero": azero.__version__,
        "opponents": "the other levels, random and uct@1000, in pairs of games from random openings",
        "anchors": [{"name": name, **rated(name)} for name in (RANDOM, ANCHOR) if name in names],
        "adaptive_scores": adaptive,
        "levels": rows,
        "steps": [met(higher, lower) for lower, higher in itertools.pairwise(pool.levels)],
    }


def write(pool: Pool, out: Path) -> None:
    data = table(pool)
    rows = {key: ",\n".join("    " + json.dumps(each) for each in data.pop(key)) for key in ("levels", "steps")}
    fields = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in data.items())
    lists = ",\n".join(f'  "{key}": [\n{text}\n  ]' for key, text in rows.items())
    write_whole(out, f"{{\n{fields}{lists}\n}}\n".encode())


def play_up_to(pool: Pool, chain: list[str], num_pairs: int, since: int = 0) -> None:
    """Lets each player of a chain play with the next one until they have so many pairs."""
    for a, b in itertools.pairwise(chain):
        if (missing := num_pairs - len(pool.between(b, a, since))) > 0:
            pool.play(b, a, missing)


def fix_levels(pool: Pool, num_pairs: int, rounds: int) -> None:
    """Explores the path, spreads the levels, and refines them by games of neighbours in so many rounds."""
    path = [f"{place:.2f}" for place in range(len(RECIPE))]
    play_up_to(pool, [RANDOM, *path, FULL], num_pairs)
    for _ in range(rounds):
        play_up_to(pool, spread_levels(pool.without(BRIDGE, ANCHOR, ADAPTIVE)), num_pairs)
    pool.levels, pool.since = spread_levels(pool.without(BRIDGE, ANCHOR, ADAPTIVE)), len(pool.pairs)
    pool.save()
    print(f"{pool.game}: {len(pool.pairs)} pairs of games; levels at {pool.levels}", flush=True)


def take_levels(pool: Pool, places: list[str], num_pairs: int) -> None:
    """Fixes levels at these places, after so many pairs of neighbours, `random` among them, for their ratings."""
    play_up_to(pool, [RANDOM, *places], num_pairs)
    pool.levels, pool.since = places, len(pool.pairs)
    pool.save()


def rate_anchor(pool: Pool) -> None:
    """Finds the level that is closest to `uct@1000`, by bisection, and lets them play."""
    low, high = 0, len(pool.levels) - 1
    while low < high:
        middle = (low + high) // 2
        play_up_to(pool, [pool.levels[middle], ANCHOR], BATCH // 2)
        is_above = np.mean(pool.between(ANCHOR, pool.levels[middle])) > score_from_elo(BEST_STEP / 2)
        low, high = (middle + 1, high) if is_above else (low, middle)
    play_up_to(pool, [pool.levels[low], ANCHOR], 2 * BATCH)


def add_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", help="uct, or a net")
    parser.add_argument("--game", help="the game, for agents without a net")
    parser.add_argument("--full", type=int, help="simulations of full strength; 1000, or 400 with a net")
    parser.add_argument("--levels", help="places of the levels on the path, weakest first, e.g. -1.00,0.00,full")
    parser.add_argument("--explore", type=int, default=12, help="pairs of games of neighbours on the path, and a round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--check", type=int, default=100, help="pairs of games of neighbouring levels at the end")
    parser.add_argument("--adaptive", type=int, default=0, help="pairs of games of the adaptive level with 2, 4 and 6")
    parser.add_argument("--again", action="store_true", help="spread the levels by all games so far")
    parser.add_argument("--keep", type=Path, default=Path("runs/levels"), help="folder of the games")
    parser.add_argument("--out", type=Path, default=PACKAGE / "data" / "levels", help="folder of the tables")


def calibrate(options: argparse.Namespace) -> None:
    """Makes the table of a game."""
    agent = make_agent(options.agent, options.game)
    game = agent.game
    agent.close()
    stem = str(game).translate(str.maketrans("(,=", "___", ")"))
    has_net = identity_of_agent(options.agent).startswith("net:")
    pool = Pool(game, options.agent, options.full or (400 if has_net else 1000), options.keep / f"{stem}.json")
    options.keep.mkdir(parents=True, exist_ok=True)
    if options.levels and pool.levels != options.levels.split(","):
        take_levels(pool, options.levels.split(","), options.explore)
    elif options.again or not pool.levels:
        fix_levels(pool, options.explore, 0 if options.again else options.rounds)
    for num_pairs in [*range(BATCH, options.check, BATCH), options.check]:
        play_up_to(pool, [RANDOM, BRIDGE, pool.levels[0], RANDOM], BATCH)
        play_up_to(pool, pool.levels, num_pairs, pool.since)
        if has_net or pool.full != 1000:
            rate_anchor(pool)
        write(pool, options.out / f"{stem}.json")
        print(num_pairs, *(f"{step['score']:.0%}" for step in table(pool)["steps"]), flush=True)
    for number in (2, 4, 6):
        if options.adaptive and number < len(pool.levels):
            play_up_to(pool, [pool.levels[number - 1], ADAPTIVE], options.adaptive, pool.since)
            write(pool, options.out / f"{stem}.json")


class SometimesRandom(Agent):
    """Plays a random move with a probability, and otherwise what another agent plays."""

    def __init__(self, inner: Agent, probability: float):
        super().__init__(f"random {probability:.0%}", inner.game, inner.seed)
        self.inner, self.probability = inner, probability
        self.player = SometimesRandomPlayer(self)

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        return self.inner.suggest(state, simulations, seconds)


class SometimesRandomPlayer(GamePlayer):
    """The other agent's player, and the random moves."""

    agent: SometimesRandom

    def start(self, num_slots: int, states: Sequence[State], first_game: int) -> None:
        super().start(num_slots, states, first_game)
        self.agent.inner.player.start(num_slots, states, first_game)
        seeds = (derive_seed(self.agent.seed, first_game + slot) for slot in range(num_slots))
        self._random = [np.random.default_rng(seed) for seed in seeds]

    def advance(self, slot: int, action: int) -> None:
        super().advance(slot, action)
        self.agent.inner.player.advance(slot, action)

    def _choose(self, slots: Sequence[int]) -> list[int]:
        best = self.agent.inner.player.choose(slots)
        for place, slot in enumerate(slots):
            if self._random[slot].random() < self.agent.probability:
                best[place] = int(self._random[slot].choice(self.states[slot].legal_actions()))
        return best


def count_overlooked(game: Game, result: MatchResult) -> tuple[int, int]:
    """Returns in how many positions A had a win or a block in one, and in how many of these it overlooked it."""
    cases = overlooked = 0
    for each in result.results:
        state = game.new_initial_state()
        for ply, action in enumerate(each.actions):
            if ply >= each.opening_plies and (state.current_player() == 0) == each.a_is_first:
                kinds = wins_in_one(state)
                kind = kinds[state.legal_actions().index(action)]
                if (kinds == WINS).any():
                    cases, overlooked = cases + 1, overlooked + (kind != WINS)
                elif len(kinds) > 2 and (kinds == QUIET).sum() == 1:
                    cases, overlooked = cases + 1, overlooked + (kind == LETS_WIN)
            state.apply_action(action)
    return cases, overlooked


def add_overlooks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", help="a net, or uct")
    parser.add_argument("--game", help="the game, for agents without a net")
    parser.add_argument("--levels", type=int, nargs="*", help="all but full strength, by default")
    parser.add_argument("--games", type=int, default=160)
    parser.add_argument("--random", type=float, nargs="*", default=[0.1, 0.2, 0.3, 0.4, 0.5])


def show_overlooked(options: argparse.Namespace) -> None:
    """Wins and blocks that levels overlook."""
    inner = make_agent(options.agent, options.game, seed=1)
    levels = table_of(inner.game).levels
    inner.limit = Limit(levels[-1].simulations)
    wanted = options.levels or range(1, len(levels))
    players: list[Agent] = [LevelAgent(inner, levels[number - 1]) for number in wanted]
    players += [SometimesRandom(inner, probability) for probability in options.random]
    for player in players:
        opponent = make_agent("uct@100", inner.game, seed=2)
        result = play_match(player, opponent, inner.game, options.games)
        low, high = elo_interval(result.pair_scores)
        cases, overlooked = count_overlooked(inner.game, result)
        share = overlooked / max(cases, 1)
        width = 1.96 * (share * (1 - share) / max(cases, 1)) ** 0.5
        elo = f"{elo_from_score(result.tally.score):+5.0f} [{low:+.0f}, {high:+.0f}]"
        print(f"{player.name:<24} Elo {elo:<22} overlooked {share:6.1%} +- {width:.1%} of {cases}", flush=True)


COMMANDS = {
    "calibrate": (add_calibrate, calibrate, "makes the table of a game"),
    "overlooks": (add_overlooks, show_overlooked, "wins and blocks that levels overlook"),
}
"""See `subcommands.py`."""


if __name__ == "__main__":
    from subcommands import run_command

    run_command(COMMANDS, __doc__)
