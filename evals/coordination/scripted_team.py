"""Play every role of a coordination case from its prompt alone.

The script of an agent is its list of look-ups. All else is in the prompt: what was found, given or
left open. So a fact that the engine does not hand on is not known, and a wrong answer follows.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.evals.coordination.coordination_cases import (
    LAST_VALUE,
    CasePart,
    CoordinationCase,
)
from holdfast.evals.oracle.oracle_reports import (
    condenser_answer,
    sentence_checker_answer,
    sentence_corrector_answer,
    synthesiser_answer,
)
from holdfast.evals.oracle.program_calls import RoleTask
from holdfast.models.plans.research_plan import FINAL_ANSWER
from holdfast.models.strategies.job_strategy import GENERALIST

_CLOSING = "Conclude: "
_FOUND = "found"
_BETWEEN = " | "


@dataclass
class PromptSightings:
    """What the first prompts of agents showed of the facts of other parts."""

    prompts: int = 0
    missing: list[str] = field(default_factory=list)
    """Facts of parts that the agent's part depends on, and that its prompt does not show."""
    leaked: list[str] = field(default_factory=list)
    """Facts of parts that it does not depend on, and that its prompt shows."""


@dataclass
class ScriptedTeam:
    """The roles of all cases."""

    cases: Sequence[CoordinationCase]
    sightings: PromptSightings = field(default_factory=PromptSightings)

    def play(self, role: str, task: RoleTask) -> object:
        """The role's answer to its typed task.

        Raises:
            LookupError: the role, or the question, is not in the script.
        """
        played = {
            "planner": self._planner,
            "stepper": self._stepper,
            "verifier": self._verifier,
            "gap_planner": self._gap_planner,
            "synthesiser": self._synthesiser,
            "condenser": condenser_answer,
            "sentence_checker": sentence_checker_answer,
            "sentence_corrector": sentence_corrector_answer,
        }
        return played[role](task)

    def _case(self, task: RoleTask) -> CoordinationCase:
        case = next((each for each in self.cases if each.question == task["question"]), None)
        if case is None:
            raise LookupError("no case of the script asks this question")
        return case

    def _planner(self, task: RoleTask) -> object:
        case = self._case(task)
        drafts = [_drafted(part) for part in case.parts]
        if task["concludes"]:
            closing = {
                "id": f"T{len(drafts) + 1}",
                "description": _CLOSING + case.question,
                "agent": GENERALIST,
                "depends_on": [each["id"] for each in drafts],
                "include_context": True,
                "expects": [{"name": FINAL_ANSWER}],
            }
            drafts.append(closing)
        return {"explanation": "the parts of the case", "tasks": drafts}

    def _stepper(self, task: RoleTask) -> object:
        said = task["specification"]
        given = _texts(task["given"])
        for case in self.cases:
            if said == _CLOSING + case.question:
                return _output(FINAL_ANSWER, case.conclusion(case.facts_in(_BETWEEN.join(given))))
            if said == case.question:
                return _next_step(case, _alone(case), task, given)
            for part in (*case.parts, *([case.settled_by] if case.settled_by else [])):
                if said == part.question:
                    self._look(case, part, task)
                    return _next_step(case, part, task, given)
        raise LookupError(f"no agent of the script works on {said!r}")

    def _look(self, case: CoordinationCase, part: CasePart, task: RoleTask) -> None:
        if task["trace"] or task["earlier"]:
            return
        text = "\n".join(_strings(task))
        shown = case.facts_in(text)
        needed = _facts_before(case, part)
        self.sightings.prompts += 1
        self.sightings.missing += sorted(needed - shown)
        self.sightings.leaked += sorted(shown - needed)

    def _verifier(self, task: RoleTask) -> object:
        case = self._case(task)
        told = {each["id"]: _BETWEEN.join(_texts(each["result"])) for each in task["results"]}
        others = {each["id"]: _BETWEEN.join(_texts(each["values"])) for each in task["others"]}
        return {
            "verdicts": [
                _verdict(case, each, told[each["id"]], told | others) for each in task["results"]
            ]
        }

    def _gap_planner(self, task: RoleTask) -> object:
        case = self._case(task)
        missing = {each["id"]: each["missing"] for each in task["sub_questions"]}
        retries = [
            {"id": name, "hint": "; ".join(missing[name]) or "confirm"}
            for name in task["incomplete"]
        ]
        new = [
            {**_drafted(case.settled_by), "settles": each["tasks"]}
            for each in task["contradictions"]
            if case.settled_by is not None
        ]
        return {"retry_sub_questions": retries, "new_sub_questions": new}

    def _synthesiser(self, task: RoleTask) -> object:
        report = synthesiser_answer({**task, "concludes": False, "answer": task["answer"]})
        assert isinstance(report, dict)
        if not task["concludes"]:
            return report
        case = self._case(task)
        values = [str(value) for each in task["results"] for value in each["values"].values()]
        answer = case.conclusion(case.facts_in(_BETWEEN.join(values)))
        told = {**report["answer"][0], "text": answer}
        return {**report, "answer": [told], "conclusion": answer}


