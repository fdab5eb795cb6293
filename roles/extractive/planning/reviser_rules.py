"""Reviser by rules: write found values into the agent tasks that depend on them."""

from collections.abc import Mapping

from holdfast.models.plans.research_plan import FINDINGS_ENTITY, Task
from holdfast.roles.extractive.planning.planner_rules import SUPPORTING_PASSAGE, TELLING_PASSAGE
from holdfast.roles.extractive.planning.search_agenda import with_found_values
from holdfast.roles.planning.reviser import Refined, ReviserAnswer, ReviserTask

_NO_NAMES = (SUPPORTING_PASSAGE, TELLING_PASSAGE, FINDINGS_ENTITY.name)
_LONGEST = 80
"""Characters of a value that goes into a description; what is longer is shown as context."""


def revise(task: ReviserTask) -> ReviserAnswer:
    """The found values written into unfinished agent tasks; else no change."""
    by_id = {each.id: each for each in task.plan}
    refined = []
    for name in task.changeable:
        node = by_id.get(name)
        if node is None:
            continue
        before = node.description
        after = with_found_values(
            before, (each for each in _found(node, by_id) if each not in before)
        )
        if after != before:
            refined.append(Refined(id=name, description=after))
    why = "What was found makes these more exact." if refined else "The plan holds."
    return ReviserAnswer(explanation=why, refine=refined)


def _found(node: Task, by_id: Mapping[str, Task]) -> list[str]:
    """The short values of the tasks that an agent task depends on."""
    results = [by_id[each].result for each in node.depends_on if each in by_id]
    return [
        str(value)
        for result in results
        for name, value in result.items()
        if name not in _NO_NAMES
        and isinstance(value, str | int | float)
        and 0 < len(str(value)) <= _LONGEST
        and "; " not in str(value)
    ]
