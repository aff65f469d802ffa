"""A review of a game as one HTML file: what `azero review --out` writes.

The file has the page of `azero serve` with the view Review alone. All positions that it shows are made here, so it
needs no rules and no search.
"""

import json
from collections.abc import Iterator
from typing import Any

import azero
from azero.arena.reviews.review import GameReview, annotate
from azero.games.names import without_folder
from azero.interfaces.web.offered.catalogue import Catalogue
from azero.interfaces.web.offered.games import OfferedGame
from azero.interfaces.web.positions import Position, describe
from azero.publishing.page import (
    about_agent,
    about_game,
    document,
    licences,
    link_of,
    packed,
    position_of_rules,
    sources,
)
from azero.records.text import record_to_text

Json = dict[str, Any]


def html_of_review(review: GameReview, agent: str, simulations: int | None = None) -> str:
    """Returns a page that shows the review of a game. The review's record gets its marks, losses and better lines.

    Args:
      agent: the name of the agent that has reviewed it.
      simulations: of each position; None for the agent's own.
    """
    game = review.record.game
    described, offered, catalogue = about_game(game)
    reviewer = about_agent(agent, game, set()) | {"levels": None, "adaptive": None}
    about = {
        "game": described["id"],
        "title": described["title"],
        "azero": azero.__version__,
        "sources": sources(),
        "agents": [{"title": reviewer["title"], "name": reviewer["name"], "facts": {}}],
        "lacks": [],
        "review": _kept(review, described["id"], reviewer["id"], simulations or reviewer["simulations"]),
    }
    positions = dict(_positions(review, offered)) | dict(_positions_of_rules(described, catalogue))
    annotate(review)
    record = record_to_text(review.record)
    answers = {"game": described, "agent": reviewer, "positions": positions, "record": record}
    blocks = {
        "published": json.dumps(about, allow_nan=False),
        "answers": packed(json.dumps(answers, allow_nan=False, default=lambda each: each.item()).encode()),
        "licences": licences(),
    }
    return document(f"Review: {described['title']}", blocks, has_worker=False)


def _kept(review: GameReview, game: str, agent: str, simulations: int) -> Json:
    """Returns the game with its review, in the form in which the page keeps games (`game/kept.js`)."""
    texts = [move.move for move in review.moves]
    notes = [
        [ply, {"mark": move.mark or node.mark, "comment": node.comment, "name": node.name, "isMarkedByReview": True}]
        for ply, (node, move) in enumerate(zip(review.record.line(), review.moves, strict=True), 1)
    ]
    whole = review.to_json() | {"game": without_folder(str(review.record.game)), "values": review.values}
    whole.pop("moves")
    return {
        "link": link_of("review", game, texts, 0, agent),
        "tags": dict(review.record.tags),
        "notes": notes,
        "review": {
            "agent": agent,
            "searched": simulations,
            "place": str(len(texts)),
            "numMoves": len(texts),
            "moves": [{"ply": ply, **vars(move)} for ply, move in enumerate(review.moves)],
            "whole": whole,
            "isRunning": False,
        },
    }


def _positions(review: GameReview, offered: OfferedGame) -> Iterator[tuple[str, Json]]:
    """Yields the positions of the game, by game and moves, as `scripts/finished.js` asks for them."""
    states = list(review.record.states())
    texts, movers = [move.move for move in review.moves], [move.player for move in review.moves]
    for ply, state in enumerate(states):
        earlier = states[max(ply - 1, 0) : ply]
        position = Position(offered, state, states[0], texts[:ply], movers[:ply], [1] * ply, earlier)
        yield " ".join([offered.id, *texts[:ply]]), describe(position)


def _positions_of_rules(described: Json, catalogue: Catalogue) -> Iterator[tuple[str, Json]]:
    for block in described["sheet"]:
        if block["kind"] == "picture":
            game = block["game"] or described["id"]
            asked = {"game": game, "moves": block["moves"]}
            yield f"{game} {block['moves']}".strip(), position_of_rules(asked, catalogue)
