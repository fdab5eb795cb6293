"""Convert the HTML of a MediaWiki article to Markdown.

It replaces trafilatura for wikis: a wiki's HTML is regular, and the parts that trafilatura drops as
clutter (fact boxes, short sections) often contain the answers to questions.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lxml import etree, html

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_FURNITURE = (
    "reference",
    "mw-editsection",
    "shortdescription",
    "navbox",
    "navbox-styles",
    "noprint",
    "mw-empty-elt",
    "reflist",
    "sistersitebox",
    "metadata",
    "toc",
)
_LEVELS = {f"h{level}": level for level in range(1, 7)}
_PARAGRAPHS = frozenset({"p", "blockquote", "pre", "dt", "dd", "figcaption", "caption"})
_LISTS = frozenset({"ul", "ol"})
_BLOCKS = frozenset({"div", "section", "table", "dl", "figure", *_LEVELS, *_PARAGRAPHS, *_LISTS})


def article_text(page: str) -> str:
    """Return the article's blocks, separated by blank lines; empty if there are none."""
    try:
        tree = html.fragment_fromstring(page, create_parent="div")
    except (etree.LxmlError, ValueError, AssertionError):
        return ""
    for name in _FURNITURE:
        for element in tree.find_class(name):
            element.drop_tree()
    for element in list(tree.iter("style", "script", etree.Comment)):
        element.drop_tree()
    return "\n\n".join(block for block in _blocks(tree) if block)


def _blocks(element: "HtmlElement") -> Iterator[str]:
    """Yield the blocks inside an element; text between blocks is a separate block."""
    loose = [element.text or ""]
    for child in element:
        if child.tag not in _BLOCKS:
            loose.append(child.text_content())
        else:
            yield _line("".join(loose))
            loose.clear()
            yield from _block(child)
        loose.append(child.tail or "")
    yield _line("".join(loose))


def _block(element: "HtmlElement") -> Iterator[str]:
    tag = element.tag
    if tag in _LEVELS:
        words = _line(element.text_content())
        yield f"{'#' * _LEVELS[tag]} {words}" if words else ""
    elif tag in _PARAGRAPHS:
        yield _line(element.text_content())
    elif tag in _LISTS:
        yield "\n".join(_items(element, ""))
    elif tag == "table":
        yield "\n".join(_rows(element))
    else:
        yield from _blocks(element)


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
