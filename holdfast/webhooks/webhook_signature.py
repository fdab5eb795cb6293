"""Sign messages as the Standard Webhooks specification says."""

import base64
import hashlib
import hmac
import secrets

_PREFIX = "whsec_"
_SECRET_BYTES = 32


def new_secret() -> str:
    """Return a new secret in the form that receivers' libraries take."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def signed_headers(secret: str, message_id: str, sent_at: int, body: bytes) -> dict[str, str]:
    """Return the headers of a message; `sent_at` counts seconds since 1970."""
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    signed = f"{message_id}.{sent_at}.".encode() + body
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(sent_at),
        "webhook-signature": f"v1,{digest}",
    }
