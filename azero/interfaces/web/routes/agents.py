"""Routes of agents and their suggestions."""

from typing import Any

from fastapi import APIRouter, Request

from azero.interfaces.web.context import InContext
from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.models import SuggestionAsked
from azero.interfaces.web.offered.agents import OfferedAgent
from azero.interfaces.web.searches.suggesting import Wish

router = APIRouter(tags=["agents"])


@router.get("/agents", summary="The agents, or those that play a game")
def agents(context: InContext, game: str | None = None) -> list[dict[str, Any]]:
    found = context.offered.agents_for(context.offered.game(game) if game is not None else None)
    return [_to_json(each, context) for each in found]


def _to_json(agent: OfferedAgent, context: InContext) -> dict[str, Any]:
    return {
        "id": agent.id,
        "title": agent.title,
        "kind": agent.kind,
        "game": agent.game.name if agent.game else None,
        "simulations": agent.simulations,
        "state": context.searches.agents.state_of(agent),
        "judges": agent.judges,
        "source": agent.source,
        "run": agent.run,
        "levels": None,
        "adaptive": False,
        "anchors": [],
    }


@router.post("/suggestions", summary="A move, and what the search says of all moves")
async def suggestions(asked: SuggestionAsked, request: Request, context: InContext) -> dict[str, Any]:
    game = context.offered.game(asked.game)
    agent = context.offered.agent_for(asked.agent, game)
    position = await context.position_of(asked)
    if position.state.is_terminal():
        raise ApiError(409, "game_over", "there is nothing to suggest: the game is over")
    settings = context.settings
    simulations = asked.simulations
    if simulations is not None or asked.seconds is not None:
        simulations = min(simulations or settings.most_suggested, settings.most_suggested)
    wish = Wish(simulations, min(asked.seconds or settings.suggestion_s, settings.suggestion_s), asked.seed)
    found = await context.searches.suggest(client_of(request), agent, position, wish)
    return {**found.to_json(), "seconds": round(found.elapsed_s, 4)}


def client_of(request: Request) -> str:
    """Returns by what a client is told from others: its address."""
    return request.client.host if request.client else ""
