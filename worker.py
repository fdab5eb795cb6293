"""Run a worker: open the services, register all activities and poll until told to stop.

`python -m holdfast.worker` is one worker; with `--supervise` it is one that is started again when
it dies.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from importlib.metadata import version

import structlog
from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from holdfast.activities.registration import activities_by_type
from holdfast.activities.runtime.activity_services import Services
from holdfast.activities.runtime.interceptors.begin_interceptor import BeginInterceptor
from holdfast.activities.runtime.interceptors.error_interceptor import ErrorInterceptor
from holdfast.activities.runtime.interceptors.lost_attempt_interceptor import LostAttemptInterceptor
from holdfast.activities.runtime.interceptors.recovery_interceptor import RecoveryInterceptor
from holdfast.activities.runtime.interceptors.stall_interceptor import StallInterceptor
from holdfast.activities.runtime.interceptors.work_time_interceptor import WorkTimeInterceptor
from holdfast.activities.runtime.text_similarity import TextSimilarity
from holdfast.client import Holdfast
from holdfast.configuration.builtin_tool_servers import open_builtin_servers
from holdfast.configuration.calibration_settings import read_calibrations
from holdfast.configuration.configured_agents import read_agents
from holdfast.configuration.embedding_settings import open_embedder
from holdfast.configuration.json_logs import configure_logs, hide_secrets
from holdfast.configuration.known_models import check_agent_models
from holdfast.configuration.known_secrets import known_secrets
from holdfast.configuration.opened_models import open_models
from holdfast.configuration.retention_settings import read_retention
from holdfast.corpus.spare_time_embedding import embed_in_spare_time
from holdfast.cycle_collection import look_for_cycles_rarely
from holdfast.models.errors import HoldfastError, Passing, ServiceDown
from holdfast.models.text.secret_mask import SecretMask
from holdfast.observability.trace_export import export_traces
from holdfast.schedules.scheduled_runs import ScheduledRuns
from holdfast.services.private_files import touch_private_file
from holdfast.services.service_lifecycle import attach_to_services
from holdfast.services.supervisor.loop_pulse import LoopPulse
from holdfast.services.supervisor.preloaded_modules import preload_modules
from holdfast.services.supervisor.process_signals import end_with_parent
from holdfast.services.supervisor.server_watch import ServerWatch
from holdfast.services.supervisor.worker_files import ready_file
from holdfast.services.supervisor.worker_identity import WorkerLaunch
from holdfast.services.supervisor.worker_supervisor import EXIT_REFUSED, Supervisor
from holdfast.services.worker.environment_block import hide_environment
from holdfast.services.worker.lost_workflow_start import LostWorkflowStart
from holdfast.services.worker.restored_database_check import check_for_restored_database
from holdfast.services.worker.retention_upkeep import RetentionUpkeep
from holdfast.services.worker.schedule_upkeep import ScheduleUpkeep
from holdfast.services.worker.service_presence import ServicePresence
from holdfast.services.worker.worker_releases import deployment_config, make_first_current
from holdfast.services.worker.worker_takeover import record_stalls, take_over_work
from holdfast.settings import Settings, load_settings
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.temporal.activity_slots import ActivitySlots, worker_tuner
from holdfast.temporal.temporal_connection import connect, register_search_attributes
from holdfast.tools.mcp.server_config import read_servers
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.transports.server_log import server_log_folder
from holdfast.tools.private_job_settings import read_private_job_settings
from holdfast.webhooks.webhook_sender import WebhookSender
from holdfast.webhooks.webhook_settings import read_webhook_hosts
from holdfast.workflows.research_job import ResearchJob
from holdfast.workflows.scheduled_run import ScheduledRunWorkflow

log = structlog.get_logger(__name__)

BUILD_ID = f"holdfast-{version('holdfast')}"

WORKFLOW_SANDBOX = SandboxedWorkflowRunner(
    restrictions=SandboxRestrictions.default.with_passthrough_modules("holdfast")
)


@asynccontextmanager
async def open_services(
    settings: Settings, database_url: str, worker: str = ""
) -> AsyncIterator[Services]:
    """Open the database, the models and the tools; close them in reverse.

    `worker` is the identity by which other workers see in PostgreSQL that this one lives.
    """
    if not logging.getLogger().handlers:
        # An MCP server in this process would install a handler that renders tracebacks for seconds.
        configure_logs(settings.log_level)
    async with AsyncExitStack() as stack:
        db = Database(database_url, pool_size=settings.pool_size, worker=worker)
        stack.push_async_callback(db.close)
        servers = read_servers(settings.config_file) if settings.config_file else {}
        secrets = known_secrets(settings, database_url, servers)
        hide_secrets(secrets)
        models = await stack.enter_async_context(open_models(settings, SecretMask(secrets)))
        builtin = await stack.enter_async_context(open_builtin_servers(settings, CorpusStore(db)))
        agents = read_agents(settings.config_file)
        check_agent_models(agents, settings)
        private_jobs = read_private_job_settings(settings.config_file, servers)
        hub = Hub(
            servers,
            builtin,
            log_folder=server_log_folder(settings.home),
            secrets=secrets,
            private_jobs=private_jobs,
        )
        await stack.enter_async_context(hub)
        calibrations = read_calibrations(settings.config_file)
        runs = ScheduledRuns(settings, db)
        embedder = await stack.enter_async_context(open_embedder(settings))
        similarity = TextSimilarity(embedder) if embedder else None
        yield Services(db, models, hub, agents, calibrations, runs.begin, similarity)


def build_worker(
    client: Client,
    services: Services,
    settings: Settings,
    presence: ServicePresence | None = None,
) -> Worker:
    """A worker over the opened services; it polls as soon as it is entered.

    Time counts as work while the `presence` says so; without one, while PostgreSQL answers.
    """
    database = services.db
    are_services_there = (
        presence.are_services_there if presence else lambda: database.away_since is None
    )
    slots = ActivitySlots(settings.max_concurrent_tasks)
    return Worker(
        client,
        task_queue=settings.task_queue,
        workflows=[ResearchJob, ScheduledRunWorkflow],
        activities=list(activities_by_type(services).values()),
        interceptors=[
            BeginInterceptor(slots.begin),
            ErrorInterceptor(),
            WorkTimeInterceptor(are_services_there),
            StallInterceptor(services.db),
            RecoveryInterceptor(services.db),
            LostAttemptInterceptor(are_services_there),
        ],
        workflow_runner=WORKFLOW_SANDBOX,
        # Without a name the SDK reads and hashes 2 000 modules: 0.2 s and 20 MB at every start.
        build_id=None if settings.release else BUILD_ID,
        deployment_config=(
            deployment_config(settings.task_queue, settings.release) if settings.release else None
        ),
        tuner=worker_tuner(slots),
        # The default of 10 s is what a job waits for after its worker was killed.
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
        max_heartbeat_throttle_interval=timedelta(seconds=1),
        graceful_shutdown_timeout=timedelta(seconds=20),
    )


async def poll_until_stopped(settings: Settings, life: WorkerLaunch) -> None:
    """Run activities until SIGTERM or SIGINT; then let running ones finish, for at most 20 s."""
    stop = asyncio.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sign, stop.set)
    endpoints = await attach_to_services(settings)
    client = await connect(
        settings,
        endpoints,
        identity=life.identity,
        metrics_address=settings.metrics_address,
    )
    await register_search_attributes(client)
    async with AsyncExitStack() as stack:
        if life.pulse is not None:
            await stack.enter_async_context(LoopPulse(life.pulse).beating())
        services = await stack.enter_async_context(
            open_services(settings, endpoints.database_url, client.identity)
        )
        # Before the takeover: the next attempt must know of the stall.
        await record_stalls(services.db, life.deaths)
        place = (client, services.db, settings.task_queue)
        takeover = asyncio.create_task(take_over_work(*place, life.deaths))
        holdfast = Holdfast(settings, endpoints, services.db, temporal=client)
        retention = RetentionUpkeep(holdfast, read_retention(settings.config_file))
        webhooks = WebhookSender(services.db, read_webhook_hosts(settings.config_file))
        presence = ServicePresence(client, services.db)
        await presence.look()  # before the first activity asks how long an outage was
        background = [
            asyncio.create_task(presence.watch()),
            asyncio.create_task(_look_after_jobs(takeover, retention, *place)),
            asyncio.create_task(webhooks.repeat()),
            asyncio.create_task(embed_in_spare_time(settings, services.db)),
            asyncio.create_task(export_traces(services.db, life.identity)),
        ]
        if settings.release:
            first = make_first_current(client, settings.task_queue, settings.release)
            background.append(asyncio.create_task(first))
        async with build_worker(client, services, settings, presence):
            log.info("worker.started", task_queue=settings.task_queue, worker=life.identity)
            _mark_ready()
            await stop.wait()
            for task in background:
                task.cancel()
        log.info("worker.stopped")


async def _look_after_jobs(
    takeover: asyncio.Task[None],
    retention: RetentionUpkeep,
    client: Client,
    db: Database,
    task_queue: str,
) -> None:
    """Find lost workflows, lost schedules, restored databases and old jobs, until cancelled.

    The takeover comes first: running jobs wait for it, and on a busy machine these tasks would
    delay it.
    """
    await takeover
    async with asyncio.TaskGroup() as group:
        group.create_task(LostWorkflowStart(client, db, task_queue).repeat())
        group.create_task(ScheduleUpkeep(client, db, task_queue).repeat())
        group.create_task(check_for_restored_database(client, db, task_queue))
        group.create_task(retention.repeat())


def _mark_ready() -> None:
    """`holdfast up` waits for this file."""
    if ready := ready_file():
        touch_private_file(ready)


def run_worker(life: WorkerLaunch) -> int:
    """Run one worker until it stops; return its exit code."""
    if life.supervisor is not None:
        end_with_parent(life.supervisor)
    try:
        settings = load_settings()
        configure_logs(settings.log_level)
        asyncio.run(poll_until_stopped(settings, life))
    except (Passing, ServiceDown) as error:
        log.error("worker.found_no_service", error=str(error))  # noqa: TRY400 - nothing of ours broke
        return os.EX_TEMPFAIL
    except HoldfastError as error:
        log.error("worker.refused", error=str(error))  # noqa: TRY400 - a user's mistake, no trace
        return EXIT_REFUSED
    return 0


def run_supervisor() -> int:
    """Start another worker whenever one dies; return the exit code."""
    try:
        settings = load_settings()
        configure_logs(settings.log_level)
        preload_modules(settings)
    except HoldfastError as error:
        log.error("worker.refused", error=str(error))  # noqa: TRY400 - a user's mistake, no trace
        return EXIT_REFUSED
    command = [sys.executable, "-P", "-m", "holdfast.worker", "--life"]
    return Supervisor(run_worker, command, ServerWatch(settings.home)).run()


def main() -> None:
    """`python -m holdfast.worker`."""
    look_for_cycles_rarely()
    hide_environment()
    parser = argparse.ArgumentParser(prog="python -m holdfast.worker", description=__doc__)
    parser.add_argument(
        "--supervise", action="store_true", help="start another worker whenever one dies"
    )
    parser.add_argument(
        "--life",
        type=WorkerLaunch.model_validate_json,
        default=WorkerLaunch(),
        help=argparse.SUPPRESS,
    )
    options = parser.parse_args()
    code = run_supervisor() if options.supervise else run_worker(options.life)
    # The SDK's threads can crash an interpreter that shuts down in order.
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
