"""Gap planner by rules: retry incomplete agent tasks; add a task for each contradiction."""

from holdfast.models.plans.plan_drafts import DraftExpected
from holdfast.models.verification.gap_plan_drafts import (
    DraftRetry,
    GapPlannerAnswer,
    GapPlannerTask,
    NewSubQuestion,
    OpenContradiction,
    VerifiedSubQuestion,
)


def fill_gaps_by_rules(task: GapPlannerTask) -> GapPlannerAnswer:
    """Retry everything that is incomplete; add one task for each contradiction."""
    seen = {each.id: each for each in task.sub_questions}
    # The next attempt is shown what is missing and tried; rules have no other words to hint at.
    retries = [DraftRetry(id=name) for name in task.incomplete]
    taken = set(task.used_ids)
    added = []
    for each in task.contradictions:
        name = next(f"T{n}" for n in range(1, len(taken) + 2) if f"T{n}" not in taken)
        taken.add(name)
        added.append(_look_elsewhere(name, each, seen, task))
    return GapPlannerAnswer(
        explanation="What is incomplete is worked again; what is disputed is looked up elsewhere.",
        retry_sub_questions=retries,
        new_sub_questions=added,
    )


def _look_elsewhere(
    name: str,
    open_one: OpenContradiction,
    seen: dict[str, VerifiedSubQuestion],
    task: GapPlannerTask,
) -> NewSubQuestion:
    asked = next((seen[each] for each in open_one.tasks if each in seen), None)
    disputed = open_one.one.partition(" is ")[0]
    description = asked.description if asked else f"Find out {disputed}"
    return NewSubQuestion(
        id=name,
        description=description,
        agent=(*open_one.elsewhere, *(each.name for each in task.agents))[0],
        criteria=asked.criteria if asked else "",
        expects=[DraftExpected(name=disputed)] if disputed.isidentifier() else [],
        settles=list(open_one.tasks),
    )
