"""Lay out where a job's time went: a row for each task, with its calls and its losses."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from holdfast.jobs.work_in_words import work_of_role
from holdfast.models.calls.call_records import CallView
from holdfast.models.jobs.idle_span import IdleSpan, open_seconds
from holdfast.models.jobs.job_recovery import Recovery
from holdfast.models.tasks.stored_task import StoredTask

MOST_ROWS = 60
_LEAST_WIDTH = 0.4
_WHOLE = 100.0
_MOST_STEPS = 4
_ROUNDING = 1e-6
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400
_STEPS_S = (
    0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30,
    *(_MINUTE_S * n for n in (1, 2, 5, 10, 15, 30)),
    *(_HOUR_S * n for n in (1, 2, 4, 8, 12)),
    *(_DAY_S * n for n in (1, 2, 5, 10, 30, 100, 300)),
)  # fmt: skip
"""The round times that the ticks of the axis may stand apart."""


class Bar(NamedTuple):
    """A span of time in per cent of the job's; `kind` is task, model, tool or lost."""

    kind: str
    start: float
    width: float
    title: str


class WaterfallRow(NamedTuple):
    """The work on one task, or on the job as a whole."""

    id: str
    label: str
    bars: tuple[Bar, ...]
    seconds: float


class Tick(NamedTuple):
    """A round time on the axis: where it stands in per cent, and how it is written."""

    at: float
    label: str


class Waterfall(NamedTuple):
    """The rows, and how many there are before and after them."""

    rows: tuple[WaterfallRow, ...]
    seconds: float
    """What the whole width of a row stands for."""
    before: int
    left_out: int

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """At most five round times since the job's begin; none if it took no time worth a scale."""
        step = next((each for each in _STEPS_S if self.seconds / each <= _MOST_STEPS), 0)
        if not step or self.seconds < step:
            return ()
        count = int(self.seconds / step + _ROUNDING)
        return tuple(
            Tick(round(_WHOLE * step * n / self.seconds, 2), _time_label(step * n, step))
            for n in range(count + 1)
        )

    @property
    def earlier(self) -> int | None:
        """The first row of the page before."""
        return max(0, self.before - MOST_ROWS) if self.before else None

    @property
    def later(self) -> int | None:
        """The first row of the next page."""
        return self.before + len(self.rows) if self.left_out else None


def waterfall(
    stored: Sequence[StoredTask],
    calls: Sequence[CallView],
    recoveries: Sequence[Recovery],
    begin: datetime,
    end: datetime | None,
    *,
    idle: Sequence[IdleSpan] = (),
    first: int = 0,
) -> Waterfall:
    """Lay out the work between the job's begin and its end, or now, from the row `first` on.

    The time in which the job had ended takes no room: its next run follows at once.
    """
    span = _Span(begin, end or datetime.now(UTC), tuple(idle))
    by_task: dict[str, list[CallView]] = defaultdict(list)
    for call in calls:
        if end is not None and call.started_at > end:
            continue  # a comparison, which the ended job did not wait for
        # A step's calls belong to its agent task.
        by_task[call.task.partition(".")[0]].append(call)
    own = {each.task.id: each for each in stored if not each.task.parent}
    names = list(dict.fromkeys((*by_task, *(each for each in own if own[each].started_at))))
    names.sort(key=lambda name: _begin(own.get(name), by_task.get(name, ())))
    first = first if first < len(names) else 0
    shown = names[first : first + MOST_ROWS]
    return Waterfall(
        tuple(_row(name, own.get(name), by_task, recoveries, span) for name in shown),
        span.seconds,
        first,
        len(names) - first - len(shown),
    )


def _time_label(seconds: float, step: float) -> str:
    """The time in the unit in which the steps of the axis are round."""
    if not seconds:
        return "0"
    if step >= _DAY_S:
        return f"{seconds / _DAY_S:g} d"
    if step >= _HOUR_S:
        return f"{seconds / _HOUR_S:g} h"
    return f"{seconds / _MINUTE_S:g} min" if step >= _MINUTE_S else f"{round(seconds, 1):g} s"


def _begin(task: StoredTask | None, calls: Sequence[CallView]) -> datetime:
    starts = [call.started_at for call in calls]
    if task is not None and task.started_at is not None:
        starts.append(task.started_at)
    return min(starts)


class _Span(NamedTuple):
    begin: datetime
    end: datetime
    idle: tuple[IdleSpan, ...]

    @property
    def seconds(self) -> float:
        return max(self.seconds_until(self.end), 0.001)

    def seconds_until(self, at: datetime) -> float:
        return open_seconds(self.begin, at, self.idle)

    def bar(self, kind: str, start: datetime, end: datetime, title: str) -> Bar:
        from_s, to_s = self.seconds_until(start), self.seconds_until(end)
        left = min(max(_WHOLE * from_s / self.seconds, 0.0), _WHOLE - _LEAST_WIDTH)
        width = max(_WHOLE * (to_s - from_s) / self.seconds, _LEAST_WIDTH)
        return Bar(kind, round(left, 2), round(min(width, _WHOLE - left), 2), title)


def _row(
    name: str,
    task: StoredTask | None,
    by_task: Mapping[str, Sequence[CallView]],
    recoveries: Sequence[Recovery],
    span: _Span,
) -> WaterfallRow:
    calls = by_task.get(name, ())
    # A call whose end was not recorded did not outlive its task.
    over = (task.finished_at if task else None) or span.end
    ends = [call.finished_at or over for call in calls]
    if task is not None and task.started_at is not None:
        ends.append(task.finished_at or span.end)
    begin, end = _begin(task, calls), max(ends)
    label = task.task.label if task else _label(calls)
    bars = [span.bar("task", begin, end, label)]
    bars += _without_crowding(
        span.bar(call.kind, call.started_at, call.finished_at or over, _call_name(call))
        for call in calls
    )
    # Last, so that it is seen: the call that a crash cut off is drawn until its answer came.
    bars += [
        span.bar("lost", each.last_seen_at, each.resumed_at, "lost in a crash")
        for each in recoveries
        if begin <= each.last_seen_at <= end
    ]
    shown = name if task else ""
    return WaterfallRow(shown, label, tuple(bars), open_seconds(begin, end, span.idle))


def _call_name(call: CallView) -> str:
    return work_of_role(call.role) if call.role else call.name


def _without_crowding(bars: Iterable[Bar]) -> list[Bar]:
    """The bars of calls; those that nobody could tell apart are one, so that a row stays small."""
    drawn: dict[str, Bar] = {}
    merged: list[Bar] = []
    for bar in sorted(bars, key=lambda each: each.start):
        last = drawn.get(bar.kind)
        if last is not None and bar.start - (last.start + last.width) < _LEAST_WIDTH:
            merged.remove(last)
            end = max(last.start + last.width, bar.start + bar.width)
            title = last.title if bar.title == last.title else f"{last.title}, and more"
            bar = Bar(bar.kind, last.start, round(end - last.start, 2), title)  # noqa: PLW2901
        merged.append(bar)
        drawn[bar.kind] = bar
    return merged


def _label(calls: Sequence[CallView]) -> str:
    """What calls of the whole job are for: their role in words."""
    role = next((call.role for call in calls if call.role), "")
    return work_of_role(role).capitalize() if role else "Other work"
