"""Tests for reading the servers of `holdfast.toml`, and for the messages about a broken file."""

from pathlib import Path

import pytest

from holdfast.models.errors import BadConfiguration
from holdfast.tools.mcp.server_config import HttpServer, StdioServer, read_servers


def test_file_that_does_not_exist_names_no_servers(tmp_path: Path) -> None:
    assert read_servers(tmp_path / "holdfast.toml") == {}


def test_both_kinds_of_server_are_read(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    path = tmp_path / "holdfast.toml"
    path.write_text(
        """
        [servers.local]
        command = ["python", "server.py"]
        env = ["TOKEN"]
        cwd = "mine"
        bind = {collection = "corpus"}

        [servers.far]
        url = "https://example.org/mcp"
        headers_env = {Authorization = "FAR_TOKEN"}
        timeout_s = 5.5
        concurrency = 2
        max_bytes = 1000
        """
    )

    assert read_servers(path) == {
        "local": StdioServer(
            command=("python", "server.py"),
            env=("TOKEN",),
            cwd=tmp_path / "mine",
            bind={"collection": "corpus"},
        ),
        "far": HttpServer(
            url="https://example.org/mcp",
            headers_env={"Authorization": "FAR_TOKEN"},
            timeout_s=5.5,
            concurrency=2,
            max_bytes=1000,
        ),
    }


def test_server_is_started_in_the_folder_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "holdfast.toml"
    path.write_text('[servers.a]\ncommand = ["x"]')

    (server,) = read_servers(path).values()

    assert isinstance(server, StdioServer)
    assert server.cwd == tmp_path


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[servers.a", "is not valid TOML"),
        ("[servers.a]", "servers.a has neither 'command' nor 'url'; add command = "),
        ('[servers.a]\ncommand=["x"]\nurl="http://x"', "servers.a has both 'command' and 'url'"),
        ('[servers.a]\ncommand=["x"]\nenvs=["X"]', "servers.a.envs is not a known key; known here"),
        ('[servers.a]\nurl="http://x"\nenv=["X"]', "servers.a.env is not a known key"),
        ('[servers.a]\ncommand="python x"', 'write for example command = ["python", "server.py"]'),
        ("[servers.a]\ncommand=[]", "servers.a.command: "),
        ('[servers.a]\nurl="example.org"', "servers.a.url: "),
        ('[servers.a]\nurl="http://x"\ntimeout_s=nan', "servers.a.timeout_s: "),
        ('[servers.a]\nurl="http://x"\ntimeout_s=-1', "servers.a.timeout_s: "),
        ('[servers.a]\nurl="http://x"\nmax_bytes="lots"', "servers.a.max_bytes: "),
        ('[servers.a]\nurl="http://x"\nbind={a=1}', "servers.a.bind: "),
        ('[servers.a]\ncommand=["x"]\ncwd="gone"', "servers.a.cwd: no such folder"),
        ('[servers."a.b"]\nurl="http://x"', "servers.a.b: use letters"),
        ('servers = "x"', "'servers' must be tables"),
        ("[servers]\na = 1", "servers.a must be a table"),
        ('[server.a]\nurl="http://x"', "unknown table 'server'; write [servers.NAME]"),
    ],
)
def test_complaint_names_file_server_key_and_way_out(
    tmp_path: Path, text: str, complaint: str
) -> None:
    path = tmp_path / "holdfast.toml"
    path.write_text(text)

    with pytest.raises(BadConfiguration) as caught:
        read_servers(path)

    assert str(path) in str(caught.value)
    assert complaint in str(caught.value)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a = '\x00'"])
def test_file_that_is_not_text_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "holdfast.toml"
    path.write_bytes(content)

    with pytest.raises(BadConfiguration, match=r"holdfast\.toml"):
        read_servers(path)


def test_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match="cannot be read"):
        read_servers(tmp_path)


def test_value_of_a_key_is_not_repeated_in_the_complaint(tmp_path: Path) -> None:
    path = tmp_path / "holdfast.toml"
    path.write_text('[servers.a]\nurl = "http://x"\nheaders_env = "Bearer s3cret"')

    with pytest.raises(BadConfiguration) as caught:
        read_servers(path)

    assert "s3cret" not in str(caught.value)
