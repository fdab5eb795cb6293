"""A scripted model that plays every role sensibly, until a test says how one role answers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from models.plan import Plan
from roles.answerer import ANSWERER
from roles.assessor import ASSESSOR
from roles.base import Role
from roles.condenser import CONDENSER
from roles.extractor import EXTRACTOR
from roles.gap_planner import GAP_PLANNER
from roles.matcher import MATCHER
from roles.node_planner import NODE_PLANNER, OBJECTIVES, REPAIRER
from roles.planner import GRAPH_PLANNER, PLANNER
from roles.reasoner import REASONER
from roles.replanner import GRAPH_REPLANNER, NODE_REPLANNER, REPLANNER
from roles.reviser import REVISER
from roles.sentence_checker import SENTENCE_CHECKER
from roles.stepper import STEPPER
from roles.synthesiser import MOST_FINDINGS, SYNTHESISER
from roles.verifier import VERIFIER
from tests.support.scripted_model import Asked, Reply

Part: TypeAlias = Callable[[Asked], object]


def draft(plan: Plan) -> dict[str, Any]:
    """A plan as a model writes it."""
    dropped = {"status", "result", "parent"}
    return {
        "explanation": "because",
        "tasks": [task.model_dump(mode="json", exclude=dropped) for task in plan.tasks],
    }


@dataclass
class Players:
    """Answers by role; each part can be replaced, or queued once with `then`."""

    plan: Plan = field(default_factory=Plan)
    continuations: list[Plan] = field(default_factory=list)
    parts: dict[str, Part] = field(default_factory=dict)
    asked: dict[str, list[Asked]] = field(default_factory=dict)

    def __call__(self, asked: Asked) -> Reply:
        role = next(role for role in ROLES if asked.plays(role))
        self.asked.setdefault(role.name, []).append(asked)
        part = self.parts.get(role.name) or getattr(self, f"_{role.name}")
        try:
            answer = part(asked)
        except Exception as error:
            # An answer of 400 ends the job at once; a 500 would be tried again for hours.
            return Reply(status=400, error={"message": f"the test's part failed: {error!r}"})
        return answer if isinstance(answer, Reply) else Reply.of(answer)

    def count(self, role: Role[Any, Any]) -> int:
        return len(self.asked.get(role.name, []))

    def tasks(self, role: Role[Any, Any]) -> list[dict[str, Any]]:
        """The typed tasks that this role was given."""
        return [asked.task for asked in self.asked.get(role.name, [])]

    def _planner(self, asked: Asked) -> object:
        return draft(self.plan)

    def _replanner(self, asked: Asked) -> object:
        return draft(self.continuations.pop(0))

    def _stepper(self, asked: Asked) -> object:
        """Calls the tool once with the specification, then hands on what it found."""
        task = asked.task
        done = [step for step in task["trace"] if step["status"] == "done"]
        if not done and task["tools"] and not task["must_end"]:
            tool = _search(task)
            (name, *_) = tool["input_schema"]["required"]
            given = [str(each["value"]) for each in task["given"]]
            query = " ".join([task["specification"], *given])
            call = {"tool": tool["name"], "inputs": [{"name": name, "value": query}]}
            return {"calls": [call | {"expects": [{"name": "found"}]}]}
        last = done[-1] if done else None
        value = next(iter(last["found"].values())) if last else _joined(task)
        outputs = [{"name": e["name"], "value": value, "confidence": 0.9} for e in task["expects"]]
        return {"outputs": outputs}

    def _objectives(self, asked: Asked) -> object:
        return {"objectives": ["find it", "check it"]}

    def _repairer(self, asked: Asked) -> object:
        return {"objectives": ["find it in another way"]}

    def _assessor(self, asked: Asked) -> object:
        done = [step for step in asked.task["trace"] if step["status"] == "done"]
        if not done:
            return {"status": "needs_more_steps", "guidance": "look it up"}
        value = next(iter(done[-1]["found"].values()))
        outputs = [{"name": e["name"], "value": value} for e in asked.task["expects"]]
        return {"status": "completed", "outputs": outputs}

    def _node_planner(self, asked: Asked) -> object:
        """One call that finds what was promised."""
        task = asked.task
        tool, node = _search(task), task["node"]
        (name, *_) = tool["input_schema"]["required"]
        step = {
            "id": f"{node}.{len(task['used_ids']) + 1}",
            "kind": "tool",
            "description": task["specification"],
            "tool": tool["name"],
            "inputs": [{"name": name, "value": task["specification"]}],
            "expects": task["expects"],
        }
        return {"explanation": "one call", "tasks": [step]}

    def _reviser(self, asked: Asked) -> object:
        return {}

    def _extractor(self, asked: Asked) -> object:
        text = " ".join(fragment["text"] for fragment in asked.task["response"])
        found = [
            {"name": entity["name"], "value": text[:60], "confidence": 0.9, "quote": text[:60]}
            for entity in asked.task["entities"]
        ]
        return {"entities": found, "confidence": 0.9, "summary": "found"}

    def _reasoner(self, asked: Asked) -> object:
        value = " & ".join(str(given["value"]) for given in asked.task["inputs"]) or "so"
        outputs = [{"name": each["name"], "value": value} for each in asked.task["outputs"]]
        return {"status": "completed", "outputs": outputs, "reasoning_steps": ["therefore"]}

    def _answerer(self, asked: Asked) -> object:
        return {"answer": None, "rests_on": None}

    def _matcher(self, asked: Asked) -> object:
        return {"match": None}

    def _synthesiser(self, asked: Asked) -> object:
        # Its sentences are quotes, so nothing is left for the sentence checker to judge.
        items = asked.task["evidence"]
        ids = [item["id"] for item in items]
        found = [_quoting(item) for item in items[:MOST_FINDINGS]]
        told = items[0]["quote"] if items else "the answer"
        concluded = "the answer" if asked.task["concludes"] else None
        return {
            "summary": [{"text": told, "evidence": ids}], "findings": found,
            "analysis": [], "conclusions": [], "gaps": [], "conclusion": concluded,
        }  # fmt: skip

    def _condenser(self, asked: Asked) -> object:
        return {"statements": [_quoting(item) for item in asked.task["evidence"][:12]]}

    def _sentence_checker(self, asked: Asked) -> object:
        ids = [sentence["id"] for sentence in asked.task["sentences"]]
        return {"verdicts": [{"id": name, "verdict": "supported", "why": ""} for name in ids]}

    def _verifier(self, asked: Asked) -> object:
        return verdict(0.9)

    def _gap_planner(self, asked: Asked) -> object:
        again = [{"id": name, "hint": "look again"} for name in asked.task["incomplete"]]
        return {"explanation": "gaps", "retry_sub_questions": again, "new_sub_questions": []}


def _search(task: dict[str, Any]) -> dict[str, Any]:
    """The lab's search, or whatever tool comes first."""
    named = (each for each in task["tools"] if each["name"].endswith("wikipedia_search"))
    return next(named, task["tools"][0])


