"""Routes of games and positions."""

from typing import Any

from fastapi import APIRouter

from azero.arena.agents.levels import table_of
from azero.interfaces.web.context import InContext
from azero.interfaces.web.models import PositionAsked
from azero.interfaces.web.offered.catalogue import Catalogue
from azero.interfaces.web.offered.games import OfferedGame, sheet_of
from azero.interfaces.web.positions import describe, initial_picture

router = APIRouter(tags=["games"])


@router.get("/games", summary="The games")
def games(context: InContext) -> list[dict[str, Any]]:
    return [_brief(each, context.catalogue) for each in context.catalogue.games.values()]


@router.get("/games/{game_id}", summary="A game, its board and its rules")
def game(game_id: str, context: InContext) -> dict[str, Any]:
    found = context.catalogue.game(game_id)
    if found.id in context.catalogue.games:
        context.searches.agents.prepare(found, context.catalogue.agents_for(found.game)[0])
    return describe_game(found, context.catalogue)


def describe_game(found: OfferedGame, catalogue: Catalogue) -> dict[str, Any]:
    """Returns a game, its board and its rules as the interface gives them."""
    return {
        **_brief(found, catalogue),
        "board": initial_picture(found),
        "max_plies": found.game.max_plies,
        "has_ownership": found.has_ownership,
        "has_score": found.has_score,
        "has_sgf": found.has_sgf,
        "ranges": found.ranges,
        "sizes": [each.id for each in catalogue.games.values() if each.family == found.family],
        "rules": found.rules_text,
        "sheet": sheet_of(found.game),
    }


@router.post("/positions", summary="The position after moves")
def positions(asked: PositionAsked, context: InContext) -> dict[str, Any]:
    return describe(context.position(asked))


def _brief(game: OfferedGame, catalogue: Catalogue) -> dict[str, Any]:
    return {
        "id": game.id,
        "title": game.title,
        "subtitle": game.subtitle,
        "family": game.family,
        "parameters": game.parameters,
        "players": initial_picture(game)["players"],
        "has_net": any(agent.kind == "net" for agent in catalogue.agents_for(game.game)),
        "has_levels": bool(table_of(game.game).agent),
        "is_own": game.is_own,
    }
