"""Read the text and the title of a local HTML file as Markdown.

Everything but scripts, menus and controls is kept: a lost paragraph of the user's document is worse
than a kept menu. Pages of the web are read by `tools/web/page_html.py`, which drops clutter.
"""

from typing import TYPE_CHECKING

from holdfast.tools.documents.html.html_blocks import markdown_blocks, replace_control_signs
from holdfast.tools.documents.metadata_cleaning import ParsedDocument
from holdfast.tools.documents.text_decoding import clean_text

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_DROPPED = (
    "head",
    "title",
    "script",
    "style",
    "noscript",
    "template",
    "nav",
    "svg",
    "button",
    "select",
)
_CONTAINERS = ("main", "article", "header", "footer", "aside", "form", "details", "center")
_SEPARATE = ("br", "p", "div", "li", "ul", "ol", "td", "th", "dt", "dd", "tr", "table", "pre")
"""Elements whose text does not run on in the next element, also inside a list item or a cell."""


def read_html(page: str) -> ParsedDocument:
    """Return the page's title, and its headings, paragraphs, lists and tables as Markdown.

    The text of a page with control characters is its plain text.
    """
    # Imported here: 0.1 s that only workers which read such files should pay.
    from lxml import etree, html

    try:
        tree = html.document_fromstring(f"<html><body>{clean_text(page)}</body></html>")
    except (etree.LxmlError, ValueError, AssertionError):
        return ParsedDocument("", "")
    title = tree.findtext(".//title") or tree.findtext(".//h1") or ""
    dropped = (*_DROPPED, etree.Comment, etree.ProcessingInstruction)
    etree.strip_elements(tree, *dropped, with_tail=False)
    replace_control_signs(tree)
    _normalize(tree)
    return ParsedDocument(title, markdown_blocks(tree.body, fences_code=True))


def _normalize(tree: "HtmlElement") -> None:
    """Make the tree one of `div`s and blocks, with white space between texts that are separate."""
    for element in tree.iter(*_CONTAINERS):
        element.tag = "div"
    for element in tree.iter(*_SEPARATE):
        element.tail = f" {element.tail or ''}"
