"""Tests for which web addresses are requested, before and after name resolution."""

import ipaddress

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.errors import ToolFailed
from holdfast.tools.web.http_client.address_rules import (
    AllowedHosts,
    ip_refusal_reason,
    parse_target,
    resolve_redirect,
)

PUBLIC = AllowedHosts()

REFUSED_ADDRESSES = [
    "ftp://example.org/",
    "file:///etc/passwd",
    "gopher://example.org/",
    "javascript:alert(1)",
    "data:text/html,hello",
    "//example.org/",
    "example.org",
    "http://",
    "http:///path",
    "http://user@example.org/",
    "http://user:secret@example.org/",
    "http://example.org@127.0.0.1/",
    "http://example.org:22/",
    "http://example.org:8080/",
    "http://exa mple.org/",
    "http://example.org\\@127.0.0.1/",
    "http://example.org\n.evil.org/",
    "http://ex%61mple.org/",
    "http://-example.org/",
    "http://.example.org/",
    # Other spellings of 127.0.0.1 and of private addresses.
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://00000127.0.0.1/",
    "http://127.0.0.0x1/",
    "http://１２７.0.0.1/",
    "http://127。0。0。1/",
    "http://①②⑦.0.0.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://10.1.2.3/",
    "http://172.31.255.255/",
    "http://192.168.0.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://192.0.0.8/",
    "http://198.18.0.1/",
    "http://203.0.113.7/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::a00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::]/",
    "http://[2001:db8::1]/",
    "http://[fc00::1]/",
    "http://[fd12:3456::1]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[100::1]/",
]


@pytest.mark.parametrize("address", REFUSED_ADDRESSES)
def test_address_is_refused(address: str) -> None:
    with pytest.raises(ToolFailed, match="is not fetched"):
        parse_target(address, PUBLIC)


@pytest.mark.parametrize(
    ("address", "origin", "path"),
    [
        ("https://example.org", "https://example.org", "/"),
        ("HTTPS://Example.ORG:443/a?b=c#d", "https://example.org", "/a?b=c"),
        ("http://example.org./", "http://example.org", "/"),
        ("http://bücher.example/ä", "http://xn--bcher-kva.example", "/%C3%A4"),
        ("http://faß.example/", "http://xn--fa-hia.example", "/"),
        ("http://93.184.215.14/", "http://93.184.215.14", "/"),
        ("http://[2606:4700::6810:1]/", "http://[2606:4700::6810:1]", "/"),
        ("https://a_b.example.org/x", "https://a_b.example.org", "/x"),
    ],
)
def test_public_address_has_one_meaning(address: str, origin: str, path: str) -> None:
    target = parse_target(address, PUBLIC)

    assert (target.origin, target.path) == (origin, path)


def test_operator_opens_hosts_and_ports() -> None:
    allowed = AllowedHosts.of(("Intern.Example:8080", "10.0.0.7", "[fd00::7]:81"), (80, 443, 8443))

    assert parse_target("http://intern.example:8080/", allowed).port == 8080
    assert parse_target("http://10.0.0.7/", allowed).host == "10.0.0.7"
    assert parse_target("http://[fd00::7]:81/", allowed).host == "fd00::7"
    assert parse_target("https://example.org:8443/", allowed).port == 8443
    for other in ("http://10.0.0.8/", "http://10.0.0.7:8080/", "http://intern.example:81/"):
        with pytest.raises(ToolFailed):
            parse_target(other, allowed)


def test_allowed_name_never_opens_the_metadata_of_a_cloud() -> None:
    assert ip_refusal_reason("10.1.1.1", is_named=True) == ""
    assert ip_refusal_reason("100.64.0.1", is_named=True) == ""
    assert ip_refusal_reason("fd00::7", is_named=True) == ""
    assert ip_refusal_reason("fe80::1", is_named=True)
    assert ip_refusal_reason("::ffff:10.1.1.1", is_named=True)


@pytest.mark.parametrize(
    "metadata",
    [
        "169.254.169.254",
        "100.100.100.200",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
    ],
)
def test_metadata_of_clouds_stays_closed_for_named_hosts(metadata: str) -> None:
    assert ip_refusal_reason(metadata, is_named=True) == f"{metadata} is not public"


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1/",
        "//169.254.169.254/",
        "http:\\\\127.0.0.1",
        "javascript:1",
        "ftp://x.org",
    ],
)
def test_redirect_is_checked_like_any_address(location: str) -> None:
    with pytest.raises(ToolFailed, match="is not fetched"):
        resolve_redirect(parse_target("https://example.org/a/b", PUBLIC), location, PUBLIC)


def test_relative_redirect_is_joined() -> None:
    base = parse_target("https://example.org/a/b?c", PUBLIC)

    assert resolve_redirect(base, "../d", PUBLIC).address == "https://example.org/d"
    assert resolve_redirect(base, "//other.example/e", PUBLIC).address == "https://other.example/e"


@given(st.ip_addresses())
def test_refused_addresses_are_at_least_those_that_python_calls_not_global(
    found: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if not found.is_global:
        assert ip_refusal_reason(str(found), is_named=False)


_HOSTS = st.one_of(
    st.text(max_size=30),
    st.integers(0, 2**33).map(str),
    st.integers(0, 2**33).map(hex),
    st.ip_addresses().map(str),
    st.ip_addresses(v=6).map(lambda each: f"[{each}]"),
    st.lists(st.integers(0, 300).map(oct), min_size=1, max_size=5).map(".".join),
)


@given(
    st.one_of(
        st.text(max_size=60),
        st.builds("http://{}/{}".format, _HOSTS, st.text(max_size=10)),
        st.builds("http://{}@{}:{}".format, _HOSTS, _HOSTS, st.integers(0, 70000)),
    )
)
def test_whatever_is_let_through_is_plain_and_keeps_its_meaning(address: str) -> None:
    try:
        target = parse_target(address, PUBLIC)
    except ToolFailed:
        return
    assert target.scheme in {"http", "https"}
    assert target.port in {80, 443}
    assert target.path.isascii()
    assert not set(target.path) & set("\r\n \t\x00")
    assert parse_target(target.address, PUBLIC) == target, "reading it again changes nothing"
    assert httpx2.URL(target.address).raw_host.decode() == target.host
    try:
        found = ipaddress.ip_address(target.host)
    except ValueError:
        assert not target.host.rpartition(".")[2].isdigit()
    else:
        assert found.is_global
