"""Define the base class of all models: frozen, and closed to undeclared fields."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A value that never changes; `model_copy(update=...)` gives a new one."""

    model_config = ConfigDict(frozen=True, extra="forbid")
