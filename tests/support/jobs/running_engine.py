"""Run the whole engine in the test process: a real worker on a task queue of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import SecretStr
from temporalio.client import Client

from holdfast.activities.runtime.activity_services import Services
from holdfast.client import Holdfast
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.views.job_views import JobView
from holdfast.planning.strategies.strategy_presets import preset, with_settings
from holdfast.settings import Endpoints, Settings
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_records import NewDocument
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.jobs import job_rows
from holdfast.temporal.payload_codec import data_converter
from holdfast.temporal.workflow_start import start_workflow
from holdfast.worker import build_worker, open_services


@dataclass
class RunningEngine:
    """A running worker with a client."""

    temporal: Client
    holdfast: Holdfast
    parts: Services

    @property
    def db(self) -> Database:
        return self.holdfast.db

    async def submit(
        self,
        question: str,
        *,
        preset_name: str = "kpi-chain",
        model: str = "scripted",
        collection: str = "",
        servers: tuple[str, ...] = (),
        start_delay: timedelta | None = None,
        owner: str = "",
        **settings: Any,
    ) -> str:
        strategy = with_settings(preset(preset_name).strategy, settings)
        request = JobRequest(
            question=question,
            preset=preset_name,
            model=model,
            strategy=strategy,
            collection=collection,
            servers=servers,
            owner=owner,
        )
        job_id, _ = await job_rows.submit_job(self.db, f"job-{uuid4().hex[:8]}", request, None)
        queue = self.holdfast.settings.task_queue
        await start_workflow(self.temporal, queue, job_id, request, delay=start_delay)
        return job_id

    async def add_document(self, collection: str, text: str, **metadata: str) -> None:
        """Store one document of one passage in a collection, under the collection's name."""
        name, whole = f"{collection}.md", [("", 0, len(text))]
        document = NewDocument(name, name, text, "x", len(text), whole, metadata=metadata)
        async with CorpusStore(self.db).writing(collection) as writer:
            await writer.put(document)

    async def run(self, question: str, *, within_s: float = 150, **options: Any) -> JobView:
        """Submit a job and wait for its end."""
        job_id = await self.submit(question, **options)
        await self.holdfast.wait(job_id, timedelta(seconds=within_s))
        return await self.holdfast.show(job_id)


_LAB = """[servers.lab]
url = "{url}"

[private_jobs]
allowed_servers = ["lab"]

"""
"""The scripted tools, which private jobs may call as well."""


@asynccontextmanager
async def running_engine(
    temporal: Client,
    database_url: str,
    home: Path,
    *,
    model_url: str | None = None,
    tools_url: str | None = None,
    polls: bool = True,
    toml: str = "",
    key: str = "sk-test-key",
    payload_keys: str | None = None,
    slots: int = 500,
) -> AsyncIterator[RunningEngine]:
    """`toml` is what `holdfast.toml` says besides the tools; `slots` are the worker's."""
    config = home / "holdfast.toml"
    config.write_text((_LAB.format(url=tools_url) if tools_url else "") + toml)
    settings = Settings(
        home=home,
        config_file=config,
        task_queue=f"queue-{uuid4().hex[:8]}",
        max_concurrent_tasks=slots,
        payload_keys=None if payload_keys is None else SecretStr(payload_keys),
        **({"openai_base_url": model_url, "openai_api_key": SecretStr(key)} if model_url else {}),
    )
    endpoints = Endpoints(
        database_url=database_url,
        temporal_address=temporal.service_client.config.target_host,
        temporal_namespace="default",
        temporal_ui=None,
        embedded_database=False,
        embedded_temporal=False,
    )
    if payload_keys is not None:
        temporal = Client(**{**temporal.config(), "data_converter": data_converter(settings)})
    async with open_services(settings, database_url) as parts:
        engine = RunningEngine(temporal, Holdfast(settings, endpoints, parts.db), parts)
        if not polls:
            yield engine
            return
        async with build_worker(temporal, parts, settings):
            yield engine
