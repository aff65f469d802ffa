"""The self-play games of a run: a list of the newest, and one of them move by move."""

import functools
import re
from pathlib import Path
from typing import Any

import numpy as np

from azero.errors import BadInput
from azero.games import Game, State
from azero.games.contract import ONGOING, sign_of
from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.runs.folder import RunFolder
from azero.interfaces.web.runs.opinions import Opinion, opinions_of
from azero.selfplay.data.games import Games
from azero.selfplay.data.shard_files import load_sized_shard

MOST_LISTED = 200
"""Games in one answer."""

_FIRST_MOVES = 14  # of a game in the list
_NAME = re.compile(r"(\d{5,7}-\d{4})\.(\d{1,6})")


def list_games(run: RunFolder, iteration: int | None, limit: int) -> list[dict[str, Any]]:
    """Returns the newest games of a run, or those of an iteration, the last one first."""
    listed: list[dict[str, Any]] = []
    for number, path in reversed(run.shards()):
        if iteration is not None and number != iteration:
            continue
        games = _games_of(run, number, path)
        if games is None:
            continue  # it vanished, or is not whole
        for index in reversed(range(len(games.lengths))):
            if len(listed) == limit:
                return listed
            listed.append(_brief(run, games, number, path.stem, index))
    return listed


def one_game(run: RunFolder, game_id: str) -> dict[str, Any]:
    """Returns a game with what search and net thought at each move; raises ApiError if there is no such game."""
    match = _NAME.fullmatch(game_id)
    found = match and next(((n, path) for n, path in run.shards() if path.stem == match[1]), None)
    games = _games_of(run, *found) if found else None
    if not match or not found or games is None or int(match[2]) >= len(games.lengths):
        raise ApiError(404, "unknown_game", "there is no such game; it may have left the replay window", value=game_id)
    number, index = found[0], int(match[2])
    end = int(np.cumsum(games.lengths)[index])
    begin = end - int(games.lengths[index])
    states = [games.state(position) for position in range(begin, end)]
    net = run.net_of(number)
    judged = opinions_of(net[1], games.game, states) if net else [None] * len(states)
    plies = [
        _ply(games, begin + k, state, opinion) for k, (state, opinion) in enumerate(zip(states, judged, strict=True))
    ]
    start, opening = games.start(index), states[0].history()
    return {
        **_brief(run, games, number, found[1].stem, index),
        "game": str(games.game),
        "start": start.to_text() if start != games.game.new_initial_state() else None,
        "moves": _texts(start, [*opening, *games.actions[begin:end].tolist()]),
        "net": net[0] if net else None,
        "plies": plies,
    }


def _ply(games: Games, position: int, state: State, opinion: Opinion | None) -> dict[str, Any]:
    """Returns a move: the search's policy and value, and the net's. Values are for the first player."""
    actions, counts = games.policy_counts(position)
    total = int(counts.sum())
    sign = int(sign_of(int(games.players[position])))
    text = games.game.action_to_text
    policy = (
        {text(state, int(a)): round(int(n) / total, 4) for a, n in zip(actions, counts, strict=True)} if total else None
    )
    proven = games.proven(position)
    return {
        "move": text(state, int(games.actions[position])),
        "player": int(games.players[position]),
        "policy": policy,
        "value": round(sign * float(games.values[position]), 4),
        "proven": None if proven == ONGOING else sign * proven,
        "is_learned": bool(games.weights[position] > 0),
        "prior": opinion.prior if opinion else None,
        "net_value": opinion.value if opinion else None,
    }


def _brief(run: RunFolder, games: Games, iteration: int, stem: str, index: int) -> dict[str, Any]:
    end = int(np.cumsum(games.lengths)[index])
    first = games.state(end - int(games.lengths[index]))
    opening = first.history()
    moves = [*opening, *games.actions[end - int(games.lengths[index]) : end].tolist()]
    outcome = int(games.outcomes[index])
    return {
        "id": f"{stem}.{index}",
        "iteration": iteration,
        "result": {"winner": None if outcome == 0 else 0 if outcome > 0 else 1},
        "plies": len(moves),
        "opening_plies": len(opening),
        "had_noise": _has_noise(run),
        "first_moves": _texts(games.start(index), moves[:_FIRST_MOVES]),
    }


def _has_noise(run: RunFolder) -> bool:
    """Returns whether self-play drew moves at random: by noise at the root, Gumbel's or Dirichlet's."""
    selfplay = run.config.selfplay
    return selfplay.root == "gumbel" or selfplay.dirichlet_epsilon > 0


def _texts(start: State, actions: list[int]) -> list[str]:
    return start.game.lines_to_text(start, [actions])[0] if actions else []


def _games_of(run: RunFolder, iteration: int, path: Path) -> Games | None:
    """Returns the games of a file; None if it has vanished or is damaged."""
    try:
        stamp = path.stat()
        return _read(path, run.games, iteration, stamp.st_mtime_ns, stamp.st_size)
    except (OSError, BadInput):
        return None


@functools.lru_cache(maxsize=8)
def _read(path: Path, sizes: tuple[Game, ...], iteration: int, *stamp: int) -> Games:
    size, shard = load_sized_shard(path, sizes)
    return Games.from_shards(sizes[size], {iteration: [shard]})
