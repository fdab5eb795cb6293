"""Run a round: submit jobs, disturb the installation while they run, then check the results."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from random import Random

import psycopg

from holdfast.models.errors import HoldfastError
from tests.durability.chaos.chaos_disk import can_turn_read_only, failing_disk
from tests.durability.chaos.chaos_installation import (
    ChaosInstallation,
    SubmittedJob,
    chaos_installation,
)
from tests.durability.chaos.consistency_checks import (
    Breach,
    BreachKind,
    Circumstances,
    find_breaches,
    find_changed_calls,
    find_orphans,
)
from tests.durability.chaos.disturbances import disturbance_steps
from tests.durability.chaos.disturbances.cut_submissions import submit_with_cuts
from tests.durability.chaos.disturbances.disturbance_kinds import (
    DisturbanceKind,
    draw_kind,
    unjudged_checks,
)
from tests.durability.chaos.disturbances.long_outages import OUTAGE_LIMITS
from tests.durability.chaos.disturbances.recorded_upgrades import continue_recorded_jobs
from tests.durability.chaos.fake_clock import find_library
from tests.durability.chaos.job_diagnosis import describe_job, find_open_workflows
from tests.durability.chaos.job_records import JobRecord, RecordedEvent, load_record
from tests.durability.chaos.job_shapes import DRAWN_PATTERNS, JobShape, PlanPattern
from tests.durability.chaos.log_followers import LogFollower, followers
from tests.durability.chaos.round_stage import (
    LOOK_AGAIN_S,
    WITHIN_S,
    ChaosFinding,
    ChaosRound,
    RoundStage,
    job_ends,
)

_MOST_JOBS = 4
_MOMENT_S = (0.0, 0.3)
"""Between the arrival of some request and the first blow: about as long as a call takes."""
_BROKEN = (HoldfastError, psycopg.Error, TimeoutError, ExceptionGroup)


@dataclass
class Chaos:
    """Rounds on one installation; what a shape comes to undisturbed is found out once."""

    installation: ChaosInstallation
    seed: int
    patterns: Sequence[PlanPattern] = DRAWN_PATTERNS
    kinds: Sequence[DisturbanceKind] = tuple(DisturbanceKind)
    undisturbed: dict[JobShape, JobRecord] = field(default_factory=dict)
    ended: dict[str, list[RecordedEvent]] = field(default_factory=dict)
    """The log of each job that has ended, as it was then."""

    def __post_init__(self) -> None:
        self.kinds = [kind for kind in self.kinds if kind not in self.impossible]

    @property
    def impossible(self) -> dict[DisturbanceKind, str]:
        """The kinds that cannot be tried on this machine, and why."""
        found = {}
        if not self.installation.has_own_disk:
            found[DisturbanceKind.DISK] = "no tmpfs can be mounted"
        if not can_turn_read_only():
            found[DisturbanceKind.READ_ONLY] = "no ext4 can be mounted and told of an error"
        if find_library() is None:
            found[DisturbanceKind.CLOCK] = "there is no libfaketime"
        return found

    async def round(self, number: int, kind: DisturbanceKind | None = None) -> ChaosRound:
        """One round; its dice hang on the seed and its number alone, so that it can be repeated."""
        this = ChaosRound(number, kind or draw_kind(self.seed, number, self.kinds))
        began = time.monotonic()
        shapes, dice = self._drawn(number, this.kind)
        try:
            if this.kind is not DisturbanceKind.UPGRADE:
                await self._run_undisturbed(shapes)
                began = time.monotonic()
            await self._work(this, shapes, dice)
        except _BROKEN as error:
            what = f"the round broke off with {type(error).__name__}: {error}"
            this.findings.append(ChaosFinding("round", Breach(BreachKind.HUNG, what)))
            with suppress(HoldfastError):  # a starved machine; then the next round breaks off, too
                await self.installation.up()
        this.took_s = time.monotonic() - began
        unjudged = unjudged_checks(this.kind)
        this.findings = [each for each in this.findings if each.breach.kind not in unjudged]
        return this

    async def _work(self, this: ChaosRound, shapes: Sequence[JobShape], dice: Random) -> None:
        if this.kind is DisturbanceKind.UPGRADE:
            await continue_recorded_jobs(this, dice)
            return
        async with self._installation_for(this.kind) as installation:
            stage = RoundStage(installation, this, dice)
            await self._submit(stage, shapes)
            async with followers(installation, stage.job_ids) as following:
                await self._until_some_came(stage)
                await asyncio.sleep(dice.uniform(*_MOMENT_S))
                await disturbance_steps.STEPS[this.kind](stage)
                for each in this.jobs:
                    await self._await_and_check(stage, each, following[each.job_id])

    @asynccontextmanager
    async def _installation_for(self, kind: DisturbanceKind) -> AsyncIterator[ChaosInstallation]:
        """The one of all rounds; another one for the clock to jump or the disk to fail."""
        match kind:
            case DisturbanceKind.CLOCK:
                other = chaos_installation(self.seed, has_clock=True)
            case DisturbanceKind.READ_ONLY:
                other = chaos_installation(self.seed, disk=failing_disk)
            case _:
                yield self.installation
                return
        async with other as installation:
            yield installation

    async def _submit(self, stage: RoundStage, shapes: Sequence[JobShape]) -> None:
        names = [f"s{self.seed}r{stage.this.number}j{n}" for n in range(1, len(shapes) + 1)]
        jobs = dict(zip(names, shapes, strict=True))
        if stage.this.kind is DisturbanceKind.CUTS:
            stage.this.jobs, told = await submit_with_cuts(stage.installation, jobs, stage.dice)
            stage.this.actions += told
            return
        limits = OUTAGE_LIMITS if stage.this.kind is DisturbanceKind.OUTAGE else None
        stage.this.jobs = await stage.installation.submit(jobs, limits)

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

    def _drawn(self, number: int, kind: DisturbanceKind) -> tuple[list[JobShape], Random]:
        dice = Random(f"{self.seed} round {number}")
        patterns = [PlanPattern.NOTES] if kind is DisturbanceKind.UNSAFE else self.patterns
        return [JobShape.drawn(dice, patterns) for _ in range(dice.randint(1, _MOST_JOBS))], dice

    async def _run_undisturbed(self, shapes: Sequence[JobShape]) -> None:
        """Runs each shape that is new, a few at once as in a round.

        Raises:
            AssertionError: something is wrong even so.
        """
        new = [shape for shape in dict.fromkeys(shapes) if shape not in self.undisturbed]
        known = len(self.undisturbed)
        jobs = {f"s{self.seed}u{known + n}": shape for n, shape in enumerate(new)}
        if jobs and not known:
            (first,) = await self.installation.submit({f"s{self.seed}w": new[0]})
            await self.run_undisturbed(first)  # a worker's first job takes longer
        for each in await self.installation.submit(jobs):
            self.undisturbed[each.shape] = await self.run_undisturbed(each)

    async def run_undisturbed(self, each: SubmittedJob) -> JobRecord:
        assert await self.ends(each.job_id), f"{each.shape.name} does not end undisturbed"
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

    async def _until_some_came(self, stage: RoundStage) -> None:
        """Waits for a share of the jobs' requests: a clock would hang on how busy the machine is."""
        jobs = stage.this.jobs
        # A copy of a shared search is no request.
        sent = sum(not call.is_copy for each in jobs for call in self.undisturbed[each.shape].calls)
        due = stage.dice.random() * sent
        names = [each.job for each in jobs]
        async with asyncio.timeout(WITHIN_S):
            while stage.installation.arrivals.count(names) < max(1, due):
                await asyncio.sleep(LOOK_AGAIN_S / 10)

    async def _await_and_check(
        self, stage: RoundStage, each: SubmittedJob, follower: LogFollower
    ) -> None:
        this, installation = stage.this, stage.installation
        if not await job_ends(installation, each.job_id):
            stands = await describe_job(installation, each.job_id)
            this.findings.append(ChaosFinding(each.job, Breach(BreachKind.HUNG, stands)))
            return
        came = installation.arrivals.of(each.job)
        async with installation.books() as books:
            found = await load_record(books, each.job_id)
        if installation is self.installation:
            self.ended[each.job_id] = found.events
        undisturbed = self.undisturbed[each.shape]
        wrong = find_breaches(found, undisturbed.story, came, _circumstances(this, each))
        wrong += find_changed_calls(this.answered[each.job], found.calls)
        if fault := await follower.fault(found.events):
            wrong.append(Breach(BreachKind.FOLLOWER, fault))
        this.findings += [ChaosFinding(each.job, breach) for breach in dict.fromkeys(wrong)]
        this.calls += sum(call.is_answered and not call.is_copy for call in found.calls)
        this.reused += sum(call.reused for call in found.calls)
        requests = sum(map(len, came.values()))
        this.sent_again += requests - len(came)
        this.never_left += sum(0 if c.is_copy else c.sends for c in found.calls) - requests
        this.extra_s.append(found.seconds - undisturbed.seconds)

    async def ends(self, job_id: str) -> bool:
        """True if the job ends in time."""
        return await job_ends(self.installation, job_id)


def _circumstances(this: ChaosRound, each: SubmittedJob) -> Circumstances:
    return Circumstances(
        has_one_clock=this.kind is not DisturbanceKind.CLOCK,
        was_reopened=each.job in this.reopened,
        was_steered=each.job in this.steered,
        is_unsafe=each.shape.pattern is PlanPattern.NOTES,
    )
