"""Keep which test caught each breakage."""

import json
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path

from holdfast.models.frozen_model import Frozen
from tests.breakages.breakage_list import Breakage

RECORDS = Path(__file__).with_name("caught.json")


class CaughtRecord(Frozen):
    """When a breakage was tried, and what noticed it."""

    caught_by: str
    """The test that failed, as `path::name`; empty if all tests of the row passed."""
    tried: date


def read_records() -> dict[str, CaughtRecord]:
    """The record of each breakage that was tried, by its name."""
    kept = json.loads(RECORDS.read_text()) if RECORDS.exists() else {}
    return {name: CaughtRecord.model_validate(each) for name, each in kept.items()}


def write_records(records: Mapping[str, CaughtRecord], breakages: Iterable[Breakage]) -> None:
    """Write the records in the order of the list, without those of breakages that are gone."""
    kept = [each.name for each in breakages if each.name in records]
    lines = [f"  {json.dumps(name)}: {records[name].model_dump_json()}" for name in kept]
    RECORDS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
