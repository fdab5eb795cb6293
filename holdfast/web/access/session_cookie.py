"""Make and read the cookie of a signed-in browser.

The cookie is `SUBJECT.EXPIRY.SIGNATURE`, signed with the installation's token: a restarted server
knows it. The subject is `installation`, or the id of an API key, which is looked up in each request
and so can be revoked. Browsers share cookies among ports, so the name is the installation's own.
"""

import hashlib
import hmac
import re
import time
from datetime import timedelta

from starlette.responses import Response

INSTALLATION = "installation"
SESSION_LIFETIME = timedelta(days=30)
_COOKIE = re.compile(r"([A-Za-z0-9_-]{1,64})\.([0-9]{1,12})\.([0-9a-f]{64})")


def cookie_name(installation_token: str) -> str:
    """The name of this installation's cookie."""
    return f"holdfast_{hashlib.sha256(installation_token.encode()).hexdigest()[:8]}"


def set_session(
    response: Response, installation_token: str, subject: str, *, path: str, is_encrypted: bool
) -> None:
    """Sign the browser in that gets the response; it sends the cookie to this path alone."""
    lifetime_s = int(SESSION_LIFETIME.total_seconds())
    expiry = int(time.time()) + lifetime_s
    response.set_cookie(
        cookie_name(installation_token),
        f"{subject}.{expiry}.{_signature(installation_token, subject, expiry)}",
        max_age=lifetime_s,
        path=path,
        httponly=True,
        samesite="strict",
        secure=is_encrypted,
    )


def subject_of(installation_token: str, cookie: str) -> str | None:
    """Whose session it is; None if the cookie is forged, damaged or too old."""
    parts = _COOKIE.fullmatch(cookie)
    if parts is None:
        return None
    subject, expiry = parts[1], int(parts[2])
    if not hmac.compare_digest(parts[3], _signature(installation_token, subject, expiry)):
        return None
    return subject if time.time() < expiry else None


def _signature(installation_token: str, subject: str, expiry: int) -> str:
    text = f"page-session {subject} {expiry}"
    return hmac.new(installation_token.encode(), text.encode(), hashlib.sha256).hexdigest()
