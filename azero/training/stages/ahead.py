"""Play ahead: the next iteration's self-play in the background, while this iteration is trained and its gate is held.

The state says which net plays them. So they are equal, whether they are played ahead or not. See decision 7.
"""

from types import TracebackType

from azero.runs.state import Progress
from azero.system.interrupt import Background
from azero.system.pool import Pool
from azero.training.run import Run
from azero.training.stages.fresh_games import FreshGames
from azero.training.watching.report import Report

_POLL_S = 0.1


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
        if has_next and self._run.plays_ahead(progress.iteration) and self.pool.works_beside:
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
