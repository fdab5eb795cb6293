"""Read the table `[retention]` of `holdfast.toml`: how long ended jobs of each owner are kept."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator

from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_age import parse_age
from holdfast.tools.holdfast_toml import read_toml_table

_EXAMPLES = {"after": 'after = "365d"', "owners": 'owners = {maria = "90d", archive = "never"}'}


def _age(given: object) -> object:
    if given == "never":
        return None
    if given is None or isinstance(given, timedelta):
        return given
    if not isinstance(given, str):
        # pydantic would read a number as seconds, and erase everything that is older.
        told = f'an age is a text of days or hours, such as "365d", not {given!r}'
        raise ValueError(told)  # noqa: TRY004 - pydantic reports no TypeError
    try:
        return parse_age(given)
    except BadInput as error:
        raise ValueError(str(error)) from error


Age = Annotated[timedelta | None, BeforeValidator(_age)]
"""The time since a job ended; None (`never`): the job is kept."""


class RetentionSettings(Frozen):
    """After which time ended jobs are erased."""

    after: Age = None
    """For owners that have no time of their own."""
    owners: Mapping[str, Age] = {}


def read_retention(path: Path | None) -> RetentionSettings | None:
    """Return the table, or None if the file has none: then every job is kept.

    Raises:
        BadConfiguration: an entry is wrong; the message names file, table and key, and an example.
    """
    return read_toml_table(path, "retention", RetentionSettings, _EXAMPLES)
