"""Write a job to a bundle: its rows, its texts, its histories, and documents for people."""

import asyncio
import hashlib
import json
import zipfile
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import BaseModel, TypeAdapter

from holdfast.bundles.bundle_page import PageFacts, bundle_page
from holdfast.bundles.bundle_signature import sign_manifest
from holdfast.bundles.ro_crate import PLAN, CrateFacts, ro_crate
from holdfast.bundles.row_redaction import RowRedaction, texts_in
from holdfast.bundles.temporal_histories import exported_histories
from holdfast.client import Holdfast
from holdfast.configuration.known_secrets import known_secrets
from holdfast.configuration.price_settings import read_prices
from holdfast.models.bundles.bundle_manifest import (
    CRATE,
    MANIFEST,
    PAGE,
    SIGNATURE,
    BundleFile,
    BundleManifest,
    Redaction,
)
from holdfast.models.calls.tool_figures import FIGURE_EXTENSIONS, ReportFigure
from holdfast.models.errors import BadInput
from holdfast.models.evidence.evidence import Report
from holdfast.models.jobs.job_record import Job
from holdfast.models.plans.kpi_chain_format import memory_document, to_listing
from holdfast.models.questions.user_questions import AnswerOrigin, QuestionKind, UserQuestion
from holdfast.models.tasks.stored_task import plan_of
from holdfast.models.text.secret_mask import SecretMask
from holdfast.reports.markdown_and_json_rendering import to_json, to_markdown
from holdfast.storage.core.schema_migration import newest_schema_version
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.jobs import job_rows
from holdfast.storage.jobs.exported_tables import EXPORTED_TABLES
from holdfast.storage.jobs.job_export import open_job_snapshot
from holdfast.storage.ledger.job_recovery_rows import recoveries_of
from holdfast.storage.plans import plan_change_rows, task_queries
from holdfast.storage.questions.question_rows import questions_of
from holdfast.storage.views import job_queries
from holdfast.storage.views.idle_spans import load_idle_spans
from holdfast.storage.views.job_stage_queries import load_job_stages
from holdfast.tools.mcp.server_config import read_servers

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_ROW: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])
Rows = list[dict[str, Any]]
ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass
class _Archive:
    """The archive that is being written, with what its manifest will say."""

    archive: zipfile.ZipFile
    at: datetime
    files: dict[str, BundleFile] = field(default_factory=dict)

    async def add(self, path: str, content: bytes) -> None:
        """Write a file; one whose name is its hash is written once.

        Compressing takes long and happens in a thread, so that a server answers others meanwhile.
        """
        if path in self.files:
            return
        digest = hashlib.sha256(content).hexdigest()
        self.files[path] = BundleFile(path=path, size_bytes=len(content), sha256=digest)
        await asyncio.to_thread(self.add_unlisted, path, content)

    def add_unlisted(self, path: str, content: bytes) -> None:
        entry = zipfile.ZipInfo(path, self.at.timetuple()[:6])
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        self.archive.writestr(entry, content)


async def write_bundle(
    holdfast: Holdfast,
    job_id: str,
    out: IO[bytes],
    *,
    redacted: Iterable[Redaction] = (),
    key: "Ed25519PrivateKey | None" = None,
) -> BundleManifest:
    """Write the ended job to a bundle; with a key, the bundle is signed.

    Raises:
        NotFound: there is no such job.
        BadInput: the job has not ended.
        StorageAway: PostgreSQL does not answer.
    """
    job = await job_rows.load_job(holdfast.db, job_id)
    if not job.status.is_final:
        raise BadInput(
            f"job {job_id} is {job.status.value}; a bundle has a job that has ended; "
            f"`holdfast wait {job_id}` shows when it has"
        )
    redaction = await _redaction(holdfast, job, redacted)
    left_out = tuple(sorted(redaction.redacted))
    histories, missing = await exported_histories(holdfast, job_id, redaction)
    now = datetime.now(UTC)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        writing = _Archive(archive, now)
        rows = await _write_rows(holdfast, job_id, writing, redaction)
        for run_id, history in histories.items():
            await writing.add(f"history/{run_id}.json", history.encode())
        await _write_documents(holdfast, job, writing, redaction, rows, missing)
        manifest = BundleManifest(
            release=version("holdfast"),
            schema_revision=newest_schema_version(),
            job_id=job_id,
            exported_at=now,
            redacted=left_out,
            missing=missing,
            files=tuple(sorted(writing.files.values(), key=lambda each: each.path)),
        )
        content = manifest.model_dump_json(indent=1).encode()
        writing.add_unlisted(MANIFEST, content)
        if key is not None:
            signature = sign_manifest(content, key)
            writing.add_unlisted(SIGNATURE, signature.model_dump_json(indent=1).encode())
    return manifest


