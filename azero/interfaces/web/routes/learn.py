"""The route of the view Learn: a search, one simulation at a time."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import Field

from azero.interfaces.web.context import Context, InContext, client_of, unless_gone
from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.models import AgentId, PositionAsked
from azero.interfaces.web.positions import Position
from azero.interfaces.web.searches.loaded import Loaded
from azero.interfaces.web.searches.simulations import SimulationsJob, SimulationsRequest

router = APIRouter(tags=["learn"])

MOST_SIMULATIONS = 500
"""The last simulation that a lesson shows. A search that is to be understood is short."""


class SimulationsAsked(PositionAsked):
    """Simulations of a position, one by one."""

    method: Literal["uct", "puct"] = Field(description="uct: with rollouts; puct: with the net of `agent`.")
    agent: AgentId | None = Field(None, description="An agent with a net; for puct alone.")
    first: Annotated[int, Field(ge=1, le=MOST_SIMULATIONS)] = Field(1, description="Number of the first simulation.")
    count: Annotated[int, Field(ge=1, le=100)] = Field(10, description="Maximum number of simulations in the answer.")
    c: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)] | None = Field(
        None, description="The exploration constant, c or c_puct; the search's own if it is not given."
    )
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = Field(0, description="The same seed gives the same simulations.")


@router.post("/simulations", summary="A search, one simulation at a time")
async def simulations(asked: SimulationsAsked, request: Request, context: InContext) -> dict[str, Any]:
    position = await context.position_soon(asked)
    if position.state.is_terminal():
        raise ApiError(409, "game_over", "there is nothing to search: the game is over")
    count = min(asked.count, MOST_SIMULATIONS + 1 - asked.first)
    wanted = SimulationsRequest(asked.first, count, asked.c, asked.seed, context.settings.suggestion_s)
    client = client_of(request)
    if asked.method == "uct":
        if asked.agent is not None:
            raise ApiError(422, "no_agent_needed", "method uct needs no agent: leave it out", value=asked.agent)
        with context.searches.agents.searching():
            return await unless_gone(request, _learn(context, client, None, position, wanted))
    return await unless_gone(request, _learn_from_net(asked, context, client, position, wanted))


async def _learn_from_net(
    asked: SimulationsAsked, context: Context, client: str, position: Position, wanted: SimulationsRequest
) -> dict[str, Any]:
    if asked.agent is None:
        raise ApiError(422, "agent_needed", "method puct needs an agent with a net: name one as agent")
    agent = context.catalogue.agent_for(asked.agent, position.game)
    if agent.kind != "net":
        message = f"agent {agent.id!r} has no net; puct needs one. GET /api/v1/agents lists those of kind net"
        raise ApiError(409, "no_net", message, value=agent.id)
    claim = context.searches.agents.claim(agent, position.game)
    try:
        await asyncio.shield(asyncio.wrap_future(claim.loaded.made))
        return await _learn(context, client, claim.loaded, position, wanted)
    finally:
        claim.release()


async def _learn(
    context: Context, client: str, loaded: Loaded | None, position: Position, wanted: SimulationsRequest
) -> dict[str, Any]:
    job = SimulationsJob(client, loaded, position, wanted)
    context.searches.queue.add(job)
    try:
        return await asyncio.wrap_future(job.answer)
    finally:
        job.stop()
