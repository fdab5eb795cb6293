"""Reads a web page that lies on disk; nothing is ever fetched."""

import logging

from tools.documents_metadata import Read

# A page of 4 MB takes 11 s, and twice as many elements up to four times as long.
_MAX_EXTRACTED = 2 * 2**20


def read_html(html: str) -> Read:
    """The page's title, and its text as Markdown without scripts and navigation.

    A page that is very short or very long gives its plain text.
    """
    # Imported here: 0.4 s and 30 MB that a worker which reads no pages should not pay.
    import trafilatura

    # It warns about every page that it finds odd; what matters shows in the text.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL + 1)
    # The wrapping lets fragments pass, which trafilatura else refuses as no HTML.
    tree = trafilatura.load_html(f"<html><body>{html}</body></html>")
    if tree is None:
        return Read("", "")
    title = tree.findtext(".//title") or tree.findtext(".//h1") or ""
    return Read(title, _main_text(html) or trafilatura.html2txt(tree))


def _main_text(html: str) -> str:
    import trafilatura

    if len(html) > _MAX_EXTRACTED:
        return ""
    try:
        # Recall: losing a paragraph of the user's own document is worse than keeping a menu.
        text = trafilatura.extract(
            html, output_format="markdown", include_comments=False, favor_recall=True
        )
    except Exception:  # it lets through whatever lxml and its own rules trip over
        return ""
    return text or ""
