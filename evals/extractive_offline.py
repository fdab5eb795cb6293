"""How well the built-in model cites, offline: paragraphs of HotpotQA or MuSiQue, no engine.

    python -m evals.extractive_offline [--file PATH] [--from 0 --to 200] [--show N]

Every question is worked as the engine works it: plan, search, extract, check the KPIs, replan,
reason. Beside it stands plain keyword search that cites the same number of passages per question.
A passage is cited when an evidence quote comes from it.
"""

import argparse
import asyncio
import json
import math
import re
import string
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue

from models.base import Frozen
from models.completions import Message, ModelRequest
from models.listing import to_listing
from models.plan import FINAL_ANSWER, Expected, TaskStatus
from models.tools import ToolSignature
from roles.base import Role
from roles.drafts import DraftTask, PlanDraft
from roles.extractive.model import ExtractiveModel
from roles.extractive.text import stems
from roles.extractor import EXTRACTOR, ExtractorAnswer, ExtractorTask, Fragment
from roles.planner import PLANNER, PlannerTask
from roles.reasoner import REASONER, Given, ReasonerTask
from roles.replanner import REPLANNER, ReplannerTask

HOTPOT = Path("/work/shared/data/hotpotqa/train300.jsonl")
THRESHOLD = 0.7
MOST_REPLANS = 3
TOP = 5

SEARCH = ToolSignature(
    name="corpus.search", description="Searches the user's documents.", read_only=True,
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
)  # fmt: skip
_REFERENCE = re.compile(r"<JSON_PATH>\s*([^<.]+)\.([^<]+?)(?:\[\*\])?\s*</JSON_PATH>")
TaskT = TypeVar("TaskT", bound=Frozen)
AnswerT = TypeVar("AnswerT", bound=BaseModel)


@dataclass(frozen=True)
class Case:
    """One question with its passages and what is right."""

    question: str
    answers: tuple[str, ...]
    kind: str
    gold: frozenset[str]
    passages: tuple[tuple[str, str], ...]


class Corpus:
    """A stand-in for `corpus.search`: passages by the summed idf of the query's words."""

    def __init__(self, passages: Sequence[tuple[str, str]]) -> None:
        self.passages = passages
        self._words = [frozenset(stems(f"{title} {text}")) for title, text in passages]
        self._counts = Counter(each for words in self._words for each in words)

    def search(self, query: str) -> list[int]:
        """The indexes of all passages that hold a word of the query, best first."""
        wanted, size = set(stems(query)), len(self.passages)
        scores = [
            math.fsum(math.log(1 + size / self._counts[each]) for each in wanted & words)
            for words in self._words
        ]
        ranked = sorted(range(size), key=lambda at: -scores[at])
        return [at for at in ranked if scores[at] > 0]


