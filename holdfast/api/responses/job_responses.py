"""Make responses of jobs: submit, answer, follow and look."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from openai.types.responses import Response, ResponseOutputItem

from holdfast.api.event_feed import EventFeed
from holdfast.api.responses.progress_sentences import progress_sentence
from holdfast.api.responses.report_message import plain_text, report_text
from holdfast.api.responses.response_events import (
    Event,
    Outcome,
    ResponseEvents,
    question_call,
)
from holdfast.api.responses.response_objects import message_item, response_object
from holdfast.client import Holdfast
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.responses.stored_response import StoredResponse
from holdfast.models.views.job_views import EventView
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import Database
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans import task_queries
from holdfast.storage.questions import question_rows
from holdfast.storage.views import job_queries
from holdfast.storage.views.status_and_last_event import load_job_progress

_STATUS = {
    JobStatus.QUEUED: "queued",
    JobStatus.RUNNING: "in_progress",
    JobStatus.PAUSED: "in_progress",
    JobStatus.DONE: "completed",
    JobStatus.FAILED: "failed",
    JobStatus.CANCELLED: "cancelled",
}
_PAGE = 500


@dataclass
class JobResponse:
    """A response, which is read from its job's log."""

    holdfast: Holdfast
    stored: StoredResponse
    base_url: str
    """The address of this server, for the addresses of passages."""

    def __post_init__(self) -> None:
        self._events = ResponseEvents(self.stored, response_object(self.stored, "in_progress"))
        self._descriptions: dict[str, str] = {}

    async def events(self, following: EventFeed) -> AsyncIterator[Event]:
        """Yield the response's events as the job makes entries, up to the response's end.

        Raises:
            NotFound: the job was removed.
            StorageAway: PostgreSQL does not answer.
        """
        for event in self._events.begin():
            yield event
        seen = await load_job_progress(self.holdfast.db, self.stored.job_id)
        async for entry in following.entries(self.stored.job_id, self.stored.after, seen):
            if not isinstance(entry, EventView):
                return
            for event in await self._progress(entry):
                yield event
            if self._ends_with(entry):
                for event in self._events.end(await self._outcome(entry)):
                    yield event
                return

    async def look(self) -> Response:
        """The response as it is now.

        Raises:
            NotFound: the job was removed.
            StorageAway: PostgreSQL does not answer.
        """
        async for entry in _entries(self.holdfast.db, self.stored.job_id, self.stored.after):
            await self._progress(entry)
            if self._ends_with(entry):
                return (await self._outcome(entry)).response
        status = (await load_job_progress(self.holdfast.db, self.stored.job_id)).status
        # The job may have ended after the entries were read; its response then ends next time.
        state = "in_progress" if status.is_final else _STATUS[status]
        return response_object(self.stored, state, [self._events.reasoning])

    async def _progress(self, entry: EventView) -> list[Event]:
        is_new = entry.kind == EventKind.TASK_STARTED and entry.task not in self._descriptions
        if is_new:
            tasks = await task_queries.load_tasks(self.holdfast.db, self.stored.job_id)
            self._descriptions = {each.task.id: each.task.description for each in tasks}
        sentence = progress_sentence(entry, self._descriptions)
        return [] if sentence is None else list(self._events.progress(sentence))

    def _ends_with(self, entry: EventView) -> bool:
        asks = self.stored.request.asks and entry.kind == EventKind.QUESTION_ASKED
        return asks or entry.kind == EventKind.JOB_ENDED

    async def _outcome(self, entry: EventView) -> Outcome:
        if entry.kind == EventKind.QUESTION_ASKED:
            number = int(str(entry.facts["question"]))
            db, job_id = self.holdfast.db, self.stored.job_id
            call = question_call(await question_rows.load_question(db, job_id, number))
            return await self._ended("completed", call)
        status = _STATUS[JobStatus(str(entry.facts["status"]))]
        if status != "completed":
            said = str(entry.facts.get("message") or status)
            return await self._ended(status, None, said)
        report = await load_report(self.holdfast.db, self.stored.job_id)
        if report is None:
            reason = entry.facts.get("message") or entry.facts.get("reason")
            text = plain_text(f"The job ended without a report: {reason}")
        else:
            text = report_text(report, self.base_url)
        return await self._ended(status, message_item(self.stored, text))

    async def _ended(
        self, status: str, item: ResponseOutputItem | None, error: str = ""
    ) -> Outcome:
        spending = await job_queries.job_spending(self.holdfast.db, self.stored.job_id)
        output = [self._events.reasoning, *([item] if item else [])]
        is_failed = status == "failed"
        response = response_object(
            self.stored,
            status,
            output,
            error=error if is_failed else "",
            tokens=spending.tokens,
        )
        return Outcome(response, item)


async def question_entry(holdfast: Holdfast, job_id: str, question: int) -> int | None:
    """The number of the log's entry that asked the question; None if the job did not ask it."""
    await job_rows.load_job(holdfast.db, job_id)
    async for entry in _entries(holdfast.db, job_id, 0):
        is_asked = entry.kind == EventKind.QUESTION_ASKED
        if is_asked and entry.facts.get("question") == question:
            return entry.seq
    return None


async def _entries(db: Database, job_id: str, after: int) -> AsyncIterator[EventView]:
    """Yield the entries of the job's log after one of them, a page at a time."""
    while page := await job_queries.events_after(db, job_id, after, _PAGE):
        for entry in page:
            yield entry
        after = page[-1].seq
