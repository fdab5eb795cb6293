"""Read the cited sources of a report again and store whether each quote has changed.

The recheck runs in the command's process and not in a workflow: it must not wait for a worker, and
an interruption loses nothing, because each result is stored at once and a repetition is safe.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby
from typing import Any

from pydantic import computed_field

from holdfast.client import Holdfast
from holdfast.configuration.builtin_tool_servers import open_builtin_servers
from holdfast.corpus.folder_rereading import FolderReading, read_folders_again
from holdfast.corpus.missing_documents import missing_documents_note
from holdfast.evidence.report_provenance import find_fetch_call
from holdfast.jobs.job_lookup import report_of
from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.errors import DocumentGone, HoldfastError, ToolBusy
from holdfast.models.evidence.evidence import Citation
from holdfast.models.evidence.source_checks import SourceCheck, SourceDrift
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_record import Job
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.text.quote_comparison import find_quote_drift
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.evidence import source_queries
from holdfast.storage.evidence.source_check_rows import keep_source_checks
from holdfast.storage.jobs import job_rows
from holdfast.tools.mcp.answers.answer_passages import without_server_prefix
from holdfast.tools.mcp.server_config import read_servers
from holdfast.tools.mcp.tool_hub import Hub

_CORPUS = "corpus"
"""The server of the documents of collections."""
_CONCURRENT_CALLS = 4
"""Concurrent calls to one server; calls to other servers do not wait for them."""
_CALL_TIMEOUT = timedelta(minutes=1)


class CitationCheck(SourceCheck):
    """The result of rechecking the citation of one mark."""

    mark: int
    address: str
    quote: str


class RecheckResult(Frozen):
    """`holdfast recheck JOB`."""

    job_id: str
    checks: tuple[CitationCheck, ...]
    folders: tuple[FolderReading, ...] = ()
    """The folders of the job's documents, which were read again before."""

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own pattern
    @property
    def counts(self) -> dict[str, int]:
        seen = Counter(each.verdict.value for each in self.checks)
        return {verdict.value: seen[verdict.value] for verdict in SourceDrift}

    @property
    def is_unchanged(self) -> bool:
        return all(each.verdict is SourceDrift.UNCHANGED for each in self.checks)


class DocumentRecheck(RecheckResult):
    """`holdfast recheck report.docx`: the quotes of a document, and their sources."""

    altered: tuple[int, ...] = ()
    """The marks whose quote in the document is not the one of the report."""

    @property
    def is_unchanged(self) -> bool:
        return not self.altered and super().is_unchanged


@dataclass(frozen=True)
class _RecordedCitation:
    """A citation with its tool and the arguments of the call, if known."""

    citation: Citation
    tool: str
    arguments: dict[str, Any] | None


@dataclass(frozen=True)
class _RereadCall:
    """One call that reads a source again."""

    tool: str
    arguments: dict[str, Any]
    by_address: bool
    """True if the call reads a document by its address; False if it repeats the earlier call."""


@dataclass
class _ServerReader:
    """Reads sources from one server: a few calls at once, and none after the server fails."""

    hub: Hub
    job: Job
    call_slots: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(_CONCURRENT_CALLS)
    )
    away: str = ""

    async def read(self, reading: _RereadCall) -> tuple[SourcePassage, ...] | SourceCheck:
        """Return the passages, or a check with the reason why there are none."""
        async with self.call_slots:
            if self.away:
                return _source_check(SourceDrift.UNREADABLE, self.away)
            within = min(self.job.request.strategy.tool_timeout, _CALL_TIMEOUT)
            # The whole current document, not a cached copy or its first part.
            facts = {"collection": self.job.request.collection, "fresh": "yes"}
            try:
                answer = await self.hub.call(
                    reading.tool, reading.arguments, timeout=within, facts=facts
                )
            except DocumentGone as error:
                return _source_check(SourceDrift.GONE, str(error))
            except ToolBusy as error:
                self.away = str(error)
                return _source_check(SourceDrift.UNREADABLE, str(error))
            except HoldfastError as error:
                return _source_check(SourceDrift.UNREADABLE, str(error))
        return answer.passages


async def recheck_job(holdfast: Holdfast, job_id: str, *, by: str) -> RecheckResult:
    """Read the job's cited sources again with the installation's tool servers.

    Documents of a folder are read again from the folder, where it is still there.

    Raises:
        NotFound: there is no such job, or the job has no report.
        BadConfiguration: `holdfast.toml` has a fault.
    """
    settings = holdfast.settings
    servers = read_servers(settings.config_file) if settings.config_file else {}
    job = await job_rows.load_job(holdfast.db, job_id)
    await report_of(holdfast, job_id)  # a job without a report reads nothing
    folders = await read_folders_again(settings, holdfast.db, job.request.collection)
    async with (
        open_builtin_servers(settings, CorpusStore(holdfast.db)) as builtin,
        Hub(servers, builtin) as hub,
    ):
        result = await recheck_sources(holdfast, hub, job_id, by=by)
    return result.model_copy(update={"folders": folders})


