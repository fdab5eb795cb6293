"""Checks a value against a JSON schema that somebody else wrote, in bounded time.

A schema can be written so that checking one small value takes hours: by references that double at
each step, or by a regular expression that backtracks. Such a check would hold up the whole worker.
So the keywords that are evaluated are counted, and `pattern` is left to the server that asks so.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

_MOST_STEPS = 100_000
"""About a second; an answer of 10,000 objects with five fields each takes half of them."""
_LONGEST = 200_000
"""Characters of a schema as JSON; each planner reads it whole."""
_UNCHECKED = ("pattern", "patternProperties")

_left: ContextVar[int] = ContextVar("left")

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class Unfollowable(Exception):
    """The schema cannot be followed to its end; the message says why."""


class BoundedSchema:
    """A schema that fetches nothing and costs little, whatever is written in it."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        # An empty registry, so that no schema can make the worker fetch an address.
        self._validator = _bounded(_class_of(schema))(schema, registry=Registry())

    def fault(self, value: Any) -> ValidationError | None:  # noqa: ANN401 - any JSON value
        """The fault of the value that matters most, or none.

        Raises:
            Unfollowable: a reference leads nowhere, or checking takes too long.
        """
        _left.set(_MOST_STEPS)
        try:
            found: ValidationError | None = best_match(self._validator.iter_errors(value))
        except Unresolvable as nowhere:
            raise Unfollowable(str(nowhere)) from nowhere
        except RecursionError:
            raise Unfollowable("it is nested too deeply") from None
        return found


def schema_fault(schema: Mapping[str, Any]) -> str | None:
    """Why this is no JSON schema that can be used, if it is none."""
    if not isinstance(schema.get("$schema", ""), str):
        return "is not valid: its $schema is no text"
    try:
        if len(json.dumps(schema)) > _LONGEST:
            return f"is longer than {_LONGEST:,} characters"
        _class_of(schema).check_schema(dict(schema))
    except SchemaError as error:
        return f"is not valid: {error.message[:200]} at {error.json_path}"
    except RecursionError:
        return "is nested too deeply"
    except (TypeError, ValueError) as odd:  # such as a `$schema` that is no address
        return f"is not valid: {str(odd)[:200]}"
    return None


def _class_of(schema: Mapping[str, Any]) -> type[Validator]:
    return validator_for(schema, default=Draft202012Validator)


@cache
def _bounded(usual: type[Validator]) -> type[Validator]:
    known = {name: _counted(check) for name, check in usual.VALIDATORS.items()}
    made: type[Validator] = extend(  # type: ignore[no-untyped-call]
        usual, known | dict.fromkeys(_UNCHECKED, _unchecked)
    )
    return made


def _counted(check: Keyword) -> Keyword:
    def counted(
        validator: Validator, wanted: object, value: object, schema: object
    ) -> Iterator[ValidationError]:
        left = _left.get()
        if not left:
            raise Unfollowable(f"checking a value takes more than {_MOST_STEPS:,} steps")
        _left.set(left - 1)
        yield from check(validator, wanted, value, schema) or ()

    return counted


def _unchecked(*_: object) -> Iterator[ValidationError]:
    yield from ()
