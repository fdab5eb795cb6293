"""Answer with a preset of Holdfast: a job in an installation of the comparison's own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from holdfast.client import Holdfast
from holdfast.evals.peers.contestants.contestant_interface import Delivered, RunOrder
from holdfast.evals.peers.question_sets import QuestionSet
from holdfast.models.evidence.evidence import Citation, Report
from holdfast.models.jobs.job_record import JobRequest
from holdfast.planning.strategies.strategy_presets import preset, with_settings
from holdfast.storage.evidence.evidence_rows import load_report

_WITHIN = timedelta(hours=6)
_PATIENCE = {"agent_timeout": "PT4H", "task_timeout": "PT2H", "task_patience": "PT6H"}
"""A model that is played by a person is slow; how long a job may take is not compared."""

_SERVERS = ("corpus",)
"""The search that all contestants have; a job may use every server otherwise."""


@dataclass(frozen=True)
class HoldfastPreset:
    """One preset, with changed settings if there are any."""

    holdfast: Holdfast
    preset: str
    settings: Mapping[str, str] = field(default_factory=dict)

    async def answer(self, order: RunOrder) -> Delivered:
        """Return the job's report; a job that was cut off earlier continues."""
        request = JobRequest(
            question=order.question.text,
            preset=self.preset,
            model=order.run,
            strategy=with_settings(preset(self.preset).strategy, {**_PATIENCE, **self.settings}),
            collection=order.given.collection,
            servers=_SERVERS,
        )
        job_id = await self.holdfast.submit(request, key=f"peers:{order.run}")
        await self.holdfast.wait(job_id, _WITHIN, or_paused=True)
        job = await self.holdfast.show(job_id)
        report = await load_report(self.holdfast.db, job_id)
        if report is None:
            return Delivered(text="", failure=job.message or str(job.status))
        return _delivered(report, order.given, job.calls.tool)


def _delivered(report: Report, given: QuestionSet, searches: int) -> Delivered:
    said = [each.text for each in report.sentences]
    opened = [_opened(each, given) for each in report.citations]
    return Delivered(
        text="\n".join([report.answer or "", *said, *report.gaps]),
        answer=report.answer or "",
        citations=len(opened),
        citations_that_exist=sum(text is not None for text in opened),
        quotes=len(opened),
        quotes_that_stand=sum(
            text == each.quote for text, each in zip(opened, report.citations, strict=True)
        ),
        searches=searches,
    )


def _opened(citation: Citation, given: QuestionSet) -> str | None:
    """The text at the citation's place; None if there is no such document."""
    texts = {each.address: each.text for each in given.documents}
    text = texts.get(citation.address)
    return None if text is None else text[citation.start : citation.end]
