"""Convert the HTML of a MediaWiki article to Markdown.

It replaces trafilatura for wikis: a wiki's HTML is regular, and the parts that trafilatura drops as
clutter (fact boxes, short sections) often contain the answers to questions.
"""

from lxml import etree, html

from holdfast.tools.documents.html.html_blocks import markdown_blocks, replace_control_signs

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


def article_text(page: str) -> str:
    """Return the article's blocks, separated by blank lines; empty if there are none."""
    try:
        tree = html.fragment_fromstring(page, create_parent="div")
    except (etree.LxmlError, ValueError, AssertionError):
        return ""
    replace_control_signs(tree)
    for name in _FURNITURE:
        for element in tree.find_class(name):
            element.drop_tree()
    for element in list(tree.iter("style", "script", etree.Comment)):
        element.drop_tree()
    return markdown_blocks(tree)
