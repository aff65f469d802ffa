"""Routes of records: text to trees, and trees to text."""

import json
import re
import threading
from contextlib import nullcontext
from typing import Annotated, Literal

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import Field

from azero.games import Game, without_compiling
from azero.games.names import without_folder
from azero.interfaces.web.context import Context, InContext
from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.models import Asked, GameId, PositionAsked
from azero.interfaces.web.records import RecordNode, Text, from_json, read, to_json, write
from azero.records.record import TooManyMoves

router = APIRouter(tags=["records"])

_WORK = threading.Lock()  # records one after another leave threads and cores to other requests
_MOST_NODES = 20_000  # of a request, before anything else is looked at
_FEW = 200  # nodes that are written without waiting for the compiler; plain rules take a few ms for each

Tag = Annotated[str, Field(max_length=1000)]


class RecordText(Asked):
    """A record as text."""

    text: Text
    format: Literal["auto", "azero", "sgf"] = "auto"
    game: GameId | None = Field(
        None, description="The game that the records must have, with any komi; by default they name it."
    )


class RecordTree(PositionAsked):
    """A game as a tree of moves, or as moves alone."""

    format: Literal["azero", "sgf"] = "azero"
    tags: dict[Annotated[str, Field(max_length=100)], Tag] = Field(default_factory=dict)
    nodes: Annotated[list[RecordNode], Field(fail_fast=True, max_length=_MOST_NODES)] | None = Field(
        None,
        description="`[{comment}, {parent, move, comment, mark, name, value}, ...]`: the root first; `parent` is the "
        "index of an earlier node. Of the nodes with the same parent, the first one goes on, others are variations.",
        examples=[[{}, {"parent": 0, "move": "4"}, {"parent": 1, "move": "4"}, {"parent": 1, "move": "5"}]],
    )
    result: Literal["1-0", "0-1", "1/2-1/2", "*"] | None = Field(
        None, description="By the rules, if they decide and no tag Termination says otherwise."
    )


@router.post("/records/read", summary="The games of a record")
def read_record(asked: RecordText, context: InContext) -> Response:
    game = context.catalogue.game(asked.game).game if asked.game is not None else _own_game(asked.text, context)
    with _WORK:
        records = read(asked.text, asked.format, game, context.settings.most_record_moves)
        games = [{"game": context.catalogue.id_of(record.game), **to_json(record)} for record in records]
        return Response(json.dumps({"games": games}), media_type="application/json")


def _own_game(text: str, context: Context) -> Game | None:
    """Returns the user's game that a record names, if it is offered. No name of a record ever loads a file."""
    named = re.search(r'^[ \t]*\[Game "([^"\n]*)"\]', text, re.MULTILINE)
    own = (each.game for each in context.catalogue.games.values() if each.is_own)
    return next((game for game in own if named and without_folder(named[1]) == without_folder(str(game))), None)


@router.post("/records/write", summary="A record as text")
def write_record(asked: RecordTree, context: InContext) -> dict[str, str]:
    if asked.nodes is not None and asked.moves:
        raise ApiError(422, "invalid", "nodes, moves: give only one of the two")
    most_moves = context.settings.most_record_moves
    if asked.nodes is not None and len(asked.nodes) - 1 > most_moves:
        raise ApiError(422, "too_long", str(TooManyMoves(most_moves)))
    position = context.position(asked)
    nodes = asked.nodes if asked.nodes is not None else _line(position.moves)
    is_small = len(nodes) <= _FEW
    with _WORK, without_compiling(position.state.game.rules) if is_small else nullcontext():
        return {"text": write(from_json(position.start, nodes, asked.tags, asked.result), asked.format)}


def _line(moves: list[str]) -> list[RecordNode]:
    """Returns the nodes of moves without variations."""
    return [RecordNode(), *(RecordNode(parent=number, move=move) for number, move in enumerate(moves))]
