"""The requests of the HTTP interface, as they are checked and as the OpenAPI page describes them."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

MOST_FIELDS = 100
"""Most fields of a request, and most tags of a record."""

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
Simulations = Annotated[int, Field(ge=1, le=1 << 30, description="Most simulations.", examples=[100])]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False, description="Most seconds.", examples=[1.0])]


class Asked(BaseModel):
    """A request. Fields that it does not have are errors."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _has_few_fields(cls, given: object) -> object:
        """Refuses a request with many fields at once: each unknown one would be an error of its own."""
        if isinstance(given, dict) and len(given) > MOST_FIELDS:
            raise ValueError(f"at most {MOST_FIELDS} fields are possible")
        return given


class PositionAsked(Asked):
    """A position: moves from the beginning, or from a position given as text."""

    game: GameId
    moves: Moves = ""
    position: Annotated[str, Field(max_length=4000)] | None = Field(
        None, description="The position before the moves, as `azero suggest --position` takes it."
    )


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
