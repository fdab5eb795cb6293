"""Describe a bundle for other programs as a Workflow Run RO-Crate (Provenance Run Crate 0.5)."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from holdfast.models.bundles.bundle_manifest import CRATE, PAGE, BundleFile
from holdfast.models.evidence.evidence import Report
from holdfast.models.jobs.job_record import Job, JobStatus
from holdfast.models.tasks.stored_task import StoredTask

PLAN = "plan.yaml"
_PROFILES = (
    "https://w3id.org/ro/wfrun/process/0.5",
    "https://w3id.org/ro/wfrun/workflow/0.5",
    "https://w3id.org/ro/wfrun/provenance/0.5",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
)
_PROFILE_NAMES = (
    "Process Run Crate",
    "Workflow Run Crate",
    "Provenance Run Crate",
    "Workflow RO-Crate",
)
_CONTEXT = (
    "https://w3id.org/ro/crate/1.1/context",
    "https://w3id.org/ro/terms/workflow-run/context",
)
_LICENSE = "https://spdx.org/licenses/CC-BY-4.0"
_MEDIA_TYPES = {
    "html": "text/html",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "md": "text/markdown",
    "png": "image/png",
    "svg": "image/svg+xml",
    "txt": "text/plain",
    "yaml": "application/yaml",
}
_DESCRIPTIONS = {
    PAGE: "The report with its passages, the plan, the time and the calls; opens without a network",
    "report.json": "The report with its citations",
    "report.md": "The report as Markdown",
    "memory.json": "The entities that the job has found",
    "configuration.json": "The preset, the model and every setting of the job",
}
_COMPLETED = "http://schema.org/CompletedActionStatus"
_FAILED = "http://schema.org/FailedActionStatus"

Entity = dict[str, Any]


class CrateFacts(NamedTuple):
    """The job that the crate describes."""

    job: Job
    report: Report | None
    tasks: Sequence[StoredTask]
    release: str
    exported_at: datetime


def ro_crate(facts: CrateFacts, files: Iterable[BundleFile]) -> Entity:
    """Return the content of `ro-crate-metadata.json` for the files of a bundle."""
    listed = [*files]
    graph = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": [_id("https://w3id.org/ro/crate/1.1"), _id(_PROFILES[3])],
        },
        _root(facts, listed),
        *_profiles(),
        *(_file(each) for each in listed if each.path not in (PLAN, CRATE)),
        *_workflow(facts),
        *_run(facts),
    ]
    return {"@context": list(_CONTEXT), "@graph": graph}


def _root(facts: CrateFacts, files: Iterable[BundleFile]) -> Entity:
    job = facts.job
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Research job {job.id}",
        "description": job.request.question,
        "datePublished": facts.exported_at.isoformat(),
        "license": _id(_LICENSE),
        "conformsTo": [_id(profile) for profile in _PROFILES],
        "hasPart": [_id(each.path) for each in files if each.path != CRATE],
        "mainEntity": _id(PLAN),
        "mentions": [_id("#run")],
    }


def _profiles() -> Iterable[Entity]:
    for address, name in zip(_PROFILES, _PROFILE_NAMES, strict=True):
        version = address.rpartition("/")[2]
        yield {"@id": address, "@type": "CreativeWork", "name": name, "version": version}
    yield {
        "@id": _LICENSE,
        "@type": "CreativeWork",
        "name": "CC BY 4.0, for the report and the record",
        "description": "Quoted texts keep the rights of their authors.",
    }


def _file(file: BundleFile) -> Entity:
    name = file.path
    return {
        "@id": name,
        "@type": "File",
        "name": _DESCRIPTIONS.get(name, name),
        "encodingFormat": _MEDIA_TYPES.get(name.rpartition(".")[2], "application/octet-stream"),
        "contentSize": str(file.size_bytes),
        "sha256": file.sha256,
    }


def _workflow(facts: CrateFacts) -> Iterable[Entity]:
    """Return the plan as a workflow whose steps are the tasks."""
    instruments = sorted({_instrument(each) for each in facts.tasks})
    yield {
        "@id": PLAN,
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
        "name": f"The plan of job {facts.job.id}",
        "encodingFormat": "application/yaml",
        "programmingLanguage": _id("#holdfast-plan"),
        "hasPart": [_id(f"#tool/{name}") for name in instruments],
        "step": [_id(f"#step/{each.task.id}") for each in facts.tasks],
        "input": [_id("#parameter/question")],
        "output": [_id("#parameter/report")],
    }
    yield {
        "@id": "#holdfast-plan",
        "@type": "ComputerLanguage",
        "name": "Holdfast plan",
        "alternateName": "Holdfast",
        "identifier": "https://github.com/holdfast/holdfast",
        "url": "https://github.com/holdfast/holdfast",
    }
    for name, kind in (("question", "Text"), ("report", "File")):
        yield {
            "@id": f"#parameter/{name}",
            "@type": "FormalParameter",
            "additionalType": kind,
            "name": name,
        }
    for name in instruments:
        yield {"@id": f"#tool/{name}", "@type": "SoftwareApplication", "name": name}
    for at, each in enumerate(facts.tasks, start=1):
        yield {
            "@id": f"#step/{each.task.id}",
            "@type": "HowToStep",
            "name": each.task.description[:300],
            "position": str(at),
            "workExample": _id(f"#tool/{_instrument(each)}"),
        }


def _run(facts: CrateFacts) -> Iterable[Entity]:
    """Return what ran: the job, and the run of each task."""
    job = facts.job
    begun = [each for each in facts.tasks if each.started_at is not None]
    yield {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"Job {job.id}",
        "instrument": _id(PLAN),
        "agent": _id("#person"),
        "object": [_id("#question")],
        "result": [_id("report.json")] if facts.report is not None else [_id("data/events.jsonl")],
        **_times(job.started_at or job.created_at, job.finished_at),
        "actionStatus": _id(_COMPLETED if job.status is JobStatus.DONE else _FAILED),
        **({"error": job.message or job.status.value} if job.status is not JobStatus.DONE else {}),
    }
    yield {
        "@id": "#question",
        "@type": "PropertyValue",
        "name": "question",
        "value": job.request.question,
        "exampleOfWork": _id("#parameter/question"),
    }
    yield {"@id": "#person", "@type": "Person", "name": "The person who asked"}
    yield {
        "@id": "#engine",
        "@type": "SoftwareApplication",
        "name": "Holdfast",
        "softwareVersion": facts.release,
        "url": "https://github.com/holdfast/holdfast",
    }
    yield {
        "@id": "#engine-run",
        "@type": "OrganizeAction",
        "name": f"Holdfast runs job {job.id}",
        "instrument": _id("#engine"),
        "agent": _id("#person"),
        "object": [_id(f"#control/{each.task.id}") for each in begun],
        "result": _id("#run"),
    }
    for each in begun:
        yield from _task_run(each)


def _task_run(stored: StoredTask) -> Iterable[Entity]:
    task = stored.task
    has_failed = stored.failure is not None
    yield {
        "@id": f"#control/{task.id}",
        "@type": "ControlAction",
        "name": f"Holdfast runs task {task.id}",
        "instrument": _id(f"#step/{task.id}"),
        "object": _id(f"#task/{task.id}"),
    }
    yield {
        "@id": f"#task/{task.id}",
        "@type": "CreateAction",
        "name": f"Task {task.id}, attempt {stored.attempt}",
        "instrument": _id(f"#tool/{_instrument(stored)}"),
        "result": [_id("memory.json")],
        **_times(stored.started_at, stored.finished_at),
        "actionStatus": _id(_FAILED if has_failed else _COMPLETED),
        **({"error": stored.failure.first_line} if stored.failure is not None else {}),
    }


def _times(start: datetime | None, end: datetime | None) -> Entity:
    times = {"startTime": start, "endTime": end}
    return {
        name: at.isoformat(timespec="milliseconds") for name, at in times.items() if at is not None
    }


def _instrument(stored: StoredTask) -> str:
    return stored.task.tool or stored.task.agent or "reasoning"


def _id(identifier: str) -> Entity:
    return {"@id": identifier}
