"""Compare two jobs by their answers, tasks, claims, sources, cost and time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import StrEnum

from pydantic import Field, JsonValue, computed_field

from holdfast.client import Holdfast
from holdfast.models.budget.spend_breakdown import Phase, Spend
from holdfast.models.budget.token_prices import Money
from holdfast.models.evidence.evidence import Report
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.views.job_views import JobView
from holdfast.planning.reports.claim_matching import ClaimChange, ClaimPair, match_claims
from holdfast.planning.text.folded_text import fold_text
from holdfast.records.model_matching import MatchingSpend, check_matcher, match_by_model
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.plans import task_queries

NOT_COMPARED = "a job without a report has no claims to compare"


class TaskChange(StrEnum):
    """What became of a task."""

    SAME = "same"
    OTHER_RESULT = "other_result"
    OTHER_TASK = "other_task"
    """The same place in the plan, but another description, tool or input."""
    ONLY_FIRST = "only_first"
    ONLY_SECOND = "only_second"


class TaskPair(Frozen):
    """A task of the first job, of the second one, or of both, with what it found."""

    change: TaskChange
    first: str = ""
    second: str = ""
    description: str
    first_result: Mapping[str, JsonValue] = Field(default_factory=dict)
    second_result: Mapping[str, JsonValue] = Field(default_factory=dict)
    first_status: str = ""
    second_status: str = ""


class SourceChange(StrEnum):
    """Which of the reports cites a source."""

    BOTH = "both"
    OTHER_TEXT = "other_text"
    """Both cite it, but its text was another one."""
    ONLY_FIRST = "only_first"
    ONLY_SECOND = "only_second"


class SourcePair(Frozen):
    """A source that a report cites, by its address."""

    change: SourceChange
    address: str
    title: str


class JobAmounts(Frozen):
    """What one of the jobs is, and what it took."""

    job_id: str
    question: str
    status: str
    preset: str
    model: str
    answer: str | None
    confidence: float | None
    model_calls: int
    tool_calls: int
    repeated_calls: int
    tokens: int
    cost: Money | None
    seconds: float | None


class JobComparison(Frozen):
    """Two jobs next to each other."""

    first: JobAmounts
    second: JobAmounts
    currency: str
    forked: str = ""
    """How one job began from the other; empty: it did not."""
    has_same_answer: bool
    claims: tuple[ClaimPair, ...]
    tasks: tuple[TaskPair, ...]
    sources: tuple[SourcePair, ...]
    matched_by: str = "rules"
    """What matched the claims: `rules`, or `rules and MODEL`."""
    matching: MatchingSpend | None = None
    """What the model took that was asked to match claims; None: none was asked."""
    note: str = ""

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own pattern
    @property
    def claim_counts(self) -> dict[str, int]:
        seen = Counter(each.change.value for each in self.claims)
        return {change.value: seen[change.value] for change in ClaimChange}

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own pattern
    @property
    def unsettled(self) -> int:
        """The claims without a match that may be about the same as one of the other report."""
        return sum(bool(each.unsettled) for each in self.claims)


async def compare_jobs(
    holdfast: Holdfast,
    first: str,
    second: str,
    *,
    model: str | None = None,
    installation: Holdfast | None = None,
) -> JobComparison:
    """Compare two jobs; a job without a report is compared by tasks, cost and time alone.

    Rules match the claims. If a `model` is named, it is shown the claims that rules left over; the
    `installation` records its call if `holdfast` is what one owner may see.

    Raises:
        NotFound: there is no such job.
        BadInput: the model cannot be called.
        HoldfastError: as `matches_of_model`.
    """
    if model is not None:
        check_matcher(holdfast, model)
    views = [await holdfast.show(first), await holdfast.show(second)]
    reports = [await load_report(holdfast.db, job_id) for job_id in (first, second)]
    tasks = [await task_queries.load_tasks(holdfast.db, job_id) for job_id in (first, second)]
    one, other = reports
    by_model = spend = None
    if one and other and model is not None:
        by_model, spend = await match_by_model(
            installation or holdfast, (first, second), (one, other), model
        )
    claims = match_claims(one, other, by_model) if one and other else ()
    return JobComparison(
        first=_amounts(views[0], one),
        second=_amounts(views[1], other),
        currency=views[0].currency,
        forked=_forked(views[0], views[1]),
        has_same_answer=_folded(views[0].answer) == _folded(views[1].answer),
        claims=claims,
        tasks=match_tasks(*tasks),
        sources=_sources(one, other) if one and other else (),
        matched_by="rules" if by_model is None else f"rules and {model}",
        matching=spend,
        note="" if one and other else NOT_COMPARED,
    )


def match_tasks(first: Sequence[StoredTask], second: Sequence[StoredTask]) -> tuple[TaskPair, ...]:
    """Match the tasks of two plans, without steps and without what was replaced.

    Tasks match by what they do (kind, tool, agent, description, inputs), and else by their lineage.
    """
    left, right = _own(first), _own(second)
    pairs: list[tuple[StoredTask, StoredTask]] = []
    for key in (_signature, _root):
        used = {id(each) for pair in pairs for each in pair}
        free: dict[object, list[StoredTask]] = {}
        for each in right:
            if id(each) not in used:
                free.setdefault(key(each), []).append(each)
        pairs += [
            (each, free[key(each)].pop(0))
            for each in left
            if id(each) not in used and free.get(key(each))
        ]
    partner = {id(one): other for one, other in pairs}
    matched = {id(other) for _, other in pairs}
    return (
        *(_task_pair(each, partner.get(id(each)), each) for each in left),
        *(_task_pair(None, each, each) for each in right if id(each) not in matched),
    )


def _own(tasks: Sequence[StoredTask]) -> list[StoredTask]:
    gone = TaskStatus.SUPERSEDED
    return [each for each in tasks if not each.task.parent and each.task.status is not gone]


def _signature(stored: StoredTask) -> object:
    task = stored.task
    inputs = tuple(each.model_dump_json() for each in task.inputs)
    return task.kind, task.tool, task.agent, fold_text(task.description).text, inputs


def _root(stored: StoredTask) -> object:
    return stored.root


def _task_pair(one: StoredTask | None, other: StoredTask | None, shown: StoredTask) -> TaskPair:
    return TaskPair(
        change=_task_change(one, other),
        first=one.task.id if one else "",
        second=other.task.id if other else "",
        description=shown.task.description,
        first_result=dict(one.task.result) if one else {},
        second_result=dict(other.task.result) if other else {},
        first_status=one.task.status.value if one else "",
        second_status=other.task.status.value if other else "",
    )


def _task_change(one: StoredTask | None, other: StoredTask | None) -> TaskChange:
    if one is None:
        return TaskChange.ONLY_SECOND
    if other is None:
        return TaskChange.ONLY_FIRST
    if _signature(one) != _signature(other):
        return TaskChange.OTHER_TASK
    is_same = (one.task.result, one.task.status) == (other.task.result, other.task.status)
    return TaskChange.SAME if is_same else TaskChange.OTHER_RESULT


def _sources(first: Report, second: Report) -> tuple[SourcePair, ...]:
    left = {each.address: each for each in first.citations}
    right = {each.address: each for each in second.citations}
    texts = [
        {address: {c.sha256 for c in each.citations if c.address == address} for address in of}
        for each, of in ((first, left), (second, right))
    ]
    found = []
    for address in dict.fromkeys((*left, *right)):
        if address not in right:
            change = SourceChange.ONLY_FIRST
        elif address not in left:
            change = SourceChange.ONLY_SECOND
        else:
            shares = texts[0][address] & texts[1][address]
            change = SourceChange.BOTH if shares else SourceChange.OTHER_TEXT
        title = (right.get(address) or left[address]).title
        found.append(SourcePair(change=change, address=address, title=title))
    return tuple(found)


def _amounts(view: JobView, report: Report | None) -> JobAmounts:
    """Return what the job took to its end, without later comparisons."""
    later = _comparisons(view)
    return JobAmounts(
        job_id=view.job_id,
        question=view.question,
        status=view.status,
        preset=view.preset,
        model=view.model,
        answer=view.answer,
        confidence=report.confidence if report else None,
        model_calls=view.calls.model - later.calls,
        tool_calls=view.calls.tool,
        repeated_calls=view.repeated_calls,
        tokens=view.tokens.input + view.tokens.output - later.tokens,
        cost=_own_cost(view),
        seconds=view.seconds,
    )


def _comparisons(view: JobView) -> Spend:
    name = Phase.COMPARISON.value
    none = Spend(name=name, calls=0, cost=Decimal(0))
    return next((each for each in view.spent.by_phase if each.name == name), none)


def _own_cost(view: JobView) -> Decimal | None:
    """Return the cost without later comparisons, whose price may be unknown."""
    costs = [each.cost for each in view.spent.by_phase if each.name != Phase.COMPARISON.value]
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if len(known) == len(costs) else None


def _forked(first: JobView, second: JobView) -> str:
    if second.forked_from == first.job_id:
        return "the second job is a fork of the first"
    if first.forked_from == second.job_id:
        return "the first job is a fork of the second"
    return ""


def _folded(answer: str | None) -> str:
    return fold_text(answer or "").text
