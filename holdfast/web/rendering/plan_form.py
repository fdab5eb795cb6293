"""Show a plan as the fields of a form, and make the plan again of what a person wrote there."""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from pydantic import JsonValue

from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.kpi_chain_format import to_listing
from holdfast.models.plans.research_plan import (
    MAX_TASKS,
    EntityType,
    ExpectedEntity,
    Plan,
    Task,
    TaskInput,
)
from holdfast.models.text.reference_marks import has_reference
from holdfast.planning.plans.plan_edits import editable_plan, quoted_id
from holdfast.planning.text.strict_json import load_strict_json
from holdfast.web.rendering.amounts import short_number
from holdfast.web.rendering.braced_references import misread_braces, with_braces, with_marks
from holdfast.web.rendering.shown_text import shown_text, with_kept_lines

_SHOWN_NAME_CHARS = 40
_MAX_PRIORITY_DIGITS = 9
_NUMBER = r"0|[1-9][0-9]{0,4}"
_BEGINNING = re.compile(rf"(?P<task>{_NUMBER})\.(?:id|(?P<which>in|out)(?P<row>{_NUMBER})\.name)")
"""The field with which a task, an input or a promised value begins."""


class InputFields(Frozen):
    """The fields of one input; `value` is JSON, except that a text stands as it is."""

    name: str = ""
    type: str = EntityType.STRING.value
    value: str = ""


class OutputFields(Frozen):
    """The fields of one entity that a task promises."""

    name: str = ""
    type: str = EntityType.STRING.value
    description: str = ""
    optional: str = ""


class TaskFields(Frozen):
    """The fields of one task, as texts; `needs` has ids with a space between."""

    id: str = ""
    kind: str = ""
    description: str = ""
    criteria: str = ""
    tool: str = ""
    agent: str = ""
    needs: str = ""
    priority: str = "5"
    include_context: str = ""
    inputs: tuple[InputFields, ...] = ()
    outputs: tuple[OutputFields, ...] = ()

    @property
    def needed(self) -> list[str]:
        """The ids in `needs`; people write commas between them as well."""
        return self.needs.replace(",", " ").split()


def fields_of_plan(plan: Plan) -> list[TaskFields]:
    """The fields of each task that an edit may change."""
    return [_fields(task) for task in editable_plan(plan).tasks]


def ids_to_name(ids: Iterable[str], stored: Plan) -> frozenset[str]:
    """The ids that a reference may name: of tasks in the form, and of the stored plan."""
    return frozenset({*stored.by_id, *(each.strip() for each in ids)})


def read_task_fields(form: Mapping[str, str], stored: Plan) -> list[TaskFields]:
    """The tasks of a form that was sent; rows without a word in them are left out.

    Raises:
        BadInput: there are more tasks than a plan and a new task have.
    """
    begun = [match for name in form if (match := _BEGINNING.fullmatch(name))]
    tasks = sorted({int(each["task"]) for each in begun if not each["which"]})
    if len(tasks) > MAX_TASKS + 1:
        raise BadInput(f"the form has {len(tasks)} tasks; a plan has at most {MAX_TASKS}")
    rows: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for each in begun:
        if each["which"]:
            rows[(int(each["task"]), each["which"])].append(int(each["row"]))
    ids = ids_to_name((form.get(f"{n}.id", "") for n in tasks), stored)
    return [_read_task(form, f"{n}.", rows[(n, "in")], rows[(n, "out")], ids) for n in tasks]


def written_plan(tasks: Sequence[TaskFields], stored: Plan) -> str:
    """The plan as JSON, as an edit takes it; what was not changed is as it is stored.

    Raises:
        BadInput: an input has no name, or a value is not of its type; the message names the task.
    """
    before = {task.id: task for task in editable_plan(stored).tasks}
    faults: list[str] = []
    ids = ids_to_name((each.id for each in tasks), stored)
    listings = [_listing(each, before.get(each.id.strip()), ids, faults) for each in tasks]
    if faults:
        raise BadInput("; ".join(faults))
    return json.dumps({"tasks": listings}, ensure_ascii=False)


def with_new_task(tasks: Sequence[TaskFields], taken: Collection[str]) -> list[TaskFields]:
    """The tasks with a new one, of the kind of the first, before the one that answers.

    The task that answers needs the new task from then on; `taken` are ids that it must not have.
    """
    used = {*taken, *(each.id for each in tasks)}
    name = next(f"T{number}" for number in range(1, len(used) + 2) if f"T{number}" not in used)
    like = tasks[0] if tasks else TaskFields(kind="agent")
    inputs = tuple(InputFields(name=each.name, type=each.type) for each in like.inputs)
    new = TaskFields(id=name, kind=like.kind, tool=like.tool, agent=like.agent, inputs=inputs)
    if not tasks or [each.name for each in tasks[-1].outputs] != ["final_answer"]:
        return [*tasks, new]
    last = tasks[-1].model_copy(update={"needs": f"{tasks[-1].needs} {name}".strip()})
    return [*tasks[:-1], new, last]


def without_task(tasks: Sequence[TaskFields], index: int) -> list[TaskFields]:
    """The tasks without one of them, which no other task needs any more."""
    gone = tasks[index].id if index < len(tasks) else ""
    kept = [each for number, each in enumerate(tasks) if number != index]
    return [
        each.model_copy(update={"needs": " ".join(n for n in each.needed if n != gone)})
        for each in kept
    ]


