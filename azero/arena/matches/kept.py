"""The file of a match: its finished games, from which the match goes on where it stopped. Each line is JSON:

    {"format": 1, "a": ID, "b": ID, "game": "connect_four", "seeds": [0, 0, 1], "opening_plies": 4, ...}
    {"games": [{"pair": 0, "a_is_first": true, "actions": [3, 2], "score": 1.0, ...}], "spent": ..., "elapsed_s": 0.8}

The first line names the match. Each other line has games that ended at the same time, and what both sides have spent
since the line before. Lines are added one by one, so a process that is killed loses only games that were not finished.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from azero.arena.agents.agent import Agent
from azero.arena.agents.checkpoints import identity_of_agent
from azero.arena.agents.specs import AgentSpec
from azero.arena.matches.results import NO_COST, Cost, GameResult
from azero.errors import BadInput
from azero.games import Game
from azero.games.names import source_digest_of
from azero.system.files import append, read_regular, write_whole
from azero.system.formats import check_format
from azero.system.interrupt import interruption_waits

FORMAT = 1
"""Format version of the file."""

_LARGEST = 1 << 28  # bytes
_MOST_GAMES = 10**7  # of a match
_ADVICE = "move the file away, or name another with --out"

Numbers = tuple[float, float, float, float]  # seconds, simulations, moves and full trees of an agent


class _Line(BaseModel):
    """Finished games, and what both sides have spent on them."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    games: list[GameResult]
    spent: tuple[Numbers, Numbers]
    elapsed_s: float


class KeptGames:
    """The finished games of a match that its file has.

    Args:
      path: the file. It is created if there is none. None: games are not kept.
      head: the first line, which names the match.

    Attributes:
      results: the games that the file had, by number.
      before: what these have cost.
      cost: the same, and what the games have cost that were added since.

    Raises BadInput if the file cannot be read, is no file of a match, is damaged, or is of another match.
    """

    def __init__(self, path: Path | None = None, head: dict[str, object] | None = None):
        self.results: dict[int, GameResult] = {}
        self.before = self.cost = NO_COST
        self._path = path
        if path is not None and head is not None:
            self._read(path, {"format": FORMAT, **head})
            self.cost = self.before

    def add(self, results: Sequence[GameResult], cost: Cost) -> None:
        """Adds games that have ended. `cost` is that of all games since the match began or went on."""
        own = self.before.plus(cost).minus(self.cost)
        self.cost = self.cost.plus(own)
        if self._path is None:
            return
        line = {"games": [vars(each) for each in results], "spent": own.spent.tolist(), "elapsed_s": own.elapsed_s}
        with interruption_waits() as interrupted:
            append(self._path, f"{json.dumps(line)}\n".encode())
        if interrupted():
            raise KeyboardInterrupt

    def _read(self, path: Path, head: dict[str, object]) -> None:
        what = f"match {str(path)!r}"
        try:
            data = read_regular(path, _LARGEST)
        except FileNotFoundError:
            write_whole(path, f"{json.dumps(head)}\n".encode())
            return
        except OSError as error:
            raise BadInput(f"{what} cannot be read: {error.strerror or error}; name another file with --out") from None
        whole = data[: data.rfind(b"\n") + 1]
        first, *lines = whole.splitlines() or [b""]
        _check_head(what, first, head)
        for number, line in enumerate(lines, start=2):
            read = _read_line(line)
            if read is None:
                raise BadInput(f"{what} is damaged: line {number}; {_ADVICE}")
            self.results |= {each.number: each for each in read.games}
            self.before = self.before.plus(Cost(read.elapsed_s, np.array(read.spent)))
        if whole != data:  # the process was killed while it wrote a line
            write_whole(path, whole)


def kept_games(
    out: str | Path | None,
    a: Agent | AgentSpec,
    b: Agent | AgentSpec,
    game: Game,
    seed: int,
    opening_plies: int,
    openings: Sequence[str] = (),
    **more: object,
) -> KeptGames:
    """Returns the games that the file `out` has of this match; none if `out` is None. Raises as `KeptGames`.

    The file knows a net by its digest, and an agent that `make_agent` has not made by its name.

    Args:
      more: what else tells this match from others.
    """
    if out is None:
        return KeptGames()
    sides = [
        each.name if isinstance(each, Agent) and each.remake is None else identity_of_agent(each.name)
        for each in (a, b)
    ]
    head = {"a": sides[0], "b": sides[1], "game": str(game), "rules": source_digest_of(game.rules)}
    if openings:
        more["openings"] = hashlib.sha256("\n".join(openings).encode()).hexdigest()
    return KeptGames(Path(out), {**head, "seeds": [seed, a.seed, b.seed], "opening_plies": opening_plies, **more})


def _check_head(what: str, line: bytes, head: dict[str, object]) -> None:
    """Raises BadInput unless the first line of a file names this match."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not {"format", "a", "b", "seeds"} <= found.keys():
        raise BadInput(f"{what} is damaged, or no file of a match; {_ADVICE}")
    check_format(what, found["format"], FORMAT)
    for name in head | found:
        if found.get(name) != head.get(name):
            own, other = (json.dumps(each.get(name))[:200] for each in (found, head))
            raise BadInput(f"{what} is of another match: {name} {own}, not {other}; name another file with --out")


def _read_line(line: bytes) -> _Line | None:
    """Returns the games of a line; None if they are not valid. Whether their moves are legal is not checked."""
    try:
        read = _Line.model_validate_json(line)
    except ValidationError:
        return None
    are_right = all(0 <= each.number < _MOST_GAMES and each.score in (0.0, 0.5, 1.0) for each in read.games)
    return read if are_right else None
