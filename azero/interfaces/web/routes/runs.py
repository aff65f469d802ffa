"""Routes of runs."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import Field

from azero.interfaces.web.context import Context, InContext
from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.models import Asked, GameId, Moves, PositionAsked
from azero.interfaces.web.runs.nets import opinions_of
from azero.interfaces.web.runs.run import ShownRun, activity_of, age_s, resume_command, state_of
from azero.interfaces.web.runs.selfplay_games import MOST_LISTED, list_games, one_game
from azero.runs.metrics import mark_of

router = APIRouter(tags=["runs"], prefix="/runs")

RunId = Annotated[str, Path(max_length=200)]
Iteration = Annotated[int | None, Query(ge=0, le=10_000_000)]


class OpinionAsked(Asked):
    """A position of which the nets of a run are asked."""

    moves: Moves = ""
    position: Annotated[str, Field(max_length=4000)] | None = None
    game: GameId | None = None


@router.get("", summary="The runs")
def runs(context: InContext) -> list[dict[str, Any]]:
    """Lists the runs, those that have begun since the server's start, too. One that cannot be read has a `problem`."""
    context.catalogue.look_for_runs()
    return [_brief(_run(run_id, context), context) for run_id in context.catalogue.runs.ids()]


@router.get("/{run_id}/metrics", summary="The iterations of a run, its nets, and what it does")
def metrics(run_id: RunId, context: InContext, after: Annotated[int, Query(ge=0, le=10_000_000)] = 0) -> dict[str, Any]:
    """Returns the lines of metrics.jsonl after an iteration. If `mark` has changed, another run lies in the folder."""
    run = _run(run_id, context)
    return {
        "rows": [row for row in run.rows if row["iteration"] > after],
        "last": run.rows[-1]["iteration"] if run.rows else 0,
        "mark": mark_of(run.rows),
        "state": state_of(run),
        "activity": activity_of(run),
        "iterations": run.config.training.iterations,
        "updated_s": round(age_s(run), 1),
        "resume": resume_command(run),
        "nets": [{"iteration": net.iteration, "agent": f"run:{run_id}:{net.iteration}"} for net in run.nets],
    }


@router.get("/{run_id}/games", summary="The newest self-play games of a run")
def games(
    run_id: RunId,
    context: InContext,
    iteration: Iteration = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 20,
) -> dict[str, Any]:
    """Lists games of the replay window, the newest first, and says how self-play explores."""
    return list_games(_run(run_id, context), iteration, limit)


@router.get("/{run_id}/games/{game_id}", summary="A self-play game, and what search and net thought of its moves")
def game(run_id: RunId, game_id: Annotated[str, Path(max_length=40)], context: InContext) -> dict[str, Any]:
    """Values are for the first player. Moves of a random opening have no thoughts."""
    run = _run(run_id, context)
    ids = {str(each): context.catalogue.id_of(each) for each in run.games}
    found = one_game(run, context.nets, game_id)
    return found | {"game": ids[found["game"]]}


@router.post("/{run_id}/opinions", summary="What each net of a run thinks of a position, without a search")
def opinions(run_id: RunId, asked: OpinionAsked, context: InContext) -> dict[str, Any]:
    """Returns priors and values for the first player. Ask again if the answer is not whole yet."""
    run = _run(run_id, context)
    game_id = context.catalogue.id_of(run.games[-1]) if asked.game is None else asked.game
    position = context.position(PositionAsked(game=game_id, moves=asked.moves, position=asked.position))
    if position.state.game not in run.games:
        raise ApiError(409, "other_game", f"run {run_id!r} does not play {game_id}", value=game_id)
    if position.state.is_terminal():
        raise ApiError(409, "game_over", "the game is over after these moves")
    return opinions_of(run, context.nets, position.state)


def _run(run_id: str, context: Context) -> ShownRun:
    known = tuple(each.game for each in context.catalogue.games.values())
    return ShownRun(run_id, context.catalogue.run(run_id), known)


def _brief(run: ShownRun, context: Context) -> dict[str, Any]:
    nothing: dict[str, Any] = {
        "game": None,
        "sizes": [],
        "state": None,
        "updated_s": None,
        "best_iteration": None,
        "elo": None,
    }
    brief = {"id": run.id, "name": run.name, "iteration": 0, "iterations": 0, **nothing, "problem": None}
    try:
        last = run.rows[-1] if run.rows else {}
        ids = [context.catalogue.id_of(game) for game in run.games]
        return brief | {
            "game": ids[-1],
            "sizes": ids,
            "state": state_of(run),
            "iteration": last.get("iteration", 0),
            "iterations": run.config.training.iterations,
            "updated_s": round(age_s(run), 1),
            "best_iteration": run.nets[-1].iteration if run.nets else None,
            "elo": last.get("gate/rating"),
        }
    except ApiError as error:
        return brief | {"problem": error.message}