def _fields(task: Task) -> TaskFields:
    return TaskFields(
        id=task.id,
        kind=task.kind.value,
        description=task.description,
        criteria=task.criteria,
        tool=task.tool,
        agent=task.agent,
        needs=" ".join(task.depends_on),
        priority=str(task.priority),
        include_context="yes" if task.include_context else "",
        inputs=tuple(
            InputFields(name=each.name, type=each.type.value, value=_shown(each.value))
            for each in task.inputs
        ),
        outputs=tuple(
            OutputFields(
                name=each.name,
                type=each.type.value,
                description=each.description,
                optional="" if each.required else "yes",
            )
            for each in task.expects
        ),
    )


def _read_task(
    form: Mapping[str, str],
    prefix: str,
    inputs_at: Iterable[int],
    outputs_at: Iterable[int],
    ids: frozenset[str],
) -> TaskFields:
    def text(name: str) -> str:
        return form.get(f"{prefix}{name}", "").replace("\r\n", "\n")

    inputs = (
        InputFields(
            name=text(f"in{row}.name"),
            type=text(f"in{row}.type"),
            value=with_marks(text(f"in{row}.value"), ids),
        )
        for row in sorted(inputs_at)
    )
    outputs = (
        OutputFields(**{name: text(f"out{row}.{name}") for name in OutputFields.model_fields})
        for row in sorted(outputs_at)
    )
    return TaskFields(
        **{name: text(name) for name in TaskFields.model_fields.keys() - {"inputs", "outputs"}},
        inputs=tuple(each for each in inputs if each.name.strip() or each.value.strip()),
        outputs=tuple(each for each in outputs if each.name.strip() or each.description.strip()),
    )


def _listing(
    fields: TaskFields, stored: Task | None, ids: frozenset[str], faults: list[str]
) -> dict[str, JsonValue]:
    task_id = fields.id.strip()
    before = {_in_one_line(each.name): each for each in stored.inputs} if stored else {}
    promised = {_in_one_line(each.name): each for each in stored.expects} if stored else {}
    inputs: list[JsonValue] = []
    for each in fields.inputs:
        same = before.get(each.name.strip())
        fault, value = _value(each, same, ids)
        faults += [f"task {quoted_id(task_id)}: {fault}"] if fault else []
        name = same.name if same else each.name.strip()
        inputs.append({"name": name, "type": each.type, "value": value})
    priority = fields.priority.strip()
    number = short_number(priority, _MAX_PRIORITY_DIGITS)
    return {
        **(to_listing(stored) if stored else {}),
        "task_id": task_id,
        "task_type": fields.kind,
        "task_description": _kept(fields.description, stored.description if stored else ""),
        "criteria": _kept(fields.criteria, stored.criteria if stored else ""),
        "tool_name": fields.tool.strip(),
        "agent": fields.agent.strip(),
        "dependencies": list(fields.needed),
        "priority": priority if number is None else number,
        "include_context": bool(fields.include_context),
        "input_parameters": inputs,
        "expected_output_entities": [
            _output(each, promised.get(each.name.strip())) for each in fields.outputs
        ],
    }


def _output(fields: OutputFields, stored: ExpectedEntity | None) -> dict[str, JsonValue]:
    description = fields.description.strip()
    # The field is a line, so a meaning of several lines comes back as one.
    if stored and description == _in_one_line(stored.description):
        description = stored.description
    return {
        "name": stored.name if stored else fields.name.strip(),
        "type": fields.type,
        "description": description,
        "required": not fields.optional,
    }


def _value(
    fields: InputFields, stored: TaskInput | None, ids: frozenset[str]
) -> tuple[str, JsonValue]:
    """What is wrong with an input, and its value."""
    text, name = fields.value, fields.name.strip()
    if not name:
        return "parameter '' has no name; name it, or empty its value", text
    same = stored if stored and stored.type == fields.type else None
    if same and text in _unchanged(_shown(same.value), ids):
        return "", same.value
    if misread := misread_braces(text, ids):
        return f"parameter {name[:_SHOWN_NAME_CHARS]!r}: {misread}", text
    if fields.type == EntityType.STRING or has_reference(text):
        before = same.value if same else None
        return "", with_kept_lines(text, before) if isinstance(before, str) else text
    try:
        return "", load_strict_json(text)
    except ValueError:
        shown, start = name[:_SHOWN_NAME_CHARS], text[:_SHOWN_NAME_CHARS]
        fault = f"parameter {shown!r}: {start!r} is no {fields.type[:_SHOWN_NAME_CHARS]} in JSON"
        return fault, text


def _unchanged(text: str, ids: frozenset[str]) -> tuple[str, str]:
    """A value that nobody changed, as it is in the fields and as it comes back from a browser."""
    return text, with_marks(shown_text(with_braces(text, ids)), ids)


def _shown(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _kept(written: str, stored: str) -> str:
    """The written text; where it is as the page showed it, as it is stored."""
    return stored if written == shown_text(stored) else with_kept_lines(written, stored).strip()


def _in_one_line(text: str) -> str:
    """The text as a browser sends it from a field of one line that showed it."""
    return shown_text(text).replace("\n", "").strip()
