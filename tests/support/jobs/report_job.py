"""Store a job with results that a test makes up, and run the activity that writes its report."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psycopg
from pydantic import SecretStr

from holdfast.activities.reports.report_activities import ReportActivities
from holdfast.activities.runtime.activity_services import ModelRegistry, Services
from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.evidence.evidence import LocatedQuote, Report
from holdfast.models.jobs.activity_orders import ReportOrder, TaskOrder
from holdfast.models.jobs.job_record import JobRequest, StopReason
from holdfast.models.jobs.job_state import ReportReceipt, TaskReceipt
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Plan, Task, TaskStatus
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.roles.endpoints.chat_endpoint import EndpointModel
from holdfast.roles.extractive.extractive_model import ExtractiveModel
from holdfast.storage.core.database import Database
from holdfast.storage.evidence import evidence_rows
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.plans import plan_change_rows, task_transactions
from holdfast.storage.plans.task_transactions import TaskAttemptOutcome
from holdfast.tools.mcp.tool_hub import Hub

REPORT_JOB_ID = "job-1"


@dataclass
class ReportJob:
    """A stored job, and the activity that writes its report."""

    db: Database
    reporting: ReportActivities
    url: str
    epoch: int = 0

    async def planned(
        self,
        plan: Plan,
        *,
        question: str = "When was it opened?",
        model: str = "scripted",
        **settings: object,
    ) -> None:
        """A job that has begun, with this plan."""
        strategy = Strategy.model_validate(settings)
        request = JobRequest(question=question, preset="kpi-chain", model=model, strategy=strategy)
        await job_rows.submit_job(self.db, REPORT_JOB_ID, request, None)
        self.epoch = await job_rows.begin_job_run(self.db, REPORT_JOB_ID, "run-1")
        change = PlanChange(cause=PlanChangeCause.PLANNED, added=plan.tasks)
        async with self.db.job(REPORT_JOB_ID, self.epoch) as write:
            await plan_change_rows.store_change(write, Plan(), change)

    async def found(
        self, task: Task, value: object, text: str = "", *, title: str = "", quote: str = ""
    ) -> None:
        """The task is done: it found the value, and `text` or a `quote` of it is its evidence."""
        name = task.expects[0].name
        passage = SourcePassage(
            address=f"{task.id}.md", title=title or task.id, text=text, end=len(text)
        )
        start = text.index(quote)
        end = start + len(quote or text)
        shown = LocatedQuote(entity=name, passage=passage, start=start, end=end)
        order = TaskOrder(job_id=REPORT_JOB_ID, epoch=self.epoch, task_id=task.id)
        attempt = TaskAttemptOutcome(
            task=task,
            receipt=TaskReceipt(task_id=task.id, attempt=1, status=TaskStatus.DONE, confidence=0.9),
            kept=(EntityValue.of_promise(task.expects[0], value, 0.9),),
            read=(passage,) if text else (),
            found=(shown,) if text else (),
        )
        await task_transactions.finish_task(CallLedger(self.db), order, f"{task.id}#1", attempt)

    async def write(self) -> ReportReceipt:
        """Run the activity, as the workflow would."""
        return await self.reporting.write_report(
            ReportOrder(job_id=REPORT_JOB_ID, epoch=self.epoch)
        )

    async def report(self) -> Report:
        """Write the report, which is delivered; what a reader then gets."""
        receipt = await self.write()
        assert receipt.halt is None, receipt.halt
        return await self.delivered()

    async def delivered(self) -> Report:
        report = await evidence_rows.load_report(self.db, REPORT_JOB_ID)
        assert report is not None
        return report

    async def refusal(self) -> str:
        """Have the report refused; why, in words."""
        receipt = await self.write()
        assert receipt.halt is not None
        assert receipt.halt.reason is StopReason.REPORT_REFUSED
        assert await evidence_rows.load_report(self.db, REPORT_JOB_ID) is None
        return receipt.halt.message

    def execute(self, statement: str, **values: object) -> None:
        """One statement on a connection of its own: what somebody else does meanwhile."""
        with psycopg.connect(self.url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(statement, values)  # type: ignore[arg-type]  # tests' own words


@asynccontextmanager
async def open_report_job(database_url: str, model_url: str) -> AsyncIterator[ReportJob]:
    db = Database(database_url)
    endpoint = EndpointModel(base_url=model_url, api_key=SecretStr("sk-test"))
    services = Services(db, ModelRegistry(ExtractiveModel(), endpoint), Hub({}, {}))
    try:
        yield ReportJob(db, ReportActivities(services), database_url)
    finally:
        await endpoint.aclose()
        await db.close()
