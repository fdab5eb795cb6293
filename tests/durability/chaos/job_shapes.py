"""The shapes of the jobs: how the tasks depend on each other, which task fails, and which limit
holds."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Self

from pydantic import JsonValue

from holdfast.models.jobs.job_record import StopReason
from holdfast.models.plans.research_plan import (
    FINAL_ANSWER,
    ExpectedEntity,
    Plan,
    Task,
    TaskInput,
    TaskKind,
)
from holdfast.models.strategies.job_strategy import GENERALIST

LOOKUP_TOOL = "lab.lookup"
NOTE_TOOL = "lab.note"
"""Not safe to repeat."""
FAILING_TASK = "T2"
"""The task whose first answers hold no value, in a shape with failures."""
CHUNK_TOKENS = 200
"""Of a shape with long pages: each is read in several chunks, side by side."""

_NAME = re.compile(r"([a-z]+)-(\d)(?:-fails(\d))?(?:-replans(\d))?(?:-calls(\d))?")
_LAYER = 2


class PlanPattern(StrEnum):
    """How the tasks hang together."""

    CHAIN = "chain"
    WIDE = "wide"
    LAYERED = "layered"
    LONG = "long"
    """As wide, with pages that are read in chunks."""
    SINGLE = "single"
    """One agent that takes a step for each task (the preset single-step)."""
    TDP = "tdp"
    """A chain of agents that are judged after each step."""
    OPENING = "opening"
    """The preset research where its first loop answers the question."""
    RESEARCH = "research"
    """The preset research where its first loop hands over: agents side by side, verified, one
    of them worked again."""
    VMAO = "vmao"
    """Agents side by side that take one step after the other, likewise."""
    AGENT = "agent"
    """One agent with every tool that takes one step (the preset single-agent)."""
    HORIZON = "horizon"
    """A chain whose tools run without the model (the preset full-horizon)."""
    PIPELINE = "pipeline"
    """Agents in a fixed order (the preset static-pipeline)."""
    LOOP = "loop"
    """One agent that searches and answers in one dialogue."""
    NOTES = "notes"
    """A chain with a tool that is not safe to repeat; drawn for rounds of its own."""

    @property
    def preset(self) -> str:
        """The strategy under which such jobs are worked."""
        return _PRESETS.get(self.value, "kpi-chain")

    @property
    def is_verified(self) -> bool:
        """Whether what T2 finds first is not enough, so that it is worked again."""
        return self in (PlanPattern.RESEARCH, PlanPattern.VMAO)

    @property
    def begins_with_loop(self) -> bool:
        """Whether one cited loop takes the whole question first."""
        return self.preset in ("loop", "research")

    @property
    def has_agents(self) -> bool:
        return self.preset not in ("kpi-chain", "full-horizon")

    @property
    def is_chain(self) -> bool:
        return self in (PlanPattern.CHAIN, PlanPattern.TDP, PlanPattern.HORIZON, PlanPattern.NOTES)


_PRESETS = {
    "single": "single-step",
    "agent": "single-agent",
    "horizon": "full-horizon",
    "pipeline": "static-pipeline",
    "tdp": "tdp",
    "opening": "research",
    "research": "research",
    "vmao": "vmao",
    "loop": "loop",
}
DRAWN_PATTERNS = tuple(each for each in PlanPattern if each is not PlanPattern.NOTES)


@dataclass(frozen=True)
class JobShape:
    """A job's plan without its words. Its name says it all: `chain-4-fails2-replans1`."""

    pattern: PlanPattern
    tasks: int
    """Tool tasks; a last task concludes the answer from them."""
    fails: int = 0
    """How often in a row the failing task's page holds no value."""
    replans: int | None = None
    """The limit `max_replans` of the job, if it has one of its own."""
    calls: int | None = None
    """The limit `max_tool_calls` of the job, if it has one of its own."""

    @classmethod
    def drawn(cls, dice: Random, patterns: Sequence[PlanPattern] = DRAWN_PATTERNS) -> Self:
        """Any shape whose course does not hang on which task happens to be quicker.

        Only a chain has a limit: elsewhere what ran when it was reached would be found as well.
        """
        pattern = dice.choice(patterns)
        if pattern.has_agents:
            fails = dice.choice((0, 1)) if pattern is PlanPattern.TDP else 0
            return cls(pattern, dice.randint(2, 3), fails=fails)
        if pattern in (PlanPattern.HORIZON, PlanPattern.NOTES):
            return cls(pattern, dice.randint(2, 4))
        tasks = dice.randint(3, 5) if pattern is not PlanPattern.LONG else 2
        limit = dice.choice(("", "", "replans", "calls")) if pattern is PlanPattern.CHAIN else ""
        if limit == "replans":
            return cls(pattern, tasks, fails=2, replans=1)
        if limit == "calls":
            return cls(pattern, tasks, calls=2)
        return cls(pattern, tasks, fails=dice.choice((0, 0, 1, 2)))

    @classmethod
    def named(cls, name: str) -> Self:
        """The shape that has this name."""
        found = _NAME.fullmatch(name)
        assert found, f"{name!r} is no shape"
        pattern, tasks, fails, replans, calls = found.groups()
        return cls(
            PlanPattern(pattern),
            int(tasks),
            fails=int(fails or 0),
            replans=int(replans) if replans else None,
            calls=int(calls) if calls else None,
        )

    @property
    def name(self) -> str:
        limits = {"fails": self.fails or None, "replans": self.replans, "calls": self.calls}
        said = [f"{key}{value}" for key, value in limits.items() if value is not None]
        return "-".join((self.pattern, str(self.tasks), *said))

    @property
    def settings(self) -> dict[str, JsonValue]:
        """What `--set` would change for this job."""
        chunks = CHUNK_TOKENS if self.pattern is PlanPattern.LONG else None
        share = 1.0 if self.pattern.is_verified else None
        given: dict[str, JsonValue] = {
            "max_replans": self.replans,
            "max_tool_calls": self.calls,
            "chunk_tokens": chunks,
            "ready_threshold": share,
            "high_confidence": share,
        }
        return {name: value for name, value in given.items() if value is not None}

    @property
    def stop_reason(self) -> StopReason:
        """Why such a job ends."""
        if self.calls is not None:
            return StopReason.TOOL_CALL_LIMIT
        return StopReason.ANSWERED if self.replans is None else StopReason.RETRY_LIMIT

    @property
    def revisions(self) -> int:
        """How often the plan itself is made: once, after a loop, after each failure, for gaps."""
        if self.pattern.is_verified:
            return 3 if self.pattern.begins_with_loop else 2
        return 1 + (self.fails if self.replans is None else self.replans)

    @property
    def graph(self) -> dict[str, tuple[str, ...]]:
        """The tasks with those each one waits for; the last concludes the answer."""
        ids = [f"T{n}" for n in range(1, self.tasks + 1)]
        before = {task_id: self._before(n, ids) for n, task_id in enumerate(ids)}
        needed = {need for needs in before.values() for need in needs}
        ends = tuple(task_id for task_id in ids if task_id not in needed)
        return before | {f"T{self.tasks + 1}": ends}

    def _before(self, n: int, ids: list[str]) -> tuple[str, ...]:
        if self.pattern.is_chain:
            return tuple(ids[max(0, n - 1) : n])
        if self.pattern is PlanPattern.LAYERED:
            layer = n - n % _LAYER
            return tuple(ids[max(0, layer - _LAYER) : layer])
        return ()

    def fails_at(self, task_id: str) -> bool:
        """Whether the page of this task holds no value: of T2, then of T2a, and so on."""
        return first_task_id(task_id) == FAILING_TASK and replacement_count(task_id) < self.fails


