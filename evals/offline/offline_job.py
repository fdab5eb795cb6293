"""Run one question with the built-in model as the engine would, without services."""

import math
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, JsonValue

from holdfast.evals.measures.answer_metrics import best_f1
from holdfast.evals.measures.confidence_figures import RatedAnswer, is_right_answer
from holdfast.evals.measures.question_files import EvaluationQuestion, QuestionParagraph
from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.evidence.answer_routes import AnswerRoute, RouteTable
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.plan_drafts import DraftTask, PlanDraft
from holdfast.models.plans.research_plan import (
    FINAL_ANSWER,
    ExpectedEntity,
    Plan,
    TaskKind,
    TaskStatus,
)
from holdfast.models.tasks.named_value import NamedValue
from holdfast.models.tasks.replanner_input import ReplannerTask
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.planning.reports.answer_calibration import calibrated_confidence
from holdfast.planning.reports.answer_confidence import answer_confidence
from holdfast.planning.reports.answer_route import answer_route
from holdfast.planning.reports.stated_answers import TitledQuote
from holdfast.roles.dialogue.model_dialogue import opening_request
from holdfast.roles.dialogue.role_definition import Role
from holdfast.roles.extractive.extractive_model import ExtractiveModel
from holdfast.roles.extractive.text.words_and_sentences import stems
from holdfast.roles.planning.planner import PLANNER, PlannerTask
from holdfast.roles.planning.replanner import REPLANNER
from holdfast.roles.tasks.extractor import EXTRACTOR, ExtractorAnswer, ExtractorTask, Fragment
from holdfast.roles.tasks.reasoner import REASONER, ReasonerTask

THRESHOLD = 0.7
MAX_REPLANS = 3
DEFAULT_HITS = 5

SEARCH = ToolSignature(
    name="corpus.search",
    description="Searches the user's documents.",
    read_only=True,
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
)
_REFERENCE = re.compile(r"<JSON_PATH>\s*([^<.]+)\.([^<]+?)(?:\[\*\])?\s*</JSON_PATH>")
TaskT = TypeVar("TaskT", bound=Frozen)
AnswerT = TypeVar("AnswerT", bound=BaseModel)


class OfflineCorpus:
    """A stand-in for `corpus.search`: passages by the summed idf of the query's words."""

    def __init__(self, paragraphs: Sequence[QuestionParagraph]) -> None:
        self._words = [frozenset(stems(f"{each.title} {each.text}")) for each in paragraphs]
        self._counts = Counter(word for words in self._words for word in words)

    def search(self, query: str) -> list[int]:
        """The indexes of all passages that hold a word of the query, best first."""
        wanted, size = set(stems(query)), len(self._words)
        scores = [
            math.fsum(math.log(1 + size / self._counts[word]) for word in wanted & words)
            for words in self._words
        ]
        ranked = sorted(range(size), key=lambda at: -scores[at])
        return [at for at in ranked if scores[at] > 0]


class ExtractionCheck(NamedTuple):
    """An extracted value with its confidence, and whether the value is right."""

    is_passage: bool
    confidence: float
    is_right: bool


