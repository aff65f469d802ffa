"""The self-play games of a run: a list of the newest, and one of them move by move."""

import functools
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from azero.errors import BadInput
from azero.games import State
from azero.games.contract import ONGOING, sign_of
from azero.games.names import without_folder
from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.runs.nets import Nets, Opinion
from azero.interfaces.web.runs.run import ShownRun
from azero.runs.folder import ShardFile
from azero.runs.shards import load_sized_shard
from azero.selfplay.data.games import Games
from azero.system.files import Stamp, stamp_of

MOST_LISTED = 200
"""Games in one answer."""

_LARGEST = 256 << 20  # bytes of a file of games
_FIRST_MOVES = 14  # of a game in the list
_MOST_PROBLEMS = 5
_ID = re.compile(r"(\d{1,7})\.(\d{1,9})\.(\d{1,7})", re.ASCII)


class ShownGame(NamedTuple):
    """A game: in which file, and its number there, from 0."""

    shard: ShardFile
    games: Games
    number: int

    @property
    def id(self) -> str:
        """Iteration, file and game. It stays the same while files come and go."""
        return f"{self.shard.iteration}.{self.shard.number}.{self.number + 1}"

    def positions(self) -> range:
        """The numbers of its searched positions."""
        end = int(np.cumsum(self.games.lengths)[self.number])
        return range(end - int(self.games.lengths[self.number]), end)


def list_games(run: ShownRun, iteration: int | None, limit: int) -> dict[str, Any]:
    """Returns the newest games of a run, or those of an iteration, the last one first; raises ApiError.

    Files that are damaged or of another game are left out; `problems` says which.
    """
    listed: list[dict[str, Any]] = []
    problems: list[str] = []
    for shard in reversed(run.shards):
        if len(listed) >= limit or len(problems) >= _MOST_PROBLEMS:
            break
        if iteration not in (None, shard.iteration):
            continue
        try:
            games = _games_of(run, shard)
        except FileNotFoundError:  # it has left the window
            continue
        except (OSError, BadInput) as error:
            problems.append(f"left out: {run.line_of(error)}")
            continue
        for number in reversed(range(len(games.lengths))[-(limit - len(listed)) :]):
            listed.append(_brief(run, ShownGame(shard, games, number)))
    iterations = [shard.iteration for shard in run.shards]
    window = [iterations[0], iterations[-1]] if iterations else None
    return {"games": listed, "iterations": window, "noise": _noise(run), "problems": problems}


def one_game(run: ShownRun, nets: Nets, game_id: str) -> dict[str, Any]:
    """Returns a game with what search and net thought at each move; raises ApiError if it is not there."""
    played = _find(run, game_id)
    games, positions = played.games, played.positions()
    states = [games.state(position) for position in positions]
    judged: Sequence[Opinion | None] = [None] * len(states)
    file, problem = run.player_of(played.shard.iteration), None
    if file is None:
        problem = "the net that played it is not in the run's folder"
    else:
        try:
            with nets.lock:
                judged = nets.opinions(file, states)
        except BadInput as error:
            problem = run.line_of(error)
    pairs = zip(positions, states, judged, strict=True)
    return {
        **_brief(run, played),
        "game": str(games.game),
        "start": _start(played),
        "moves": _moves(played, None),
        "net": file.iteration if file else None,
        "net_problem": problem,
        "plies": [_ply(games, position, state, opinion) for position, state, opinion in pairs],
    }


def _find(run: ShownRun, game_id: str) -> ShownGame:
    gone = ApiError(404, "unknown_game", "there is no such game; it may have left the replay window", value=game_id)
    match = _ID.fullmatch(game_id)
    if not match:
        raise gone
    iteration, number, index = (int(part) for part in match.groups())
    shard = next((each for each in run.shards if each[:2] == (iteration, number)), None)
    if shard is None:
        raise gone
    try:
        games = _games_of(run, shard)
    except (OSError, BadInput) as error:
        raise ApiError(409, "bad_run", run.line_of(error), value=game_id) from None
    if not 1 <= index <= len(games.lengths):
        raise gone
    return ShownGame(shard, games, index - 1)