def shape_plan(graph: dict[str, tuple[str, ...]], shape: JobShape, mark: str) -> Plan:
    """The plan of these tasks; `mark` stands in every call of the job, and nowhere else."""
    last = f"T{shape.tasks + 1}"
    if shape.pattern.has_agents:
        return Plan(
            tasks=tuple(
                _resolved(task_id, needs, shape, mark, is_final=first_task_id(task_id) == last)
                for task_id, needs in graph.items()
            )
        )
    return Plan(
        tasks=tuple(
            _concluding(task_id, needs)
            if first_task_id(task_id) == last
            else _looking_up(task_id, needs, shape, mark)
            for task_id, needs in graph.items()
        )
    )


def first_task_id(task_id: str) -> str:
    """The task of the first plan that this one continues: T2 of T2b."""
    return task_id.rstrip("abc")


def replacement_count(task_id: str) -> int:
    """How often the task was replaced: 0 for T2, 1 for T2a."""
    return " abc".index(task_id[-1]) if task_id[-1] in "abc" else 0


def _looking_up(task_id: str, needs: tuple[str, ...], shape: JobShape, mark: str) -> Task:
    query = " ".join((mark, shape.name, task_id, *(_value(need) for need in needs)))
    is_note = shape.pattern is PlanPattern.NOTES
    tool, name = (NOTE_TOOL, "text") if is_note else (LOOKUP_TOOL, "key")
    return Task(
        id=task_id,
        kind=TaskKind.TOOL,
        description=f"look up what {task_id} is about",
        tool=tool,
        inputs=(TaskInput(name=name, value=query, is_reference=bool(needs)),),
        expects=(ExpectedEntity(name="value"),),
        depends_on=needs,
    )


def _resolved(
    task_id: str, needs: tuple[str, ...], shape: JobShape, mark: str, *, is_final: bool
) -> Task:
    """A sub-question; its words say whose it is, for an agent is shown nothing else."""
    name = FINAL_ANSWER if is_final and not shape.pattern.is_verified else "value"
    return Task(
        id=task_id,
        kind=TaskKind.AGENT,
        description=f"{mark} {shape.name}: what is known of {task_id}?",
        agent=GENERALIST,
        expects=(ExpectedEntity(name=name),),
        depends_on=needs,
        include_context=True,
    )


def _concluding(task_id: str, needs: tuple[str, ...]) -> Task:
    return Task(
        id=task_id,
        kind=TaskKind.REASONING,
        description="conclude the answer",
        inputs=tuple(TaskInput(name=f"of_{n}", value=_value(n), is_reference=True) for n in needs),
        expects=(ExpectedEntity(name=FINAL_ANSWER),),
        depends_on=needs,
    )


def _value(task_id: str) -> str:
    return f"<JSON_PATH>{task_id}.value</JSON_PATH>"
