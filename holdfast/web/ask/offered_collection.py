"""Choose the collection that the form of a question offers before its user chooses one."""

from collections.abc import Iterable

from holdfast.api.access.callers import Caller
from holdfast.api.owned_collections import SHARED_PREFIX


def offered_collection(caller: Caller, shown: Iterable[str]) -> str:
    """The caller's only own collection among the names that it is shown; else empty.

    A question is asked over documents of others only if its user chooses them.
    """
    own = [name for name in shown if not _is_foreign(caller, name)]
    return own[0] if len(own) == 1 else ""


def _is_foreign(caller: Caller, name: str) -> bool:
    # Who sees all collections sees those of others under the owner's name.
    return "/" in name if caller.sees_all else name.startswith(SHARED_PREFIX)
