"""The base of all shapes: frozen, and closed to fields that nobody declared."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A value that never changes; `model_copy(update=...)` gives a new one."""

    model_config = ConfigDict(frozen=True, extra="forbid")
