"""A supervised worker whose references can block its event loop, for the tests of stalls.

The blocked loop is a regular expression that holds the interpreter's lock: no thread runs with
it, as in the reply that first took workers down.
"""

import re
import sys
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from holdfast.activities.tasks import task_activities
from holdfast.planning.plans.entity_references import resolve_references
from holdfast.worker import main

POISON = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"


def _blocks_on_poison(value: JsonValue, memory: Mapping[str, Any]) -> JsonValue:
    if value == POISON:
        re.fullmatch("(a+)+", POISON)
    return resolve_references(value, memory)


if __name__ == "__main__":
    task_activities.resolve_references = _blocks_on_poison  # type: ignore[attr-defined]
    sys.argv[1:] = ["--supervise"]
    main()
