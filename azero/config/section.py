"""What every table of settings is."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A table of settings: frozen, and nothing unknown in it."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
