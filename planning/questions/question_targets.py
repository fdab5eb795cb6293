"""Choose the task that answers an agent's question: an unfinished or a new agent task."""

import re
from collections.abc import Collection, Iterable, Mapping

from holdfast.models.plans.research_plan import ExpectedEntity, Plan, Task, TaskKind
from holdfast.models.strategies.job_strategy import GENERALIST
from holdfast.models.text.words import shared_share, words_of
from holdfast.planning.plans.plan_graph import dependents, known_dependencies

_QUESTION_TASK_ID = re.compile(r"Q\d+")
_MIN_LETTERS = 4
"""Letters of a word that counts."""
_MIN_SHARE = 0.6
"""The share of the question's longer words that a promised entity must contain."""
ANSWER_ENTITY = "answer"
"""The only entity of a task that answers a question."""


def is_question_task(task_id: str) -> bool:
    """True if the task was added to answer a question; its own questions go to the user."""
    return _QUESTION_TASK_ID.fullmatch(task_id) is not None


def best_answering_task(
    plan: Plan, asker: str, question: str, waits: Mapping[str, Iterable[str]]
) -> Task | None:
    """Return the unfinished task whose promised entities match the question best, or None.

    Tasks that depend on the asking task are left out; `waits` maps each task to the tasks whose
    answers it waits for.
    """
    needs = {
        name: (*known, *waits.get(name, ())) for name, known in known_dependencies(plan).items()
    }
    behind = dependents(needs, asker)
    able = [
        task
        for task in plan.live
        if task.status.is_open
        and not task.parent
        and not task.is_final
        and task.id != asker
        and task.id not in behind
    ]
    wanted = words_of(question, _MIN_LETTERS)
    scored = [(_matching_share(wanted, task), -place, task) for place, task in enumerate(able)]
    best = max(scored, key=lambda each: each[:2], default=None)
    return best[2] if best is not None and best[0] >= _MIN_SHARE else None


def new_question_task(used: Collection[str], question: str) -> Task:
    """Return a new agent task that answers the question, with the id Q1, Q2 and so on."""
    number = next(n for n in range(1, len(used) + 2) if f"Q{n}" not in used)
    return Task(
        id=f"Q{number}",
        kind=TaskKind.AGENT,
        agent=GENERALIST,
        description=question,
        expects=(ExpectedEntity(name=ANSWER_ENTITY, description=question),),
        priority=10,
    )


def _matching_share(wanted: frozenset[str], task: Task) -> float:
    promised = " ".join(f"{each.name} {each.description}" for each in task.expects)
    return shared_share(wanted, words_of(f"{task.description} {promised}", _MIN_LETTERS))
