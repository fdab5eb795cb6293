"""Name the field of a form or a body in the errors that its value causes."""

from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.models.errors import BadInput


@contextmanager
def error_field(name: str) -> Iterator[None]:
    """Put the name of the field in front of the field of each `BadInput` of the block."""
    try:
        yield
    except BadInput as error:
        error.field = f"{name}.{error.field}" if error.field else name
        raise
