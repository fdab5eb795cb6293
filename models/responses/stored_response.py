"""Define a stored response: a part of a job's log under an id of its own."""

from datetime import datetime

from pydantic import Field, JsonValue

from holdfast.models.frozen_model import Frozen


class ClientRequest(Frozen):
    """What a client sent, as far as its response repeats it."""

    model: str
    input: list[dict[str, JsonValue]]
    """The input as items, each with an id."""
    instructions: str | None = None
    metadata: dict[str, str] = Field(default_factory=dict)
    tools: list[dict[str, JsonValue]] = Field(default_factory=list)
    background: bool = False
    max_tool_calls: int | None = None
    previous_response_id: str | None = None
    asks: bool = False
    """True if the client answers questions: it declared the function `ask_user`."""


class StoredResponse(Frozen):
    """The response with this id is the job's log after the entry `after`.

    It ends with the end of the job, or with a question to a client that answers questions.
    """

    id: str
    job_id: str
    after: int
    request: ClientRequest
    created_at: datetime
