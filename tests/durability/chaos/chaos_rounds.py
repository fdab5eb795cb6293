"""Run a round: submit jobs, kill processes while the jobs run, then check the results."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

import psycopg

from holdfast.models.errors import HoldfastError, ServiceDown
from holdfast.models.jobs.job_record import FINAL_JOB_STATUSES
from tests.durability.chaos import process_kills
from tests.durability.chaos.chaos_installation import ChaosInstallation, SubmittedJob
from tests.durability.chaos.consistency_checks import (
    Breach,
    BreachKind,
    find_breaches,
    find_changed_calls,
    find_orphans,
)
from tests.durability.chaos.job_diagnosis import describe_job, find_open_workflows
from tests.durability.chaos.job_records import (
    JobRecord,
    RecordedCall,
    RecordedEvent,
    load_calls,
    load_record,
)
from tests.durability.chaos.job_shapes import JobShape, PlanPattern
from tests.durability.chaos.process_kills import KillTarget

_WITHIN_S = 120.0
_LOOK_AGAIN_S = 0.05
_MOST_JOBS = 4
_MOMENT_S = (0.0, 0.3)
"""Between the arrival of some request and the first kill: about as long as a call takes."""
_PAUSE_S = (0.05, 1.0)
"""Between the end of a victim and its return, and between a return and the next kill."""


@dataclass(frozen=True)
class ChaosFinding:
    """A breach, with the job in which it was found."""

    job: str
    breach: Breach


@dataclass
class ChaosRound:
    """What happened in a round, and what was found wrong."""

    number: int
    jobs: list[SubmittedJob] = field(default_factory=list)
    kills: list[KillTarget] = field(default_factory=list)
    findings: list[ChaosFinding] = field(default_factory=list)
    calls: int = 0
    """Answered calls of models and tools."""
    reused: int = 0
    """Answers that were taken from the ledger, so that nothing was asked again."""
    sent_again: int = 0
    """Requests that came in once more, because the first had been in flight."""
    never_left: int = 0
    """Announced requests that never came in: the worker died in between."""
    answered: dict[str, list[RecordedCall]] = field(default_factory=lambda: defaultdict(list))
    """Each job's calls as the ledger had them right before each kill."""
    extra_s: list[float] = field(default_factory=list)
    """How much longer each job took than undisturbed."""
    took_s: float = 0.0


