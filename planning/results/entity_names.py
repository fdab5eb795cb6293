"""Match the names of entities in an answer with those that were asked for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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


@dataclass
class EntityNameCheck:
    """Checks the names in the answers of one dialogue against the promised entities."""

    expects: Sequence[ExpectedEntity]
    field: str
    """Where the task that the model was given lists the entities, for messages."""
    _has_asked: bool = False

    def faults(self, written: Iterable[str]) -> list[str]:
        """Return `unknown_names`, and the first time also the required entities left out.

        A model that leaves an entity out a second time has not found it.
        """
        names = list(written)
        faults = self.unknown_names(names)
        if faults or self._has_asked:
            return faults
        self._has_asked = True
        missing = set(self._missing(names))
        left_out = [each.name for each in self.expects if each.required and each.name in missing]
        return [
            f"{name!r} in `{self.field}` is left out: give it, or the value null if it is not there"
            for name in left_out
        ]

    def unknown_names(self, written: Iterable[str]) -> list[str]:
        """Return faults of names that nobody asked for, if one may stand for a missing entity.

        A further name does no harm if all entities are named.
        """
        names = list(written)
        missing = ", ".join(map(repr, self._missing(names)))
        promised = {entity.name for entity in self.expects}
        unknown = dict.fromkeys(
            name for name in names if promised_name(name, self.expects) not in promised
        )
        return [
            f"no entity {name[:_LONGEST_SHOWN]!r} is asked for, and {missing} is missing: use the "
            f"names in `{self.field}`, each with the value null if it is not there"
            for name in unknown
            if missing
        ]

    def _missing(self, names: Sequence[str]) -> list[str]:
        named = {promised_name(name, self.expects) for name in names}
        return [entity.name for entity in self.expects if entity.name not in named]


def _letters(name: str) -> str:
    return "".join(sign for sign in fold_text(name).text if sign.isalnum())
