"""Routes of searches: suggestions, and the streams of analyses and reviews."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from azero.interfaces.web.context import Context, InContext, client_of, unless_gone
from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.models import AgentId, PositionAsked
from azero.interfaces.web.offered.agents import OfferedAgent
from azero.interfaces.web.positions import Position
from azero.interfaces.web.searches.jobs import AnalysisLimits, SearchRequest

router = APIRouter(tags=["searches"])

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events, until the client hangs up.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


Simulations = Annotated[int, Field(ge=1, le=1 << 30, description="Maximum number of simulations.", examples=[100])]
Seconds = Annotated[
    float, Field(gt=0, le=86_400, allow_inf_nan=False, description="Longest time in seconds.", examples=[1.0])
]


class SearchAsked(PositionAsked):
    """A position, and the agent that searches it."""

    agent: AgentId


class SuggestionAsked(SearchAsked):
    """A move is wanted."""

    simulations: Simulations | None = None
    seconds: Seconds | None = None
    level: Annotated[int, Field(ge=1, le=8)] | Literal["adaptive"] | None = Field(
        None, description="Play at this level; see `levels` of the agent."
    )
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = Field(0, description="The same seed gives the same move.")


class AnalysisAsked(SearchAsked):
    """Reports are wanted until the client hangs up."""

    simulations: Simulations | None = None
    seconds: Seconds | None = None
    interval: Annotated[float, Field(ge=0.05, le=60, allow_inf_nan=False)] = Field(
        0.2, description="Seconds from one report to the next."
    )


class ReviewAsked(SearchAsked):
    """The review of a whole game is wanted."""

    simulations: Simulations | None = Field(None, description="Of each position.")


@router.post("/suggestions", summary="A move, and what the search says of all moves")
async def suggestions(asked: SuggestionAsked, request: Request, context: InContext) -> dict[str, Any]:
    agent, position = await _chosen(asked, context)
    _check_goes_on(position)
    if asked.level is None:
        asked_for = _request(context, agent, asked.simulations, asked.seconds, asked.seed)
    elif asked.simulations is not None or asked.seconds is not None:
        raise ApiError(422, "invalid", "level: a level has limits of its own; give no simulations and no seconds")
    elif (table := agent.levels(position.state.game)) is None:
        raise ApiError(409, "no_levels", f"agent {agent.id!r} has no levels", value=agent.id)
    else:
        asked_for = SearchRequest(None, None, asked.seed, table.level(asked.level))
    found = await unless_gone(request, context.searches.suggest(client_of(request), agent, position, asked_for))
    return {**found.to_json(), "seconds": round(found.elapsed_s, 4)}


@router.post("/analyses", summary="A search that reports while it runs", response_class=Response, responses=_STREAM)
async def analyses(asked: AnalysisAsked, request: Request, context: InContext) -> Response:
    agent, position = await _chosen(asked, context)
    _check_goes_on(position)
    settings = context.settings
    single = None
    if asked.simulations is not None and agent.kind != "program":
        single = min(asked.simulations, settings.most_suggested)
    limits = AnalysisLimits(
        simulations=min(asked.simulations or settings.most_simulations, settings.most_simulations),
        single=single,
        seconds=min(asked.seconds or settings.analysis_s, settings.analysis_s),
        interval=asked.interval,
        memory_mib=settings.memory_mib,
    )
    return context.searches.analyse(client_of(request), agent, position, limits)


@router.post("/reviews", summary="What each move of a game lost", response_class=Response, responses=_STREAM)
async def reviews(asked: ReviewAsked, request: Request, context: InContext) -> Response:
    agent, position = await _chosen(asked, context)
    if not agent.judges:
        raise ApiError(409, "no_judge", f"agent {agent.id!r} does not judge positions", value=agent.id)
    if not position.moves:
        raise ApiError(422, "no_moves", "there is nothing to review: the game has no moves")
    asked_for = _request(context, agent, asked.simulations, None, 0)
    return context.searches.review(client_of(request), agent, position, asked_for)


async def _chosen(asked: SearchAsked, context: Context) -> tuple[OfferedAgent, Position]:
    agent = context.catalogue.agent_for(asked.agent, context.catalogue.game(asked.game))
    return agent, await context.position_soon(asked)


def _check_goes_on(position: Position) -> None:
    if position.state.is_terminal():
        raise ApiError(409, "game_over", "there is nothing to search: the game is over")


def _request(
    context: Context, agent: OfferedAgent, simulations: int | None, seconds: float | None, seed: int
) -> SearchRequest:
    """Returns how long a suggestion may search: what is asked for, within the limits."""
    settings = context.settings
    if agent.kind == "program":
        return SearchRequest(None, None, seed)
    if simulations is not None or seconds is not None:
        simulations = min(simulations or settings.most_suggested, settings.most_suggested)
    elif agent.simulations or agent.seconds:
        simulations, seconds = min(agent.simulations or settings.most_suggested, settings.most_suggested), agent.seconds
    return SearchRequest(simulations, min(seconds or settings.suggestion_s, settings.suggestion_s), seed)
