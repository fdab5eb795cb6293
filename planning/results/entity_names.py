"""Match the names of entities in an answer with those that were asked for."""

from collections.abc import Iterable, Sequence

from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.planning.text.folded_text import fold_text

_LONGEST_SHOWN = 60


def promised_name(written: str, expects: Sequence[ExpectedEntity]) -> str:
    """The promised name that differs from the written one in case and separators at most.

    The written name itself if there is none, or if two are equally near.
    """
    names = [entity.name for entity in expects]
    if written in names:
        return written
    same = [name for name in names if _letters(name) == _letters(written)]
    return same[0] if len(same) == 1 else written


def entity_name_faults(written: Iterable[str], expects: Sequence[ExpectedEntity]) -> list[str]:
    """The names that nobody asked for, if an entity is missing that one of them may stand for.

    An entity that is left out was not found; a further one with all others does no harm.
    """
    named = [promised_name(name, expects) for name in written]
    missing = [entity.name for entity in expects if entity.name not in named]
    promised = {entity.name for entity in expects}
    unknown = dict.fromkeys(name for name in named if name not in promised)
    if not missing:
        return []
    names = ", ".join(map(repr, missing))
    return [
        f"no entity {name[:_LONGEST_SHOWN]!r} is asked for, and {names} is missing: use the names "
        "in `entities`, each with the value null if it is not there"
        for name in unknown
    ]


def _letters(name: str) -> str:
    return "".join(sign for sign in fold_text(name).text if sign.isalnum())
