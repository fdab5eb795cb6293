"""Check the options of the corpus commands: paths, metadata pairs and filters."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from holdfast.models.corpus.search_criteria import MetadataFilter
from holdfast.models.errors import BadInput

_FILTER: TypeAdapter[MetadataFilter] = TypeAdapter(MetadataFilter)


def check_path(path: Path) -> None:
    """Refuse a path that does not exist.

    Raises:
        BadInput: there is no such folder or file.
    """
    if not path.expanduser().exists():
        raise BadInput(f"there is no folder or file {str(path)!r}")


def parse_pairs(option: str, pairs: Sequence[str]) -> dict[str, str]:
    """The values of `KEY=VALUE` by key; keys are in lower case, as filters need them.

    Raises:
        BadInput: a pair is not of that form.
    """
    values: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip() or not value.strip():
            raise BadInput(f"{option} takes key=value, not {pair!r}")
        values[key.strip().lower()] = value.strip()
    return values


def parse_filter(pairs: Sequence[str]) -> MetadataFilter:
    """The filter of `--filter`: repeating a key allows either value; `FROM..TO` is a date range.

    Raises:
        BadInput: a pair is not of that form, or a date cannot be read.
    """
    criteria: dict[str, object] = {}
    for pair in pairs:
        for key, value in parse_pairs("--filter", [pair]).items():
            since, dots, until = value.partition("..")
            if dots:
                criteria[key] = {"from": since or None, "to": until or None}
            else:
                before = criteria.get(key, [])
                criteria[key] = [*before, value] if isinstance(before, list) else [value]
    try:
        return _FILTER.validate_python(criteria)
    except ValidationError as error:
        raise BadInput(
            f"--filter {' '.join(pairs)!r} cannot be used; write kind=pdf, or date=2020..2021-06-30"
        ) from error
