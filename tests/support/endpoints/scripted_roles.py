"""Sensible answers of the scripted model in every role, which a test can replace role by role."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, TypeAlias

from holdfast.models.plans.plan_drafts import DraftNode, DraftTask
from holdfast.models.plans.research_plan import Plan, Task, TaskKind
from holdfast.models.reports.report_writer_messages import MOST_FINDINGS
from holdfast.roles.agents.answerer import ANSWERER
from holdfast.roles.agents.assessor import ASSESSOR
from holdfast.roles.agents.stepper import STEPPER
from holdfast.roles.dialogue.role_definition import Role
from holdfast.roles.loop.compactor import COMPACTOR
from holdfast.roles.planning.agent_steps_planner import OBJECTIVES, REPAIRER, STEP_PLANNER
from holdfast.roles.planning.gap_planner import GAP_PLANNER
from holdfast.roles.planning.planner import AGENT_TASK_PLANNER, PLANNER
from holdfast.roles.planning.replanner import (
    AGENT_TASK_REPLANNER,
    LOOP_TASK_REPLANNER,
    REPLANNER,
    STEP_REPLANNER,
)
from holdfast.roles.planning.reviser import REVISER
from holdfast.roles.reports.claim_matcher import CLAIM_MATCHER
from holdfast.roles.reports.condenser import CONDENSER
from holdfast.roles.reports.sentence_corrector import SENTENCE_CORRECTOR
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.roles.tasks.matcher import MATCHER
from holdfast.roles.tasks.reasoner import REASONER
from holdfast.roles.verification.sentence_checker import SENTENCE_CHECKER
from holdfast.roles.verification.verifier import VERIFIER
from tests.support.endpoints.loop_script import LoopScript
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedReply

RoleScript: TypeAlias = Callable[[ReceivedRequest], object]
GAP_HINT = "look again"
"""What the gap planner tells an agent whose result was not enough."""


def planner_answer(plan: Plan) -> dict[str, Any]:
    """A plan as a model writes it."""
    return {"explanation": "because", "tasks": [_drafted(task) for task in plan.tasks]}


def _drafted(task: Task) -> dict[str, Any]:
    """The fields of the task that its planner writes."""
    draft = DraftNode if task.kind is TaskKind.AGENT else DraftTask
    given = [each.model_dump(mode="json", exclude={"is_reference"}) for each in task.inputs]
    queries = [query for each in task.first_queries for query in each.value]
    fields = task.model_dump(mode="json") | {"inputs": given, "first_queries": queries}
    return {name: fields[name] for name in draft.model_fields}


@dataclass
class ScriptedRoles:
    """Answers by role; each part can be replaced.

    A part says what its test is about, and the answer is completed as a strict endpoint sends it;
    `ScriptedReply.lax` is sent as it is.
    """

    plan: Plan = field(default_factory=Plan)
    continuations: list[Plan] = field(default_factory=list)
    parts: dict[str, RoleScript] = field(default_factory=dict)
    asked: dict[str, list[ReceivedRequest]] = field(default_factory=dict)
    loop: LoopScript = field(default_factory=LoopScript)
    """What the agent and the judge of a cited loop say."""

    def __call__(self, asked: ReceivedRequest) -> ScriptedReply:
        if self.loop.plays(asked):
            return self.loop(asked)
        role = next(role for role in ROLES if asked.plays(role))
        if role is VERIFIER:
            return self._verdicts(asked)
        self.asked.setdefault(role.name, []).append(asked)
        part = self.parts.get(role.name) or getattr(self, f"_{role.name}")
        try:
            answer = part(asked)
        except Exception as error:
            # An answer of 400 ends the job at once; a 500 would be tried again for hours.
            return ScriptedReply(
                status=400, error={"message": f"the test's part failed: {error!r}"}
            )
        reply = answer if isinstance(answer, ScriptedReply) else ScriptedReply.of(answer)
        return reply.completed(role)

    def count(self, role: Role[Any, Any]) -> int:
        return len(self.asked.get(role.name, []))

    def tasks(self, role: Role[Any, Any]) -> list[dict[str, Any]]:
        """The typed tasks that this role was given."""
        return [asked.task for asked in self.asked.get(role.name, [])]

    def _verdicts(self, asked: ReceivedRequest) -> ScriptedReply:
        """The verdicts of one call: the part is asked for each result by itself."""
        part = self.parts.get(VERIFIER.name) or self._verifier
        verdicts, delay, is_lax = [], 0.0, False
        for each in _results_to_verify(asked):
            self.asked.setdefault(VERIFIER.name, []).append(each)
            answer = part(each)
            if isinstance(answer, ScriptedReply):
                if answer.status != HTTPStatus.OK or answer.raw is not None or not answer.content:
                    return answer
                delay, is_lax = max(delay, answer.delay), is_lax or answer.is_lax
                answer = json.loads(answer.content)
            verdicts.append({"id": each.task["id"], **answer})  # type: ignore[dict-item]
        reply = ScriptedReply.of({"verdicts": verdicts}, delay=delay, is_lax=is_lax)
        return reply.completed(VERIFIER)

    def _planner(self, asked: ReceivedRequest) -> object:
        return planner_answer(self.plan)

    def _claim_matcher(self, asked: ReceivedRequest) -> object:
        return {"pairs": []}

    def _replanner(self, asked: ReceivedRequest) -> object:
        return planner_answer(self.continuations.pop(0))

    def _stepper(self, asked: ReceivedRequest) -> object:
        """Calls the tool once with the specification, then hands on what it found."""
        task = asked.task
        done = [step for step in task["trace"] if step["status"] == "done"]
        if not done and task["tools"] and not task["must_end"]:
            tool = _search(task)
            name = tool["parameter"]
            given = [str(each["value"]) for each in task["given"]]
            query = " ".join([task["specification"], *given])
            call = {"tool": tool["name"], "inputs": [{"name": name, "value": query}]}
            return {"calls": [call | {"expects": [{"name": "found"}]}]}
        last = done[-1] if done else None
        value = next(iter(last["found"].values())) if last else _joined(task)
        outputs = [{"name": e["name"], "value": value, "confidence": 0.9} for e in task["expects"]]
        return {"outputs": outputs}

    def _objectives(self, asked: ReceivedRequest) -> object:
        return {"objectives": ["find it", "check it"]}

    def _repairer(self, asked: ReceivedRequest) -> object:
        return {"objectives": ["find it in another way"]}

    def _assessor(self, asked: ReceivedRequest) -> object:
        done = [step for step in asked.task["trace"] if step["status"] == "done"]
        if not done:
            return {"status": "needs_more_steps", "guidance": "look it up"}
        value = next(iter(done[-1]["found"].values()))
        outputs = [{"name": e["name"], "value": value} for e in asked.task["expects"]]
        return {"status": "completed", "outputs": outputs}

    def _step_planner(self, asked: ReceivedRequest) -> object:
        """One call that finds what was promised."""
        task = asked.task
        tool, node = _search(task), task["node"]
        name = tool["parameter"]
        step = {
            "id": f"{node}.{len(task['used_ids']) + 1}",
            "kind": "tool",
            "description": task["specification"],
            "tool": tool["name"],
            "inputs": [{"name": name, "value": task["specification"]}],
            "expects": task["expects"],
        }
        return {"explanation": "one call", "tasks": [step]}

    def _reviser(self, asked: ReceivedRequest) -> object:
        return {}

    def _extractor(self, asked: ReceivedRequest) -> object:
        text = " ".join(fragment["text"] for fragment in asked.task["response"])
        found = [
            {"name": entity["name"], "value": text[:60], "confidence": 0.9, "quote": text[:60]}
            for entity in asked.task["entities"]
        ]
        return {"entities": found, "confidence": 0.9, "summary": "found"}

    def _reasoner(self, asked: ReceivedRequest) -> object:
        value = " & ".join(str(given["value"]) for given in asked.task["inputs"]) or "so"
        outputs = [{"name": each["name"], "value": value} for each in asked.task["outputs"]]
        return {"status": "completed", "outputs": outputs, "reasoning_steps": ["therefore"]}

    def _answerer(self, asked: ReceivedRequest) -> object:
        return {"answer": None, "rests_on": None}

    def _matcher(self, asked: ReceivedRequest) -> object:
        return {"match": None}

    def _synthesiser(self, asked: ReceivedRequest) -> object:
        # Its sentences are quotes, so nothing is left for the sentence checker to judge.
        items = asked.task["evidence"]
        ids = [item["id"] for item in items]
        found = [_quoting(item) for item in items[:MOST_FINDINGS]]
        told = items[0]["quote"] if items else "the answer"
        concluded = "the answer" if asked.task["concludes"] else None
        return {
            "summary": [{"text": told, "evidence": ids}],
            "findings": found,
            "analysis": [],
            "conclusions": [],
            "gaps": [],
            "conclusion": concluded,
        }

    def _condenser(self, asked: ReceivedRequest) -> object:
        return {"statements": [_quoting(item) for item in asked.task["evidence"][:12]]}

    def _sentence_corrector(self, asked: ReceivedRequest) -> object:
        """Repeats every refused sentence as it was."""
        return {
            "sentences": [
                {"id": each["id"], "text": each["text"], "evidence": each.get("cites", [])}
                for each in asked.task["sentences"]
            ]
        }

    def _sentence_checker(self, asked: ReceivedRequest) -> object:
        ids = [sentence["id"] for sentence in asked.task["sentences"]]
        return {"verdicts": [{"id": name, "verdict": "supported", "why": ""} for name in ids]}

    def _verifier(self, asked: ReceivedRequest) -> object:
        return verifier_answer(0.9)

    def _gap_planner(self, asked: ReceivedRequest) -> object:
        again = [{"id": name, "hint": GAP_HINT} for name in asked.task["incomplete"]]
        return {"explanation": "gaps", "retry_sub_questions": again, "new_sub_questions": []}


def _results_to_verify(asked: ReceivedRequest) -> list[ReceivedRequest]:
    """A request for each result, with the other results as `others`."""
    task = asked.task
    results = task["results"]
    return [
        replace(asked, body={**asked.body, "messages": _verifier_turns(asked, one, results)})
        for one in results
    ]


def _verifier_turns(
    asked: ReceivedRequest, one: dict[str, Any], results: list[dict[str, Any]]
) -> list[dict[str, str]]:
    task = asked.task
    near = [
        {"id": each["id"], "sub_question": each["sub_question"], "values": each["result"]}
        for each in results
        if each["id"] != one["id"]
    ]
    told = {"today": task["today"], "question": task["question"], **one}
    content = json.dumps(told | {"others": [*near, *task["others"]]})
    return [
        {**turn, "content": content} if turn["role"] == "user" and at == 1 else turn
        for at, turn in enumerate(asked.turns)
    ]


def _search(task: dict[str, Any]) -> dict[str, Any]:
    """The lab's search, or whatever tool comes first, with the name of its first parameter."""
    tools = [each.partition("(") for each in task["tools"]]
    named = (each for each in tools if each[0].endswith("wikipedia_search"))
    name, _, signature = next(named, tools[0])
    return {"name": name, "parameter": signature.partition(":")[0].removesuffix("?")}


