"""Sign messages as the Standard Webhooks specification says."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

_PREFIX = "whsec_"
_SECRET_BYTES = 32


def new_secret() -> str:
    """Return a new secret in the form that receivers' libraries take."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def signed_headers(
    known: Sequence[str], message_id: str, sent_at: int, body: bytes
) -> dict[str, str]:
    """Return the headers of a message, with a signature by each of the known secrets.

    `sent_at` counts seconds since 1970. A receiver accepts the message if one signature is right.
    """
    signed = f"{message_id}.{sent_at}.".encode() + body
    signatures = (f"v1,{_signature(secret, signed)}" for secret in known)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(sent_at),
        "webhook-signature": " ".join(signatures),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
