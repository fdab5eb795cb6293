"""Define the answers of the API as the client returns them.

A field that a newer server adds is kept, and can be read as an attribute.
"""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

JsonObject = dict[str, Any]
"""An answer whose fields the documentation of the command line names."""


class Answer(BaseModel):
    """An answer of the server; it never changes."""

    model_config = ConfigDict(frozen=True, extra="allow")


class SubmittedJob(Answer):
    """A stored job, which runs on whether or not the client stays."""

    job_id: str
    note: str = ""
    """What its sender should know."""


class JobLine(Answer):
    """A job in a list."""

    job_id: str
    question: str
    preset: str
    model: str
    status: str
    stop_reason: str | None = None
    answer: str | None = None
    confidence: float | None = None
    """The confidence of the answer, 0 to 1; None without a report, or if it is unknown."""
    open_questions: int = 0
    """Questions that wait for a person."""
    created_at: datetime
    seconds: float | None = None

    @property
    def has_ended(self) -> bool:
        return self.status in ("done", "failed", "cancelled")


class Task(Answer):
    """A task of a job."""

    id: str
    kind: str
    description: str
    status: str
    tool: str = ""
    agent: str = ""
    depends_on: tuple[str, ...] = ()
    confidence: float | None = None
    entities: JsonObject = {}
    failure: JsonObject | None = None
    seconds: float | None = None
    tokens: int = 0
    cost: float | None = None


class Tokens(Answer):
    """Tokens of model calls."""

    input: int
    output: int


class Event(Answer):
    """An entry of a job's log."""

    seq: int
    at: datetime
    kind: str
    task: str = ""
    facts: JsonObject = {}


class WaitingQuestion(Answer):
    """A question that a job asks a person."""

    id: int
    kind: str
    task: str = ""
    text: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    deadline: datetime | None = None


class AcceptedChange(Answer):
    """A change that a job has accepted."""

    job_id: str
    did: str


class Estimate(Answer):
    """What a job's pending tasks are expected to take."""

    job_id: str
    status: str
    estimate: JsonObject
    """tool_calls, model_calls, tokens, cost, seconds; and what planning has spent."""
    currency: str


class Statement(Answer):
    """A sentence of a report with the marks of its citations."""

    text: str
    marks: tuple[int, ...] = ()


class Citation(Answer):
    """A citation: the verbatim quote, and where it stands."""

    mark: int
    address: str
    title: str = ""
    quote: str = ""
    source_id: int


class Collection(Answer):
    """A named set of documents."""

    name: str
    documents: int
    passages: int
    size_bytes: int
    language: str = "english"
    """How searches by words read the collection."""


class Document(Answer):
    """A document of a collection."""

    address: str
    title: str
    passages: int
    size_bytes: int
    added_at: datetime
    metadata: JsonObject = {}


class UploadProgress(Answer):
    """How much of the current activity of an upload is done."""

    activity: str = ""
    done: int = 0
    total: int = 0


class Upload(Answer):
    """Documents that were sent to a collection, and how far their reading is."""

    id: str
    collection: str
    status: str
    """`waiting`, `reading`, `done` or `failed`."""
    files: int
    size_bytes: int
    progress: UploadProgress
    result: JsonObject | None = None
    """added, changed, unchanged, removed, skipped (path, reason), embedded."""
    message: str = ""

    @property
    def has_ended(self) -> bool:
        return self.status in ("done", "failed")


class Passage(Answer):
    """A part of a document that a search found."""

    address: str
    title: str
    heading: str = ""
    text: str
    start: int
    end: int
    score: float


class SearchListing(Answer):
    """What a search found."""

    collection: str
    mode: str
    note: str = ""
    passages: tuple[Passage, ...] = ()


class ApiKey(Answer):
    """An API key without its secret."""

    id: str
    name: str
    owner: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None


class CreatedKey(Answer):
    """A new key with its secret, which nothing shows again."""

    key: str
    details: ApiKey
