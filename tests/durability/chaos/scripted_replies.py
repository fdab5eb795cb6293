"""The answers of the model and the tool, decided by the request and the seed alone."""

import hashlib
import json
import re
import time
from dataclasses import dataclass, field, replace

from holdfast.roles.loop.answer_judge import ANSWER_JUDGE
from holdfast.roles.loop.loop_agent import INSTRUCTIONS
from tests.durability.chaos import scripted_agents, scripted_loops
from tests.durability.chaos.job_shapes import JobShape, PlanPattern, first_task_id, shape_plan
from tests.durability.chaos.request_arrivals import (
    LOOP_ROLE,
    RequestArrivals,
    RequestContent,
    job_mark,
    without_job_mark,
)
from tests.durability.chaos.scripted_agents import QUESTION_PREFIX
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedReply
from tests.support.endpoints.scripted_roles import ROLES, RoleScript, ScriptedRoles, planner_answer

_VALUE = re.compile(r"The value is (\w+)\.")
_FILLER = " ".join(f"Remark {n} says nothing of any use to anybody." for n in range(60))
_LEAST_S, _MOST_S = 0.05, 0.3
_HELD_S = 600.0
"""Longer than any test waits."""
_HEARD_TOKENS = 100
"""Of every request, since what a replanner is shown hangs on what has ended by then."""


def shape_question(shape: JobShape, job: str) -> str:
    """A question that says which shape its plan is to have."""
    return f"{job_mark(job)} {shape.name}: what follows from all of it?"


@dataclass
class ChaosScript:
    """Plays every role and the tool `lookup`, with small delays, and notes what came in."""

    seed: int
    arrivals: RequestArrivals = field(default_factory=RequestArrivals)
    held_after: int | None = None
    """Later requests of each job wait until the model is released; None: none waits."""
    _players: ScriptedRoles = field(init=False)

    def __post_init__(self) -> None:
        parts: dict[str, RoleScript] = {
            "planner": _plan,
            "replanner": _continuation,
            "extractor": _extraction,
            "synthesiser": _report,
            **scripted_agents.AGENT_SCRIPTS,
        }
        self._players = ScriptedRoles(parts=parts)

    def reply(self, asked: ReceivedRequest) -> ScriptedReply:
        """The model's answer; takes part as the responder of a `ScriptedModel`."""
        role, reply = self._played(asked)
        content = RequestContent.of_model(role, asked.turns)
        self.arrivals.note(content)
        told = without_job_mark(reply.content or json.dumps(reply.calls))
        delay = _HELD_S if self._is_held(content.job) else self._pause_s(role + told)
        return replace(reply, delay=delay, usage=_usage(told))

    def _played(self, asked: ReceivedRequest) -> tuple[str, ScriptedReply]:
        """The role that is asked, and its reply."""
        if asked.system.startswith(INSTRUCTIONS):
            return LOOP_ROLE, ScriptedReply.calling(scripted_loops.loop_turn(asked))
        if asked.plays(ANSWER_JUDGE):
            return ANSWER_JUDGE.name, ScriptedReply.playing(
                ANSWER_JUDGE, scripted_loops.judgement(asked)
            )
        return next(role.name for role in ROLES if asked.plays(role)), self._players(asked)

    def page(self, key: str) -> str:
        """The tool's answer; takes part as the answers of a `ScriptedTools`."""
        self.arrivals.note(RequestContent.of_tool(key))
        query = without_job_mark(key)
        time.sleep(self._pause_s(query))
        name, task_id, *_ = query.split()
        shape = JobShape.named(name.rstrip(":"))
        is_lost = shape.fails_at(task_id) and not shape.pattern.has_agents
        found = "No value is known." if is_lost else _stated(query)
        if query.endswith(scripted_agents.AGAIN):
            found = f"{found[:-1]}{scripted_agents.AGAIN}."
        is_long = shape.pattern is PlanPattern.LONG
        return f"{_FILLER} {found} {_FILLER}" if is_long else f"Of {task_id}. {found}"

    def _is_held(self, job: str) -> bool:
        return self.held_after is not None and self.arrivals.count([job]) > self.held_after

    def _pause_s(self, text: str) -> float:
        share = int(_digest(f"{self.seed} {text}"), 16) / 16**8
        return _LEAST_S + share * (_MOST_S - _LEAST_S)


def _stated(query: str) -> str:
    return f"The value is v{_digest(query)}."


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _usage(told: str) -> dict[str, object]:
    return {"prompt_tokens": _HEARD_TOKENS, "completion_tokens": 1 + len(told) // 4}


def _asked_for(asked: ReceivedRequest) -> tuple[str, JobShape]:
    found = QUESTION_PREFIX.match(asked.task["question"])
    assert found, asked.task["question"]
    return found.group(1), JobShape.named(found.group(2))


def _plan(asked: ReceivedRequest) -> object:
    """The plan of the shape; after a loop, its first task builds on what the loop proved."""
    job, shape = _asked_for(asked)
    loop = asked.task.get("found", {}).get("task")
    graph = shape.graph | ({"T1": (loop,)} if loop else {})
    return planner_answer(shape_plan(graph, shape, job_mark(job)))


def _continuation(asked: ReceivedRequest) -> object:
    """The tasks to replace once more, each under the next id and with the rest as it was."""
    job, shape = _asked_for(asked)
    replaced, used = asked.task["replaced"], asked.task["used_ids"]
    used = [task_id for task_id in used if "." not in task_id]
    latest = {first_task_id(task_id): task_id for task_id in used if task_id not in replaced}
    new = {first_task_id(task_id): _next_id(task_id, used) for task_id in replaced}
    current = latest | new
    graph = {
        current[task_id]: tuple(current[need] for need in needs)
        for task_id, needs in shape.graph.items()
        if task_id in new
    }
    return planner_answer(shape_plan(graph, shape, job_mark(job)))


def _next_id(task_id: str, used: list[str]) -> str:
    return next(new for letter in "abc" if (new := first_task_id(task_id) + letter) not in used)


def _report(asked: ReceivedRequest) -> object:
    """Quotes in an order of their own: which result came first is nobody's business."""
    items = sorted(asked.task["evidence"], key=lambda item: str(item["quote"]))
    told = [{"text": item["quote"], "evidence": [item["id"]]} for item in items]
    return {
        "summary": told[:1],
        "findings": told,
        "analysis": [],
        "conclusions": [],
        "gaps": [],
        "conclusion": "the answer" if asked.task["concludes"] else None,
    }


def _extraction(asked: ReceivedRequest) -> object:
    text = " ".join(fragment["text"] for fragment in asked.task["response"])
    found = _VALUE.search(text)
    value, quote = (found.group(1), found.group(0)) if found else (None, "")
    confidence = 0.9 if found else 0.1
    entities = [
        {"name": entity["name"], "value": value, "confidence": confidence, "quote": quote}
        for entity in asked.task["entities"]
    ]
    summary = "stated" if found else "no value is stated"
    return {"entities": entities, "confidence": confidence, "summary": summary}
