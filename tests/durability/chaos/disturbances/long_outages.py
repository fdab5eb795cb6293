"""Kill everything at once and come back after the jobs' limits, as a closed lid does."""

import asyncio

from pydantic import JsonValue

from tests.durability.chaos.disturbances.process_kills import kill_everything
from tests.durability.chaos.round_stage import RoundStage

_LIMIT_S = 20
"""Many times what the work of one of these jobs takes; two hours by default."""
_OUTAGE_S = _LIMIT_S + 3
OUTAGE_LIMITS: dict[str, JsonValue] = dict.fromkeys(
    ("task_patience", "agent_timeout", "task_timeout"), f"PT{_LIMIT_S}S"
)


async def power_cut(stage: RoundStage) -> None:
    """Leaves the installation off for longer than every limit of its jobs."""
    await stage.note_answers()
    stage.this.actions.append(f"off {_OUTAGE_S} s")
    await kill_everything(stage.installation)
    await asyncio.sleep(_OUTAGE_S)
    await stage.installation.up()
