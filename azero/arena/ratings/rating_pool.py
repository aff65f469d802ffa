"""A pool of agents that play for their ratings: which games, from where it stopped, and the result."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from azero.arena.agents.checkpoints import game_of, identity_of_agent, trust_search
from azero.arena.agents.names import parse_name
from azero.arena.agents.specs import AgentSpec, make_from, spec_of
from azero.arena.matches.results import Interrupted, MatchResult, Unfinished
from azero.arena.matches.specs import MatchSpec, play_matches
from azero.arena.matches.statistics import Tally
from azero.arena.ratings.file import MatchId, Pair, pairs_of, read_matches, write_matches
from azero.arena.ratings.model import Posterior, Scores, choose_pairings, estimate
from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.games import Game, make_game
from azero.system.interrupt import interruption_waits
from azero.system.worker_pool import Pool

GAMES_PER_AGENT = 100
"""Default number of games of a pool, for each of its agents."""


@dataclass(frozen=True)
class Rated:
    """An agent's rating: Elo with a 95 % interval, both as differences from the anchor, and its number of games."""

    name: str
    elo: float
    elo_ci95: tuple[float, float]
    games: int


@dataclass(frozen=True)
class Ratings:
    """The ratings of a pool.

    Attributes:
      game: the game's name, with its parameters.
      anchor: the name of the agent whose rating is given.
      agents: the agents, best first.
      games: number of games played.
      first_player_score: the score of the players who began, in [0, 1]; 0.5 without games.
      dispersion: the variance of a pair's score over s (1 - s); see `model.py`.
    """

    game: str
    anchor: str
    agents: list[Rated]
    games: int
    first_player_score: float
    dispersion: float

    def to_json(self) -> dict:
        """Returns the object that `azero rate --json` prints."""
        agents = [{**vars(each), "elo_ci95": list(each.elo_ci95)} for each in self.agents]
        return {**vars(self), "agents": agents}


def rate(
    agents: Sequence[str],
    game: Game | str | None = None,
    games: int | None = None,
    anchor: str | None = None,
    seed: int = 0,
    threads: int = 1,
    out: str | Path | None = None,
) -> Ratings:
    """Plays games between agents, and returns their ratings, as `azero rate` does.

    Args:
      agents: names of two or more agents.
      game: the game; by default that of the first checkpoint.
      games: games of the whole pool, in pairs with colours swapped; 100 per agent by default.
      anchor: the name of the agent that has the rating 0; by default the first one.
      out: a file that keeps the games, from which a rating with more games goes on; by default they are not kept.

    Raises:
      BadInput: there are fewer than two agents, two are the same, a name is wrong, or the file is of another game.
      EngineFailed, KeyboardInterrupt: the finished games are in the file.
    """
    names = list(agents)
    if anchor is not None and anchor not in names:
        raise BadInput(f"anchor = {anchor!r} should be an agent of the pool: {', '.join(names)}")
    played = game_of_pool(names, game)
    for name in names:
        trust_search(parse_name(name))
    pool = RatingPool(
        played, names, lambda name, own: spec_of(name, played, own, threads), seed, Path(out) if out else None
    )
    pool.play(GAMES_PER_AGENT * len(names) if games is None else games)
    return pool.ratings(anchor or names[0])


def game_of_pool(names: Sequence[str], game: Game | str | None) -> Game:
    """Returns `game`, or else the game of the first checkpoint; raises BadInput if there is none."""
    if game is not None:
        return make_game(game) if isinstance(game, str) else game
    found = next((own for own in map(game_of, names) if own is not None), None)
    if found is None:
        raise BadInput(f"{' and '.join(names) or 'no agent'} can play any game: name one, e.g. --game connect_four")
    return found


