"""Decodes the bytes of a page whose server may be wrong about their charset."""

import re

from tools.documents_text import cleaned, decoded

# Families that decode text and nothing else; no utf-7, whose text may hide what ASCII readers miss.
_KNOWN = re.compile(
    r"(us-)?ascii|utf-?(8|16|32)([bl]e|-[bl]e)?|iso-?8859-\d{1,2}|latin-?\d{1,2}|windows-125\d"
    r"|cp\d{3,4}|koi8-[ru]|shift[_-]?jis|euc-(jp|kr)|iso-2022-jp|gb2312|gbk|gb18030|big5(-hkscs)?"
    r"|macintosh|mac-roman|tis-620"
)
# Their text is all ASCII bytes or has its own marks, so it passes for UTF-8 without being it.
_STATEFUL = re.compile(r"iso-2022-jp|utf-?(16|32)([bl]e|-[bl]e)?")


def text_of(name: str, body: bytes, charset: str) -> str:
    """The text; UTF-8 if it is valid as such, else as the server says, else as it looks.

    A page that is called latin-1 and is valid UTF-8 is UTF-8: the other way round it would show.

    Raises:
        BadInput: this is no text.
    """
    charset = charset.strip().lower()
    if _KNOWN.fullmatch(charset):
        for encoding in (charset,) if _STATEFUL.fullmatch(charset) else ("utf-8-sig", charset):
            text = _tried(body, encoding)
            if text is not None:
                return cleaned(text)
    return cleaned(decoded(name, body))


def _tried(body: bytes, encoding: str) -> str | None:
    try:
        text = body.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None
    return None if "\0" in text or not _is_plausible(text) else text


def _is_plausible(text: str) -> bool:
    """Whether a one-byte charset did not just make letters of a picture's bytes."""
    controls = sum(1 for letter in text[:20_000] if letter < " " and letter not in "\t\n\r\f")
    return controls <= len(text[:20_000]) // 100
