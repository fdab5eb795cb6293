"""Validate a value against an untrusted JSON schema in bounded time.

A hostile schema can make the check of one small value take hours: with references that double at
each step, or with a regular expression that backtracks. Such a check would block the whole worker.
Therefore the evaluated keywords are counted, and `pattern` is not checked here: the server does.
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

_MAX_STEPS = 100_000
"""About one second of work; an answer of 10,000 objects with five fields each needs half."""
_MAX_SCHEMA_CHARS = 200_000
"""Characters of a schema as JSON; every planner prompt contains the whole schema."""
_UNCHECKED = ("pattern", "patternProperties")

_left: ContextVar[int] = ContextVar("left")

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class UncheckableSchema(Exception):
    """The schema cannot be evaluated completely; the message gives the reason."""


class BoundedSchema:
    """A JSON schema whose check fetches nothing and has bounded cost."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        # An empty registry, so that no schema can make the worker fetch an address.
        self._validator = _bounded(_class_of(schema))(schema, registry=Registry())

    def fault(self, value: Any) -> ValidationError | None:  # noqa: ANN401 - any JSON value
        """Return the most relevant fault of the value; None if it is valid.

        Raises:
            UncheckableSchema: a reference has no target, or the check takes too many steps.
        """
        _left.set(_MAX_STEPS)
        try:
            fault: ValidationError | None = best_match(self._validator.iter_errors(value))
        except Unresolvable as nowhere:
            raise UncheckableSchema(str(nowhere)) from nowhere
        except RecursionError:
            raise UncheckableSchema("it is nested too deeply") from None
        return fault


def schema_fault(schema: Mapping[str, Any]) -> str | None:
    """Return why this is not a usable JSON schema; None if it is usable."""
    if not isinstance(schema.get("$schema", ""), str):
        return "is not valid: its $schema is no text"
    try:
        if len(json.dumps(schema)) > _MAX_SCHEMA_CHARS:
            return f"is longer than {_MAX_SCHEMA_CHARS:,} characters"
        _class_of(schema).check_schema(dict(schema))
    except SchemaError as error:
        return f"is not valid: {error.message[:200]} at {error.json_path}"
    except RecursionError:
        return "is nested too deeply"
    except (TypeError, ValueError) as odd:  # for example a `$schema` that is not an address
        return f"is not valid: {str(odd)[:200]}"
    return None


def _class_of(schema: Mapping[str, Any]) -> type[Validator]:
    return validator_for(schema, default=Draft202012Validator)


@cache
def _bounded(usual: type[Validator]) -> type[Validator]:
    counted_checks = {name: _counted(check) for name, check in usual.VALIDATORS.items()}
    made: type[Validator] = extend(  # type: ignore[no-untyped-call]
        usual, counted_checks | dict.fromkeys(_UNCHECKED, _unchecked)
    )
    return made


def _counted(check: Keyword) -> Keyword:
    def counted(
        validator: Validator, wanted: object, value: object, schema: object
    ) -> Iterator[ValidationError]:
        left = _left.get()
        if not left:
            raise UncheckableSchema(f"checking a value takes more than {_MAX_STEPS:,} steps")
        _left.set(left - 1)
        yield from check(validator, wanted, value, schema) or ()

    return counted


def _unchecked(*_: object) -> Iterator[ValidationError]:
    yield from ()