def batch_size(num_agents: int, num_pairs: int) -> int:
    """Returns how many pairs are played before the next are chosen: more, the more is known."""
    return max(num_agents, num_pairs // 4)


class RatingPool:
    """Agents and the games that they have played. The same seed gives the same games.

    Args:
      names: of the agents. None are made before a match, and each is closed after it.
      spec: returns the spec of an agent, given its name and a seed.
      path: the file that keeps the games; None: they are not kept.
      pool: the workers that play; None: this process.

    Raises BadInput if there are fewer than two agents, two are the same, one cannot be made, the seed is not of 0 to
    2^63 - 1, or the file is not of this game.
    """

    def __init__(
        self,
        game: Game,
        names: Sequence[str],
        spec: Callable[[str, int], AgentSpec],
        seed: int,
        path: Path | None,
        pool: Pool | None = None,
    ):
        self.game, self.names, self.seed = game, list(names), seed
        self._spec, self._path, self._pool = spec, path, pool
        for place, name in enumerate(names):
            if name in names[:place]:
                raise BadInput(f"agent {name!r} is named twice; a pool has each agent once")
        if not 0 <= seed < 1 << 63:
            raise BadInput(f"seed = {seed} should be 0 or more, and less than 2^63")
        if len(names) < 2:
            raise BadInput(f"a pool needs two agents or more, and this one has {', '.join(names) or 'none'}")
        for name in names:
            make_from(spec(name, 0)).close()  # raises errors now, not after the first games
        self._ids = [identity_of_agent(name) for name in names]
        for (one, identity), (other, another) in combinations(zip(names, self._ids, strict=True), 2):
            if identity == another:
                raise BadInput(f"agents {one!r} and {other!r} are the same net; name one of them")
        self._matches = {} if path is None else read_matches(path, str(game))

    @property
    def num_games(self) -> int:
        """Number of games that these agents have played with this seed."""
        return 2 * sum(len(pairs) for _, _, pairs in self._played())

    def play(self, num_games: int, on_games: Callable[[int, Tally], None] = lambda finished, tally: None) -> None:
        """Plays until the pool has `num_games` games; an odd number means one more.

        Pairs that an interruption left out come first, because those that take long would be missing otherwise.

        Args:
          on_games: called with the number of games that have just ended, and the match's tally so far.

        Raises:
          BadInput: `num_games` is less than 1.
          Unfinished: an engine failed. The finished games are kept.
          Interrupted: Ctrl-C. The finished games are kept.
        """
        if num_games < 1:
            raise BadInput(f"games = {num_games} should be 1 or more")
        self._play(
            [self._match(a, b, number, 1) for a, b, pairs in self._played() for number in _left_out(pairs)], on_games
        )
        while (left := (num_games - self.num_games + 1) // 2) > 0:
            batch = min(left, batch_size(len(self.names), self.num_games // 2))
            chosen = choose_pairings(self.posterior(), batch)
            self._play([self._match(a, b, None, count) for (a, b), count in chosen.items()], on_games)

    def posterior(self) -> Posterior:
        """Returns what is known of the ratings, by the agents' places. Of pairs that repeat each other, one counts."""
        scores = Scores.none(len(self.names))
        for a, b, pairs in self._played():
            for pair in {pair.key: pair for pair in pairs}.values():
                scores.add(a, b, pair.score)
        return estimate(scores)

    def ratings(self, anchor: str, elo: float = 0.0) -> Ratings:
        """Returns the ratings, if the agent `anchor` has the rating `elo`."""
        posterior, place = self.posterior(), self.names.index(anchor)
        values, halves = elo + posterior.elo(place), posterior.half_widths(place)
        games, begun, played = [0] * len(self.names), 0.0, self._played()
        for a, b, pairs in played:
            for each in (a, b):
                games[each] += 2 * len(pairs)
            begun += sum(pair.begun + 1.0 - pair.answered for pair in pairs)
        agents = [
            Rated(name, float(value), (float(value - half), float(value + half)), num)
            for name, value, half, num in zip(self.names, values, halves, games, strict=True)
        ]
        agents.sort(key=lambda each: -each.elo)
        share = begun / self.num_games if self.num_games else 0.5
        return Ratings(str(self.game), anchor, agents, self.num_games, share, posterior.dispersion)

    def _match_id(self, a: int, b: int) -> MatchId:
        one, other = sorted((self._ids[a], self._ids[b]))
        return MatchId(one, other, self.seed)

    def _played(self) -> list[tuple[int, int, list[Pair]]]:
        """Returns the matches of these agents with this seed: the places of A and B, and their pairs."""
        places = {identity: place for place, identity in enumerate(self._ids)}
        return [
            (places[a], places[b], pairs)
            for (a, b, seed), pairs in sorted(self._matches.items())
            if seed == self.seed and a in places and b in places
        ]

    def _match(self, a: int, b: int, first: int | None, count: int) -> tuple[MatchId, MatchSpec]:
        """Returns pairs of two agents, whose places are given, from number `first` on; None: from the next one on."""
        match_id = self._match_id(a, b)
        if self._ids[a] != match_id.a:
            a, b = b, a
        if first is None:
            first = max((pair.number for pair in self._matches.get(match_id, [])), default=-1) + 1
        seed = derive_seed(self.seed, "rating", match_id.a, match_id.b)
        one, other = (self._spec(self.names[each], derive_seed(seed, side)) for each, side in ((a, "a"), (b, "b")))
        return match_id, MatchSpec(one, other, 2 * count, seed, first_pair=first)

    def _play(self, chosen: Sequence[tuple[MatchId, MatchSpec]], on_games: Callable[[int, Tally], None]) -> None:
        """Plays matches, and keeps their pairs. Workers play all at the same time, this process one after another."""
        for some in [chosen] if self._pool else [[each] for each in chosen]:
            if some:
                with self._kept([match_id for match_id, _ in some]) as results:
                    results += play_matches([spec for _, spec in some], self._pool, on_games)

    @contextlib.contextmanager
    def _kept(self, ids: Sequence[MatchId]) -> Iterator[list[MatchResult]]:
        """Keeps the pairs of the results that are added to the list within the block, also if it ends early."""
        results: list[MatchResult] = []
        early_end: Unfinished | Interrupted | None = None
        try:
            yield results
        except (Unfinished, Interrupted) as error:
            early_end = error
            results += error.results or ([error.result] if error.result else [])
        if results:
            self._keep([(own, pairs_of(each.results)) for own, each in zip(ids, results, strict=True)])
        if early_end:
            raise early_end

    def _keep(self, found: Iterable[tuple[MatchId, list[Pair]]]) -> None:
        """Adds pairs to those of the pool and its file. A match may come more than once."""
        with interruption_waits() as interrupted:
            self._add(found)
            if self._path:
                self._add(read_matches(self._path, str(self.game)).items())  # another process may have added games
                write_matches(self._path, str(self.game), self._matches)
        if interrupted():
            raise KeyboardInterrupt

    def _add(self, found: Iterable[tuple[MatchId, list[Pair]]]) -> None:
        """Adds the pairs that are new."""
        for match_id, pairs in found:
            known = {pair.number: pair for pair in [*pairs, *self._matches.get(match_id, [])]}
            self._matches[match_id] = sorted(known.values())


def _left_out(pairs: list[Pair]) -> list[int]:
    """Returns the numbers that are missing among those of the pairs."""
    numbers = {pair.number for pair in pairs}
    return sorted({*range(max(numbers, default=-1) + 1)} - numbers)
