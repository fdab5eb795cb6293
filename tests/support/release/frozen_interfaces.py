"""Record the names that a release freezes, in tests/frozen/: `make frozen` (docs/stability.md)."""

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer
from pydantic import BaseModel
from temporalio import workflow

from holdfast import Client
from holdfast.activities import interfaces
from holdfast.api.application import build_application
from holdfast.cli.app import app
from holdfast.models.bundles import bundle_manifest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.wire import stored_keys
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.tables.all_tables import metadata
from holdfast.workflows.research_job import ResearchJob
from holdfast.workflows.scheduled_run import ScheduledRunWorkflow

FOLDER = Path(__file__).parents[2] / "frozen"
ROOT = FOLDER.parents[1]
_DEPRECATED = re.compile(
    r"^\| `([\w-]+)` \| `(.+)` \| (\d+\.\d+)\.0 \| (\d+\.\d+)\.0 \|", re.MULTILINE
)
_CLASSES_OF_BUNDLES = ("BundleManifest", "BundleFile", "BundleSignature")
_SAMPLES: dict[str, Any] = {"int": 3, "str": "T3", "int | None": 3}


def tables() -> Iterator[str]:
    """Each column with its type, and whether it may be null."""
    for table in metadata.sorted_tables:
        for column in table.columns:
            null = "" if column.nullable else " not null"
            yield f"{table.name}.{column.name} {type(column.type).__name__.lower()}{null}"


def event_kinds() -> Iterator[str]:
    """Each kind of event in a job's log."""
    yield from (kind.value for kind in EventKind)


def receipt_keys() -> Iterator[str]:
    """Each key that PostgreSQL or Temporal keeps, as it is built from sample values."""
    yield f"RECEIPT_KEY_FORMAT = {stored_keys.RECEIPT_KEY_FORMAT}"
    for name, value in sorted(vars(stored_keys).items()):
        if name.startswith("_"):
            continue
        if isinstance(value, str) and name.isupper():
            yield f"{name} = {value}"
        elif inspect.isfunction(value) and value.__module__ == stored_keys.__name__:
            yield from _sample_key(value)


def _sample_key(build: Callable[..., Any]) -> Iterator[str]:
    hints = get_type_hints(build)
    types = [_type_name(hints[each]) for each in inspect.signature(build).parameters]
    if hints["return"] is str and set(types) <= _SAMPLES.keys():
        yield f"{build.__name__}({', '.join(types)}) = {build(*(_SAMPLES[each] for each in types))}"


def workflow_names() -> Iterator[str]:
    """The workflows, their handlers, the activities, and every field that histories keep."""
    kept: set[type[BaseModel]] = set()
    for each in (ResearchJob, ScheduledRunWorkflow):
        definition = workflow._Definition.must_from_class(each)
        yield f"workflow {definition.name}"
        kept |= set(_models_of(get_type_hints(each.run)))
        for kind in ("signals", "queries", "updates"):
            for name, handler in getattr(definition, kind).items():
                if name:
                    yield f"{kind[:-1]} {name}"
                    kept |= set(_models_of(get_type_hints(handler.fn)))
    for name, stub in vars(interfaces).items():
        if hasattr(stub, "__temporal_activity_definition"):
            yield f"activity {name}"
            kept |= set(_models_of(get_type_hints(stub)))
    for model in _with_nested(kept):
        yield from (f"{model.__name__}.{each}" for each in model.model_fields)


def _models_of(hints: Mapping[str, Any]) -> Iterator[type[BaseModel]]:
    """The models in type hints, also those in unions and containers."""
    for hint in hints.values():
        if isinstance(hint, type) and issubclass(hint, BaseModel):
            yield hint
        yield from _models_of({str(at): each for at, each in enumerate(get_args(hint))})


def _with_nested(models: set[type[BaseModel]]) -> set[type[BaseModel]]:
    """The models, and those that their fields have."""
    known: set[type[BaseModel]] = set()
    left = [*models]
    while left:
        if (model := left.pop()) not in known:
            known.add(model)
            left += _models_of({n: f.annotation for n, f in model.model_fields.items()})
    return known


