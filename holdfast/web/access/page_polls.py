"""Tell what an open page asks for by itself from what its user asks for, and audit it less often.

A page that follows a job asks up to twice a second for the newest entries of the log. Such polls
have a limit of their own, so that an open tab does not use up the requests of its user's key, and
the audit names a page that stays open once an hour.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

from starlette.requests import Request

from holdfast.api.access.callers import Caller

POLL_HEADER = "Holdfast-Poll"
"""The page's script sends it. A caller that lies gets another limit, and an entry an hour."""
_FOLLOWING = frozenset({"follow_job", "show_newest_entries"})
"""Routes that only the page's script asks for; a stream of events cannot send a header."""
_JOB_PAGE = _FOLLOWING | {"show_progress"}
"""What the page of a job asks for: one entry is enough for all of them."""
_AGAIN_AFTER_S = timedelta(hours=1).total_seconds()


def is_poll(request: Request) -> bool:
    """True if a page that is open already asks for what is new."""
    is_following = request.scope["route"].name in _FOLLOWING
    return request.method == "GET" and (is_following or POLL_HEADER in request.headers)


def limited_name(request: Request, key_id: str) -> str:
    """The name under which the request counts against the limit of requests in a minute."""
    return f"{key_id} polls" if is_poll(request) else key_id


def _page(request: Request) -> str:
    """The page that the request belongs to: a report is another one than the page of its job."""
    if request.scope["route"].name in _JOB_PAGE:
        return f"job {request.path_params['job']}"
    return request.url.path


@dataclass
class PollAudit:
    """Leave a poll out of the audit that names its page and reader within the last hour."""

    clock: Callable[[], float] = time.monotonic
    _entered: dict[tuple[str, str], float] = field(default_factory=dict)

    async def record(
        self, request: Request, caller: Caller, append: Callable[[], Awaitable[None]]
    ) -> None:
        """Append the entry of the request, unless it is such a poll.

        `append` decides whether the request belongs into the audit at all.
        """
        page = (caller.key_id or caller.name, _page(request))
        now = self.clock()
        if is_poll(request) and now - self._entered.get(page, -_AGAIN_AFTER_S) < _AGAIN_AFTER_S:
            return
        await append()
        # Not before: a request whose entry cannot be stored is refused, and so is the next.
        if request.method == "GET" and hasattr(request.state, "audited"):
            since = now - _AGAIN_AFTER_S
            self._entered = {each: at for each, at in self._entered.items() if at > since}
            self._entered[page] = now