def _drafted(part: CasePart) -> dict[str, Any]:
    return {
        "id": part.id,
        "description": part.question,
        "agent": part.agent,
        "depends_on": list(part.after),
        "include_context": True,
        "expects": [{"name": _FOUND}],
    }


def _alone(case: CoordinationCase) -> CasePart:
    """The whole question as the part of one agent, who makes the look-ups of all in turn."""
    lookups = dict.fromkeys(each for part in case.parts for each in part.lookups)
    stops_early = case.parts[0].first_attempt if len(case.parts) == 1 else None
    return CasePart(
        id="",
        question=case.question,
        agent=GENERALIST,
        lookups=tuple(lookups),
        first_attempt=stops_early,
    )


def _next_step(
    case: CoordinationCase, part: CasePart, task: RoleTask, given: Sequence[str]
) -> object:
    """The next look-up that was not made yet, or what all of them found."""
    seen = [each for each in (*task["earlier"], *task["trace"]) if each["status"] == "done"]
    found = list(dict.fromkeys(str(value) for each in seen for value in each["found"].values()))
    limit = len(part.lookups)
    if part.first_attempt is not None and not task["hints"]:
        limit = part.first_attempt
    if len(found) < limit and not task["must_end"]:
        last = (*given, *found)[-1] if (given or found) else ""
        return {"calls": [_call(case, part.lookups[len(found)].replace(LAST_VALUE, last))]}
    (wanted,) = task["expects"]
    if wanted["name"] == FINAL_ANSWER:
        return _output(FINAL_ANSWER, case.conclusion(case.facts_in(_BETWEEN.join(found))))
    return _output(wanted["name"], _BETWEEN.join(found))


def _call(case: CoordinationCase, question: str) -> dict[str, Any]:
    known = [each.counter for each in case.facts if each.question == question]
    return {
        "tool": f"{known[0] if known else 'facts'}.lookup",
        "description": question,
        "inputs": [{"name": "question", "value": question}],
        "expects": [{"name": "answer"}],
    }


def _output(name: str, value: str) -> object:
    return {"outputs": [{"name": name, "value": value, "confidence": 1.0}]}


def _verdict(
    case: CoordinationCase, result: RoleTask, told: str, all_told: dict[str, str]
) -> dict[str, Any]:
    parts = [*case.parts, *([case.settled_by] if case.settled_by else [])]
    part = next(each for each in parts if each.question == result["sub_question"])
    wanted = case.facts_of(part)
    missing = sorted(wanted - case.facts_in(told))
    is_complete = not missing
    verdict: dict[str, Any] = {
        "id": result["id"],
        "missing": [f"the {len(missing)} later entries"] if missing else [],
        "contradictions": _contradictions(case, result["id"], told, all_told),
        "completeness": 1.0 if is_complete else 1 - len(missing) / len(wanted),
        "status": "complete" if is_complete else "partial",
        "confidence": 1.0 if is_complete else 0.5,
        "recommendation": "accept" if is_complete else "retry",
    }
    settles = result["settles"]
    if settles is not None:
        confirmed = [side for side in ("one", "other") if case.confirms in settles[side]]
        verdict["sides_with"] = confirmed[0] if confirmed else "neither"
    return verdict


def _contradictions(
    case: CoordinationCase, name: str, told: str, all_told: dict[str, str]
) -> list[dict[str, str]]:
    own = [each for each in case.opposed if each in told]
    against = [each for each in case.opposed if each not in told]
    return [
        {"claim": own[0], "against": claim, "other": other}
        for claim in against
        for other, text in all_told.items()
        if own and other != name and claim in text
    ]


def _facts_before(case: CoordinationCase, part: CasePart) -> frozenset[str]:
    before = [each for each in case.parts if each.id in part.after]
    return frozenset(fact for each in before for fact in case.facts_of(each))


def _texts(values: Iterable[RoleTask]) -> list[str]:
    return [
        each["value"] if isinstance(each["value"], str) else json.dumps(each["value"])
        for each in values
    ]


def _strings(value: object) -> list[str]:
    """All strings of a typed task, as the prompt shows them."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for each in value.values() for text in _strings(each)]
    return (
        [text for each in value for text in _strings(each)]
        if isinstance(value, (list, tuple))
        else []
    )
