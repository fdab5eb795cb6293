"""Make the tasks of a form fit to be sent for a plan that has changed since the form was shown."""

from collections.abc import Mapping, Sequence

from holdfast.models.plans.research_plan import EntityType, Plan, TaskInput
from holdfast.planning.plans.fresh_task_ids import rename_references, unused_id
from holdfast.planning.plans.plan_edits import editable_plan
from holdfast.web.rendering.plan_form import TaskFields


def with_unused_ids(tasks: Sequence[TaskFields], stored: Plan) -> list[TaskFields]:
    """The tasks, each id of an earlier task replaced, also where other tasks need or quote it."""
    earlier = stored.by_id.keys() - editable_plan(stored).by_id.keys()
    taken = {*stored.by_id, *(each.id.strip() for each in tasks)}
    names: dict[str, str] = {}
    for name in dict.fromkeys(each.id.strip() for each in tasks):
        if name in earlier:
            names[name] = unused_id(name, taken)
            taken.add(names[name])
    return [_renamed(each, names) for each in tasks] if names else list(tasks)


def _renamed(task: TaskFields, names: Mapping[str, str]) -> TaskFields:
    return task.model_copy(
        update={
            "id": names.get(task.id.strip(), task.id),
            "needs": " ".join(names.get(each, each) for each in task.needed),
            "inputs": tuple(
                each.model_copy(update={"value": _with_new_names(each.value, names)})
                for each in task.inputs
            ),
        }
    )


def _with_new_names(text: str, names: Mapping[str, str]) -> str:
    given = TaskInput(name="value", type=EntityType.STRING, value=text)
    return str(rename_references(given, names).value)
