"""Read marks such as `{{T1.state}}` as references where only the plan's author can have meant them.

Many models write references in the form of another template language. A page may hold such a mark
too, and a model may copy it, so that a result would leave in a query. So a mark is read only if
its path stands nowhere in the prompt.
"""

from collections.abc import Container, Mapping

from holdfast.models.plans.research_plan import Plan, Task, TaskInput
from holdfast.models.text.json_leaves import map_texts
from holdfast.models.text.reference_marks import foreign_marks, reference_to


def read_own_marks(plan: Plan, prompt: str) -> Plan:
    """Return the plan with references in place of such marks; `prompt` is what its author read.

    A mark counts if it names an entity that a task of the plan promises. All others stay as they
    are, and are refused where they name a task.
    """
    promised = {f"{task.id}.{each.name}" for task in plan.tasks for each in task.expects}
    folded = prompt.casefold()
    own = {path for path in promised if path.casefold() not in folded}
    return Plan(tasks=tuple(_with_own_marks(task, own) for task in plan.tasks))


def _with_own_marks(task: Task, own: Container[str]) -> Task:
    inputs = tuple(_read_input(each, own) for each in task.inputs)
    return task if inputs == task.inputs else task.with_inputs(inputs)


def _read_input(given: TaskInput, own: Container[str]) -> TaskInput:
    marks = {mark: reference_to(path) for mark, path in foreign_marks(given.value) if path in own}
    if not marks:
        return given
    value = map_texts(given.value, lambda text: _replaced(text, marks))
    return given.with_value(value).with_reference_flag()


def _replaced(text: str, marks: Mapping[str, str]) -> str:
    for mark, reference in marks.items():
        text = text.replace(mark, reference)
    return text
