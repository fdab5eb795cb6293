"""Show a reference to another task's value as a person writes it, and read it again.

A plan has `<JSON_PATH>T1.name</JSON_PATH>`; the form of a plan has `{{T1.name}}`.
"""

import re

from holdfast.models.text.reference_marks import reference_to, replace_references

_PATH = re.compile(r"[A-Za-z]\w*(?:\.\w+)+")
_BRACED = re.compile(rf"\{{\{{\s*({_PATH.pattern})\s*\}}\}}")


def with_braces(text: str) -> str:
    """The text with its references in braces; a reference with another path stays as it is."""
    return replace_references(
        text, lambda path: f"{{{{{path}}}}}" if _PATH.fullmatch(path) else reference_to(path)
    )


def with_marks(text: str) -> str:
    """The text with the references that are in braces as a plan has them."""
    return _BRACED.sub(lambda found: reference_to(found[1]), text)
