"""Base class of all tables of settings."""

from typing import TypeVar

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A table of settings. It is frozen, and unknown settings are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


AnySection = TypeVar("AnySection", bound=Section)