@dataclass
class Job:
    """One question being worked, as the engine would."""

    case: Case
    corpus: Corpus
    model: ExtractiveModel
    fixed_hits: bool = False
    """Whether the search ignores `limit`, so that a second search reads no further."""
    tasks: dict[str, DraftTask] = field(default_factory=dict)
    status: dict[str, str] = field(default_factory=dict)
    memory: dict[str, dict[str, JsonValue]] = field(default_factory=dict)
    cited: dict[str, list[int]] = field(default_factory=dict)
    lineage: dict[str, int] = field(default_factory=dict)
    replans: int = 0
    answer: str = ""
    seconds: float = 0.0
    log: list[str] = field(default_factory=list)
    checks: list[tuple[bool, float, bool]] = field(default_factory=list)

    async def ask(self, role: Role[TaskT, AnswerT], task: TaskT) -> AnswerT:
        """What the model answers in a role; only its own time is counted."""
        request = ModelRequest(
            model="extractive", role=role.name,
            messages=(
                Message(role="system", content=role.instructions),
                Message(role="user", content=task.model_dump_json()),
            ),
        )  # fmt: skip
        started = time.perf_counter()
        completion = await self.model.complete(request)
        self.seconds += time.perf_counter() - started
        return role.answer.model_validate_json(completion.text)

    async def run(self) -> None:
        """Works the question to its end."""
        self._add(
            await self.ask(PLANNER, PlannerTask(question=self.case.question, tools=(SEARCH,)))
        )
        while (ready := self._next()) is not None:
            feedback = await self._work(ready)
            if feedback is None:
                self.status[ready.id] = "done"
            elif not await self._replan(ready, feedback):
                return

    def _add(self, draft: PlanDraft) -> None:
        draft.to_plan()
        for task in draft.tasks:
            assert task.id not in self.tasks, task.id
            self.tasks[task.id] = task
            self.status[task.id] = "pending"
            self.log.append(
                f"  {task.id} {task.kind.value} {[i.value for i in task.inputs]} -> "
                f"{[(e.name, e.description[:60]) for e in task.expects]}"
            )

    def _next(self) -> DraftTask | None:
        for task in self.tasks.values():
            ready = all(self.status.get(each) == "done" for each in task.depends_on)
            if self.status[task.id] == "pending" and ready:
                return task
        return None

    async def _work(self, task: DraftTask) -> str | None:
        """Carries a task out; gives the feedback when it did not keep its promise."""
        if task.kind.value == "tool":
            return await self._search(task)
        return await self._reason(task)

    async def _search(self, task: DraftTask) -> str | None:
        arguments = {each.name: self._resolved(each.value) for each in task.inputs}
        most = TOP if self.fixed_hits else arguments.get("limit", TOP)
        hits = self.corpus.search(str(arguments["query"]))[: most if isinstance(most, int) else TOP]
        read = [self.case.passages[at] for at in hits]
        answer = await self.ask(
            EXTRACTOR,
            ExtractorTask(
                description=task.description, arguments=arguments,
                entities=tuple(Expected(**each.model_dump()) for each in task.expects),
                response=tuple(Fragment(title=title, text=text) for title, text in read),
                context=self._context(task),
            ),
        )  # fmt: skip
        kept = [
            each for each in answer.entities
            if each.value is not None and (each.confidence or 0.0) >= THRESHOLD
        ]  # fmt: skip
        self.memory[task.id] = {each.name: each.value for each in kept}
        self.cited[task.id] = [
            next(at for at in hits if each.quote in self.case.passages[at][1]) for each in kept
        ]
        for each in answer.entities:
            self.log.append(f"    {task.id}.{each.name} = {each.value!r:.90} ({each.confidence})")
        self._check(answer, hits)
        names = {each.name for each in kept}
        failed = [each.name for each in task.expects if each.required and each.name not in names]
        return f"{failed} below {THRESHOLD}. {answer.summary}" if failed else None

    def _check(self, answer: ExtractorAnswer, hits: Sequence[int]) -> None:
        """Notes for every value given whether it is right: the answer, or a gold passage."""
        for each in answer.entities:
            if each.value is None or "_of_" in each.name:
                continue
            quoted = {self.case.passages[at][0] for at in hits
                      if each.quote and each.quote in self.case.passages[at][1]}  # fmt: skip
            is_passage = each.value == each.quote
            right = bool(quoted & self.case.gold) if is_passage else self._is_right(str(each.value))
            self.checks.append((is_passage, each.confidence or 0.0, right))

    def _is_right(self, value: str) -> bool:
        if max(f1(value, each) for each in self.case.answers) >= 0.5:
            return True
        names = (re.sub(r"\(.*?\)", "", title) for title in self.case.gold)
        return any(f1(value, each) >= 0.6 for each in names)

    async def _reason(self, task: DraftTask) -> str | None:
        inputs = tuple(
            Given(name=each.name, value=self._resolved(each.value)) for each in task.inputs
        )
        answer = await self.ask(
            REASONER,
            ReasonerTask(
                question=self.case.question, description=task.description, inputs=inputs,
                context=self._context(task),
                outputs=tuple(Expected(**each.model_dump()) for each in task.expects),
            ),
        )  # fmt: skip
        if answer.status == "failed":
            return answer.explanation
        low = [each for each in answer.outputs if (each.confidence or 1.0) < THRESHOLD]
        self.answer = str(answer.outputs[0].value)
        self.log.append(f"    {task.id} answers {self.answer!r:.90} {answer.reasoning_steps}"[:300])
        return f"{low[0].name} below {THRESHOLD}" if low else None

    def _context(self, task: DraftTask) -> tuple[Given, ...]:
        if not task.include_context:
            return ()
        return tuple(
            Given(name=f"{each}.{name}", value=value)
            for each in task.depends_on for name, value in self.memory[each].items()
        )  # fmt: skip

    def _resolved(self, value: JsonValue) -> JsonValue:
        def put(found: re.Match[str]) -> str:
            got = self.memory[found.group(1)][found.group(2)]
            assert got is not None, found.group()
            return str(got)

        return _REFERENCE.sub(put, value) if isinstance(value, str) else value

    async def _replan(self, failed: DraftTask, feedback: str) -> bool:
        used = self.lineage.get(failed.id, 0)
        self.status[failed.id] = "failed"
        self.log.append(f"    {failed.id} FAILED {feedback[:250]}")
        if used >= MOST_REPLANS:
            return False
        replaced = self._dependents(failed.id)
        task = ReplannerTask(
            question=self.case.question, tools=(SEARCH,), failed_task_id=failed.id,
            current_plan=tuple(
                to_listing(
                    each.to_task().model_copy(update={"status": TaskStatus(self.status[each.id])})
                )
                for each in self.tasks.values()
            ),
            feedback=feedback, replaced=tuple(replaced), used_ids=tuple(self.tasks),
        )  # fmt: skip
        draft = await self.ask(REPLANNER, task)
        for each in replaced:
            self.status[each] = "superseded"
        self.replans += 1
        for added in draft.tasks:
            self.lineage[added.id] = used + 1
        self._add(draft)
        return True

    def _dependents(self, failed: str) -> list[str]:
        gone = [failed]
        for task in self.tasks.values():
            if self.status[task.id] == "pending" and any(each in gone for each in task.depends_on):
                gone.append(task.id)
        return gone

    @property
    def passages_cited(self) -> list[int]:
        """The passages that the final answer's evidence comes from, or that of what was found."""
        done = [each for each in self.tasks if self.status[each] == "done"]
        final = [each for each in done if self.tasks[each].expects[0].name == FINAL_ANSWER]
        wanted, frontier = set[str](), final or done
        while frontier:
            wanted.update(frontier)
            frontier = [need for each in frontier for need in self.tasks[each].depends_on]
        found = (self.cited.get(each, []) for each in self.tasks if each in wanted)
        return list(dict.fromkeys(at for each in found for at in each))


