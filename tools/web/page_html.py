"""Read the main text and the title of an HTML page of the web as Markdown, without clutter."""

import logging

from holdfast.tools.documents.metadata_cleaning import ParsedDocument

# A page of 4 MB takes 11 s; twice as many elements take up to four times as long.
_MAX_EXTRACTED = 2 * 2**20


def read_page_html(html: str) -> ParsedDocument:
    """Return the page's title, and its text as Markdown without scripts and navigation.

    For a very short or very long page the text is its plain text.
    """
    # Imported here: 0.4 s and 30 MB that only workers which read pages should pay.
    import trafilatura

    # trafilatura warns about every unusual page; only the text matters here.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL + 1)
    # The wrapping makes fragments acceptable to trafilatura.
    tree = trafilatura.load_html(f"<html><body>{html}</body></html>")
    if tree is None:
        return ParsedDocument("", "")
    title = tree.findtext(".//title") or tree.findtext(".//h1") or ""
    return ParsedDocument(title, _main_text(html) or trafilatura.html2txt(tree))


def _main_text(html: str) -> str:
    import trafilatura

    if len(html) > _MAX_EXTRACTED:
        return ""
    try:
        # Favour recall: a lost paragraph of the user's document is worse than a kept menu.
        text = trafilatura.extract(
            html, output_format="markdown", include_comments=False, favor_recall=True
        )
    except Exception:  # trafilatura passes on any exception of lxml and of its own rules
        return ""
    return text or ""
