"""Run the job of a bundle again over its recorded answers, and compare what both claim."""

import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from pydantic import JsonValue

from holdfast.bundles.bundle_check import check_bundle
from holdfast.bundles.bundle_import import import_bundle
from holdfast.client import Holdfast
from holdfast.models.budget.token_prices import Money
from holdfast.models.bundles.bundle_manifest import Redaction
from holdfast.models.errors import BadInput
from holdfast.models.evidence.evidence import Report
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_fork import Fork, ForkCause
from holdfast.models.jobs.job_record import Job, JobRequest
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.strategies.strategy_presets import with_settings
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.jobs import job_rows
from holdfast.storage.views import job_queries


class ReplayChanges(Frozen):
    """What a replay changes."""

    settings: Mapping[str, JsonValue] = {}
    model: str | None = None
    is_live: bool = False
    """True if calls without a recording are sent."""

    @property
    def in_words(self) -> tuple[str, ...]:
        lines = [f"{name} = {value}" for name, value in self.settings.items()]
        return (*lines, *([f"model = {self.model}"] if self.model else ()))


class ReplayedBundle(Frozen):
    """A job of a bundle, and the job that ran again."""

    bundle: str
    origin: str
    """The imported job."""
    job_id: str
    """The job that ran again."""
    status: str
    message: str
    answer_before: str | None
    answer_now: str | None
    claims_gone: tuple[str, ...]
    claims_new: tuple[str, ...]
    calls_before: int
    calls_now: int
    calls_sent: int
    """The calls of the new job that no recording answered."""
    cost_before: Money | None
    cost_now: Money | None
    is_same: bool
    """True if the job ended as it did then, with the same answer and claims."""
    took_s: float = 0.0
    """The seconds that the replay of the bundle took, whatever came of it."""

    @property
    def is_refused(self) -> bool:
        """True if the bundle was refused, or the job did not end: nothing can be compared."""
        return not self.job_id

    @classmethod
    def refused(cls, bundle: str, reason: str) -> "ReplayedBundle":
        """Return what is said of a bundle that was not replayed, or whose job did not end."""
        return cls(
            bundle=bundle,
            origin="",
            job_id="",
            status="not replayed",
            message=reason,
            answer_before=None,
            answer_now=None,
            claims_gone=(),
            claims_new=(),
            calls_before=0,
            calls_now=0,
            calls_sent=0,
            cost_before=None,
            cost_now=None,
            is_same=False,
        )


async def replay_bundles(
    holdfast: Holdfast, paths: Sequence[Path], changes: ReplayChanges, within: timedelta
) -> list[ReplayedBundle]:
    """Replay the bundles one after the other; a refused one does not hide what others became.

    Raises:
        ServiceDown: Temporal does not answer.
    """
    results = list[ReplayedBundle]()
    for path in paths:
        began = time.monotonic()
        try:
            result = await replay_bundle(holdfast, path, changes, within)
        except BadInput as error:
            result = ReplayedBundle.refused(path.name, str(error))
        took_s = round(time.monotonic() - began, 3)
        results.append(result.model_copy(update={"took_s": took_s}))
    return results


async def replay_bundle(
    holdfast: Holdfast, path: Path, changes: ReplayChanges, within: timedelta
) -> ReplayedBundle:
    """Import the bundle if it is not here, and run its job again.

    Raises:
        BadInput: the bundle is refused, or lacks what a replay needs, or a setting is unknown.
        ServiceDown: Temporal does not answer.
    """
    check = check_bundle(path)
    if lacking := {Redaction.PROMPTS, Redaction.QUESTIONS} & set(check.redacted):
        raise BadInput(f"the bundle is without {min(lacking)}, so nothing can be replayed")
    imported = await import_bundle(holdfast, path, new_id=f"replay-{check.sha256[:12]}")
    before = await job_rows.load_job(holdfast.db, imported.job_id)
    request = _request(before, changes)

    async def begin(write: JobTransaction) -> None:
        write.event(EventKind.JOB_FORKED, job=before.id, by="replay", changes=[*changes.in_words])

    new_id = await holdfast.submit(request, prepare=begin)
    now = await holdfast.wait(new_id, within)
    if not now.status.is_final:
        raise BadInput(
            f"job {new_id} has not ended after {within.total_seconds():,.0f} seconds; it goes on: "
            f"`holdfast wait {new_id}`, or give more time with `--timeout`"
        )
    return await _compared(holdfast, path.name, before, now)


def _request(before: Job, changes: ReplayChanges) -> JobRequest:
    """The request of the job with the changes, over the recorded answers of the imported job."""
    strategy = with_settings(before.request.strategy, changes.settings)
    if changes.model is not None:
        strategy = strategy.model_copy(update={"role_models": {}})
    origins = before.request.fork.origins if before.request.fork else ()
    fork = Fork(
        job=before.id,
        origins=(before.id, *origins),
        day=before.day.isoformat(),
        is_frozen=not changes.is_live,
        cause=ForkCause.REPLAYED,
        changes=changes.in_words,
    )
    model = changes.model or before.request.model
    return before.request.model_copy(update={"strategy": strategy, "model": model, "fork": fork})


async def _compared(holdfast: Holdfast, name: str, before: Job, now: Job) -> ReplayedBundle:
    db = holdfast.db
    claims = [_claims(await load_report(db, job.id)) for job in (before, now)]
    views = [await holdfast.show(job.id) for job in (before, now)]
    gone = tuple(each for each in claims[0] if each not in set(claims[1]))
    new = tuple(each for each in claims[1] if each not in set(claims[0]))
    calls = await job_queries.job_calls(db, now.id)
    ended_alike = (before.status, before.stop_reason) == (now.status, now.stop_reason)
    return ReplayedBundle(
        bundle=name,
        origin=before.id,
        job_id=now.id,
        status=now.status.value,
        message=now.message,
        answer_before=before.answer,
        answer_now=now.answer,
        claims_gone=gone,
        claims_new=new,
        calls_before=len(await job_queries.job_calls(db, before.id)),
        calls_now=len(calls),
        calls_sent=sum(not each.is_repeated for each in calls),
        cost_before=views[0].cost,
        cost_now=views[1].cost,
        is_same=ended_alike and before.answer == now.answer and not gone and not new,
    )


def _claims(report: Report | None) -> list[str]:
    """The sentences of a report in one spelling of their spaces, each once."""
    sentences = report.sentences if report is not None else ()
    return list(dict.fromkeys(" ".join(each.text.split()) for each in sentences))