def normal(text: str) -> str:
    """HotpotQA's own normal form: no case, articles, punctuation."""
    text = "".join(each for each in text.lower() if each not in string.punctuation)
    return " ".join(re.sub(r"\b(?:a|an|the)\b", " ", text).split())


def f1(said: str, right: str) -> float:
    """The harmonic mean of shared words, as HotpotQA counts it."""
    one, two = normal(said).split(), normal(right).split()
    shared = sum((Counter(one) & Counter(two)).values())
    return 2 * shared / (len(one) + len(two)) if shared else 0.0


@dataclass
class Tally:
    """Sums over questions."""

    sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    count: int = 0

    def add(self, job: Job, baseline: Sequence[int]) -> None:
        """Counts one finished question."""
        case, cited = job.case, job.passages_cited
        self.count += 1
        self.sums["EM"] += any(normal(job.answer) == normal(each) for each in case.answers)
        self.sums["F1"] += max(f1(job.answer, each) for each in case.answers)
        self.sums["answered"] += bool(job.answer)
        for label, shown in (("", cited), ("base ", baseline)):
            titles = {case.passages[at][0] for at in shown}
            text = normal(" ".join(" ".join(case.passages[at]) for at in shown))
            is_in = any(f" {normal(each)} " in f" {text} " for each in case.answers)
            self.sums[f"{label}answer-in"] += is_in
            self.sums[f"{label}all-gold"] += case.gold <= titles
            self.sums[f"{label}gold-share"] += len(case.gold & titles) / max(len(case.gold), 1)
        self.sums["cited"] += len(cited)
        self.sums["replans"] += job.replans
        self.sums["ms"] += 1000 * job.seconds

    def line(self, name: str) -> str:
        """One row of the table."""
        one = self.count or 1
        shares = ("EM", "F1", "answered", "answer-in", "base answer-in", "all-gold",
                  "base all-gold", "gold-share", "base gold-share")  # fmt: skip
        cells = [f"{100 * self.sums[each] / one:6.1f}" for each in shares]
        cells += [f"{self.sums[each] / one:6.2f}" for each in ("cited", "replans", "ms")]
        return f"{name:12}{self.count:4} " + " ".join(f"{each:>9}" for each in cells)