@dataclass
class Chaos:
    """Rounds on one installation; what a shape comes to undisturbed is found out once."""

    installation: ChaosInstallation
    seed: int
    patterns: Sequence[PlanPattern] = tuple(PlanPattern)
    undisturbed: dict[JobShape, JobRecord] = field(default_factory=dict)
    ended: dict[str, list[RecordedEvent]] = field(default_factory=dict)
    """The log of each job that has ended, as it was then."""

    async def prepare(self, numbers: Iterable[int]) -> None:
        """Runs every shape of these rounds undisturbed, a few at once as in a round.

        Raises:
            AssertionError: something is wrong even so.
        """
        shapes = list(dict.fromkeys(shape for n in numbers for shape in self._drawn(n)[0]))
        (first,) = await self.installation.submit({f"s{self.seed}w": shapes[0]})
        await self._undisturbed(first)  # a worker's first job takes longer
        for at in range(0, len(shapes), _MOST_JOBS):
            few = enumerate(shapes[at : at + _MOST_JOBS], start=at)
            jobs = {f"s{self.seed}u{n}": shape for n, shape in few}
            for each in await self.installation.submit(jobs):
                self.undisturbed[each.shape] = await self._undisturbed(each)

    async def round(self, number: int) -> ChaosRound:
        """One round; its dice hang on the seed and its number alone, so that it can be repeated."""
        this, began = ChaosRound(number), time.monotonic()
        try:
            await self._work(this)
        except (HoldfastError, psycopg.Error, TimeoutError) as error:
            what = f"the round broke off with {type(error).__name__}: {error}"
            this.findings.append(ChaosFinding("round", Breach(BreachKind.HUNG, what)))
            await self.installation.up()  # for the next one
        this.took_s = time.monotonic() - began
        return this

    async def _work(self, this: ChaosRound) -> None:
        shapes, dice = self._drawn(this.number)
        names = [f"s{self.seed}r{this.number}j{n}" for n in range(1, len(shapes) + 1)]
        this.jobs += await self.installation.submit(dict(zip(names, shapes, strict=True)))
        await self._until_some_came(this.jobs, dice.random())
        await asyncio.sleep(dice.uniform(*_MOMENT_S))
        await self._disturb(this, process_kills.draw_targets(dice, self.seed, this.number), dice)
        for each in this.jobs:
            await self._await_and_check(this, each)

    async def check_installation(self) -> list[Breach]:
        """What is wrong with the installation as a whole, once all rounds are over."""
        async with self.installation.books() as books:
            found = await find_orphans(books)
            for job_id, events in self.ended.items():
                now = (await load_record(books, job_id)).events
                if now != events:
                    what = f"{job_id} was written to after its end: {now[len(events) :]}"
                    found.append(Breach(BreachKind.EVENTS, what))
        left = await find_open_workflows(self.installation, self.ended)
        return found + [Breach(BreachKind.HUNG, f"its workflow is open: {each}") for each in left]

    def _drawn(self, number: int) -> tuple[list[JobShape], Random]:
        dice = Random(f"{self.seed} round {number}")
        return [
            JobShape.drawn(dice, self.patterns) for _ in range(dice.randint(1, _MOST_JOBS))
        ], dice

    async def _undisturbed(self, each: SubmittedJob) -> JobRecord:
        assert await self._ends(each.job_id), f"{each.shape.name} does not end undisturbed"
        async with self.installation.books() as books:
            found = await load_record(books, each.job_id)
        came = self.installation.arrivals.of(each.job)
        made = sum(revision["scope"] == "" for revision in found.revisions)
        came_to = (found.job["stop_reason"], made)
        assert came_to == (each.shape.stop_reason, each.shape.revisions), found.job
        wrong = find_breaches(found, found.story, came)
        assert not wrong, f"{each.shape.name} is wrong undisturbed: {wrong}"
        assert all(len(times) == 1 for times in came.values()), f"{each.shape.name} asked twice"
        return found

    async def _disturb(self, this: ChaosRound, targets: Sequence[KillTarget], dice: Random) -> None:
        for target in targets:
            if this.kills and await self._are_over([each.job_id for each in this.jobs]):
                return
            async with self.installation.books() as books:
                for each in this.jobs:
                    this.answered[each.job] += await load_calls(books, each.job_id)
            this.kills.append(target)
            await process_kills.kill_target(self.installation, target)
            await asyncio.sleep(dice.uniform(*_PAUSE_S))
            await process_kills.restart_target(self.installation, target)
            await asyncio.sleep(dice.uniform(*_PAUSE_S))

    async def _until_some_came(self, jobs: Sequence[SubmittedJob], share: float) -> None:
        """Waits for a share of the jobs' requests: a clock would hang on how busy the machine is."""
        due = share * sum(len(self.undisturbed[each.shape].calls) for each in jobs)
        names = [each.job for each in jobs]
        async with asyncio.timeout(_WITHIN_S):
            while self.installation.arrivals.count(names) < max(1, due):
                await asyncio.sleep(_LOOK_AGAIN_S / 10)

    async def _await_and_check(self, this: ChaosRound, each: SubmittedJob) -> None:
        if not await self._ends(each.job_id):
            stands = await describe_job(self.installation, each.job_id)
            this.findings.append(ChaosFinding(each.job, Breach(BreachKind.HUNG, stands)))
            return
        came = self.installation.arrivals.of(each.job)
        async with self.installation.books() as books:
            found = await load_record(books, each.job_id)
        self.ended[each.job_id] = found.events
        undisturbed = self.undisturbed[each.shape]
        wrong = find_breaches(found, undisturbed.story, came)
        wrong += find_changed_calls(this.answered[each.job], found.calls)
        this.findings += [ChaosFinding(each.job, breach) for breach in dict.fromkeys(wrong)]
        this.calls += sum(call.is_answered and not call.is_copy for call in found.calls)
        this.reused += sum(call.reused for call in found.calls)
        requests = sum(map(len, came.values()))
        this.sent_again += requests - len(came)
        this.never_left += sum(0 if c.is_copy else c.sends for c in found.calls) - requests
        this.extra_s.append(found.seconds - undisturbed.seconds)

    async def _are_over(self, job_ids: Sequence[str]) -> bool:
        async with self.installation.books() as books:
            found = await books.execute(
                "select count(*) as n from jobs where id = any(%s) and status = any(%s)",
                [list(job_ids), [status.value for status in FINAL_JOB_STATUSES]],
            )
            row = await found.fetchone()
        return row is not None and row["n"] == len(job_ids)

    async def _ends(self, job_id: str) -> bool:
        """Whether the job ends in time."""
        given_up = time.monotonic() + _WITHIN_S
        while time.monotonic() < given_up:
            try:
                if await self._are_over([job_id]):
                    return True
            except (psycopg.OperationalError, ServiceDown):
                # PostgreSQL recovers from a kill; what does not come back shows as a hung job.
                pass
            await asyncio.sleep(_LOOK_AGAIN_S)
        return False
