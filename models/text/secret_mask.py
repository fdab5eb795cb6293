"""Mask secrets in text that comes from outside, such as replies, answers and errors."""

import json
import re
from collections.abc import Iterable
from urllib.parse import quote

SHORTEST_SECRET = 8
"""Characters of the shortest masked secret; masking every `x` or `en` would garble answers."""
_PLAIN_WORD = re.compile(r"[A-Za-z][a-z]{,19}|[A-Z]{1,20}")
"""Keys of local servers are often words, such as `placeholder`, which texts contain by chance."""


class SecretMask:
    """Masks secrets character by character, so that offsets into the text stay valid."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = frozenset(each for each in secrets if len(each) >= SHORTEST_SECRET)
        forms = {form for secret in self._secrets for form in _written_forms(secret)}
        # The longest first, because one secret may be a part of another.
        self._forms = sorted(forms, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Return the text with a star for each character of a secret."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, "*" * len(form))
        return text

    def is_in(self, content: bytes) -> bool:
        """True if the bytes contain a secret."""
        return any(form.encode() in content for form in self._forms)

    def of_content(self, words: str = "") -> "SecretMask":
        """Return the mask for replies and documents, where masking a word garbles what they say.

        It is without secrets that are one plain word, and without those that are a part of `words`,
        which nobody hides. Errors and logs are masked in full.
        """
        kept = [each for each in self._secrets if not (is_plain_word(each) or each in words)]
        return self if len(kept) == len(self._secrets) else SecretMask(kept)


def is_plain_word(secret: str) -> bool:
    """True if the secret is one word without digits and signs, as no generated key is."""
    return _PLAIN_WORD.fullmatch(secret) is not None


def _written_forms(secret: str) -> Iterable[str]:
    """Return the secret as text, JSON and addresses contain it."""
    escaped = json.dumps(secret)[1:-1]
    return (secret, escaped, json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, safe=""))
