"""Run a command of the user for each event of a job that the user should know of (`--notify`).

The events are those of webhooks, for people who have no server. The command runs on the computer
and as the user of `holdfast run` or `wait`, for as long as these wait: the engine itself runs no
commands, so that nobody who may submit jobs can run programs. The command gets what happened in its
environment, because a text of the job in a command line would be read by the shell.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta

from holdfast.cli.render.terminal_output import print_progress
from holdfast.client import Holdfast
from holdfast.models.access.webhook_events import WebhookEvent
from holdfast.models.errors import StorageAway
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.views.job_views import EventView
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.views.job_queries import events_after

_POLL_INTERVAL_S = 0.5
_LAST_COMMAND_S = 60.0
"""How long a command may still run after the job's end."""
_BLOCKING = {
    EventKind.QUESTION_ASKED: WebhookEvent.JOB_ASKS,
    EventKind.JOB_PAUSED: WebhookEvent.JOB_PAUSED,
}
_MESSAGES = {WebhookEvent.JOB_ASKS: "the job asks a question; `holdfast answer` shows it"}


@asynccontextmanager
async def notifying(
    holdfast: Holdfast, job_id: str, command: str | None, *, after: int = 0
) -> AsyncIterator[None]:
    """Run `command` in a shell for each event after entry `after`, until the block ends.

    If the job has ended, the block's end waits for the command of that event.
    """
    if command is None:
        yield
        return
    task = asyncio.create_task(_notify(holdfast, job_id, command, after))
    try:
        yield
        if await _has_ended(holdfast, job_id):
            await asyncio.wait({task}, timeout=_LAST_COMMAND_S)
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _has_ended(holdfast: Holdfast, job_id: str) -> bool:
    return (await holdfast.wait(job_id, timedelta(0))).status.is_final


async def _notify(holdfast: Holdfast, job_id: str, command: str, after: int) -> None:
    while True:
        try:
            entries = await events_after(holdfast.db, job_id, after)
        except StorageAway:
            entries = []
        for entry in entries:
            after = entry.seq
            if event := _event_of(entry):
                await _run(command, _environment(job_id, event, entry))
            if entry.kind == EventKind.JOB_ENDED:
                return
        await asyncio.sleep(_POLL_INTERVAL_S)


async def _run(command: str, added: Mapping[str, str]) -> None:
    """Run the command; a fault of the command is printed and ends nothing."""
    process = await asyncio.create_subprocess_shell(
        command, env={**os.environ, **added}, stdin=asyncio.subprocess.DEVNULL
    )
    if code := await process.wait():
        print_progress(f"warning: the command of --notify ended with exit code {code}")


def _event_of(entry: EventView) -> WebhookEvent | None:
    """Return what a webhook would be told of this entry of the log; None: nothing."""
    if entry.kind == EventKind.JOB_ENDED:
        is_done = entry.facts.get("status") == JobStatus.DONE
        return WebhookEvent.JOB_DONE if is_done else WebhookEvent.JOB_FAILED
    return _BLOCKING.get(EventKind(entry.kind))


def _environment(job_id: str, event: WebhookEvent, entry: EventView) -> dict[str, str]:
    # Not HOLDFAST_...: a `holdfast` in the command would take the names for settings.
    message = entry.facts.get("message") or _MESSAGES.get(event, "")
    changes = entry.facts.get("changes")
    return {
        "JOB_ID": job_id,
        "JOB_EVENT": event.value,
        "JOB_MESSAGE": str(message).replace("\0", ""),
        "JOB_CHANGES": str(changes["in_words"] if isinstance(changes, Mapping) else ""),
    }
