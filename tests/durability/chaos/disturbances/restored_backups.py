"""Put PostgreSQL back to a backup that was made while the jobs ran."""

import asyncio

from holdfast.services.database_backup import write_backup
from holdfast.services.database_restore import restore_backup
from holdfast.services.service_lifecycle import attach_to_services
from tests.durability.chaos.disturbances.process_kills import kill_supervisor
from tests.durability.chaos.round_stage import RoundStage
from tests.support.services.database_backup import DatabaseBackup


async def restore_in_mid_job(stage: RoundStage) -> None:
    """Backs up, lets the jobs go on, and restores: with Temporal's data, or without them."""
    installation = stage.installation
    keeps_temporal = stage.dice.random() < 0.5
    folder = installation.settings.home.parent / f"backup-{stage.this.number}"
    folder.mkdir()
    url = (await attach_to_services(installation.settings)).database_url
    file = folder / "backup.dump"
    await asyncio.to_thread(write_backup, url.replace("+psycopg", ""), file)
    await stage.pause()
    await stage.pause()
    kept = "kept" if keeps_temporal else "removed"
    stage.this.actions.append(f"restore, Temporal's data {kept}")
    if keeps_temporal:
        await kill_supervisor(installation)
        await asyncio.to_thread(DatabaseBackup(url.replace("+psycopg", ""), file).restore)
    else:
        await restore_backup(installation.settings, file, _silent, replaces=True)
    await installation.up()
    file.unlink()


def _silent(_: str) -> None:
    """The command line would print this."""
