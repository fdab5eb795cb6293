"""Check the names of collections."""

from collections.abc import Sequence

from holdfast.models.errors import BadInput, NotFound

_MAX_NAME_LENGTH = 200


def checked_collection_name(name: str) -> str:
    """The name of a collection.

    Raises:
        BadInput: the name is empty, too long, or not printable.
    """
    if not name.strip() or len(name) > _MAX_NAME_LENGTH or not name.isprintable():
        raise BadInput(
            f"{name[:_MAX_NAME_LENGTH]!r} cannot name a collection: use a short printable name"
        )
    return name


def check_collection(name: str, collections: Sequence[str]) -> None:
    """Refuse a collection that is not among those there are.

    Raises:
        NotFound: there is no such collection; the message lists all collections.
    """
    if name not in collections:
        listed = ", ".join(collections) or "none yet"
        raise NotFound(f"there is no collection {name!r}; collections: {listed}")
