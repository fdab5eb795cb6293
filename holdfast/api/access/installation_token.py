"""Keep the installation's token: whoever can read the home folder may do everything.

The token lies in the home folder with mode 0600. The command line, the page and local clients read
it there, so the installation's user needs no key, and other users of the computer have none.
"""

import secrets
from pathlib import Path

from holdfast.models.errors import BadConfiguration
from holdfast.services.private_files import write_private_file

_FILE_NAME = "api_token"
_RANDOM_BYTES = 32


def token_file(home: Path) -> Path:
    """The file of the token."""
    return home / _FILE_NAME


def read_token(home: Path) -> str | None:
    """The installation's token; None if no server has run yet.

    Raises:
        BadConfiguration: the file cannot be read.
    """
    try:
        return token_file(home).read_text("ascii").strip() or None
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfiguration(
            f"the token in {str(token_file(home))!r} cannot be read ({error}); remove the file, "
            "and `holdfast serve` makes another"
        ) from error


def make_token(home: Path) -> str:
    """The installation's token, which is made if there is none.

    Raises:
        BadConfiguration: the file cannot be read.
    """
    token = read_token(home)
    if token is None:
        token = secrets.token_urlsafe(_RANDOM_BYTES)
        # With services of your own nothing else may have made the home.
        home.mkdir(parents=True, exist_ok=True)
        write_private_file(token_file(home), token + "\n")
    return token
