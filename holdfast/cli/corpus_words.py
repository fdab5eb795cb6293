"""From the words of the corpus commands to checked values."""

from collections.abc import Sequence

from pydantic import TypeAdapter, ValidationError

from models.corpus import MetadataFilter
from models.errors import BadInput

_MAX_NAME = 200
_FILTER: TypeAdapter[MetadataFilter] = TypeAdapter(MetadataFilter)


def checked_collection(name: str) -> str:
    """A collection's name.

    Raises:
        BadInput: it is empty, too long, or not printable.
    """
    if not name.strip() or len(name) > _MAX_NAME or not name.isprintable():
        raise BadInput(f"{name[:_MAX_NAME]!r} cannot name a collection: use a short printable name")
    return name


def checked_pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    """What `KEY=VALUE` says; keys in lower case, as filters find them.

    Raises:
        BadInput: one is not of that form.
    """
    found: dict[str, str] = {}
    for each in given:
        key, sign, value = each.partition("=")
        if not sign or not key.strip() or not value.strip():
            raise BadInput(f"{option} takes key=value, not {each!r}")
        found[key.strip().lower()] = value.strip()
    return found


def checked_filter(given: Sequence[str]) -> MetadataFilter:
    """What `--filter` says: a key given again takes either value; `FROM..TO` is a range of dates.

    Raises:
        BadInput: one is not of that form, or no date.
    """
    wanted: dict[str, object] = {}
    for each in given:
        for key, value in checked_pairs("--filter", [each]).items():
            since, dots, until = value.partition("..")
            if dots:
                wanted[key] = {"from": since or None, "to": until or None}
            else:
                before = wanted.get(key, [])
                wanted[key] = [*before, value] if isinstance(before, list) else [value]
    try:
        return _FILTER.validate_python(wanted)
    except ValidationError as error:
        raise BadInput(
            f"--filter {' '.join(given)!r} cannot be used; write kind=pdf, or date=2020..2021-06-30"
        ) from error
