"""Check the services of an installation: database, Temporal and worker."""

import asyncio

from holdfast.models.errors import ServiceDown
from holdfast.services import service_discovery
from holdfast.services.checks.check_outcome import BUSY_HINT, START_HINT, TIMEOUT_S, CheckOutcome
from holdfast.services.checks.endpoint_checks import http_status
from holdfast.services.launch.worker_process import current_worker
from holdfast.services.service_state import load_state
from holdfast.settings import Endpoints, Settings


async def check_database(settings: Settings, endpoints: Endpoints | None) -> CheckOutcome:
    state = load_state(settings.home)
    if endpoints is None or not service_discovery.is_postgres_running(settings, state):
        return CheckOutcome(False, "the embedded PostgreSQL is not running", START_HINT)
    import psycopg

    plain = endpoints.database_url.replace("postgresql+psycopg://", "postgresql://", 1)
    # The embedded server has just accepted a connection, so it is not down.
    remedy = BUSY_HINT if endpoints.embedded_database else "check HOLDFAST_DATABASE_URL"
    try:
        revision, notes = await asyncio.to_thread(_revision, plain, endpoints.embedded_database)
    except psycopg.errors.UndefinedTable:
        return CheckOutcome(False, "PostgreSQL answers, but has no schema yet", START_HINT)
    except psycopg.OperationalError as error:
        # Only the first line, and never the address, which may contain a password.
        first_line = str(error).partition("\n")[0]
        detail = f"PostgreSQL does not answer: {first_line}"
        return CheckOutcome(False, detail, remedy, ran_out_of_time=endpoints.embedded_database)
    from holdfast.storage.core.schema_migration import newest_schema_version

    if revision != (head := await asyncio.to_thread(newest_schema_version)):
        return CheckOutcome(
            False, f"the schema is {revision}, this version needs {head}", START_HINT
        )
    return CheckOutcome(True, f"PostgreSQL answers, schema {revision}{notes}")


def _revision(plain_url: str, is_embedded: bool) -> tuple[str, str]:
    """Return the revision of the schema, and notes on the connection."""
    import psycopg

    from holdfast.services.checks.database_notes import database_notes

    with psycopg.connect(plain_url, connect_timeout=int(TIMEOUT_S)) as connection:
        row = connection.execute("select version_num from alembic_version").fetchone()
        notes = database_notes(connection, is_embedded=is_embedded)
    return (str(row[0]) if row else "empty"), "".join(f"; {note}" for note in notes)


async def check_temporal(settings: Settings, endpoints: Endpoints | None) -> CheckOutcome:
    if endpoints is None or not _is_temporal_running(settings):
        return CheckOutcome(False, "the embedded Temporal is not running", START_HINT)
    from holdfast.temporal.temporal_connection import connect, missing_search_attributes

    at = f"{endpoints.temporal_address}, namespace {endpoints.temporal_namespace}"
    try:
        client = await connect(settings, endpoints)
    except ServiceDown:
        if not endpoints.embedded_temporal:
            raise
        # The embedded server has just accepted a connection, so it is not down.
        detail = f"{at}: listens, but a client got no answer"
        return CheckOutcome(False, detail, BUSY_HINT, ran_out_of_time=True)
    if missing := await missing_search_attributes(client):
        return CheckOutcome(
            False, f"{at}: search attributes {', '.join(missing)} are missing", START_HINT
        )
    return CheckOutcome(True, f"{at}: answers, search attributes are registered")


def _is_temporal_running(settings: Settings) -> bool:
    return service_discovery.is_temporal_running(settings, load_state(settings.home))


async def check_temporal_ui(settings: Settings, endpoints: Endpoints | None) -> CheckOutcome:
    from holdfast.temporal.temporal_connection import ui_base

    if endpoints is None or not _is_temporal_running(settings):
        return CheckOutcome(None, "not checked: Temporal is not running")
    base = ui_base(settings, endpoints)
    if base is None:
        return CheckOutcome(None, "no address known; HOLDFAST_TEMPORAL_UI_URL would add links")
    status = await http_status(base)
    if isinstance(status, int):
        return CheckOutcome(True, f"{base} answers")
    return CheckOutcome(
        False, f"{base} does not answer ({status})", "check the address, or " + START_HINT
    )


async def check_worker(settings: Settings, endpoints: Endpoints | None) -> CheckOutcome:
    log = settings.home / "logs" / "worker.log"
    if service_discovery.is_worker_running(settings):
        if worker := current_worker(settings.home):
            return CheckOutcome(True, f"this machine's worker runs (pid {worker.pid}), supervised")
        remedy = f"see why in its log, {log}"
        return CheckOutcome(
            False, "the worker died, and its supervisor is starting another", remedy
        )
    if endpoints and not (endpoints.embedded_database or endpoints.embedded_temporal):
        return CheckOutcome(None, "none on this machine; `holdfast up` starts one")
    return CheckOutcome(False, "no worker runs on this machine", f"{START_HINT}; its log is {log}")
