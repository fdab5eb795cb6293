"""The reviser by rules: a value that was found goes into the words of what rests on it."""

from collections.abc import Mapping

from pydantic import JsonValue

from models.plan import FINDINGS
from roles.extractive.agenda import with_found
from roles.extractive.planning import PASSAGE, SUPPORT
from roles.reviser import Refined, Revised, ReviserTask

_NO_NAMES = (SUPPORT, PASSAGE, FINDINGS.name)
_LONGEST = 80
"""Characters of a value that goes into a description; what is longer is shown as context."""


def revise(task: ReviserTask) -> Revised:
    """What is learnt, written into the sub-questions that have not begun; else no change."""
    by_id = {str(each.get("task_id")): each for each in task.plan}
    refined = []
    for name in task.changeable:
        node = by_id.get(name, {})
        before = str(node.get("task_description", ""))
        after = with_found(before, (each for each in _found(node, by_id) if each not in before))
        if after != before:
            refined.append(Refined(id=name, description=after))
    why = "What was found makes these more exact." if refined else "The plan holds."
    return Revised(explanation=why, refine=refined)


def _found(
    node: Mapping[str, JsonValue], by_id: Mapping[str, Mapping[str, JsonValue]]
) -> list[str]:
    """The short values of what the sub-question depends on."""
    needs = node.get("dependencies")
    results = [
        by_id.get(str(each), {}).get("execution_result")
        for each in (needs if isinstance(needs, list) else [])
    ]
    return [
        str(value)
        for result in results if isinstance(result, dict)
        for name, value in result.items()
        if name not in _NO_NAMES and isinstance(value, str | int | float)
        and 0 < len(str(value)) <= _LONGEST and "; " not in str(value)
    ]  # fmt: skip