def _ply(games: Games, position: int, state: State, opinion: Opinion | None) -> dict[str, Any]:
    """Returns a move: the search's policy and value, and the net's. Values are for the first player.

    The policy is null if none was stored: after a fast search.
    """
    actions, counts = games.policy_counts(position)
    total, sign = int(counts.sum()), int(sign_of(int(games.players[position])))
    text, proven = games.game.action_to_text, games.proven(position)
    shares = {text(state, int(a)): round(int(n) / total, 4) for a, n in zip(actions, counts, strict=True)}
    return {
        "move": text(state, int(games.actions[position])),
        "player": int(games.players[position]),
        "policy": shares or None,
        "value": round(sign * float(games.values[position]), 4),
        "proven": None if proven == ONGOING else sign * proven,
        "is_learned": bool(games.weights[position] > 0),
        "prior": opinion.prior if opinion else None,
        "net_value": opinion.value if opinion else None,
    }


def _brief(run: ShownRun, played: ShownGame) -> dict[str, Any]:
    outcome, given, opening = int(played.games.outcomes[played.number]), _given(played), _opening(played)
    return {
        "id": played.id,
        "iteration": played.shard.iteration,
        "result": {"winner": None if outcome == 0 else 0 if outcome > 0 else 1},
        "plies": len(given) + len(opening) + len(played.positions()),
        "given_plies": len(given),
        "opening_plies": len(opening),
        "has_start": _start(played) is not None,
        "had_noise": _noise(run)["is_random"],
        "first_moves": _moves(played, _FIRST_MOVES),
    }


def _noise(run: ShownRun) -> dict[str, Any]:
    """Returns how self-play explores, by the run's present settings."""
    selfplay = run.config.selfplay
    parts = []
    if selfplay.root == "gumbel":
        parts.append("Gumbel noise chooses among the moves")
    elif selfplay.root != "noise":
        parts.append(f"a root strategy of one's own, {without_folder(selfplay.root)}, explores")
    elif selfplay.dirichlet_epsilon > 0:
        parts.append(f"{selfplay.dirichlet_epsilon:.0%} of the priors at the root is noise")
    if selfplay.temperature > 0 and selfplay.temperature_plies > 0:
        parts.append(f"the first {selfplay.temperature_plies} moves are drawn by their visits")
    if selfplay.random_opening_share > 0:
        parts.append(f"{selfplay.random_opening_share:.0%} of the games begin with random moves")
    return {"is_random": bool(parts), "text": "; ".join(parts)}


def _given(played: ShownGame) -> list[int]:
    """Returns the moves that lead to the position at which a game began; none if the position was given as a board."""
    return played.games.start(played.number).history()


def _opening(played: ShownGame) -> list[int]:
    return played.games.state(played.positions().start).history()


def _moves(played: ShownGame, most: int | None) -> list[str]:
    games, positions, given = played.games, played.positions(), _given(played)
    actions = [*given, *_opening(played), *games.actions[positions.start : positions.stop].tolist()]
    start = games.game.new_initial_state() if given else games.start(played.number)
    return games.game.lines_to_text(start, [actions[:most]])[0]


def _start(played: ShownGame) -> str | None:
    """Returns the position before `moves`; None for the initial one."""
    start = played.games.start(played.number)
    return None if start.history() or start == played.games.game.new_initial_state() else start.to_text()


def _games_of(run: ShownRun, shard: ShardFile) -> Games:
    """Returns the games of a file; raises OSError, BadInput, ApiError."""
    return _read(shard, run.games, stamp_of(shard.path, _LARGEST))


@functools.lru_cache(maxsize=8)
def _read(shard: ShardFile, sizes: tuple, stamp: Stamp) -> Games:
    size, read = load_sized_shard(shard.path, sizes)
    return Games.from_shards(sizes[size], {shard.iteration: [read]})
