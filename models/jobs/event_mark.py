"""Define the mark of an entry in a job's log, which shows whether PostgreSQL still has the entry.

PostgreSQL that was restored from a backup can be behind Temporal: a workflow run has receipts of
work that PostgreSQL does not have. The number of an entry alone does not show that, because the
restored PostgreSQL gives the same number again. So each receipt carries the number and the time of
the job's newest entry, each order carries the newest mark of its run, and PostgreSQL refuses an
order whose mark it does not have (`StateBehind`). The run then begins again from PostgreSQL.
"""

from datetime import datetime

from holdfast.models.frozen_model import Frozen


class EventMark(Frozen):
    """The number of an entry in a job's log, and the time at which it was written."""

    number: int
    at: datetime


class Receipt(Frozen):
    """What an activity returns to the workflow."""

    seen: EventMark | None = None
    """The newest entry of the job's log when the receipt was written; None if unknown."""
