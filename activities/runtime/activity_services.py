"""Services that all activities share: database, models, tools, agents, and the jobs' requests."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple, TypeAlias

from temporalio.client import Client

from holdfast.activities.runtime.shared_results import SharedResults
from holdfast.activities.runtime.text_similarity import TextSimilarity
from holdfast.models.budget.token_prices import PriceList
from holdfast.models.calls.job_setting import JobSetting
from holdfast.models.calls.model_config import ModelConfig
from holdfast.models.errors import BadConfiguration
from holdfast.models.jobs.activity_orders import RunOrder
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.schedules.schedule_orders import RunScheduleOrder, ScheduleReceipt
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.planning.reports.answer_calibration import CalibrationTables, built_in_calibration
from holdfast.planning.strategies.agent_catalogue import AgentCatalogue, built_in_agents
from holdfast.roles.dialogue.role_definition import Model
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.collection_description import collection_in_words
from holdfast.storage.jobs import job_rows
from holdfast.tools.mcp.tool_hub import Hub

_MAX_CACHED_REQUESTS = 500

RunSchedule: TypeAlias = Callable[[Client, RunScheduleOrder], Awaitable[ScheduleReceipt]]
"""Begins one run of a schedule; the front door gives it, because it submits jobs."""


@dataclass(frozen=True)
class ConfiguredModel:
    """A model with a table `[models.NAME]`."""

    model: Model
    config: ModelConfig


@dataclass(frozen=True)
class ModelRegistry:
    """The models that a worker can use: built in, configured by name, or at its endpoint."""

    extractive: Model
    endpoint: Model | None = None
    """Plays every model that has no table in `holdfast.toml`."""
    prices: PriceList = field(default_factory=PriceList)
    configured: Mapping[str, ConfiguredModel] = field(default_factory=dict)

    def limits_of(self, name: str) -> ModelConfig | None:
        """Return the table with the model's limits; None if it has none."""
        configured = self.configured.get(name)
        if configured is None or not configured.config.has_limits:
            return None
        return configured.config

    def transcript_room(self, name: str) -> int | None:
        """Return the tokens that a loop's transcript may have; None if the context is unknown."""
        configured = self.configured.get(name)
        return configured.config.transcript_room if configured else None

    def longest_reply(self, name: str) -> int | None:
        """Return the most tokens of a reply; None if only the endpoint limits them."""
        configured = self.configured.get(name)
        return configured.config.max_output_tokens if configured else None

    def named(self, name: str) -> Model:
        """The model that plays the roles of a job with the model `name`.

        Raises:
            BadConfiguration: this worker has no endpoint for the name, or lacks the model's key.
        """
        if name == EXTRACTIVE_MODEL:
            return self.extractive
        if name in self.configured:
            return self.configured[name].model
        if self.endpoint is None:
            raise BadConfiguration(
                f"model {name!r} needs an endpoint, and this worker has none: write "
                f"[models.{name}] in its holdfast.toml, set OPENAI_API_KEY or OPENAI_BASE_URL for "
                f"the worker, or use the model {EXTRACTIVE_MODEL}"
            )
        return self.endpoint


class SubmittedRequest(NamedTuple):
    """What a job was asked, and on which day."""

    request: JobRequest
    day: date
    """The date that the job's prompts name as today's."""


@dataclass(frozen=True)
class RequestCache:
    """The requests of jobs, each read once: within a workflow run a request never changes."""

    db: Database
    _by_run: SharedResults[tuple[str, int], SubmittedRequest] = field(
        default_factory=lambda: SharedResults(_MAX_CACHED_REQUESTS)
    )

    async def of(self, order: RunOrder) -> JobRequest:
        """The request of the order's job."""
        return (await self._submitted(order)).request

    async def day_of(self, order: RunOrder) -> date:
        """The date that the prompts of the order's job name as today's."""
        return (await self._submitted(order)).day

    async def _submitted(self, order: RunOrder) -> SubmittedRequest:
        run = (order.job_id, order.epoch)
        return await self._by_run.of(run, lambda: self._load(order.job_id))

    async def _load(self, job_id: str) -> SubmittedRequest:
        job = await job_rows.load_job(self.db, job_id)
        return SubmittedRequest(job.request, job.day)


@dataclass(frozen=True)
class Services:
    """The opened services that every activity class takes."""

    db: Database
    models: ModelRegistry
    hub: Hub
    agents: AgentCatalogue = field(default_factory=built_in_agents)
    calibrations: CalibrationTables = field(default_factory=built_in_calibration)
    run_schedule: RunSchedule | None = None
    similarity: TextSimilarity | None = None
    """None without an embedding model."""
    requests: RequestCache = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "requests", RequestCache(self.db))

    async def setting_of(self, order: RunOrder) -> JobSetting:
        """The date and the documents of a job, for the prompts of planners and agents.

        "Today" is the job's day and not the clock's, so that a job that is continued after midnight
        asks its models the same.
        """
        request = await self.requests.of(order)
        return JobSetting(
            today=(await self.requests.day_of(order)).isoformat(),
            collection=await collection_in_words(self.db, request.collection),
        )
