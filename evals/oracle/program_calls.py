"""Write the calls of a gold program as a model writes them, and tell which calls were already
made."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from holdfast.evals.oracle.gold_programs import GoldProgram, GoldStep, gold_answer_text
from holdfast.evals.oracle.joined_questions import SEPARATOR

RoleTask: TypeAlias = Mapping[str, Any]
"""A role's typed task, or a part of it, as JSON."""
MISSPELT = " (sic)"


class ProgramProgress(NamedTuple):
    """What a trace shows of a program."""

    done: dict[int, RoleTask]
    """The finished steps by the call that they made."""
    mended: frozenset[int]
    """The calls whose wrong name was refused already."""


def program_call(
    gold: GoldProgram, at: int, ids: Mapping[int, str], mended: Iterable[int]
) -> dict[str, Any]:
    """A call of the program as a model writes it; `ids` are the tasks of the steps it needs."""
    step = gold.steps[at]
    values = dict(step.values)
    if at in gold.wrong and at not in mended:
        values[step.named] += MISSPELT
    inputs = [
        input_entry(name, step_reference(ids[n], gold.steps[n])) for name, n in step.takes.items()
    ]
    inputs += [input_entry(name, value) for name, value in values.items()]
    return {
        "tool": step.tool,
        "description": f"{step.tool} {' '.join(values.values())}".strip(),
        "inputs": inputs,
        "expects": [expected_entry(step)],
    }


def plan_tasks(
    gold: GoldProgram, ids: Mapping[int, str], kept: Iterable[int], mended: Iterable[int]
) -> list[dict[str, Any]]:
    """The tasks of a plan that makes all calls but those that are kept."""
    stays = frozenset(kept)
    return [
        {
            "id": ids[at],
            "kind": "tool",
            "depends_on": [ids[each] for each in step.needs],
            **program_call(gold, at, ids, mended),
        }
        for at, step in enumerate(gold.steps)
        if at not in stays
    ]


def input_entry(name: str, value: str) -> dict[str, Any]:
    """An input."""
    return {"name": name, "value": value}


def expected_entry(step: GoldStep) -> dict[str, Any]:
    """The entity that a call yields."""
    return {"name": step.yields, "type": step.kind}


def step_reference(task_id: str, step: GoldStep) -> str:
    """What takes the call's value."""
    return f"<JSON_PATH>{task_id}.{step.yields}</JSON_PATH>"


def joined_answer(values: Iterable[object]) -> str:
    """The answer that these values are, in order."""
    return SEPARATOR.join(gold_answer_text(value) for value in values)


def program_progress(gold: GoldProgram, trace: Sequence[RoleTask]) -> ProgramProgress:
    """Which step of the trace made which call of the program, or made it with a wrong name."""
    done: dict[int, RoleTask] = {}
    mended: set[int] = set()
    for step in trace:
        is_done = step["status"] == "done"
        for at in range(len(gold.steps)):
            over = done if is_done else mended
            if at not in over and _made(gold, at, step, done, is_right=is_done):
                if is_done:
                    done[at] = step
                else:
                    mended.add(at)
                break
    return ProgramProgress(done, frozenset(mended))


def _made(
    gold: GoldProgram, at: int, step: RoleTask, done: Mapping[int, RoleTask], *, is_right: bool
) -> bool:
    """Whether the step made this call: its tool, with its arguments."""
    wanted = gold.steps[at]
    if any(each not in done for each in wanted.needs) or not (is_right or at in gold.wrong):
        return False
    ids = {each: done[each]["id"] for each in wanted.needs}
    # A wrong name that robust tools replaced stands in the trace as it was written.
    written = [program_call(gold, at, ids, mended) for mended in ((), gold.wrong)[: 1 + is_right]]
    accepted = [{each["name"]: each["value"] for each in call["inputs"]} for call in written]
    tool, _, said = step["action"].partition("(")
    # Behind the arguments there may be a note: on a repeated call, or on a replaced argument.
    return bool(tool == wanted.tool and json.JSONDecoder().raw_decode(said)[0] in accepted)


def mended_calls(gold: GoldProgram, listed: Iterable[RoleTask]) -> frozenset[int]:
    """The calls of a plan whose wrong name was refused: it failed so, or is written right since."""
    return frozenset(
        at
        for task in listed
        if (at := call_number(task["id"])) in gold.wrong and _is_mended(gold.steps[at], task)
    )


def _is_mended(step: GoldStep, task: RoleTask) -> bool:
    written = {each["name"]: each["value"] for each in task.get("inputs", ())}
    is_right = written.get(step.named) == step.values[step.named]
    return is_right or task["status"] == "failed"


def call_number(task_id: str) -> int:
    """The call of the program that a task makes: 2 of T3, T3a, T1.3."""
    own = task_id.rpartition(".")[2]
    return int("".join(sign for sign in own if sign.isdigit())) - 1


def unused_id(base: str, used: Iterable[str]) -> str:
    """The id, with a letter behind it if it is taken."""
    ends = ("", *"abcdefghijklmnopqrstuvwxyz")
    return next(f"{base}{end}" for end in ends if f"{base}{end}" not in set(used))