async def recheck_sources(holdfast: Holdfast, hub: Hub, job_id: str, *, by: str) -> RecheckResult:
    """Read the cited sources of the job's report again, and store the results.

    Report and evidence do not change: a person decides whether to retract evidence.

    Raises:
        NotFound: there is no such job, or the job has no report.
    """
    db = holdfast.db
    job = await job_rows.load_job(db, job_id)
    report = await report_of(holdfast, job_id)
    known = await source_queries.load_cited_evidence(
        db, job_id, [each.evidence_id for each in report.citations]
    )
    cited = []
    for each in report.citations:
        call = (await find_fetch_call(db, job_id, known[each.evidence_id])).call
        tool = each.tool or (call.name if call else "")
        cited.append(_RecordedCitation(each, tool, call.arguments if call else None))
    groups = _by_server(cited)
    found = await asyncio.gather(
        *(_check_server_citations(db, hub, job, group) for group in groups)
    )
    checks = sorted((each for group in found for each in group), key=lambda each: each.mark)
    result = RecheckResult(job_id=job_id, checks=tuple(checks))
    async with db.job(job_id) as write:
        write.event(EventKind.SOURCES_RECHECKED, by=by, found=dict(result.counts))
    return result


def _by_server(cited: Sequence[_RecordedCitation]) -> list[list[_RecordedCitation]]:
    ordered = sorted(cited, key=_server_name)
    return [list(group) for _, group in groupby(ordered, key=_server_name)]


def _server_name(cited: _RecordedCitation) -> str:
    return cited.tool.partition(".")[0]


async def _check_server_citations(
    db: Database, hub: Hub, job: Job, group: Sequence[_RecordedCitation]
) -> list[CitationCheck]:
    is_corpus = _server_name(group[0]) == _CORPUS
    away = await missing_documents_note(db, job, read_documents=True) if is_corpus else ""
    server = _ServerReader(hub, job, away=away)
    plans = [(each, await _reread_call(hub, each)) for each in group]
    refused = [_citation_check(each, plan) for each, plan in plans if isinstance(plan, SourceCheck)]
    await keep_source_checks(db, refused)
    readings: dict[str, tuple[_RereadCall, list[_RecordedCitation]]] = {}
    for each, plan in plans:
        if isinstance(plan, _RereadCall):
            key = json.dumps([plan.tool, plan.arguments], sort_keys=True)
            readings.setdefault(key, (plan, []))[1].append(each)

    async def check(reading: _RereadCall, those: list[_RecordedCitation]) -> list[CitationCheck]:
        passages = await server.read(reading)
        checks = [_compare_citation(each, reading, passages) for each in those]
        await keep_source_checks(db, checks)
        return checks

    found = await asyncio.gather(*(check(*each) for each in readings.values()))
    return [*refused, *(each for checks in found for each in checks)]


async def _reread_call(hub: Hub, cited: _RecordedCitation) -> _RereadCall | SourceCheck:
    """Return the call that reads a citation's source again, or a check with the reason."""
    if not cited.tool:
        return _source_check(SourceDrift.UNREADABLE, "it is not recorded which tool gave it")
    try:
        how = await hub.find_reread_method(cited.tool)
    except HoldfastError as error:
        return _source_check(SourceDrift.UNREADABLE, str(error))
    address = cited.citation.address
    if how.reader and cited.citation.is_document:
        asked = {how.parameter: without_server_prefix(address, cited.citation.via)}
        return _RereadCall(how.reader, asked, by_address=True)
    if how.is_repeatable and cited.arguments is not None:
        return _RereadCall(cited.tool, cited.arguments, by_address=False)
    return _source_check(
        SourceDrift.UNREADABLE,
        f"it cannot be read again: {cited.tool} is not declared safe to repeat, and its server "
        "declares no tool that reads at an address",
    )


def _compare_citation(
    cited: _RecordedCitation, reading: _RereadCall, read: tuple[SourcePassage, ...] | SourceCheck
) -> CitationCheck:
    if isinstance(read, SourceCheck):
        return _citation_check(cited, read)
    citation = cited.citation
    # A reader may follow a redirect; a search may return passages of other addresses.
    document = [p for p in read if reading.by_address or p.address == citation.address]
    verdict, note, nearest_text = find_quote_drift(citation.quote, citation.start, document)
    if not document and not reading.by_address:
        note = "the call that gave it gives nothing of this address any more"
    return _citation_check(
        cited, SourceCheck(evidence_id=0, verdict=verdict, note=note, nearest_text=nearest_text)
    )


def _citation_check(cited: _RecordedCitation, found: SourceCheck) -> CitationCheck:
    citation = cited.citation
    told = found.model_dump() | {"evidence_id": citation.evidence_id}
    return CitationCheck(**told, mark=citation.mark, address=citation.address, quote=citation.quote)


def _source_check(verdict: SourceDrift, note: str) -> SourceCheck:
    """Return a check that belongs to no evidence yet."""
    return SourceCheck(evidence_id=0, verdict=verdict, note=note[:1000])
