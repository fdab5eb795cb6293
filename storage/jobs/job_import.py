"""Store the rows of an exported job under this installation's own numbers."""

import asyncio
import base64
import binascii
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any
from uuid import uuid4

from pydantic import JsonValue
from sqlalchemy import (
    ARRAY,
    Boolean,
    Column,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    Numeric,
    Table,
    insert,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.bundles.bundle_manifest import JobImport
from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.text.storable_text import storable_text
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import Database
from holdfast.storage.core.tables.evidence_tables import sources
from holdfast.storage.core.tables.job_tables import events, jobs
from holdfast.storage.jobs.exported_tables import EXPORTED_TABLES

_BATCH = 500
_PART = 100
NO_CALL = 0
"""In the place of the number of a call that is not here: numbers begin with 1."""
_BUNDLE_CHARS = 32
"""Characters of a bundle's hash that tell it from every other: 128 bits."""
_SOURCE_KEY = ("sha256", "address", "start_char", "via")
"""The columns that tell a source from every other."""
_KEYS: Mapping[str, Mapping[str, str]] = {
    "evidence": {"source_id": "sources"},
    "source_checks": {"evidence_id": "evidence"},
    "figures": {"call_id": "tool_calls"},
    "tool_calls": {"repeated_call_id": "tool_calls"},
    "loop_passages": {"source_id": "sources"},
}
"""The columns with a number that the database gives, by table, and the table of the number."""
_NAMED_NUMBERS = {
    "evidence_id": "evidence",
    "evidence_ids": "evidence",
    "source_id": "sources",
}
"""The fields of stored documents with such a number."""


@dataclass
class JobImporting:
    """One transaction that stores a job; tables are added in the order of `EXPORTED_TABLES`."""

    connection: AsyncConnection
    job_id: str
    owner: str
    origin: JobImport
    sees: Callable[[str], bool] | None = None
    """Which collections the owner sees; None: all."""
    numbers: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def uncommitted(self) -> Database:
        """The database as it will be: queries of others, run inside of this transaction."""
        return _UncommittedDatabase(self.connection)

    async def add(self, table_name: str, rows: Iterable[Mapping[str, JsonValue]]) -> None:
        """Store the rows of a table.

        Raises:
            BadInput: a row does not fit the table; the message names table and row.
        """
        table = EXPORTED_TABLES[table_name]
        batch: list[tuple[int | None, dict[str, Any]]] = []
        async for at, row in _in_parts(rows):
            if row.get("repeated_call_id") is not None:
                # The call that it repeats must have its number.
                await self._store(table, batch)
                batch = []
            try:
                batch.append(self._row(table, row))
            except (KeyError, ValueError, TypeError, AttributeError, InvalidOperation) as error:
                raise BadInput(f"row {at} of {table_name} cannot be read: {error}") from error
            if len(batch) == _BATCH:
                await self._store(table, batch)
                batch = []
        await self._store(table, batch)

    def _row(self, table: Table, row: Mapping[str, JsonValue]) -> tuple[int | None, dict[str, Any]]:
        """Return the number that the row had, and its columns as they are stored here."""
        unknown = set(row) - set(table.c.keys())
        if unknown:
            raise ValueError(f"no column is called {min(unknown)!r}")
        values = {name: _column_value(table.c[name], value) for name, value in row.items()}
        old = values.pop("id") if "id" in _numbered(table) else None
        if "job_id" in values:
            values["job_id"] = self.job_id
        for name, of in self._numbers_of(table, values).items():
            if values[name] is not None:
                values[name] = self._known_number(of, name, values[name])
        for name, column in table.c.items():
            if isinstance(column.type, JSONB) and values.get(name) is not None:
                values[name] = self._renumbered(values[name])
        if table.name in _FIT:
            _FIT[table.name](self, values)
        return old, values

    def _known_number(self, table_name: str, column: str, old: int) -> int:
        if old not in self.numbers[table_name]:
            raise ValueError(f"{column} {old} is no row of {table_name}")
        return self.numbers[table_name][old]

    def _numbers_of(self, table: Table, values: Mapping[str, Any]) -> Mapping[str, str]:
        if table.name == "recovered_calls":
            return {"call_id": f"{values['kind']}_calls"}
        return {n: of for n, of in _KEYS.get(table.name, {}).items() if n in values}

    def _renumbered(self, value: JsonValue) -> JsonValue:
        """Return a stored document with the numbers of evidence and sources that they have here."""
        if isinstance(value, list):
            return [self._renumbered(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {
            name: self._number(_NAMED_NUMBERS[name], each)
            if name in _NAMED_NUMBERS
            else self._renumbered(each)
            for name, each in value.items()
        }

    def _number(self, table_name: str, value: JsonValue) -> JsonValue:
        if isinstance(value, list):
            return [self._number(table_name, each) for each in value]
        known = self.numbers[table_name]
        return known.get(value, value) if isinstance(value, int) else value

    async def _store(self, table: Table, batch: list[tuple[int | None, dict[str, Any]]]) -> None:
        rows = [values for _, values in batch]
        if not rows:
            return
        if any(values.keys() != rows[0].keys() for values in rows):
            raise BadInput(f"the rows of {table.name} have different columns")
        try:
            if table is sources:
                new = await self._sources(rows)
            elif "id" in _numbered(table):
                made = insert(table).returning(table.c.id, sort_by_parameter_order=True)
                new = list((await self.connection.execute(made, rows)).scalars())
            else:
                await self.connection.execute(insert(table), rows)
                return
        except (DataError, IntegrityError) as error:
            reason = str(error.orig).strip().splitlines()[0]
            raise BadInput(f"the rows of {table.name} do not fit together: {reason}") from error
        for (old, _), number in zip(batch, new, strict=True):
            if old is not None:
                self.numbers[table.name][old] = int(number)

    async def _sources(self, rows: list[dict[str, Any]]) -> list[int]:
        """Return the numbers of the sources; some may be here from an earlier import."""
        key = [sources.c[name] for name in _SOURCE_KEY]
        made = upsert(sources).on_conflict_do_nothing().returning(sources.c.id, *key)
        known = {tuple(row[1:]): row.id for row in await self.connection.execute(made, rows)}
        # The insertion has refused a row without one of the columns that have no default.
        wanted = [tuple(_storable(row[name]) for name in _SOURCE_KEY) for row in rows]
        if missing := [each for each in wanted if each not in known]:
            same = select(sources.c.id, *key).where(tuple_(*key).in_(missing))
            known |= {tuple(row[1:]): row.id for row in await self.connection.execute(same)}
        return [known[each] for each in wanted]


def _storable(value: str | int) -> str | int:
    """Return the value as the table has it."""
    return storable_text(value) if isinstance(value, str) else value


class _UncommittedDatabase(Database):
    """A database whose queries see what one transaction has stored."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        yield self._connection


@asynccontextmanager
async def open_job_import(
    db: Database,
    job_id: str,
    owner: str,
    origin: JobImport,
    sees: Callable[[str], bool] | None = None,
) -> AsyncIterator[JobImporting]:
    """Open a transaction that stores a job; an error in it stores nothing.

    `sees` says which collections the owner sees (None: all); the job reads no other.

    Raises:
        BadInput: the rows contain no job, or the job has not ended.
        StorageAway: PostgreSQL does not answer.
    """
    async with db.writing() as connection:
        # No webhook belongs to this owner: what happened elsewhere long ago is sent to nobody.
        importing = JobImporting(connection, job_id, f"import {uuid4().hex}", origin, sees)
        yield importing
        job = select(jobs.c.status, jobs.c.last_event).where(jobs.c.id == job_id)
        found = (await connection.execute(job)).one_or_none()
        if found is None:
            raise BadInput("the bundle has no row of the job itself")
        if not JobStatus(found.status).is_final:
            raise BadInput(f"the job in the bundle is {found.status}; only ended jobs are imported")
        number = found.last_event + 1
        entry = {
            "job_id": job_id,
            "seq": number,
            "kind": EventKind.JOB_IMPORTED,
            "facts": {"bundle": origin.bundle_sha256, "by": owner, "job": origin.job_id},
        }
        try:
            await connection.execute(insert(events), entry)
        except IntegrityError as error:
            raise BadInput("the job's log has entries after its last one") from error
        mine = update(jobs).where(jobs.c.id == job_id).values(owner=owner, last_event=number)
        await connection.execute(mine)


async def load_job_import(db: Database, job_id: str) -> JobImport | None:
    """Return where the job was imported from; None if it was asked here, or is not here."""
    query = select(jobs.c.imported).where(jobs.c.id == job_id)
    async with db.reading() as connection:
        stored = (await connection.execute(query)).scalar_one_or_none()
    return None if stored is None else JobImport.model_validate(stored)


async def _in_parts(
    rows: Iterable[Mapping[str, JsonValue]],
) -> AsyncIterator[tuple[int, Mapping[str, JsonValue]]]:
    """Return the rows and their numbers.

    Reading them takes long and happens in a thread, so that a server answers others meanwhile.
    """
    numbered = enumerate(rows, start=1)
    while part := await asyncio.to_thread(list, islice(numbered, _PART)):
        for each in part:
            yield each


def _numbered(table: Table) -> frozenset[str]:
    """Return `id` if the database gives the rows of the table their number."""
    return frozenset(name for name, column in table.c.items() if column.identity is not None)


def _fit_job(importing: JobImporting, values: dict[str, Any]) -> None:
    values["id"] = importing.job_id
    values["owner"] = importing.owner
    values["request_key"] = None
    # Whoever wrote the bundle may have named jobs, collections and keys of others that are here.
    values["key_id"] = ""
    for name, unlinked in (("fork", {"job": "", "origins": []}), ("follow_up", {"job": ""})):
        if values.get(name) is not None:
            values[name] = {**values[name], **unlinked}
    collection = values.get("collection", "")
    if importing.sees is not None and not importing.sees(collection):
        values["collection"] = ""
    # It ran in another Temporal.
    values["run_id"] = None
    values["imported"] = importing.origin.model_dump(mode="json")


def _fit_call(_importing: JobImporting, values: dict[str, Any]) -> None:
    # The call that paid is of a job elsewhere, as that of a fork whose origin was removed.
    if values.get("origin_call_id") is not None:
        values["origin_call_id"] = NO_CALL


def _fit_source(importing: JobImporting, values: dict[str, Any]) -> None:
    # Titles, dates and unchecked texts of a foreign bundle must appear neither in reports of this
    # installation's jobs nor in those of another bundle.
    bundle = importing.origin.bundle_sha256[:_BUNDLE_CHARS]
    values["via"] = f"imported {bundle} {values.get('via') or ''}".strip()


def _fit_event(importing: JobImporting, values: dict[str, Any]) -> None:
    facts = values["facts"]
    for name, of in (("question", "questions"), ("evidence", "evidence")):
        if isinstance(facts.get(name), int):
            facts[name] = importing.numbers[of].get(facts[name], facts[name])


def _fit_receipt(importing: JobImporting, values: dict[str, Any]) -> None:
    body = values["body"]
    for each in body.get("questions") or ():
        if isinstance(each, dict) and isinstance(each.get("id"), int):
            each["id"] = importing.numbers["questions"].get(each["id"], each["id"])


_FIT: Mapping[str, Callable[[JobImporting, dict[str, Any]], None]] = {
    "jobs": _fit_job,
    "sources": _fit_source,
    "model_calls": _fit_call,
    "tool_calls": _fit_call,
    "events": _fit_event,
    "receipts": _fit_receipt,
}


def _column_value(column: Column[Any], value: JsonValue) -> Any:  # noqa: ANN401 - any column
    """Return the value as the column's type takes it.

    Raises:
        ValueError, TypeError, InvalidOperation: the value is not of the column's type.
    """
    kind = column.type
    if value is None or isinstance(kind, JSONB):
        return value
    if isinstance(kind, ARRAY):
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise TypeError(f"{column.name} is not a list of texts")
        return value
    for types, expected, convert in _CONVERSIONS:
        if isinstance(kind, types):
            if not isinstance(value, expected):
                raise TypeError(f"{column.name} has no value of its type")
            return convert(value)
    if not isinstance(value, str):
        raise TypeError(f"{column.name} is not a text")
    return value


def _bytes(value: Any) -> bytes:  # noqa: ANN401 - a text, as checked before
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as error:
        raise ValueError("the bytes are not base64") from error


_CONVERSIONS: tuple[tuple[Any, Any, Callable[[Any], Any]], ...] = (
    (DateTime, str, datetime.fromisoformat),
    (Boolean, bool, bool),
    (Integer, int, int),
    (Float, (int, float), float),
    (Numeric, str, Decimal),
    (LargeBinary, str, _bytes),
)
