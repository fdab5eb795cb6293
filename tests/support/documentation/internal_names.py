"""Find the names by which the code calls states, reasons and events in texts for readers."""

import importlib
import pkgutil
import re
from enum import StrEnum
from functools import cache

import holdfast.models

_NAME = re.compile(r"(?<![\w./-])[a-z]+(?:_[a-z]+)+(?![\w./-])")


@cache
def internal_names() -> frozenset[str]:
    """The values of two words or more of every enumeration of the models; events are apart."""
    found = set()
    for module in pkgutil.walk_packages(holdfast.models.__path__, "holdfast.models."):
        for each in vars(importlib.import_module(module.name)).values():
            if isinstance(each, type) and issubclass(each, StrEnum):
                found |= {member.value for member in each if _NAME.fullmatch(member.value)}
    return frozenset(found)


def internal_names_in(text: str) -> set[str]:
    """Those of the internal names that the text has as words."""
    return internal_names() & set(_NAME.findall(text))
