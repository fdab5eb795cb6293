"""Takes out of a MediaWiki page what is not the article: marks, edit links, boxes of navigation."""

from lxml import etree, html

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


def article_html(page: str) -> str:
    """The article's HTML; a page that cannot be parsed as it was."""
    try:
        tree = html.fragment_fromstring(page, create_parent="div")
    except (etree.LxmlError, ValueError, AssertionError):
        return page
    for name in _FURNITURE:
        for element in tree.find_class(name):
            element.drop_tree()
    for element in list(tree.iter("style", "script")):
        element.drop_tree()
    return str(html.tostring(tree, encoding="unicode"))
