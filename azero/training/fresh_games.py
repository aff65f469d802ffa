"""The games of an iteration, which may be played ahead of it.

With play ahead, the next iteration's self-play runs in the background, while this iteration is trained and its gate is
held. The state says which net plays the games. So they are equal, whether they are played ahead or not (decision 7).
"""

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import TracebackType

from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.games.names import identity_of
from azero.runs.folder import REPLAY, shard_name
from azero.runs.shards import save_shard
from azero.runs.state import Progress
from azero.selfplay.data.shard import Shard, SizedShard
from azero.selfplay.tasks import Identities, new_plan, play_task, split_seeds
from azero.selfplay.workers import settings_of_workers
from azero.system.console import say
from azero.system.interrupt import Background
from azero.system.tensor_files import read_card_alone
from azero.system.worker_pool import Pool
from azero.training.report import Report
from azero.training.run import Run

_POLL_S = 0.1


def task_of(name: str, player: int, progress: Progress) -> str:
    """Returns the task that makes a shard: its name, and the digest of the net that plays.

    Args:
      player: iteration of that net.
    """
    return f"{name} by {progress.digests.get(f'checkpoints/{player:05d}', '')}"


def task_in(path: Path) -> str:
    """Returns the task that has made a shard; raises BadInput. It is empty in other files of azero's."""
    return str(read_card_alone(path).get("task", ""))


class FreshGames:
    """The games of one iteration. They depend on net, seed and settings, not on when and by whom they are played.

    Shards that are on the disk already are not played again.

    Args:
      player: iteration of the net that plays.
      net_identity: the net's identity; see `Identities`.

    Attributes:
      begun, ended: when `play` began and ended, in seconds of `time.perf_counter`.
      num_ended: number of games that have ended so far, in shards or not.
    """

    def __init__(self, run: Run, progress: Progress, iteration: int, player: int, pool: Pool, net_identity: str):
        self.begun = self.ended = time.perf_counter()
        self.iteration = iteration
        self._run, self._pool, self._deaths_before = run, pool, pool.num_deaths
        selfplay = run.config.selfplay
        seeds = [derive_seed(run.config.seed, "selfplay", iteration, k) for k in range(selfplay.games_per_iteration)]
        self.num_games = len(seeds)
        self._parts = split_seeds(seeds, len(run.games), selfplay.games_per_shard)
        self.names = [shard_name(iteration, number) for number in range(len(self._parts))]
        self._tasks = {name: task_of(name, player, progress) for name in self.names}
        self._shards = {name: run.load_shard(name) for name in self._played_before()}
        self._missing = [number for number, name in enumerate(self.names) if name not in self._shards]
        self.num_ended = sum(len(shard.lengths) for _, shard in self._shards.values())
        configs = [settings_of_workers(pool, run.config_of(each)) for each in run.games]
        identities = Identities(identity_of(run.game.rules), net_identity, *run.identities_of_search)
        weights = run.weights_at(player)
        known = [] if pool.is_mixed or not self._missing else run.known_of(player)
        self._plan = new_plan(run.config, configs, weights, identities, progress.starts, known)

    def play(self, on_games: Callable[[int], object] = lambda num: None) -> None:
        """Plays the missing games and saves each shard; calls `on_games` as `Pool.run` does. Raises BadInput."""

        def count(num: int) -> None:
            self.num_ended += num
            on_games(num)

        tasks = [self._parts[number] for number in self._missing]
        title = f"self-play, iteration {self.iteration}"
        with closing(self._pool.run(play_task, tasks, count, self._plan, title)) as done:
            for place, shard in done:
                number = self._missing[place]
                size, name = self._parts[number].size, self.names[number]
                save_shard(self._run.shard_path(name), shard, self._run.games[size], self._tasks[name])
                self._shards[name] = SizedShard(size, shard)
        self.ended = time.perf_counter()

    def _played_before(self) -> list[str]:
        """Returns the names of the shards on the disk. A line says which files have other games than those wanted."""
        here = [name for name in self.names if self._run.shard_path(name).exists()]
        others = [name for name in here if task_in(self._run.shard_path(name)) != self._tasks[name]]
        if others:
            files, folder = ", ".join(others), str(self._run.folder / REPLAY)
            say(f"{files} in {folder!r}: not the games of iteration {self.iteration}, which are played again")
        return [name for name in here if name not in others]

    def shards(self) -> list[SizedShard]:
        """Returns all shards, when they are played; raises BadInput if there is nothing to learn from."""
        shards = [self._shards[name] for name in self.names]
        if not any(shard.num_learnt for _, shard in shards):
            share = self._run.config.selfplay.full_search_share
            raise BadInput(
                f"no search of iteration {self.iteration} was full: selfplay.full_search_share = {share} is too low "
                f"for {self.num_games} games"
            )
        return shards

    def played(self) -> list[Shard]:
        """Returns the shards that `play` has played."""
        return [self._shards[self.names[number]].shard for number in self._missing]

    @property
    def num_deaths(self) -> int:
        """Number of the pool's workers that have died since these games began."""
        return self._pool.num_deaths - self._deaths_before


class Ahead:
    """Plays ahead within a `with` block, at whose end games that are still being played are given up.

    Args:
      net_identity: the net's identity; see `Identities`.
    """

    def __init__(self, run: Run, pool: Pool, net_identity: str):
        self._run, self.pool, self._net_identity = run, pool, net_identity
        self._games: FreshGames | None = None
        self._background: Background | None = None

    def __enter__(self) -> "Ahead":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._background is not None:
            self._background.stop()

    def begin(self, progress: Progress) -> None:
        """Begins the next iteration's self-play, unless it has begun, or the settings or the stage do not want it.

        Raises what has ended self-play in the background.
        """
        if self._background is not None:
            self._background.check()
            return
        has_next = progress.stage != "play" and progress.iteration < self._run.config.training.iterations
        if has_next and self._run.config.plays_ahead(progress.iteration) and self.pool.works_beside:
            self._games = self._prepare(progress, progress.iteration + 1, progress.best)
            self._background = Background(self._games.play)

    def take(self, progress: Progress, report: Report) -> FreshGames:
        """Returns the current iteration's games when all are played: waits for those under way, or plays them now."""
        games, background = self._games, self._background
        if games is None:
            player = progress.best if progress.player is None else progress.player
            games = self._prepare(progress, progress.iteration, player)
        seen = games.num_ended
        with report.stage("self-play", games.num_games, "games", seen) as bar:
            if background is None:
                games.play(bar.update)
            while background is not None and not background.wait(_POLL_S):
                bar.update(games.num_ended - seen)
                seen = games.num_ended
        self._games = self._background = None
        return games

    def _prepare(self, progress: Progress, iteration: int, player: int) -> FreshGames:
        return FreshGames(self._run, progress, iteration, player, self.pool, self._net_identity)
