"""A scripted model that plays every role sensibly, until a test says how one role answers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from models.plan import Plan
from roles.base import Role
from roles.condenser import CONDENSER
from roles.extractor import EXTRACTOR
from roles.planner import PLANNER
from roles.reasoner import REASONER
from roles.replanner import REPLANNER
from roles.sentence_checker import SENTENCE_CHECKER
from roles.synthesiser import MOST_FINDINGS, SYNTHESISER
from tests.support.scripted_model import Asked, Reply

Part: TypeAlias = Callable[[Asked], object]


def draft(plan: Plan) -> dict[str, Any]:
    """A plan as a model writes it."""
    dropped = {"status", "result", "criteria"}
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


def _quoting(item: dict[str, Any]) -> dict[str, Any]:
    return {"text": item["quote"], "evidence": [item["id"]]}


ROLES: tuple[Role[Any, Any], ...] = (
    PLANNER, REPLANNER, EXTRACTOR, REASONER,
    SYNTHESISER, CONDENSER, SENTENCE_CHECKER,
)  # fmt: skip


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
