"""Convert a tree of HTML elements to Markdown blocks: headings, paragraphs, lists and tables."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_LEVELS = {f"h{level}": level for level in range(1, 7)}
_PARAGRAPHS = frozenset({"p", "blockquote", "pre", "dt", "dd", "figcaption", "caption"})
_LISTS = frozenset({"ul", "ol"})
_BLOCKS = frozenset({"div", "section", "table", "dl", "figure", *_LEVELS, *_PARAGRAPHS, *_LISTS})
_CONTROL_SIGN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def replace_control_signs(tree: "HtmlElement") -> None:
    """Put a space for each sign that lxml gives, as for `&#1;`, and refuses to take again."""
    for element in tree.iter():
        if element.text and _CONTROL_SIGN.search(element.text):
            element.text = _CONTROL_SIGN.sub(" ", element.text)
        if element.tail and _CONTROL_SIGN.search(element.tail):
            element.tail = _CONTROL_SIGN.sub(" ", element.tail)


def markdown_blocks(element: "HtmlElement", *, fences_code: bool = False) -> str:
    """Return the blocks inside the element, separated by blank lines; empty if there are none.

    With `fences_code` the lines of a `pre` stay as they are, as fenced code.
    """
    return "\n\n".join(block for block in _blocks(element, fences_code) if block)


def _blocks(element: "HtmlElement", fences_code: bool) -> Iterator[str]:
    """Yield the blocks inside an element; text between blocks is a separate block."""
    loose = [element.text or ""]
    for child in element:
        if child.tag not in _BLOCKS:
            loose.append(child.text_content())
        else:
            yield _line("".join(loose))
            loose.clear()
            yield from _block(child, fences_code)
        loose.append(child.tail or "")
    yield _line("".join(loose))


def _block(element: "HtmlElement", fences_code: bool) -> Iterator[str]:
    tag = element.tag
    if tag in _LEVELS:
        words = _line(element.text_content())
        yield f"{'#' * _LEVELS[tag]} {words}" if words else ""
    elif tag == "pre" and fences_code and (code := element.text_content().strip("\n")):
        yield f"```\n{code}\n```"
    elif tag in _PARAGRAPHS:
        yield _line(element.text_content())
    elif tag in _LISTS:
        yield "\n".join(_items(element, ""))
    elif tag == "table":
        yield "\n".join(_rows(element))
    else:
        yield from _blocks(element, fences_code)


def _items(element: "HtmlElement", indent: str) -> Iterator[str]:
    for item in element.iterchildren("li"):
        inner = [nested for nested in item if nested.tag in _LISTS]
        for nested in inner:
            nested.drop_tree()  # keeps the text after the element
        if words := _line(item.text_content()):
            yield f"{indent}- {words}"
        for nested in inner:
            yield from _items(nested, indent + "  ")


def _rows(table: "HtmlElement") -> Iterator[str]:
    for row in table.iter("tr"):
        cells = [_line(cell.text_content()) for cell in row.iterchildren("th", "td")]
        if any(cells):
            yield f"| {' | '.join(cells)} |"


def _line(text: str) -> str:
    return " ".join(text.split())