async def _redaction(holdfast: Holdfast, job: Job, redacted: Iterable[Redaction]) -> RowRedaction:
    settings = holdfast.settings
    servers = read_servers(settings.config_file) if settings.config_file else {}
    mask = SecretMask(known_secrets(settings, holdfast.endpoints.database_url, servers))
    earlier = job.request.follow_up.earlier if job.request.follow_up else ()
    questions = [job.request.question, *(each.question for each in earlier)]
    asked = await questions_of(holdfast.db, job.id)
    async with open_job_snapshot(holdfast.db, job.id) as snapshot:
        guidance = [row["text"] for row in await snapshot.rows("guidance")]
        told = [*(each.text for each in asked), *map(_free_text, asked), *guidance]
        mask_of_words = mask.of_content(job.request.question)
        redaction = RowRedaction.of(redacted, mask_of_words, questions, told)
        if Redaction.SOURCES not in redaction.redacted:
            return redaction
        sources = await snapshot.rows("sources")
        answers = [row["response"] or "" for row in await snapshot.rows("tool_calls")]
    return await asyncio.to_thread(_without_sources, redaction, sources, answers, questions)


def _without_sources(
    redaction: RowRedaction, sources: Rows, answers: Iterable[str], questions: Iterable[str]
) -> RowRedaction:
    """Return the redaction that takes out what was read, whether evidence quotes it or not."""
    read = (*(row["text"] for row in sources), *chain.from_iterable(map(texts_in, answers)))
    # Answers name their sources, whose titles stay.
    titles = (row[name] for row in sources for name in ("title", "heading"))
    return redaction.without_passages(read, (*questions, *titles))


def _free_text(question: UserQuestion) -> str:
    """Return what a person answered in words; a choice or an edited plan is no such text."""
    is_theirs = question.origin is AnswerOrigin.USER and question.kind is not QuestionKind.APPROVAL
    return question.answer or "" if is_theirs and question.answer not in question.choices else ""


async def _write_rows(
    holdfast: Holdfast, job_id: str, writing: _Archive, redaction: RowRedaction
) -> Mapping[str, Rows]:
    """Write a file of rows for each table; return the rows that the page shows."""
    kept: dict[str, Rows] = {}
    async with open_job_snapshot(holdfast.db, job_id) as snapshot:
        for name in EXPORTED_TABLES:
            left_out = name == "figures" and redaction.leaves_figures_out
            stored = [] if left_out else await snapshot.rows(name)
            # In a thread: to find what is left out takes long, and a server has others to answer.
            rows = await asyncio.to_thread(_redacted_rows, name, stored, redaction)
            lines = [_ROW.dump_json(await _with_file(name, row, writing)) for row in rows]
            await writing.add(f"data/{name}.jsonl", b"".join(line + b"\n" for line in lines))
            if name in ("evidence", "sources", "figures"):
                kept[name] = rows
    return kept


def _redacted_rows(name: str, stored: Rows, redaction: RowRedaction) -> Rows:
    return [redaction.row(name, row) for row in stored]


