"""Tests for what a local installation that does not start says."""

import pytest

from holdfast.python_client import local_installation
from holdfast.python_client.api_errors import ServerUnreachable

DATABASE_LINE = "initdb: error: could not write the file"


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (
            f"starting PostgreSQL\nerror: the database does not start:\n{DATABASE_LINE}\n",
            f"`holdfast up` failed: the database does not start:\n{DATABASE_LINE}",
        ),
        ("", "`holdfast up` failed: exit code 1"),
    ],
    ids=["quotes another error", "prints nothing"],
)
def test_the_whole_error_of_the_command_is_said(
    printed: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = f"import sys; sys.stderr.write({printed!r}); sys.exit(1)"
    monkeypatch.setattr(local_installation, "_COMMAND", ("-c", program))

    with pytest.raises(ServerUnreachable) as failure:
        local_installation.start_local_installation()

    assert str(failure.value) == said
