"""Define quotas: what an owner or a key may spend on models in a day."""

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from holdfast.models.frozen_model import Frozen

_MOST = 10**15


class QuotaHolder(StrEnum):
    """Whose calls a quota counts."""

    OWNER = "owner"
    KEY = "key"


class QuotaLimits(Frozen):
    """The most of a day, which begins at midnight UTC; None: no limit."""

    calls: Annotated[int | None, Field(ge=0, le=_MOST, strict=True)] = None
    """Calls of models; the built-in model is not counted."""
    tokens: Annotated[int | None, Field(ge=0, le=_MOST, strict=True)] = None
    """Tokens of requests and answers together."""
    cost: Annotated[Decimal | None, Field(ge=0, le=_MOST)] = None
    """Money at the prices of `holdfast.toml`; a model without a price is not called."""


class Quota(QuotaLimits):
    """A quota, and how much of it is used today."""

    kind: QuotaHolder
    subject: str
    """The name of the owner, or the id of the key."""
    set_by: str
    set_at: datetime
    used_calls: int
    used_tokens: int
    """With the expected tokens of calls that are under way."""
    used_cost: Decimal