HEADER = f"{'':17}" + " ".join(
    f"{each:>9}"
    for each in (
        "EM",
        "F1",
        "answered",
        "ans-in",
        "(base)",
        "all-gold",
        "(base)",
        "gold",
        "(base)",
        "cited",
        "replans",
        "ms",
    )
)


def cases(path: Path) -> list[Case]:
    """The questions of a HotpotQA or MuSiQue file."""
    with path.open(encoding="utf-8") as lines:
        return [_case(json.loads(line)) for line in lines]


def _case(row: dict[str, Any]) -> Case:
    if "paragraphs" in row:
        passages = tuple((each["title"], each["paragraph_text"]) for each in row["paragraphs"])
        gold = frozenset(each["title"] for each in row["paragraphs"] if each["is_supporting"])
        answers = (row["answer"], *row["answer_aliases"])
        return Case(row["question"], answers, f"{row['id'][:4]}", gold, passages)
    passages = tuple((each["title"], "".join(each["sentences"])) for each in row["context"])
    gold = frozenset(title for title, _ in row["supporting_facts"])
    return Case(row["question"], (row["answer"],), row["type"], gold, passages)


async def worked(case: Case, *, fixed_hits: bool = False) -> Job:
    """The question, worked to its end."""
    job = Job(case, Corpus(case.passages), ExtractiveModel(), fixed_hits)
    await job.run()
    return job


async def jobs_of(chosen: Iterable[Case], *, fixed_hits: bool = False) -> list[Job]:
    """All questions, one after the other."""
    return [await worked(case, fixed_hits=fixed_hits) for case in chosen]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=HOTPOT)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--to", dest="last", type=int, default=200)
    parser.add_argument("--show", type=int, default=0, help="print the course of so many questions")
    parser.add_argument("--fixed-hits", action="store_true", help="the search ignores `limit`")
    chosen = parser.parse_args()
    tallies: dict[str, Tally] = defaultdict(Tally)
    rows = cases(chosen.file)[chosen.first : chosen.last]
    jobs = asyncio.run(jobs_of(rows, fixed_hits=chosen.fixed_hits))
    for job in jobs:
        ranked = job.corpus.search(job.case.question)[: len(job.passages_cited)]
        for name in ("all", job.case.kind):
            tallies[name].add(job, ranked)
    for job in jobs[: chosen.show]:
        titles = [job.case.passages[at][0] for at in job.passages_cited]
        print(f"\n{job.case.question}\n  RIGHT {job.case.answers[0]} {sorted(job.case.gold)}")
        print("\n".join(job.log), f"\n  CITED {titles} ANSWER {job.answer[:100]}")
    print(HEADER)
    for name in sorted(tallies):
        print(tallies[name].line(name))
    print(calibration(jobs))


def calibration(jobs: Sequence[Job]) -> str:
    """How often what was given is right, by the confidence it was given with."""
    buckets: dict[tuple[bool, float], list[bool]] = defaultdict(list)
    for job in jobs:
        for is_passage, sure, right in job.checks:
            buckets[is_passage, math.floor(sure * 10 + 1e-9) / 10].append(right)
    rows = {False: "values right  ", True: "passages right"}
    return "\n".join(
        f"{name} by confidence: " + "  ".join(
            f"{low:.1f}: {100 * sum(all_) / len(all_):.0f}% of {len(all_)}"
            for (kind, low), all_ in sorted(buckets.items()) if kind is is_passage
        )
        for is_passage, name in rows.items()
    )  # fmt: skip


if __name__ == "__main__":
    main()