def bundle_format() -> Iterator[str]:
    """The version of the format, and the fields of the manifest and of the signature."""
    yield bundle_manifest.BundleManifest.model_fields["format"].default
    for name in _CLASSES_OF_BUNDLES:
        yield from (f"{name}.{each}" for each in getattr(bundle_manifest, name).model_fields)


def http_api() -> Iterator[str]:
    """Each route with its parameters, and the fields of each body and answer, with their types."""
    document = build_application(None, None).openapi()  # type: ignore[arg-type]  # serves nothing
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            yield f"{method.upper()} {path}"
            for each in route.get("parameters", ()):
                parameter = f"{method.upper()} {path} {each['in']} {each['name']}"
                yield from (f"{parameter}: {kind}" for kind in _json_types(each["schema"]))
    for name, schema in document["components"]["schemas"].items():
        for field, each in schema.get("properties", {}).items():
            yield from (f"{name}.{field}: {kind}" for kind in _json_types(each))
        yield from (f"{name}: {json.dumps(value)}" for value in schema.get("enum", ()))


def _json_types(schema: Mapping[str, Any]) -> Iterator[str]:
    """Each type that a value may have: a type that is added adds a line, and changes none."""
    if choices := schema.get("anyOf", schema.get("oneOf", schema.get("allOf"))):
        for each in choices:
            yield from _json_types(each)
    elif "$ref" in schema:
        yield schema["$ref"].rpartition("/")[2]
    elif values := schema.get("enum", [schema["const"]] if "const" in schema else None):
        yield from map(json.dumps, values)
    elif items := schema.get("items"):
        yield from (f"array of {each}" for each in _json_types(items))
    elif isinstance(values := schema.get("additionalProperties"), dict):
        yield from (f"object of {each}" for each in _json_types(values))
    else:
        yield schema.get("type", "any")


def command_line() -> Iterator[str]:
    """Each command with its arguments and options."""
    yield from _commands(typer.main.get_command(app), "holdfast")


def _commands(command: Any, name: str) -> Iterator[str]:
    yield name
    for each in command.params:
        words = [*each.opts, *each.secondary_opts] if each.opts[0].startswith("-") else []
        yield from (f"{name} {word}" for word in words or [each.name.upper()])
    for sub, body in getattr(command, "commands", {}).items():
        yield from _commands(body, f"{name} {sub}")


def python_client() -> Iterator[str]:
    """Each public method of the client with its parameters."""
    for name, method in inspect.getmembers(Client, callable):
        if not name.startswith("_"):
            yield f"Client.{name}"
            parameters = [each for each in inspect.signature(method).parameters if each != "self"]
            yield from (f"Client.{name} {each}" for each in parameters)


def job_settings() -> Iterator[str]:
    """Each setting that `--set` knows."""
    yield from Strategy.model_fields


KINDS: dict[str, Callable[[], Iterator[str]]] = {
    "tables": tables,
    "event-kinds": event_kinds,
    "receipt-keys": receipt_keys,
    "workflow-names": workflow_names,
    "bundle-format": bundle_format,
    "http-api": http_api,
    "command-line": command_line,
    "python-client": python_client,
    "job-settings": job_settings,
}


def recorded(kind: str) -> set[str]:
    """Return what the last recording froze."""
    return set((FOLDER / f"{kind}.txt").read_text("utf-8").splitlines())


def removals(page: str, version: str) -> set[tuple[str, str]]:
    """Return kind and line of what the page's table of deprecations lets this version leave out.

    Something may go in the minor release after the one that deprecated it, and not before.
    """
    now = _minor(version)
    return {
        (kind, line)
        for kind, line, since, gone in _DEPRECATED.findall(page)
        if _minor(since) < _minor(gone) <= now
    }


def _minor(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def _type_name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)


def record() -> None:
    """Write every kind to its file, one name a line."""
    FOLDER.mkdir(exist_ok=True)
    for kind, names in KINDS.items():
        text = "".join(f"{line}\n" for line in sorted(set(names())))
        (FOLDER / f"{kind}.txt").write_text(text, "utf-8")


if __name__ == "__main__":
    record()
