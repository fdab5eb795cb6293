"""Read the ids that models write: in another case, or in the brackets of a mark."""

from collections.abc import Iterable

_AROUND = " \t\n[](){}<>.,:;#*`\"'"


def bare_id(said: str) -> str:
    """The id without spaces, brackets and stops around it: `[T2].` is T2."""
    return said.strip(_AROUND)


def meant_id(said: str, known: Iterable[str]) -> str:
    """The id of `known` that is meant; as it was said if none is, or more than one."""
    ids = set(known)
    if said in ids:
        return said
    bare = bare_id(said).casefold()
    meant = [each for each in ids if each.casefold() == bare]
    return meant[0] if len(meant) == 1 else said
