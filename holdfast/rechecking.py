"""Reading the cited sources of a report again; what became of the words is stored, never mended.

A process of its own, and no workflow: nothing is lost when it is cut off, since what was looked at
is stored at once and looking again is safe; and it must not wait for a worker.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby
from typing import Any

from holdfast.client import Holdfast
from holdfast.provenance import fetched
from holdfast.reading import report_of
from models.base import Frozen
from models.checks import Drift, SourceCheck
from models.errors import DocumentGone, HoldfastError, ToolBusy
from models.evidence import Citation
from models.jobs import Job
from models.tools import ReadPassage
from planning.rereading import compared
from storage import jobs, sources
from storage.checks import keep_checks
from storage.database import Database
from tools.hub import Hub
from tools.told import own_address

RECHECKED = "sources.rechecked"
"""The event of a look at a job's sources; its facts count what was found."""
_AT_ONCE = 4
"""Calls at once to one server: what belongs to other servers waits for none of them."""
_WITHIN = timedelta(minutes=1)
_PLAIN = "tool:"
"""How an address begins that we gave to an answer without one: nothing can be asked for by it."""


class CitationCheck(SourceCheck):
    """What became of what one mark cites."""

    mark: int
    address: str
    quote: str


class Recheck(Frozen):
    """`holdfast recheck JOB`."""

    job_id: str
    checks: tuple[CitationCheck, ...]

    @property
    def counts(self) -> dict[str, int]:
        seen = Counter(each.verdict.value for each in self.checks)
        return {verdict.value: seen[verdict.value] for verdict in Drift}

    @property
    def is_unchanged(self) -> bool:
        return all(each.verdict is Drift.UNCHANGED for each in self.checks)


@dataclass(frozen=True)
class _Cited:
    """A citation with the tool that gave it and the arguments it was called with, if known."""

    citation: Citation
    tool: str
    arguments: dict[str, Any] | None


@dataclass(frozen=True)
class _Reading:
    """One call that reads something again."""

    tool: str
    arguments: dict[str, Any]
    by_address: bool
    """Whether it gives a document; else it is the call that was made before."""


@dataclass
class _Server:
    """What is read again from one server: a few calls at once, and none once it is away."""

    hub: Hub
    job: Job
    seats: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))
    away: str = ""

    async def read(self, reading: _Reading) -> tuple[ReadPassage, ...] | SourceCheck:
        """The passages; or, for any piece of evidence, why there are none."""
        async with self.seats:
            if self.away:
                return _check(Drift.UNREADABLE, self.away)
            within = min(self.job.request.strategy.tool_timeout, _WITHIN)
            # As it is now, and whole: not as a server remembers it, nor its first part.
            facts = {"collection": self.job.request.collection, "fresh": "yes"}
            try:
                answer = await self.hub.call(
                    reading.tool, reading.arguments, timeout=within, facts=facts
                )
            except DocumentGone as error:
                return _check(Drift.GONE, str(error))
            except ToolBusy as error:
                self.away = str(error)
                return _check(Drift.UNREADABLE, str(error))
            except HoldfastError as error:
                return _check(Drift.UNREADABLE, str(error))
        return answer.passages


async def recheck(holdfast: Holdfast, hub: Hub, job_id: str, *, by: str) -> Recheck:
    """Read again what the report of the job cites, and store what became of it.

    Report and evidence stay as they are: to take back what does not hold is for a person.

    Raises:
        NotFound: there is no such job, or no report of it.
    """
    db = holdfast.db
    job = await jobs.load(db, job_id)
    report = await report_of(holdfast, job_id)
    known = await sources.cited(db, job_id, [each.evidence_id for each in report.citations])
    cited = []
    for each in report.citations:
        call = (await fetched(db, job_id, known[each.evidence_id])).call
        tool = each.tool or (call.name if call else "")
        cited.append(_Cited(each, tool, call.arguments if call else None))
    groups = _by_server(cited)
    found = await asyncio.gather(*(_of_server(db, hub, job, group) for group in groups))
    checks = sorted((each for group in found for each in group), key=lambda each: each.mark)
    result = Recheck(job_id=job_id, checks=tuple(checks))
    async with db.job(job_id) as write:
        write.event(RECHECKED, by=by, found=dict(result.counts))
    return result


def _by_server(cited: Sequence[_Cited]) -> list[list[_Cited]]:
    ordered = sorted(cited, key=_server_name)
    return [list(group) for _, group in groupby(ordered, key=_server_name)]


def _server_name(cited: _Cited) -> str:
    return cited.tool.partition(".")[0]


async def _of_server(
    db: Database, hub: Hub, job: Job, group: Sequence[_Cited]
) -> list[CitationCheck]:
    server = _Server(hub, job)
    plans = [(each, await _reading(hub, each)) for each in group]
    refused = [_of(each, plan) for each, plan in plans if isinstance(plan, SourceCheck)]
    await keep_checks(db, refused)
    readings: dict[str, tuple[_Reading, list[_Cited]]] = {}
    for each, plan in plans:
        if isinstance(plan, _Reading):
            key = json.dumps([plan.tool, plan.arguments], sort_keys=True)
            readings.setdefault(key, (plan, []))[1].append(each)

    async def check(reading: _Reading, those: list[_Cited]) -> list[CitationCheck]:
        passages = await server.read(reading)
        checks = [_compared(each, reading, passages) for each in those]
        await keep_checks(db, checks)
        return checks

    found = await asyncio.gather(*(check(*each) for each in readings.values()))
    return [*refused, *(each for checks in found for each in checks)]


async def _reading(hub: Hub, cited: _Cited) -> _Reading | SourceCheck:
    """The call that reads a citation's source again, or why there is none."""
    if not cited.tool:
        return _check(Drift.UNREADABLE, "it is not recorded which tool gave it")
    try:
        how = await hub.rereading(cited.tool)
    except HoldfastError as error:
        return _check(Drift.UNREADABLE, str(error))
    address = cited.citation.address
    if how.reader and not address.startswith(_PLAIN):
        asked = {how.parameter: own_address(address, cited.citation.via)}
        return _Reading(how.reader, asked, by_address=True)
    if how.is_repeatable and cited.arguments is not None:
        return _Reading(cited.tool, cited.arguments, by_address=False)
    return _check(
        Drift.UNREADABLE,
        f"it cannot be read again: {cited.tool} is not declared safe to repeat, and its server "
        "declares no tool that reads at an address",
    )


def _compared(
    cited: _Cited, reading: _Reading, read: tuple[ReadPassage, ...] | SourceCheck
) -> CitationCheck:
    if isinstance(read, SourceCheck):
        return _of(cited, read)
    citation = cited.citation
    # A reader may have been led to another address; what a search gives may be of others.
    document = [p for p in read if reading.by_address or p.address == citation.address]
    verdict, note, nearest = compared(citation.quote, citation.start, document)
    if not document and not reading.by_address:
        note = "the call that gave it gives nothing of this address any more"
    return _of(cited, SourceCheck(evidence_id=0, verdict=verdict, note=note, nearest=nearest))


def _of(cited: _Cited, found: SourceCheck) -> CitationCheck:
    citation = cited.citation
    told = found.model_dump() | {"evidence_id": citation.evidence_id}
    return CitationCheck(**told, mark=citation.mark, address=citation.address, quote=citation.quote)


def _check(verdict: Drift, note: str) -> SourceCheck:
    """A finding that is nobody's yet."""
    return SourceCheck(evidence_id=0, verdict=verdict, note=note[:1000])
