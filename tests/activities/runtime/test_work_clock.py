"""Tests that worked time counts what workers did, whatever clocks, outages and errors do."""

from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.activities.runtime.work_clock import WorkClock, WorkProgress
from holdfast.models.errors import AttemptTimeOver, ModelBusy, WorkTimeOver
from holdfast.models.jobs.work_limit import WorkLimit

pytestmark = pytest.mark.conformance("REL-01")

_TICK_S = 5 / 3
_HOUR_S = 3600.0


def limit(total_s: float = 7200, attempt_s: float = 600) -> WorkLimit:
    return WorkLimit(
        setting="task_patience",
        value=timedelta(seconds=total_s),
        total=timedelta(seconds=total_s),
        attempt=timedelta(seconds=attempt_s),
    )


@dataclass
class Machine:
    """A machine whose clock and services do what the test wants."""

    now_s: float = 1000.0
    are_services_there: bool = True

    def clock(self, of: WorkLimit | None = None, before: WorkProgress | None = None) -> WorkClock:
        return WorkClock(
            of,
            before or WorkProgress(),
            are_services_there=lambda: self.are_services_there,
            now=lambda: self.now_s,
        )

    def pass_tick(
        self, clock: WorkClock, *, late_s: float = 0.0, longest_s: float = _TICK_S
    ) -> None:
        """A tick passes, and the clock of the machine jumps by `late_s` within it."""
        self.now_s += clock.begin_tick(longest_s) + late_s
        clock.progress()


_jumps = st.one_of(
    st.floats(-24 * _HOUR_S, 24 * _HOUR_S), st.sampled_from([0.0, _HOUR_S, -_HOUR_S])
)


@given(st.lists(_jumps, max_size=60))
def test_a_clock_that_jumps_adds_at_most_the_planned_ticks(jumps_s: list[float]) -> None:
    machine = Machine()
    clock, seen = machine.clock(limit(total_s=10**9, attempt_s=10**9)), [0.0]

    for jump_s in jumps_s:
        machine.pass_tick(clock, late_s=jump_s)
        seen.append(clock.progress().worked_s)

    assert seen == sorted(seen)
    assert all(0 <= b - a <= _TICK_S + 1e-6 for a, b in pairwise(seen))
    undisturbed = sum(jump_s >= 0 for jump_s in jumps_s)
    assert seen[-1] >= undisturbed * _TICK_S - 1e-3


@given(st.lists(st.tuples(st.booleans(), _jumps), max_size=60))
def test_only_ticks_with_services_count(ticks: list[tuple[bool, float]]) -> None:
    machine = Machine()
    clock = machine.clock()

    for machine.are_services_there, jump_s in ticks:
        machine.pass_tick(clock, late_s=jump_s)

    machine.are_services_there = True
    assert clock.progress().worked_s <= sum(there for there, _ in ticks) * _TICK_S + 1e-6


@given(
    total_s=st.floats(0.5, 10_000),
    attempt_s=st.floats(0.5, 1000),
    deaths=st.lists(st.floats(0, 24 * _HOUR_S), max_size=5),
)
@pytest.mark.slow
def test_a_call_that_never_answers_ends_when_its_limit_was_worked(
    total_s: float, attempt_s: float, deaths: list[float]
) -> None:
    """Attempts die with their worker, or end by themselves; outages of any length are between."""
    machine, before, outages_s = Machine(), WorkProgress(), list(deaths)
    error: WorkTimeOver | AttemptTimeOver | None = None
    for _ in range(int(total_s / min(total_s, attempt_s)) + len(deaths) + 3):
        clock = machine.clock(limit(total_s, attempt_s), before)
        while not clock.is_over and not (outages_s and clock.progress().worked_s > total_s / 2):
            machine.pass_tick(clock, longest_s=max(_TICK_S, total_s / 50))
        before = clock.progress()
        if clock.is_over:
            error = clock.error_of_time()
            if isinstance(error, WorkTimeOver):
                break
        else:
            machine.now_s += outages_s.pop()

    assert isinstance(error, WorkTimeOver)
    assert total_s - 1e-3 <= error.worked_s <= max(total_s, before.worked_s) + 1e-3
    assert error.worked_s <= total_s + (len(deaths) + 1) * 1.0 + 1e-3


def test_an_attempt_that_is_too_long_is_followed_by_another_one() -> None:
    machine = Machine()
    clock = machine.clock(limit(total_s=100, attempt_s=3))

    while not clock.is_over:
        machine.pass_tick(clock)

    error = clock.error_of_time()
    assert isinstance(error, AttemptTimeOver)
    assert clock.progress().worked_s == pytest.approx(3)
    assert str(error) == "an attempt took 3 s (task_timeout)"


def test_a_model_that_refuses_at_once_is_asked_until_the_pauses_are_over() -> None:
    before, asked = WorkProgress(), 0
    busy, pause = ModelBusy("503"), timedelta(seconds=60)
    while True:
        clock = Machine().clock(limit(total_s=600), before)
        over = clock.error_after_failure(busy, pause)
        before, asked = clock.progress(), asked + 1
        if over is not None:
            break

    assert asked == before.failures == 10
    assert str(over) == (
        "503; the next attempt is 60 s away, after the end of its 600 s of work (task_patience)"
    )


def test_the_message_says_that_work_is_over_only_when_it_was_worked() -> None:
    machine = Machine()
    clock = machine.clock(limit(total_s=10, attempt_s=10))
    while not clock.is_over:
        machine.pass_tick(clock)

    assert str(clock.error_of_time()) == "10 s of work are over (task_patience)"
    assert str(clock.error_after_failure(ModelBusy("503"), timedelta(seconds=1))) == (
        "503; 10 s of work are over (task_patience)"
    )


def test_an_attempt_after_the_last_second_still_has_time_to_find_what_is_recorded() -> None:
    clock = Machine().clock(limit(total_s=10), WorkProgress(worked_s=9.999))

    assert not clock.is_over
    assert clock.begin_tick(_TICK_S) == pytest.approx(1.0)
