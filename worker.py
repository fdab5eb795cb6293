"""The worker: opens what activities need, registers everything, polls until it is told to stop.

`python -m worker` is one worker; with `--supervise` it is one that is started again when it dies.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.metadata import version

import structlog
from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from activities.begin import Begin
from activities.control import Controlling
from activities.ending import Ending
from activities.gaps import GapFilling
from activities.interceptors import Heartbeat, TypedErrors
from activities.nodes import NodeWork
from activities.parts import Models, Requests
from activities.plan import Planning
from activities.questions import Answering
from activities.recovery import Recoveries
from activities.report import Reporting
from activities.revising import Revising
from activities.tasks import TaskWork
from activities.verifying import Verifying
from holdfast.agents import read_agents
from holdfast.builtin import builtin_servers
from holdfast.logs import configure_logs, hide
from holdfast.prices import read_prices
from holdfast.services.lifecycle import attach
from holdfast.services.lives import Life
from holdfast.services.signals import end_with_parent
from holdfast.services.supervision import REFUSED, Supervisor, ready_file
from holdfast.services.takeover import take_over
from holdfast.settings import Settings, load_settings
from holdfast.temporal import connect, register_search_attributes
from models.errors import HoldfastError, Passing, ServiceDown
from planning.agents import Agents, packaged
from roles.endpoint import EndpointModel
from roles.extractive.model import ExtractiveModel
from storage.corpus import Corpus
from storage.database import Database
from tools.config import read_servers
from tools.hub import Hub
from tools.secrets import secrets_of
from workflows.job import ResearchJob

log = structlog.get_logger(__name__)

BUILD_ID = f"holdfast-{version('holdfast')}"

SANDBOX = SandboxedWorkflowRunner(
    restrictions=SandboxRestrictions.default.with_passthrough_modules(
        "activities", "models", "planning", "workflows"
    )
)


@dataclass(frozen=True)
class Parts:
    """What a worker has opened."""

    db: Database
    hub: Hub
    models: Models
    agents: Agents = field(default_factory=packaged)


@asynccontextmanager
async def opened(settings: Settings, database_url: str) -> AsyncIterator[Parts]:
    """Open the database, the models and the tools; close them in reverse."""
    if not logging.getLogger().handlers:
        # An MCP server in this process would install a handler that renders tracebacks for seconds.
        configure_logs(settings.log_level)
    async with AsyncExitStack() as stack:
        db = Database(database_url, pool_size=settings.pool_size)
        stack.push_async_callback(db.close)
        endpoint = _endpoint(settings)
        if endpoint is not None:
            stack.push_async_callback(endpoint.aclose)
        builtin = await stack.enter_async_context(builtin_servers(settings, Corpus(db)))
        servers = read_servers(settings.config_file) if settings.config_file else {}
        hide(secret for server in servers.values() for secret in secrets_of(server))
        prices = read_prices(settings.config_file)
        agents = read_agents(settings.config_file, has_endpoint=settings.has_model_endpoint)
        hub = Hub(servers, builtin)
        await stack.enter_async_context(hub)
        yield Parts(db, hub, Models(ExtractiveModel(), endpoint, prices), agents)


def _endpoint(settings: Settings) -> EndpointModel | None:
    if not settings.has_model_endpoint:
        return None
    return EndpointModel(base_url=settings.openai_base_url, api_key=settings.openai_api_key)


def build_worker(client: Client, parts: Parts, settings: Settings) -> Worker:
    """A worker over opened parts; it polls once it is entered."""
    requests = Requests(parts.db)
    begin, controlling, ending = Begin(parts.db), Controlling(parts.db), Ending(parts.db)
    planning = Planning(parts.db, parts.models, requests, parts.hub, parts.agents)
    tasks = TaskWork(parts.db, parts.models, requests, parts.hub, parts.agents)
    nodes = NodeWork(parts.db, parts.models, requests, parts.hub, parts.agents)
    revising = Revising(parts.db, parts.models, requests, parts.hub, parts.agents)
    verifying = Verifying(parts.db, parts.models, requests)
    filling = GapFilling(parts.db, parts.models, requests, parts.hub, parts.agents)
    answering = Answering(parts.db, requests, parts.hub, parts.agents)
    reporting = Reporting(parts.db, parts.models, requests)
    return Worker(
        client,
        task_queue=settings.task_queue,
        workflows=[ResearchJob],
        activities=[
            begin.begin_job,
            begin.read_tasks,
            controlling.record_control,
            controlling.retry_tasks,
            answering.record_answer,
            planning.make_plan,
            planning.replan,
            tasks.tool_task,
            tasks.reasoning_task,
            tasks.fail_task,
            nodes.advance_node,
            revising.revise_plan,
            verifying.verify_results,
            filling.fill_gaps,
            reporting.write_report,
            ending.end_job,
        ],
        interceptors=[Heartbeat(), TypedErrors(), Recoveries(parts.db)],
        workflow_runner=SANDBOX,
        # Without it the SDK reads and hashes 2 000 modules: 0.2 s and 20 MB at every start.
        build_id=BUILD_ID,
        max_concurrent_activities=settings.max_concurrent_tasks,
        # The default of 10 s is what a job waits for after its worker was killed.
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
        max_heartbeat_throttle_interval=timedelta(seconds=1),
        graceful_shutdown_timeout=timedelta(seconds=20),
    )


async def serve(settings: Settings, life: Life) -> None:
    """Work until SIGTERM or SIGINT; then finish what runs, for 20 s at the most."""
    stop = asyncio.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sign, stop.set)
    endpoints = await attach(settings)
    client = await connect(settings, endpoints, identity=life.identity)
    await register_search_attributes(client)
    async with opened(settings, endpoints.database_url) as parts:
        taking_over = asyncio.create_task(
            take_over(client, parts.db, settings.task_queue, life.deaths)
        )
        async with build_worker(client, parts, settings):
            log.info("worker.started", task_queue=settings.task_queue, worker=life.identity)
            _tell_ready()
            await stop.wait()
            taking_over.cancel()
        log.info("worker.stopped")


def _tell_ready() -> None:
    """`holdfast up` waits for this file."""
    if ready := ready_file():
        ready.touch()


def work(life: Life) -> int:
    """One worker's life; gives its exit code."""
    if life.supervisor is not None:
        end_with_parent(life.supervisor)
    try:
        settings = load_settings()
        configure_logs(settings.log_level)
        asyncio.run(serve(settings, life))
    except (Passing, ServiceDown) as error:
        log.error("worker.found_no_service", error=str(error))  # noqa: TRY400 - nothing of ours broke
        return os.EX_TEMPFAIL
    except HoldfastError as error:
        log.error("worker.refused", error=str(error))  # noqa: TRY400 - a user's mistake, no trace
        return REFUSED
    return 0


def supervise() -> int:
    """Keep a worker running; gives the exit code."""
    try:
        configure_logs(load_settings().log_level)
    except HoldfastError as error:
        log.error("worker.refused", error=str(error))  # noqa: TRY400 - a user's mistake, no trace
        return REFUSED
    return Supervisor(work, [sys.executable, "-P", "-m", "worker", "--life"]).run()


def main() -> None:
    """`python -m worker`."""
    parser = argparse.ArgumentParser(prog="python -m worker", description=__doc__)
    parser.add_argument(
        "--supervise", action="store_true", help="start another worker whenever one dies"
    )
    parser.add_argument(
        "--life", type=Life.model_validate_json, default=Life(), help=argparse.SUPPRESS
    )
    given = parser.parse_args()
    code = supervise() if given.supervise else work(given.life)
    # The SDK's threads can crash an interpreter that shuts down in order.
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
