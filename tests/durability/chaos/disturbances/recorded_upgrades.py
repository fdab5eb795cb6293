"""Continue an installation that an earlier commit left in the middle of jobs, under kills."""

import asyncio
from collections.abc import Iterator
from random import Random

from holdfast.client import open_client
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from tests.durability.chaos.consistency_checks import Breach, BreachKind
from tests.durability.chaos.disturbances.process_kills import (
    KillTarget,
    kill_target,
    restart_target,
)
from tests.durability.chaos.round_stage import ChaosFinding, ChaosRound, job_ends
from tests.durability.chaos.running_home import running_home
from tests.upgrades.continued_jobs import JobCourse, course_of, job_ids, places_answered_twice
from tests.upgrades.half_done_jobs import HalfDoneScript, half_job, page, question_of, whole_job
from tests.upgrades.half_done_jobs import presets as all_presets
from tests.upgrades.installation_dumps import recorded_installations, restore_database

_MOMENT_S = (0.5, 4.0)
"""Workers start lost workflows a few seconds after their own start."""


async def continue_recorded_jobs(this: ChaosRound, dice: Random) -> None:
    """Restores a recorded installation into a new home, and kills services while it goes on."""
    file = dice.choice(recorded_installations())
    this.actions.append(f"continue {file.name}")
    with running_home(HalfDoneScript(), page) as home:
        endpoints = await home.up(worker=False)
        await asyncio.to_thread(restore_database, file, endpoints.database_url)
        async with open_client(home.settings, endpoints) as holdfast:
            half_done = await job_rows.open_job_ids(holdfast.db, 100)
        await home.up()
        for target in dice.choices(list(KillTarget), k=dice.randint(1, 3)):
            await asyncio.sleep(dice.uniform(*_MOMENT_S))
            this.kills.append(target)
            this.actions.append(f"kill {target}")
            await kill_target(home, target)
            await restart_target(home, target)
        for job_id in half_done:
            if not await job_ends(home, job_id):
                this.findings.append(
                    ChaosFinding(job_id, Breach(BreachKind.HUNG, "it does not end"))
                )
                return
        this.continued = len(half_done)
        async with open_client(home.settings, await home.up()) as holdfast:
            this.findings += await _breaches(holdfast.db)


async def _breaches(db: Database) -> list[ChaosFinding]:
    """How the half-done jobs differ from their undisturbed twins."""
    found = [
        ChaosFinding("all", Breach(BreachKind.ASKED_AGAIN, f"two calls are answered at {place}"))
        for place in await places_answered_twice(db)
    ]
    questions = await job_ids(db)
    for preset in all_presets():
        if question_of(half_job(preset)) in questions:
            half, whole = [await course_of(db, job(preset)) for job in (half_job, whole_job)]
            found += [ChaosFinding(preset, each) for each in _differences(half, whole)]
    return found


def _differences(half: JobCourse, whole: JobCourse) -> Iterator[Breach]:
    if half.answer != whole.answer:
        yield Breach(BreachKind.ANSWER, f"{half.answer!r}, undisturbed {whole.answer!r}")
    if half != whole:
        yield Breach(BreachKind.PLAN, f"{half}, undisturbed {whole}")
    if {"pending", "running"} & set(half.tasks.values()):
        yield Breach(BreachKind.LEFTOVER, f"open tasks of an ended job: {half.tasks}")
