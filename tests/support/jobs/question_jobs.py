"""Submit jobs with open questions, and wait for a question."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.questions.user_questions import QuestionKind, UserQuestion
from holdfast.planning.strategies.strategy_presets import preset, with_settings
from holdfast.storage.jobs import job_rows
from holdfast.storage.questions import question_rows
from holdfast.storage.questions.question_rows import NewQuestion
from holdfast.temporal.workflow_start import start_workflow
from tests.support.jobs.running_engine import RunningEngine


async def wait_for_question(
    engine: RunningEngine, job_id: str, kind: QuestionKind, *, after: int = 0
) -> UserQuestion:
    """The open question of that kind, once there is one behind that number."""
    async with asyncio.timeout(30):
        while True:
            for each in await question_rows.open_questions(engine.db, job_id):
                if each.kind is kind and each.id > after:
                    return each
            await asyncio.sleep(0.05)


async def submit_with_questions(
    engine: RunningEngine, *new: NewQuestion, **settings: Any
) -> tuple[str, list[int]]:
    """A job that begins with these questions open, as after a lost run; their numbers."""
    strategy = with_settings(preset("kpi-chain").strategy, settings)
    request = JobRequest(question="Who?", preset="kpi-chain", model="scripted", strategy=strategy)
    job_id, _ = await job_rows.submit_job(engine.db, f"job-{uuid4().hex[:8]}", request, None)
    async with engine.db.job(job_id) as write:
        opened = [await question_rows.open_question(write, each) for each in new]
    await start_workflow(
        engine.temporal, engine.holdfast.settings.task_queue, job_id, request, delay=timedelta(0)
    )
    return job_id, [each.id for each in opened if each is not None]
