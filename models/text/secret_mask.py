"""Mask secrets in text that comes from outside, such as replies, answers and errors."""

import json
from collections.abc import Iterable
from urllib.parse import quote

SHORTEST_SECRET = 8
"""Characters of the shortest masked secret; masking every `x` or `en` would garble answers."""


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

    def outside(self, words: str) -> "SecretMask":
        """Return the mask without secrets that are a part of these words, which nobody hides."""
        if not any(secret in words for secret in self._secrets):
            return self
        return SecretMask(secret for secret in self._secrets if secret not in words)


def _written_forms(secret: str) -> Iterable[str]:
    """Return the secret as text, JSON and addresses contain it."""
    escaped = json.dumps(secret)[1:-1]
    return (secret, escaped, json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, safe=""))
