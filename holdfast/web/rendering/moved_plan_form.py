"""Make the tasks of a form fit to be sent for a plan that has changed since the form was shown."""

from collections.abc import Mapping, Sequence

from holdfast.models.plans.research_plan import Plan
from holdfast.planning.plans.fresh_task_ids import fresh_names, rename_in_text
from holdfast.planning.plans.plan_edits import editable_plan
from holdfast.web.rendering.plan_form import TaskFields


def with_unused_ids(tasks: Sequence[TaskFields], stored: Plan) -> list[TaskFields]:
    """The tasks with a new id for each that an earlier task has, also in needs and references."""
    earlier = stored.by_id.keys() - editable_plan(stored).by_id.keys()
    ids = dict.fromkeys(each.id.strip() for each in tasks)
    names = fresh_names((each for each in ids if each in earlier), {*stored.by_id, *ids})
    return [_renamed(each, names) for each in tasks] if names else list(tasks)


def _renamed(task: TaskFields, names: Mapping[str, str]) -> TaskFields:
    return task.model_copy(
        update={
            "id": names.get(task.id.strip(), task.id),
            "needs": " ".join(names.get(each, each) for each in task.needed),
            "inputs": tuple(
                each.model_copy(update={"value": rename_in_text(each.value, names)})
                for each in task.inputs
            ),
        }
    )
