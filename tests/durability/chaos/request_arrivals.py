"""Record the requests that reach the model endpoint and the tool server, for comparison with the
call ledger."""

import hashlib
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from holdfast.models.wire.role_names import RoleName

LOOP_ROLE = RoleName.LOOP_AGENT.value
_MARK = re.compile(r"\[job (\w+)\] ?")


def job_mark(job: str) -> str:
    """What stands in every request of a job, so that it is known by it."""
    return f"[job {job}]"


def without_job_mark(text: str) -> str:
    """The text as any job of the same shape has it."""
    return _MARK.sub("", text)


@dataclass(frozen=True)
class RequestContent:
    """A request as both sides know it: who is asked, and a hash of what.

    It is taken from what was sent and from the ledger's own copy, not from the ledger's hash.
    """

    job: str
    asked: str
    """The model's role, or `tool`."""
    sha256: str

    @classmethod
    def of_model(cls, role: str, turns: Sequence[dict[str, str]]) -> "RequestContent":
        """All turns but the system's, to which the schema is added on the way.

        A loop's results go out in another form than the ledger has them, so a turn of a loop is
        known by its first message and the number of replies before it.
        """
        if role == LOOP_ROLE:
            first = next(turn["content"] for turn in turns if turn["role"] == "user")
            replies = sum(turn["role"] == "assistant" for turn in turns)
            return cls._of(role, f"{first}\n{replies} replies")
        said = [f"{turn['role']}: {turn['content']}" for turn in turns if turn["role"] != "system"]
        return cls._of(role, "\n".join(said))

    @classmethod
    def of_tool(cls, key: str) -> "RequestContent":
        return cls._of("tool", key)

    @classmethod
    def _of(cls, asked: str, text: str) -> "RequestContent":
        found = _MARK.search(text)
        assert found, f"a request to {asked} belongs to no job: {text[:200]}"
        return cls(found.group(1), asked, hashlib.sha256(text.encode()).hexdigest())


@dataclass
class RequestArrivals:
    """When each request came in, by the clock that PostgreSQL reads as well."""

    _times: dict[RequestContent, list[datetime]] = field(default_factory=lambda: defaultdict(list))
    _counts: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, content: RequestContent) -> None:
        with self._lock:
            self._times[content].append(datetime.now(UTC))
            self._counts[content.job] += 1

    def count(self, jobs: Collection[str]) -> int:
        """How many requests of these jobs have come in so far."""
        with self._lock:
            return sum(self._counts[job] for job in jobs)

    def of(self, job: str) -> dict[RequestContent, list[datetime]]:
        """The requests of one job, each with the times at which it came in."""
        with self._lock:
            return {what: list(when) for what, when in self._times.items() if what.job == job}
