"""Load and write YAML with JSON's scalars only.

`no` and dates stay text; aliases and tags are refused. What is written is read back unchanged.
"""

import re

import yaml
from pydantic import JsonValue

_LINE_CHARS = 100
MAX_DEPTH = 100
"""Levels of nesting; the scanner's time grows with the square of the level."""


def load_strict_yaml(text: str) -> object:
    """The value that the text is in YAML; 100,000 characters take about half a second.

    Raises:
        ValueError: the text is not YAML, has aliases or tags, or is nested too deep.
    """
    try:
        return yaml.load(text, _StrictLoader)  # noqa: S506 - a SafeLoader, narrowed
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
    except RecursionError:
        raise ValueError("the text is nested too deep") from None


def dump_strict_yaml(value: JsonValue) -> str:
    """The value in YAML, which `load_strict_yaml` reads as the same value."""
    dumped: str = yaml.dump(
        value, Dumper=_StrictDumper, sort_keys=False, allow_unicode=True, width=_LINE_CHARS
    )
    return dumped


class _StrictLoader(yaml.SafeLoader):
    """YAML with JSON's scalars only: `no`, `12:30` and dates stay text; no aliases, no tags."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuses aliases, which can grow without bound, and tags, which name other types."""
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None) is not None:
            raise yaml.YAMLError("aliases and tags are not read")
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise yaml.YAMLError("the text is nested too deep")
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_text(self, node: yaml.ScalarNode) -> str:
        """Text; a block scalar without the line break that only ends the block."""
        text = str(self.construct_scalar(node))
        return text.removesuffix("\n") if node.style in ("|", ">") else text


class _StrictDumper(yaml.SafeDumper):
    """Quotes text that other readers of YAML, or ours, take for something else."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's
        return True  # equal values are written out: the loader reads no aliases

    def represent_text(self, text: str) -> yaml.ScalarNode:
        """Text; U+0085 is escaped, since a reader of YAML takes it for the end of a line."""
        style = '"' if "\x85" in text else None
        return self.represent_scalar(_TAG + "str", text, style)


_TAG = "tag:yaml.org,2002:"
_StrictLoader.yaml_implicit_resolvers = {}
for _name, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    # `1e3` stays text: so does a hash such as 12e45678
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", list("-+.0123456789")),
):
    for _reader in (_StrictLoader, _StrictDumper):
        _reader.add_implicit_resolver(_TAG + _name, re.compile(rf"(?:{_pattern})\Z"), _first)
_StrictLoader.add_constructor(_TAG + "str", _StrictLoader.construct_text)
_StrictDumper.add_representer(str, _StrictDumper.represent_text)
