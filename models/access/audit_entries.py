"""Define the entries of the audit: who did what."""

from datetime import datetime

from pydantic import Field

from holdfast.models.frozen_model import Frozen

MAX_LISTED_ENTRIES = 1000


class AuditedAction(Frozen):
    """An action before it is carried out, or the refusal of one."""

    actor: str
    """Who acts, as the server knows it."""
    key_id: str = ""
    """The API key of the request; empty: the command line or the installation's token."""
    action: str
    """The name of a route, such as `submit_job`, or of an action of the command line."""
    resource: str
    """The path of the request, or the id of what is changed."""
    refused: int | None = None
    """The HTTP status of the refusal; None: the action was begun."""


class AuditEntry(AuditedAction):
    """A stored entry; no entry is ever changed or removed."""

    id: int
    at: datetime


class AuditFilter(Frozen):
    """The newest entries first, of all that the fields allow."""

    limit: int = Field(default=50, ge=1, le=MAX_LISTED_ENTRIES)
    before: int | None = Field(default=None, ge=1)
    """Only entries older than this one."""
    actor: str | None = None
    resource: str | None = None
    """A part of the resource, such as the id of a job."""