@dataclass
class OfflineJob:
    """One question with its tasks and what they found."""

    question: EvaluationQuestion
    fixed_hits: bool = False
    """True if the search ignores `limit`, so that a second search reads no further."""
    model: ExtractiveModel = field(default_factory=ExtractiveModel)
    tasks: dict[str, DraftTask] = field(default_factory=dict)
    status: dict[str, TaskStatus] = field(default_factory=dict)
    memory: dict[str, dict[str, JsonValue]] = field(default_factory=dict)
    sure: dict[str, float] = field(default_factory=dict)
    """The confidence of each task: that of its least certain required value."""
    cited: dict[str, list[int]] = field(default_factory=dict)
    """The indexes of the passages that each task quotes."""
    quotes: list[TitledQuote] = field(default_factory=list)
    """The quotes of all values that were kept."""
    replans_of: dict[str, int] = field(default_factory=dict)
    replans: int = 0
    answer: str = ""
    seconds: float = 0.0
    """The time that the model took; the search is left out."""
    log: list[str] = field(default_factory=list)
    checks: list[ExtractionCheck] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.corpus = OfflineCorpus(self.question.paragraphs)

    async def run(self) -> None:
        """Plan, run and replan until the plan ends."""
        task = PlannerTask(question=self.question.text, tools=(SEARCH,))
        self._add(await self._ask(PLANNER, task))
        while (ready := self._next()) is not None:
            feedback = await self._run_task(ready)
            if feedback is None:
                self.status[ready.id] = TaskStatus.DONE
            elif not await self._replan(ready, feedback):
                return

    async def _ask(self, role: Role[TaskT, AnswerT], task: TaskT) -> AnswerT:
        request = opening_request(role, task, model_name="extractive")
        started = time.perf_counter()
        completion = await self.model.complete(request)
        self.seconds += time.perf_counter() - started
        return role.answer.model_validate_json(completion.text)

    def _add(self, draft: PlanDraft) -> None:
        draft.to_plan()
        for task in draft.tasks:
            assert task.id not in self.tasks, task.id
            self.tasks[task.id] = task
            self.status[task.id] = TaskStatus.PENDING
            self.log.append(
                f"  {task.id} {task.kind.value} {[i.value for i in task.inputs]} -> "
                f"{[(e.name, e.description[:60]) for e in task.expects]}"
            )

    def _next(self) -> DraftTask | None:
        for task in self.tasks.values():
            is_pending = self.status[task.id] is TaskStatus.PENDING
            if is_pending and all(
                self.status.get(need) is TaskStatus.DONE for need in task.depends_on
            ):
                return task
        return None

    async def _run_task(self, task: DraftTask) -> str | None:
        """Run a task; the feedback if it did not keep its promise."""
        if task.kind is TaskKind.TOOL:
            return await self._search(task)
        return await self._reason(task)

    async def _search(self, task: DraftTask) -> str | None:
        arguments = {each.name: self._resolved(each.value) for each in task.inputs}
        hits = self._hits(arguments)
        paragraphs = [self.question.paragraphs[at] for at in hits]
        answer = await self._ask(
            EXTRACTOR,
            ExtractorTask(
                description=task.description,
                arguments=arguments,
                entities=tuple(ExpectedEntity(**each.model_dump()) for each in task.expects),
                least_confidence=THRESHOLD,
                response=tuple(Fragment(title=p.title, text=p.text) for p in paragraphs),
                context=self._context(task),
            ),
        )
        return self._keep(task, answer, hits)

    def _hits(self, arguments: dict[str, JsonValue]) -> list[int]:
        limit = DEFAULT_HITS if self.fixed_hits else arguments.get("limit", DEFAULT_HITS)
        hits = self.corpus.search(str(arguments["query"]))
        return hits[: limit if isinstance(limit, int) else DEFAULT_HITS]

    def _keep(self, task: DraftTask, answer: ExtractorAnswer, hits: Sequence[int]) -> str | None:
        """Store the values that are sure enough; the feedback if a required one is missing."""
        paragraphs = self.question.paragraphs
        kept = [
            entity
            for entity in answer.entities
            if entity.value is not None and (entity.confidence or 0.0) >= THRESHOLD
        ]
        self.memory[task.id] = {entity.name: entity.value for entity in kept}
        self.sure[task.id] = min(_required_confidences(task, answer), default=0.0)
        self.cited[task.id] = [
            next(at for at in hits if entity.quote in paragraphs[at].text) for entity in kept
        ]
        self.log += [
            f"    {task.id}.{entity.name} = {entity.value!r:.90} ({entity.confidence})"
            for entity in answer.entities
        ]
        self._check(answer, hits)
        cited = zip(kept, self.cited[task.id], strict=True)
        self.quotes += [TitledQuote(each.quote, paragraphs[at].title) for each, at in cited]
        names = {entity.name for entity in kept}
        failed = [each.name for each in task.expects if each.required and each.name not in names]
        return f"{failed} below {THRESHOLD}. {answer.summary}" if failed else None

    def _check(self, answer: ExtractorAnswer, hits: Sequence[int]) -> None:
        """Note for every value if it is right: the answer, or a quote of a gold passage."""
        read = [self.question.paragraphs[at] for at in hits]
        for entity in answer.entities:
            if entity.value is None or "_of_" in entity.name:
                continue
            is_passage = entity.value == entity.quote
            quotes_gold = any(p.is_gold and entity.quote in p.text for p in read if entity.quote)
            is_right = quotes_gold if is_passage else self._is_right(str(entity.value))
            self.checks.append(ExtractionCheck(is_passage, entity.confidence or 0.0, is_right))

    def _is_right(self, value: str) -> bool:
        if best_f1(value, self.question.answers) >= 0.5:
            return True
        titles = (p.title for p in self.question.paragraphs if p.is_gold)
        return best_f1(value, (re.sub(r"\(.*?\)", "", title) for title in titles)) >= 0.6

    async def _reason(self, task: DraftTask) -> str | None:
        inputs = tuple(
            NamedValue(name=each.name, value=self._resolved(each.value)) for each in task.inputs
        )
        answer = await self._ask(
            REASONER,
            ReasonerTask(
                question=self.question.text,
                description=task.description,
                inputs=inputs,
                context=self._context(task),
                outputs=tuple(ExpectedEntity(**each.model_dump()) for each in task.expects),
            ),
        )
        if answer.status == "failed":
            return answer.explanation
        self.sure[task.id] = min(each.confidence or 1.0 for each in answer.outputs)
        self.memory[task.id] = {each.name: each.value for each in answer.outputs}
        low = [each for each in answer.outputs if (each.confidence or 1.0) < THRESHOLD]
        self.answer = str(answer.outputs[0].value)
        self.log.append(f"    {task.id} answers {self.answer!r:.90} {answer.reasoning_steps}"[:300])
        return f"{low[0].name} below {THRESHOLD}" if low else None

    def _context(self, task: DraftTask) -> tuple[NamedValue, ...]:
        if not task.include_context:
            return ()
        return tuple(
            NamedValue(name=f"{need}.{name}", value=value)
            for need in task.depends_on
            for name, value in self.memory[need].items()
        )

    def _resolved(self, value: JsonValue) -> JsonValue:
        def put(reference: re.Match[str]) -> str:
            entity = self.memory[reference.group(1)][reference.group(2)]
            assert entity is not None, reference.group()
            return str(entity)

        return _REFERENCE.sub(put, value) if isinstance(value, str) else value

    async def _replan(self, failed: DraftTask, feedback: str) -> bool:
        used = self.replans_of.get(failed.id, 0)
        self.status[failed.id] = TaskStatus.FAILED
        self.log.append(f"    {failed.id} FAILED {feedback[:250]}")
        if used >= MAX_REPLANS:
            return False
        replaced = self._with_pending_dependents(failed.id)
        draft = await self._ask(REPLANNER, self._replanner_task(failed, feedback, replaced))
        for task_id in replaced:
            self.status[task_id] = TaskStatus.SUPERSEDED
        self.replans += 1
        self.replans_of |= {added.id: used + 1 for added in draft.tasks}
        self._add(draft)
        return True

    def _replanner_task(
        self, failed: DraftTask, feedback: str, replaced: Sequence[str]
    ) -> ReplannerTask:
        return ReplannerTask(
            question=self.question.text,
            tools=(SEARCH,),
            failed_task_id=failed.id,
            current_plan=self.plan.tasks,
            feedback=feedback,
            replaced=tuple(replaced),
            used_ids=tuple(self.tasks),
        )

    @property
    def plan(self) -> Plan:
        """The plan with what its tasks found, as it is now."""
        return Plan(
            tasks=tuple(
                task.to_task()
                .with_status(self.status[task.id])
                .model_copy(update={"result": self.memory.get(task.id, {})})
                for task in self.tasks.values()
            )
        )

    def _with_pending_dependents(self, failed: str) -> list[str]:
        replaced = [failed]
        for task in self.tasks.values():
            is_pending = self.status[task.id] is TaskStatus.PENDING
            if is_pending and not set(replaced).isdisjoint(task.depends_on):
                replaced.append(task.id)
        return replaced

    @property
    def stored_tasks(self) -> tuple[StoredTask, ...]:
        """The tasks as the engine stores them."""
        return tuple(
            StoredTask(
                task=task,
                position=at,
                attempt=1,
                root=task.id,
                added_by_change=1,
                confidence=self.sure.get(task.id),
            )
            for at, task in enumerate(self.plan.tasks)
        )

    @property
    def route(self) -> AnswerRoute:
        """How the answer was reached."""
        return answer_route(self.plan, self.question.text, self.answer, self.quotes)

    def rated(self, table: RouteTable) -> RatedAnswer | None:
        """The answer with the confidence that a report would state; None without an answer."""
        sure = answer_confidence(self.stored_tasks, {})
        if not self.answer or sure is None:
            return None
        stated = calibrated_confidence(sure, self.route, table)
        return RatedAnswer(stated, is_right_answer(self.answer, self.question.answers), self.route)

    @property
    def passages_cited(self) -> list[int]:
        """The indexes of the passages behind the final answer; without one, of all done tasks."""
        done = [task_id for task_id in self.tasks if self.status[task_id] is TaskStatus.DONE]
        final = [each for each in done if self.tasks[each].expects[0].name == FINAL_ANSWER]
        wanted, frontier = set[str](), final or done
        while frontier:
            wanted.update(frontier)
            frontier = [need for each in frontier for need in self.tasks[each].depends_on]
        cited = (self.cited.get(each, []) for each in self.tasks if each in wanted)
        return list(dict.fromkeys(at for indexes in cited for at in indexes))


def _required_confidences(task: DraftTask, answer: ExtractorAnswer) -> list[float]:
    required = {each.name for each in task.expects if each.required}
    return [each.confidence or 0.0 for each in answer.entities if each.name in required]
