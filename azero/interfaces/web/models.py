"""The requests of the HTTP interface, as they are checked and as the OpenAPI page describes them."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

Moves = Annotated[
    Annotated[str, Field(max_length=20_000), Tag("text")]
    | Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=4000), Tag("list")],
    Discriminator(lambda moves: "list" if isinstance(moves, list) else "text"),  # an error is that of one form alone
    Field(description="Moves in the game's notation, as one text or a list.", examples=["4 4 5"]),
]
GameId = Annotated[
    str,
    Field(
        max_length=200,
        description="The id of a game, or a built-in game with parameters, e.g. `go(size=9,komi=7)`.",
        examples=["connect_four"],
    ),
]
AgentId = Annotated[str, Field(max_length=200, description="The id of an agent.", examples=["uct@1000"])]


class Asked(BaseModel):
    """A request. Fields that it does not have are errors."""

    model_config = ConfigDict(extra="forbid", strict=True)


class PositionAsked(Asked):
    """A position: moves from the beginning, or from a position given as text."""

    game: GameId
    moves: Moves = ""
    position: Annotated[str, Field(max_length=4000)] | None = Field(
        None, description="The position before the moves, as `azero suggest --position` takes it."
    )