async def _with_file(table_name: str, row: dict[str, Any], writing: _Archive) -> dict[str, Any]:
    """Return the row without the text or bytes that have a file of their own, named by its hash."""
    if table_name == "figures":
        await writing.add(_figure_path(row), row["data"])
        return {name: value for name, value in row.items() if name != "data"}
    if table_name == "sources" and row["text"]:
        content = row["text"].encode()
        if hashlib.sha256(content).hexdigest() == row["sha256"]:
            await writing.add(f"sources/{row['sha256']}.txt", content)
            return {name: value for name, value in row.items() if name != "text"}
    return row


def _figure_path(row: Mapping[str, Any]) -> str:
    return f"figures/{row['sha256']}{FIGURE_EXTENSIONS[row['media_type']]}"


async def _write_documents(
    holdfast: Holdfast,
    job: Job,
    writing: _Archive,
    redaction: RowRedaction,
    rows: Mapping[str, Rows],
    missing: tuple[str, ...],
) -> None:
    """Write what people and other programs read; all of it follows from the rows."""
    db = holdfast.db
    job = _redacted(job, redaction)
    report = await load_report(db, job.id)
    if report is not None:
        currency = read_prices(holdfast.settings.config_file).currency
        report = report.with_stages(await load_job_stages(db, job), currency)
        report = _redacted(report, redaction)
        await writing.add("report.json", _json(to_json(report)))
        await writing.add("report.md", to_markdown(report).encode())
    stored = [_redacted(each, redaction) for each in await task_queries.load_tasks(db, job.id)]
    plan = plan_of(stored)
    await writing.add(PLAN, _yaml([to_listing(task) for task in plan.tasks]))
    await writing.add("memory.json", _json(dict(memory_document(plan))))
    strategy = job.request.strategy.model_dump(mode="json")
    await writing.add(
        "configuration.json",
        _json(
            {
                "preset": job.request.preset,
                "model": job.request.model,
                "strategy": strategy,
                "config_hash": job.config_hash,
            }
        ),
    )
    changes = await plan_change_rows.load_plan_changes(db, job.id)
    facts = PageFacts(
        job=job,
        changes=[_redacted(each, redaction) for each in changes],
        tasks=stored,
        calls=[_redacted(each, redaction) for each in await job_queries.job_calls(db, job.id)],
        recoveries=await recoveries_of(db, job.id),
        idle=(await load_idle_spans(db, [job])).get(job.id, ()),
        evidence={row["id"]: row for row in rows["evidence"]},
        sources={row["id"]: row for row in rows["sources"]},
        release=version("holdfast"),
        redacted=tuple(sorted(redaction.redacted)),
        missing=missing,
    )
    shown = report or _report_of_its_end(job)
    await writing.add(PAGE, bundle_page(shown, facts, _embedded(rows["figures"])).encode())
    crate = CrateFacts(job, report, stored, version("holdfast"), writing.at)
    await writing.add(CRATE, _json(ro_crate(crate, writing.files.values())))


def _report_of_its_end(job: Job) -> Report:
    """Return what the page shows of a job that delivered no report."""
    why = job.stop_reason.value if job.stop_reason else job.status.value
    gap = f"The job delivered no report ({why}). {job.message}".strip()
    return Report(question=job.request.question, answer=job.answer, gaps=(gap,), job_id=job.id)


def _embedded(figures: Rows) -> Any:  # noqa: ANN401 - a FigureAddress
    by_hash = {row["sha256"]: row for row in figures}

    def address(figure: ReportFigure) -> str | None:
        if figure.image is None or figure.image.sha256 not in by_hash:
            return None
        row = by_hash[figure.image.sha256]
        return f"data:{row['media_type']};base64,{b64encode(row['data']).decode()}"

    return address


def _redacted(model: ModelT, redaction: RowRedaction) -> ModelT:
    return type(model).model_validate(redaction.value(model.model_dump(mode="json")))


def _yaml(content: Sequence[Mapping[str, Any]]) -> bytes:
    text: str = yaml.safe_dump({"tasks": [*content]}, allow_unicode=True, sort_keys=False)
    return text.encode()


def _json(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=1).encode()
