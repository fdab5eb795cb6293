"""Decode the bytes of a page whose server may declare a wrong charset."""

import re

from holdfast.tools.documents.text_decoding import clean_text, decode_text

# Families that only decode text; no utf-7, which can hide text from ASCII readers.
_KNOWN = re.compile(
    r"(us-)?ascii|utf-?(8|16|32)([bl]e|-[bl]e)?|iso-?8859-\d{1,2}|latin-?\d{1,2}|windows-125\d"
    r"|cp\d{3,4}|koi8-[ru]|shift[_-]?jis|euc-(jp|kr)|iso-2022-jp|gb2312|gbk|gb18030|big5(-hkscs)?"
    r"|macintosh|mac-roman|tis-620"
)
# These charsets use ASCII bytes or their own marks, so that their text looks like UTF-8.
_STATEFUL = re.compile(r"iso-2022-jp|utf-?(16|32)([bl]e|-[bl]e)?")


def decode_page(name: str, body: bytes, charset: str) -> str:
    """Decode the body: as UTF-8 if it is valid, else as declared, else as guessed.

    A valid UTF-8 page that is declared as latin-1 is UTF-8: latin-1 text is rarely valid UTF-8.

    Raises:
        BadInput: the bytes are not text.
    """
    charset = charset.strip().lower()
    if _KNOWN.fullmatch(charset):
        for encoding in (charset,) if _STATEFUL.fullmatch(charset) else ("utf-8-sig", charset):
            text = _tried(body, encoding)
            if text is not None:
                return clean_text(text)
    return clean_text(decode_text(name, body))


def _tried(body: bytes, encoding: str) -> str | None:
    try:
        text = body.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None
    return None if "\0" in text or not _is_plausible(text) else text


def _is_plausible(text: str) -> bool:
    """Return False if a one-byte charset turned binary data into letters."""
    controls = sum(1 for letter in text[:20_000] if letter < " " and letter not in "\t\n\r\f")
    return controls <= len(text[:20_000]) // 100
