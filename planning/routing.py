"""Who else may know: the task whose promise fits a question, or a new one that looks into it."""

import re
from collections.abc import Collection, Iterable, Mapping

from models.plan import Expected, Plan, Task, TaskKind, TaskStatus
from models.strategy import GENERALIST
from planning.graph import dependents, edges

_ASKED = re.compile(r"Q\d+")
_WORD = re.compile(r"\w{4,}")
_WAITING = (TaskStatus.PENDING, TaskStatus.RUNNING)
_ENOUGH = 0.6
"""The share of the question's longer words that a promise must have."""
ANSWER = "answer"
"""The one entity that a task which looks into a question yields."""


def is_asked_task(task_id: str) -> bool:
    """Whether the task was added to answer a question: what it asks in turn goes to the user."""
    return _ASKED.fullmatch(task_id) is not None


def fitting_task(
    plan: Plan, asker: str, question: str, waits: Mapping[str, Iterable[str]]
) -> Task | None:
    """The unfinished task of the plan that promises most of what is asked, if one does.

    Not one that waits, directly or not, for the asker; `waits` says who waits for an answer of
    which tasks.
    """
    needs = {name: (*known, *waits.get(name, ())) for name, known in edges(plan).items()}
    behind = dependents(needs, asker)
    able = [
        task
        for task in plan.live
        if task.status in _WAITING and not task.parent and not task.is_final
        and task.id != asker and task.id not in behind
    ]  # fmt: skip
    wanted = _words(question)
    scored = [(_share(wanted, task), -place, task) for place, task in enumerate(able)]
    best = max(scored, key=lambda each: each[:2], default=None)
    return best[2] if best is not None and best[0] >= _ENOUGH else None


def asked_task(used: Collection[str], question: str) -> Task:
    """A new agent task that looks into the question: Q1, Q2 and so on."""
    number = next(n for n in range(1, len(used) + 2) if f"Q{n}" not in used)
    return Task(
        id=f"Q{number}",
        kind=TaskKind.AGENT,
        agent=GENERALIST,
        description=question,
        expects=(Expected(name=ANSWER, description=question),),
        priority=10,
    )


def _share(wanted: frozenset[str], task: Task) -> float:
    promised = " ".join(f"{each.name} {each.description}" for each in task.expects)
    told = _words(f"{task.description} {promised}")
    return len(wanted & told) / len(wanted) if wanted else 0.0


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.replace("_", " ").casefold()))