def _joined(task: dict[str, Any]) -> str:
    return " & ".join(str(each["value"]) for each in task["given"]) or "so"


def _quoting(item: dict[str, Any]) -> dict[str, Any]:
    return {"text": item["quote"], "evidence": [item["id"]]}


ROLES: tuple[Role[Any, Any], ...] = (
    PLANNER,
    AGENT_TASK_PLANNER,
    REPLANNER,
    STEP_REPLANNER,
    LOOP_TASK_REPLANNER,
    AGENT_TASK_REPLANNER,
    EXTRACTOR,
    REASONER,
    SYNTHESISER,
    COMPACTOR,
    STEPPER,
    OBJECTIVES,
    REPAIRER,
    ASSESSOR,
    STEP_PLANNER,
    REVISER,
    VERIFIER,
    GAP_PLANNER,
    ANSWERER,
    CONDENSER,
    SENTENCE_CHECKER,
    SENTENCE_CORRECTOR,
    MATCHER,
    CLAIM_MATCHER,
)


def verifier_answer(completeness: float, **changes: object) -> dict[str, object]:
    """A verifier's answer: complete from 0.75 on, partial from 0.5 on (VMAO's figure)."""
    is_complete = completeness >= 0.75
    usual = {
        "status": "complete" if is_complete else "partial" if completeness >= 0.5 else "incomplete",
        "completeness": completeness,
        "missing": [] if is_complete else ["what is missing"],
        "contradictions": [],
        "confidence": completeness,
        "recommendation": "accept" if is_complete else "retry",
    }
    return usual | changes


def extractor_script(
    value: object, confidence: float, *, quote: str = "", summary: str = ""
) -> RoleScript:
    """An extractor that finds this value for every entity."""

    def part(asked: ReceivedRequest) -> object:
        names = [entity["name"] for entity in asked.task["entities"]]
        found = [
            {"name": name, "value": value, "confidence": confidence, "quote": quote}
            for name in names
        ]
        return {"entities": found, "confidence": confidence, "summary": summary}

    return part
