"""Routes of runs."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from azero.interfaces.web.context import Context, InContext
from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.models import Asked, GameId, Moves, PositionAsked
from azero.interfaces.web.runs.folder import RunFolder
from azero.interfaces.web.runs.opinions import opinions_of_nets
from azero.interfaces.web.runs.played import MOST_LISTED, list_games, one_game

router = APIRouter(tags=["runs"], prefix="/runs")

RunId = Annotated[str, Path(max_length=200)]
Iteration = Annotated[int | None, Query(ge=0, le=10_000_000)]


class OpinionAsked(Asked):
    """A position of which the nets of a run are asked."""

    moves: Moves = ""
    game: GameId | None = None


@router.get("", summary="The runs")
def runs(context: InContext) -> list[dict[str, Any]]:
    return [_brief(RunFolder(run_id, folder), context) for run_id, folder in context.offered.runs.items()]


@router.get("/{run_id}/metrics", summary="The iterations of a run, and whether it trains")
def metrics(run_id: RunId, context: InContext, after: Annotated[int, Query(ge=0, le=10_000_000)] = 0) -> dict[str, Any]:
    run = _run(run_id, context)
    rows = run.rows()
    return {
        "rows": [row for row in rows if row["iteration"] > after],
        "state": run.state(rows),
        "iterations": run.config.training.iterations,
        "updated_s": run.updated_s(),
        "resume": run.resume_command(),
        "nets": [{"iteration": number, "agent": f"run:{run_id}:{number}"} for number, _ in run.nets()],
    }


@router.get("/{run_id}/games", summary="The newest self-play games of a run")
def games(
    run_id: RunId,
    context: InContext,
    iteration: Iteration = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 20,
) -> list[dict[str, Any]]:
    return list_games(_run(run_id, context), iteration, limit)


@router.get("/{run_id}/games/{game_id}", summary="A self-play game, and what search and net thought of its moves")
def game(run_id: RunId, game_id: Annotated[str, Path(max_length=40)], context: InContext) -> dict[str, Any]:
    return one_game(_run(run_id, context), game_id)


@router.post("/{run_id}/opinions", summary="What each net of a run thinks of a position, without a search")
def opinions(run_id: RunId, asked: OpinionAsked, context: InContext) -> list[dict[str, Any]]:
    run = _run(run_id, context)
    game_id = asked.game or context.offered.id_of(run.games[-1])
    position = context.position(PositionAsked(game=game_id, moves=asked.moves))
    if position.offered.game not in run.games:
        raise ApiError(409, "other_game", f"run {run_id!r} does not play {game_id}", value=game_id)
    if position.state.is_terminal():
        raise ApiError(409, "game_over", "the game is over after these moves")
    return opinions_of_nets(run, position.state)


def _run(run_id: str, context: Context) -> RunFolder:
    return RunFolder(run_id, context.offered.run(run_id))


def _brief(run: RunFolder, context: Context) -> dict[str, Any]:
    """Returns a run in the list. A run that cannot be read is listed with what is wrong."""
    try:
        rows = run.rows()
        last = rows[-1] if rows else {}
        nets = run.nets()
        return {
            "id": run.run_id,
            "name": run.folder.resolve().name,
            "game": context.offered.id_of(run.games[-1]),
            "sizes": [context.offered.id_of(game) for game in run.games],
            "state": run.state(rows),
            "iteration": last.get("iteration", 0),
            "iterations": run.config.training.iterations,
            "updated_s": run.updated_s(),
            "best_iteration": nets[-1][0] if nets else None,
            "elo": last.get("gate/rating"),
            "problem": None,
        }
    except ApiError as error:
        return {"id": run.run_id, "name": run.folder.resolve().name, "game": None, "problem": error.message}
