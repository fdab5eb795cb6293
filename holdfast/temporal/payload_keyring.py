"""Read the keys that encrypt payloads, and encrypt and decrypt bytes with them."""

import base64
import binascii
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from holdfast.models.errors import BadConfiguration

_VARIABLE = "HOLDFAST_PAYLOAD_KEYS"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")
_KEY_BYTES = 32
_NONCE_BYTES = 12


@dataclass(frozen=True)
class PayloadKeyring:
    """AES-256 keys by name; the first encrypts, and every key decrypts."""

    keys: Mapping[str, bytes] = field(repr=False)

    @property
    def current(self) -> str:
        """The name of the key that encrypts."""
        return next(iter(self.keys))

    def encrypt(self, content: bytes) -> bytes:
        """Return the nonce with the encrypted content, which is bound to the key's name."""
        nonce = os.urandom(_NONCE_BYTES)
        name = self.current
        return nonce + AESGCM(self.keys[name]).encrypt(nonce, content, name.encode())

    def decrypt(self, name: str, sealed: bytes) -> bytes:
        """Return what `encrypt` encrypted with the key of this name.

        Raises:
            BadConfiguration: the keyring lacks the key, has another, or the bytes were changed.
        """
        if name not in self.keys:
            raise BadConfiguration(
                f"a payload was encrypted with key {name[:40]!r}, which {_VARIABLE} does not have "
                f"(it has {', '.join(self.keys)}); add the key after the first one"
            )
        nonce, content = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        try:
            return AESGCM(self.keys[name]).decrypt(nonce, content, name.encode())
        except (InvalidTag, ValueError) as error:
            raise BadConfiguration(
                f"a payload cannot be decrypted with key {name!r} of {_VARIABLE}: it was encrypted "
                "with another key of that name, or was changed"
            ) from error


def read_keyring(given: str) -> PayloadKeyring:
    """Return the keyring of `NAME:KEY,NAME:KEY`; a key is 32 bytes in Base64.

    Raises:
        BadConfiguration: a name or a key cannot be used; the message has no key.
    """
    keys: dict[str, bytes] = {}
    for number, part in enumerate(given.split(","), start=1):
        name, colon, key = part.strip().partition(":")
        if not colon or not _NAME.fullmatch(name):
            raise BadConfiguration(
                f"entry {number} of {_VARIABLE} is not NAME:KEY; make a key with "
                "`openssl rand -base64 32`"
            )
        if name in keys:
            raise BadConfiguration(f"{_VARIABLE} names key {name!r} twice")
        keys[name] = _key_bytes(name, key)
    return PayloadKeyring(keys)


def _key_bytes(name: str, key: str) -> bytes:
    try:
        content = base64.b64decode(key, validate=True)
    except (binascii.Error, ValueError):
        content = b""
    if len(content) != _KEY_BYTES:
        raise BadConfiguration(
            f"key {name!r} of {_VARIABLE} is not {_KEY_BYTES} bytes in Base64; make one with "
            "`openssl rand -base64 32`"
        )
    return content
