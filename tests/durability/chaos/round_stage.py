"""A round while it goes on: its jobs, what was done, and what was found."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

import psycopg

from holdfast.models.errors import ServiceDown
from holdfast.models.jobs.job_record import FINAL_JOB_STATUSES
from tests.durability.chaos.chaos_installation import ChaosInstallation, SubmittedJob
from tests.durability.chaos.consistency_checks import Breach
from tests.durability.chaos.disturbances.disturbance_kinds import DisturbanceKind
from tests.durability.chaos.disturbances.process_kills import (
    KillTarget,
    kill_target,
    restart_target,
)
from tests.durability.chaos.job_records import RecordedCall, load_calls
from tests.durability.chaos.running_home import RunningHome

LOOK_AGAIN_S = 0.05
WITHIN_S = 120.0
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
    kind: DisturbanceKind
    jobs: list[SubmittedJob] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    """What was done, in words."""
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
    continued: int = 0
    """Jobs of a recorded installation."""
    reopened: set[str] = field(default_factory=set)
    """Jobs that were cancelled and resumed."""
    steered: set[str] = field(default_factory=set)
    extra_s: list[float] = field(default_factory=list)
    """How much longer each job took than undisturbed."""
    took_s: float = 0.0


@dataclass(frozen=True)
class RoundStage:
    """Where a round plays: its installation, its dice, and its record."""

    installation: ChaosInstallation
    this: ChaosRound
    dice: Random

    @property
    def job_ids(self) -> list[str]:
        return [each.job_id for each in self.this.jobs]

    async def kill(self, target: KillTarget) -> None:
        """Notes what the ledger has, kills the target, and starts it again a moment later."""
        await self.note_answers()
        self.this.kills.append(target)
        self.this.actions.append(f"kill {target}")
        await kill_target(self.installation, target)
        await self.pause()
        await restart_target(self.installation, target)
        await self.pause()

    async def pause(self) -> None:
        await asyncio.sleep(self.dice.uniform(*_PAUSE_S))

    async def note_answers(self) -> None:
        with suppress(psycopg.Error, ServiceDown):
            async with self.installation.books() as books:
                for each in self.this.jobs:
                    self.this.answered[each.job] += await load_calls(books, each.job_id)

    async def are_over(self) -> bool:
        return await are_over(self.installation, self.job_ids)


async def are_over(installation: RunningHome, job_ids: Collection[str]) -> bool:
    """True if all these jobs have ended."""
    async with installation.books() as books:
        found = await books.execute(
            "select count(*) as n from jobs where id = any(%s) and status = any(%s)",
            [list(job_ids), [status.value for status in FINAL_JOB_STATUSES]],
        )
        row = await found.fetchone()
    return row is not None and row["n"] == len(job_ids)


async def job_ends(installation: RunningHome, job_id: str) -> bool:
    """True if the job ends in time."""
    loop = asyncio.get_running_loop()
    given_up = loop.time() + WITHIN_S
    while loop.time() < given_up:
        # PostgreSQL recovers from a kill; what does not come back shows as a hung job.
        with suppress(psycopg.OperationalError, ServiceDown):
            if await are_over(installation, [job_id]):
                return True
        await asyncio.sleep(LOOK_AGAIN_S)
    return False


def draw_targets(stage: RoundStage, most: int) -> Sequence[KillTarget]:
    """Draw what to kill, one to `most` times."""
    return stage.dice.choices(list(KillTarget), k=stage.dice.randint(1, most))
