"""Bring jobs into each state that the page shows, with a research over the demo's documents."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import holdfast
from holdfast.corpus.folder_ingestion import ingest_folder
from holdfast.jobs.job_controller import JobController
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.plans.research_plan import (
    EntityType,
    ExpectedEntity,
    Plan,
    Task,
    TaskInput,
    TaskKind,
)
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans.task_queries import load_plan
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, planner_answer
from tests.support.jobs.plan_builders import plan, result_reference
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine

QUESTION = (
    "Who succeeded the designer of the Gannet Stair Light as rector, and how much more did the "
    "Ouzel Stack Light cost than his tower?"
)
ANSWER = "Captain Halvar Quist succeeded him; the Ouzel Stack Light cost 32,600 crowns more"
STATES = (
    "answered",
    "unsure",
    "no-answer",
    "failed",
    "cancelled",
    "paused",
    "waiting",
    "queued",
    "running",
)
_DOCUMENTS = Path(holdfast.__file__).parent / "demo" / "collection"
_FACTS: Mapping[str, tuple[object, str]] = {
    "designer": (
        "Orlan Treave",
        "The tower was designed by Orlan Treave, then Engineer to the Board.",
    ),
    "later_post": (
        "Rector of the School of Navigation",
        (
            "In 1884 Treave resigned from the Board to become Rector of the School of Navigation at "
            "Tollmouth."
        ),
    ),
    "successor": (
        "Captain Halvar Quist",
        (
            "Captain Halvar Quist succeeded Treave in 1893; he had been Warden of Pilots for eight "
            "years."
        ),
    ),
    "gannet_cost": (38_600, "The whole cost was 38,600 crowns."),
    "ouzel_cost": (71_200, "The whole cost was 71,200 crowns."),
}
_COLLECTION = "Lights of the Anstrel Isles"
_WITHIN_S = 180
_HELD_S = 600.0
"""How long the model thinks about a job that is to be seen at work; it is told to answer then."""


def _search(task_id: str, what: str, query: str, entity: str, *after: str) -> Task:
    is_number = isinstance(_FACTS[entity][0], int)
    return Task(
        id=task_id,
        kind=TaskKind.TOOL,
        description=what,
        tool="corpus.search",
        inputs=(TaskInput(name="query", value=query).with_reference_flag(),),
        expects=(
            ExpectedEntity(name=entity, type=EntityType.NUMBER if is_number else EntityType.STRING),
        ),
        depends_on=after,
    )


def _last(task_id: str, *needs: tuple[str, str]) -> Task:
    return Task(
        id=task_id,
        kind=TaskKind.REASONING,
        description="Name the successor, and subtract the costs",
        inputs=tuple(
            TaskInput(name=entity, value=result_reference(task, entity)).with_reference_flag()
            for task, entity in needs
        ),
        expects=(ExpectedEntity(name="final_answer"),),
        depends_on=tuple(task for task, _ in needs),
    )


def branching_plan() -> Plan:
    """A plan with two branches, one of which fails because its search names the wrong tower."""
    return plan(
        _search("T1", "Find who designed the Gannet Stair Light", "Gannet Stair Light", "designer"),
        _search("T2", "Find the post that he took up later", result_reference("T1", "designer"), "later_post", "T1"),
        _search("T3", "Find who followed him in that post", result_reference("T2", "later_post"), "successor", "T2"),
        _search("T4", "Find what the Gannet Stair Light cost", "cost of the Gannet Stair Light", "gannet_cost"),
        _search("T5", "Find what the Ouzel Stack Light cost", "income of the Harbour Assembly", "ouzel_cost"),
        _last("T6", ("T3", "successor"), ("T4", "gannet_cost"), ("T5", "ouzel_cost")),
    )  # fmt: skip


def _short_plan() -> Plan:
    first, second, *_ = branching_plan().tasks
    return plan(first, second, _last("T3", ("T2", "later_post")))


@dataclass
class PageStates:
    """Makes a job for each state."""

    engine: RunningEngine
    players: ScriptedRoles
    model: ScriptedModel
    confidence: float = 0.92
    plan: Plan = field(default_factory=branching_plan)
    answer: str = ANSWER
    model_name: str = "scripted"
    interrupt: Callable[[], Awaitable[None]] | None = None
    """What happens to the worker in the middle of the answered job; None: nothing."""
    holds: bool = False
    """True while the model thinks about the later answers until it is told to go on."""

    def __post_init__(self) -> None:
        self.players.parts.update(
            planner=self._planned,
            replanner=lambda _: _drafted(
                _second_plan(), "The page of the light itself has the cost."
            ),
            extractor=self._extracted,
            reasoner=self._reasoned,
            synthesiser=self._written,
        )

    async def make_all(self) -> dict[str, str]:
        """The id of a job in each state, by the state's name; the newest is last."""
        await self.add_documents()
        return {name: await getattr(self, f"_{name.replace('-', '_')}")() for name in STATES}

    async def add_documents(self) -> None:
        """Read the demo's documents, which every job here searches."""
        await ingest_folder(self.engine.db, _DOCUMENTS, _COLLECTION)

    async def close(self) -> None:
        """End what still runs, so that the worker can stop."""
        self.holds = False
        self.model.release()

    async def _answered(self) -> str:
        if self.interrupt is None:
            return await self._run(QUESTION)
        job_id = await self.at_work(QUESTION)
        await self.interrupt()
        await self.close()
        await self.engine.holdfast.wait(job_id, timedelta(seconds=_WITHIN_S))
        return job_id

    async def _unsure(self) -> str:
        post = str(_FACTS["later_post"][0])
        with self._playing(confidence=0.55, plan=_short_plan(), answer=post):
            question = "Which post did the designer of the Gannet Stair Light take up in 1884?"
            return await self._run(question, confidence_threshold=0.5)

    @contextmanager
    def _playing(self, **changes: Any) -> Iterator[None]:
        """The model plays so within the block."""
        usual = {name: getattr(self, name) for name in changes}
        vars(self).update(changes)
        yield
        vars(self).update(usual)

    async def _no_answer(self) -> str:
        question = "Which colour is the moon of Jupiter?"
        return await self._run(question, preset_name="loop", model="extractive")

    async def _failed(self) -> str:
        with self._playing(plan=plan()):
            return await self._run("What did the keepers earn in 1900?")

    async def _cancelled(self) -> str:
        job_id = await self.at_work("Who chaired the inquiry into the wreck of the Grey Linnet?")
        await self._controller.cancel(job_id)
        await self.engine.holdfast.wait(job_id, timedelta(seconds=_WITHIN_S))
        return job_id

    async def _paused(self) -> str:
        job_id = await self.at_work("Which firms made the lenses of the sea lights?")
        await self._controller.pause(job_id)
        await self._until(job_id, JobStatus.PAUSED)
        return job_id

    async def _waiting(self) -> str:
        job_id = await self._submit(QUESTION, review=True, max_tokens=60_000)
        await wait_for_question(self.engine, job_id, QuestionKind.APPROVAL)
        return job_id

    async def _queued(self) -> str:
        question = "How long is the Long Mole at Quillhaven?"
        return await self._submit(question, start_delay=timedelta(hours=1))

    async def _running(self) -> str:
        return await self.at_work(QUESTION, max_tokens=60_000)

    async def _run(self, question: str, **options: Any) -> str:
        job_id = await self._submit(question, **options)
        await self.engine.holdfast.wait(job_id, timedelta(seconds=_WITHIN_S))
        return job_id

    async def _submit(self, question: str, **options: Any) -> str:
        return await self.engine.submit(
            question, **{"model": self.model_name, "collection": _COLLECTION, **options}
        )

    async def at_work(self, question: str, **settings: Any) -> str:
        """A job whose first tasks are done, and whose model thinks."""
        self.holds = True
        job_id = await self._submit(question, **settings)
        async with asyncio.timeout(_WITHIN_S):
            while (
                sum(
                    t.status.value == "done"
                    for t in (await load_plan(self.engine.db, job_id)).tasks
                )
                < 2
            ):
                await asyncio.sleep(0.05)
        return job_id

    async def _until(self, job_id: str, status: JobStatus) -> None:
        async with asyncio.timeout(_WITHIN_S):
            while (await job_rows.load_job(self.engine.db, job_id)).status is not status:
                await asyncio.sleep(0.05)

    @property
    def _controller(self) -> JobController:
        return JobController(self.engine.holdfast, "maria")

    def _planned(self, asked: ReceivedRequest) -> object:
        return _drafted(self.plan, "The successor and the two costs can be found side by side.")

    def _extracted(self, asked: ReceivedRequest) -> object:
        text = " ".join(fragment["text"] for fragment in asked.task["response"])
        names = [entity["name"] for entity in asked.task["entities"]]
        facts = {name: _FACTS[name] for name in names if _FACTS[name][1] in text}
        found = [
            {"name": name, "value": value, "confidence": self.confidence, "quote": quote}
            for name, (value, quote) in facts.items()
        ]
        answer = {"entities": found, "confidence": self.confidence, "summary": ""}
        is_held = self.holds and not {"designer", "gannet_cost"} & set(names)
        return ScriptedReply.of(answer, delay=_HELD_S if is_held else 0.0)

    def _reasoned(self, asked: ReceivedRequest) -> object:
        outputs = [{"name": "final_answer", "value": self.answer, "confidence": self.confidence}]
        steps = ["71,200 crowns less 38,600 crowns are 32,600 crowns."]
        return {"status": "completed", "outputs": outputs, "reasoning_steps": steps}

    def _written(self, asked: ReceivedRequest) -> object:
        items = asked.task["evidence"]
        ids = [item["id"] for item in items]
        return {
            "summary": [{"text": self.answer + ".", "evidence": ids}],
            "findings": [{"text": item["quote"], "evidence": [item["id"]]} for item in items],
            "analysis": [],
            "conclusions": [],
            "gaps": [],
            "conclusion": self.answer if asked.task["concludes"] else None,
        }


def _second_plan() -> Plan:
    return plan(
        _search("T5a", "Find what the Ouzel Stack Light cost", "cost of the Ouzel Stack Light", "ouzel_cost"),
        _last("T6a", ("T3", "successor"), ("T4", "gannet_cost"), ("T5a", "ouzel_cost")),
    )  # fmt: skip


def _drafted(drafted: Plan, why: str) -> object:
    return planner_answer(drafted) | {"explanation": why}
