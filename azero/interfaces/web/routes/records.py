"""Routes of records: text to trees, and trees to text."""

import json
import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import Field

from azero.games import Game, without_compiling
from azero.games.names import without_folder
from azero.interfaces.web.context import Context, InContext
from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.models import Asked, GameId, PositionAsked
from azero.interfaces.web.records import from_json, read, to_json, write

router = APIRouter(tags=["records"])

Text = Annotated[str, Field(max_length=1 << 20)]
Tag = Annotated[str, Field(max_length=1000)]


class RecordText(Asked):
    """A record as text."""

    text: Text
    format: Literal["auto", "azero", "sgf"] = "auto"
    game: GameId | None = Field(None, description="The game that the records must have; by default they name it.")


class RecordTree(PositionAsked):
    """A game as a tree of moves, or as moves alone."""

    format: Literal["azero", "sgf"] = "azero"
    tags: dict[Annotated[str, Field(max_length=100)], Tag] = Field(default_factory=dict, max_length=100)
    root: dict[str, Any] | None = Field(
        None, description="`{comment, children: [{move, comment, mark, name, value, children: [...]}]}`"
    )
    result: Literal["1-0", "0-1", "1/2-1/2", "*"] | None = Field(None, description="By default, by the rules.")


@router.post("/records/read", summary="The games of a record")
def read_record(asked: RecordText, context: InContext) -> Response:
    game = context.offered.game(asked.game).game if asked.game is not None else _own_game(asked.text, context)
    games = []
    left = context.settings.most_record_moves
    for record in read(asked.text, asked.format, game):
        offered = context.offered.id_of(record.game)
        games.append({"game": offered, **to_json(record, left)})
    return Response(json.dumps({"games": games}), media_type="application/json")


def _own_game(text: str, context: Context) -> Game | None:
    """Returns the user's game that a record names, if it is offered. No name of a record ever loads a file."""
    named = re.search(r'^\s*\[Game "([^"\n]*)"\]', text, re.MULTILINE)
    own = (each.game for each in context.offered.games.values() if each.is_own)
    return next((game for game in own if named and without_folder(named[1]) == without_folder(str(game))), None)


@router.post("/records/write", summary="A record as text")
def write_record(asked: RecordTree, context: InContext) -> dict[str, str]:
    if asked.root is not None and asked.moves:
        raise ApiError(422, "invalid", "root, moves: give only one of the two")
    position = context.position(asked)
    with without_compiling(position.offered.game.rules):
        root = asked.root if asked.root is not None else _line(position.moves)
        record = from_json(position.start, root, asked.tags, asked.result, context.settings.most_record_moves)
        return {"text": write(record, asked.format)}


def _line(moves: list[str]) -> dict[str, Any]:
    """Returns the tree of moves without variations."""
    root: dict[str, Any] = {"children": []}
    node = root
    for move in moves:
        node["children"].append({"move": move, "children": []})
        node = node["children"][0]
    return root
