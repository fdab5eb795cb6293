"""Make and redeem the one-time tokens of printed addresses.

A token is `NONCE.EXPIRY.SIGNATURE`, signed with the installation's token, so any process that reads
the home folder can make one and any server of the home can redeem it. A redeemed token leaves an
empty file, which also another server and a restarted one see.
"""

import hashlib
import hmac
import re
import secrets
import time
from datetime import timedelta
from pathlib import Path

LINK_LIFETIME = timedelta(hours=1)
_FOLDER = "used_page_links"
_TOKEN = re.compile(r"([A-Za-z0-9_-]{16})\.([0-9]{1,12})\.([0-9a-f]{64})")
_NONCE_BYTES = 12


def make_link_token(installation_token: str) -> str:
    """A token that signs one browser in, within an hour."""
    nonce = secrets.token_urlsafe(_NONCE_BYTES)
    expiry = int(time.time() + LINK_LIFETIME.total_seconds())
    return f"{nonce}.{expiry}.{_signature(installation_token, nonce, expiry)}"


def redeem_link_token(home: Path, installation_token: str, given: str) -> bool:
    """True at the first use of a valid token."""
    parts = _TOKEN.fullmatch(given)
    if parts is None:
        return False
    nonce, expiry = parts[1], int(parts[2])
    if not hmac.compare_digest(parts[3], _signature(installation_token, nonce, expiry)):
        return False
    return time.time() < expiry and _note_use(home / _FOLDER, nonce)


def _signature(installation_token: str, nonce: str, expiry: int) -> str:
    text = f"page-link {nonce} {expiry}"
    return hmac.new(installation_token.encode(), text.encode(), hashlib.sha256).hexdigest()


def _note_use(folder: Path, nonce: str) -> bool:
    folder.mkdir(mode=0o700, exist_ok=True)
    for used in folder.iterdir():
        if used.stat().st_mtime < time.time() - LINK_LIFETIME.total_seconds():
            used.unlink(missing_ok=True)
    try:
        (folder / nonce).touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        return False
    return True
