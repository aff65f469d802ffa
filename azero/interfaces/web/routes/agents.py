"""Routes of agents."""

from typing import Any

from fastapi import APIRouter

from azero.games import Game
from azero.interfaces.web.context import InContext
from azero.interfaces.web.offered.agents import OfferedAgent

router = APIRouter(tags=["agents"])


@router.get("/agents", summary="The agents, or those that play a game")
def agents(context: InContext, game: str | None = None) -> list[dict[str, Any]]:
    context.catalogue.look_for_runs()
    asked = context.catalogue.game(game).game if game is not None else None
    return [_to_json(each, context, asked or each.game) for each in context.catalogue.agents_for(asked)]


@router.get("/agents/{agent_id}", summary="One agent, such as an earlier net of a run")
def agent(agent_id: str, context: InContext, game: str | None = None) -> dict[str, Any]:
    if game is None:
        found = context.catalogue.agent(agent_id)
        return _to_json(found, context, found.game)
    asked = context.catalogue.game(game)
    return _to_json(context.catalogue.agent_for(agent_id, asked), context, asked.game)


def _to_json(agent: OfferedAgent, context: InContext, game: Game | None) -> dict[str, Any]:
    return describe_agent(agent, game, context.searches.agents.state_of(agent, game))


def describe_agent(agent: OfferedAgent, game: Game | None, state: str) -> dict[str, Any]:
    """Returns an agent for a game as the interface gives it."""
    table = agent.levels(game) if game else None
    return {
        "id": agent.id,
        "name": agent.public_name,
        "title": agent.title_in(game),
        "kind": agent.kind,
        "game": agent.game.name if agent.game else None,
        "simulations": agent.simulations,
        "state": state,
        "judges": agent.judges,
        "has_ownership": agent.has_ownership,
        "source": agent.source,
        "run": agent.run,
        "levels": [level.to_json() for level in table.levels] if table else None,
        "adaptive": table.adaptive.to_json() if table else None,
        "anchors": [{"name": each.name, "elo": each.elo} for each in table.anchors] if table else [],
    }
