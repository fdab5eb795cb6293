"""The oracle: answer every model role correctly from the gold programs.

Where a fault is injected, one name is at first written wrong, as a model does that does not know
the vocabulary; when the tool has refused it, the oracle writes it as it should be.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.evals.oracle import oracle_agents, oracle_loops, oracle_reports
from holdfast.evals.oracle.gold_programs import GoldProgram
from holdfast.evals.oracle.joined_questions import CLOSING_INSTRUCTION
from holdfast.evals.oracle.program_calls import (
    MISSPELT,
    RoleTask,
    call_number,
    input_entry,
    joined_answer,
    mended_calls,
    plan_tasks,
    program_call,
    program_progress,
    step_reference,
    unused_id,
)
from holdfast.models.loop.loop_results import LinkStrength
from holdfast.models.plans.research_plan import FINAL_ANSWER


@dataclass(frozen=True)
class Oracle:
    """The gold programs by their questions."""

    golds: Mapping[str, GoldProgram]

    @classmethod
    def of(cls, golds: Iterable[GoldProgram]) -> "Oracle":
        return cls({each.question: each for gold in golds for each in (gold, *gold.parts)})

    def play(self, role: str, task: RoleTask) -> object:
        """The role's answer to its typed task."""
        if role in oracle_agents.FIXED_ANSWERS:
            return oracle_agents.FIXED_ANSWERS[role]
        part = getattr(self, f"_{role}", None)
        if part is None:
            raise LookupError(f"the oracle does not play {role!r}")
        return part(task)

    def _planner(self, task: RoleTask) -> object:
        gold = self.golds[task["question"]]
        if task["agents"]:
            return oracle_agents.agent_plan(gold, concludes=task["concludes"])
        ids = {at: f"T{at + 1}" for at in range(len(gold.steps))}
        calls = plan_tasks(gold, ids, (), ())
        return _plan([*calls, _final(gold, ids, f"T{len(gold.steps) + 1}")])

    def _step_planner(self, task: RoleTask) -> object:
        gold = self.golds[task["specification"]]
        ids = {at: f"{task['node']}.{at + 1}" for at in range(len(gold.steps))}
        return _plan(plan_tasks(gold, ids, (), ()))

    def _replanner(self, task: RoleTask) -> object:
        """Of the whole plan, or of the steps of one agent, whose ids begin with the agent's."""
        gold = self.golds[task["question"]]
        prefix = "".join(task["failed_task_id"].rpartition(".")[:2]) or "T"
        used = {*task["used_ids"], *(each["id"] for each in task["current_plan"])}
        kept = {
            call_number(each["id"]): each["id"]
            for each in task["current_plan"]
            if each["id"] not in task["replaced"]
            and each["status"] not in ("superseded", "cancelled")
        }
        ids = {
            at: kept.get(at) or unused_id(f"{prefix}{at + 1}", used)
            for at in range(len(gold.steps))
        }
        calls = plan_tasks(gold, ids, kept, mended_calls(gold, task["current_plan"]))
        if task["expects"]:
            return _plan(calls)
        return _plan([*calls, _final(gold, ids, unused_id(f"T{len(gold.steps) + 1}", used))])

    def _stepper(self, task: RoleTask) -> object:
        if task["specification"] == CLOSING_INSTRUCTION:
            value = joined_answer(each["value"] for each in task["given"])
            return {"outputs": [{"name": FINAL_ANSWER, "value": value, "confidence": 1.0}]}
        gold = self.golds[task["specification"]]
        if not oracle_agents.may_call(gold, task):
            return oracle_agents.nothing_found(task)
        seen = program_progress(gold, task["trace"])
        if len(seen.done) == len(gold.steps):
            return {"outputs": oracle_agents.agent_outputs(gold, seen, task)}
        if task["must_end"]:
            return {"give_up": task["must_end"]}
        ids = {at: step["id"] for at, step in seen.done.items()}
        ready = [
            at
            for at, step in enumerate(gold.steps)
            if at not in seen.done and all(each in seen.done for each in step.needs)
        ]
        return {"calls": [program_call(gold, at, ids, seen.mended) for at in ready]}

    def _extractor(self, task: RoleTask) -> object:
        """Every entity is what the tool said, in its words."""
        said = " ".join(each["text"] for each in task["response"])
        found = [
            {"name": each["name"], "quote": said, "value": said, "confidence": 1.0}
            for each in task["entities"]
        ]
        return {"entities": found, "confidence": 1.0}

    def _loop_agent(self, task: RoleTask) -> object:
        """The functions that are called in this turn; the task has the `messages` so far."""
        return oracle_loops.loop_calls(self.golds, task["messages"])

    def _answer_judge(self, _: RoleTask) -> object:
        """No sentence is refused: each repeats what a tool said."""
        return {"not_shown": [], "answer_follows": True, "strength": LinkStrength.STATED}

    def _matcher(self, task: RoleTask) -> object:
        """The name as the tool knows it, if it is among the nearest."""
        meant = task["argument"].removesuffix(MISSPELT)
        return {"match": meant if meant in task["candidates"] else None}

    def _assessor(self, task: RoleTask) -> object:
        return oracle_agents.agent_assessment(self.golds[task["specification"]], task)

    def _verifier(self, task: RoleTask) -> object:
        return oracle_agents.accepted_results(task)

    def _reasoner(self, task: RoleTask) -> object:
        gold = self.golds[task["question"]]
        found = [each["value"] for each in task["inputs"]]
        handed_on = [each["value"] for each in task.get("context", ())]
        # The account that an agent of a pipeline hands on may be the whole answer already.
        is_known = not gold.ends or gold.answer in handed_on
        value = gold.answer if is_known else joined_answer(found)
        outputs = [
            {"name": each["name"], "value": value, "confidence": 1.0} for each in task["outputs"]
        ]
        return {"status": "completed", "outputs": outputs, "reasoning_steps": ["as found"]}

    def _condenser(self, task: RoleTask) -> object:
        return oracle_reports.condenser_answer(task)

    def _synthesiser(self, task: RoleTask) -> object:
        return oracle_reports.synthesiser_answer(task)

    def _sentence_checker(self, task: RoleTask) -> object:
        return oracle_reports.sentence_checker_answer(task)

    def _sentence_corrector(self, task: RoleTask) -> object:
        return oracle_reports.sentence_corrector_answer(task)


def _plan(tasks: list[dict[str, Any]]) -> object:
    return {"explanation": "the gold program", "tasks": tasks}


def _final(gold: GoldProgram, ids: Mapping[int, str], task_id: str) -> dict[str, Any]:
    """The deduction that gives the answer from the calls that hold it."""
    sources = gold.ends or range(len(gold.steps))
    inputs = [
        input_entry(f"from_{ids[at]}", step_reference(ids[at], gold.steps[at])) for at in sources
    ]
    return {
        "id": task_id,
        "kind": "reasoning",
        "description": CLOSING_INSTRUCTION if gold.parts else f"Answer: {gold.question}",
        "inputs": inputs,
        "depends_on": [ids[at] for at in sources],
        "expects": [{"name": FINAL_ANSWER}],
    }
