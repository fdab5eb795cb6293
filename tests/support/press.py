"""A job whose research a test makes up, up to the point where its report is written."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psycopg
from pydantic import SecretStr

from activities.parts import Models, Requests
from activities.report import Reporting
from models.evidence import Located, Report
from models.jobs import JobRequest, StopReason
from models.orders import ReportOrder, TaskOrder
from models.plan import Plan, Task, TaskStatus
from models.state import ReportReceipt, TaskReceipt
from models.strategy import Strategy
from models.tools import ReadPassage
from planning.kpis import Candidate
from roles.endpoint import EndpointModel
from roles.extractive.model import ExtractiveModel
from storage import evidence, jobs, plans, tasks
from storage.database import Database
from storage.ledger import Ledger
from storage.plans import Revision
from storage.tasks import Attempt

JOB = "job-1"


@dataclass
class Press:
    """A stored job, and the activity that writes its report."""

    db: Database
    reporting: Reporting
    url: str
    epoch: int = 0

    async def planned(
        self, plan: Plan, *, question: str = "When was it opened?", model: str = "scripted",
        **settings: object,
    ) -> None:  # fmt: skip
        """A job that has begun, with this plan."""
        strategy = Strategy.model_validate(settings)
        request = JobRequest(question=question, preset="kpi-chain", model=model, strategy=strategy)
        await jobs.submit(self.db, JOB, request, None)
        self.epoch = await jobs.begin(self.db, JOB, "run-1")
        names = tuple(task.id for task in plan.tasks)
        change = Revision(revision=0, cause="planned", added=names)
        async with self.db.job(JOB, self.epoch) as write:
            await plans.store_revision(write, plan, change, {name: name for name in names})

    async def found(self, task: Task, value: object, text: str = "", *, title: str = "") -> None:
        """The task is done: it found the value, and `text`, if there is any, is its evidence."""
        name = task.expects[0].name
        passage = ReadPassage(
            address=f"{task.id}.md", title=title or task.id, text=text, end=len(text)
        )
        shown = Located(entity=name, passage=passage, start=0, end=len(text))
        order = TaskOrder(job_id=JOB, epoch=self.epoch, task_id=task.id)
        attempt = Attempt(
            task=task,
            receipt=TaskReceipt(task_id=task.id, attempt=1, status=TaskStatus.DONE, confidence=0.9),
            kept=(Candidate(name=name, value=value, confidence=0.9),),
            read=(passage,) if text else (),
            found=(shown,) if text else (),
        )
        await tasks.finish(Ledger(self.db), order, f"{task.id}#1", attempt)

    async def write(self) -> ReportReceipt:
        """Run the activity, as the workflow would."""
        return await self.reporting.write_report(ReportOrder(job_id=JOB, epoch=self.epoch))

    async def report(self) -> Report:
        """Write the report, which is delivered; what a reader then gets."""
        receipt = await self.write()
        assert receipt.halt is None, receipt.halt
        return await self.delivered()

    async def delivered(self) -> Report:
        report = await evidence.load_report(self.db, JOB)
        assert report is not None
        return report

    async def refusal(self) -> str:
        """Have the report refused; why, in words."""
        receipt = await self.write()
        assert receipt.halt is not None
        assert receipt.halt.reason is StopReason.REPORT_REFUSED
        assert await evidence.load_report(self.db, JOB) is None
        return receipt.halt.message

    def execute(self, statement: str, **values: object) -> None:
        """One statement on a connection of its own: what somebody else does meanwhile."""
        with psycopg.connect(self.url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(statement, values)  # type: ignore[arg-type]  # tests' own words


@asynccontextmanager
async def running_press(database_url: str, model_url: str) -> AsyncIterator[Press]:
    db = Database(database_url)
    endpoint = EndpointModel(base_url=model_url, api_key=SecretStr("sk-test"))
    models = Models(ExtractiveModel(), endpoint)
    try:
        yield Press(db, Reporting(db, models, Requests(db)), database_url)
    finally:
        await endpoint.aclose()
        await db.close()
