"""Jobs that ask something, for tests."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

from holdfast.client import start_workflow
from models.jobs import JobRequest
from models.questions import Question, QuestionKind
from planning.presets import preset, with_settings
from storage import jobs, questions
from storage.questions import NewQuestion
from tests.support.engine import Engine


async def asked(engine: Engine, job_id: str, kind: QuestionKind, *, after: int = 0) -> Question:
    """The open question of that kind, once there is one behind that number."""
    async with asyncio.timeout(30):
        while True:
            for each in await questions.open_questions(engine.db, job_id):
                if each.kind is kind and each.id > after:
                    return each
            await asyncio.sleep(0.05)


async def submitted_with(
    engine: Engine, *new: NewQuestion, **settings: Any
) -> tuple[str, list[int]]:
    """A job that begins with these questions open, as after a lost run; their numbers."""
    strategy = with_settings(preset("kpi-chain").strategy, settings)
    request = JobRequest(question="Who?", preset="kpi-chain", model="scripted", strategy=strategy)
    job_id, _ = await jobs.submit(engine.db, f"job-{uuid4().hex[:8]}", request, None)
    async with engine.db.job(job_id) as write:
        opened = [await questions.open_question(write, each) for each in new]
    await start_workflow(
        engine.temporal, engine.holdfast.settings.task_queue, job_id, request, delay=timedelta(0)
    )
    return job_id, [each.id for each in opened if each is not None]
