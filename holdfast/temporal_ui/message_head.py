"""Parse the head of an HTTP/1.1 message strictly, and write it again."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_MAX_FIELDS = 100


class MalformedHead(Exception):
    """The bytes are no head of an HTTP/1.1 message."""


@dataclass(frozen=True)
class MessageHead:
    """The first line of a message and its header fields, names in lower case."""

    first_line: str
    fields: tuple[tuple[str, str], ...]

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.fields if key == name]

    def without(self, names: Iterable[str]) -> "MessageHead":
        left_out = frozenset(names)
        return replace(self, fields=tuple(f for f in self.fields if f[0] not in left_out))

    def with_fields(self, fields: Iterable[tuple[str, str]]) -> "MessageHead":
        return replace(self, fields=(*self.fields, *fields))

    def to_bytes(self) -> bytes:
        lines = [self.first_line, *(f"{name}: {value}" for name, value in self.fields)]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def parse_head(data: bytes) -> MessageHead:
    """The head in `data`, which ends with an empty line.

    Raises:
        MalformedHead: a line is no header field, or has a control character.
    """
    first, *lines = data.removesuffix(b"\r\n\r\n").split(b"\r\n")
    if len(lines) > _MAX_FIELDS or _CONTROL.search(first):
        raise MalformedHead
    return MessageHead(first.decode("latin-1"), tuple(_field(line) for line in lines))


def _field(line: bytes) -> tuple[str, str]:
    name, colon, value = line.partition(b":")
    if not colon or not _NAME.fullmatch(name) or _CONTROL.search(value):
        raise MalformedHead
    return name.decode("ascii").lower(), value.decode("latin-1").strip(" \t")
