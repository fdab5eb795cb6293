"""Read the names of what an export leaves out."""

from collections.abc import Iterable

from holdfast.models.bundles.bundle_manifest import Redaction
from holdfast.models.errors import BadInput


def redactions(names: Iterable[str]) -> tuple[Redaction, ...]:
    """Return what the names say is left out; a name may be a list with commas.

    Raises:
        BadInput: a name is unknown.
    """
    known = {each.value: each for each in Redaction}
    given = [part.strip() for name in names for part in name.split(",") if part.strip()]
    unknown = [name for name in given if name not in known]
    if unknown:
        raise BadInput(f"nothing is called {unknown[0][:40]!r}; leave out {', '.join(known)}")
    return tuple(dict.fromkeys(known[name] for name in given))