def _joined(task: dict[str, Any]) -> str:
    return " & ".join(str(each["value"]) for each in task["given"]) or "so"


def _quoting(item: dict[str, Any]) -> dict[str, Any]:
    return {"text": item["quote"], "evidence": [item["id"]]}


ROLES: tuple[Role[Any, Any], ...] = (
    PLANNER, GRAPH_PLANNER, REPLANNER, NODE_REPLANNER, GRAPH_REPLANNER, EXTRACTOR, REASONER,
    SYNTHESISER, STEPPER, OBJECTIVES, REPAIRER, ASSESSOR, NODE_PLANNER, REVISER,
    VERIFIER, GAP_PLANNER, ANSWERER, CONDENSER, SENTENCE_CHECKER, MATCHER,
)  # fmt: skip


def verdict(completeness: float, **changes: object) -> dict[str, object]:
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


def extraction(value: object, confidence: float, *, quote: str = "", summary: str = "") -> Part:
    """An extractor that finds this value for every entity."""

    def part(asked: Asked) -> object:
        names = [entity["name"] for entity in asked.task["entities"]]
        found = [
            {"name": name, "value": value, "confidence": confidence, "quote": quote}
            for name in names
        ]
        return {"entities": found, "confidence": confidence, "summary": summary}

    return part
