"""Routes of agents."""

from typing import Any

from fastapi import APIRouter

from azero.interfaces.web.context import InContext
from azero.interfaces.web.offered.agents import OfferedAgent

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
