"""Tests for web search over real HTTP: each provider against an endpoint in its documented format."""

import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.errors import BadConfiguration, ToolBusy, ToolFailed
from holdfast.tools.network_setup import open_web_resources
from holdfast.tools.web.providers.provider_registry import PROVIDERS
from holdfast.tools.web.web_search import configure_providers
from holdfast.tools.web.web_settings import ProviderSettings, WebSettings
from tests.support.tools.hostile_web import ScriptedSite, SiteAnswer, SiteRequest
from tests.support.tools.web_hub import open_web_hub

KEY = "sk-planted-4711"

SEARXNG = {
    "query": "longest bridge",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://example.org/bridge",
            "title": "The longest bridge",
            "content": "It is 164.8 km long &amp; opened in 2011.",
            "publishedDate": "2026-03-14T00:00:00",
            "engine": "wikipedia",
            "score": 4.0,
        },
        {"url": "https://example.org/bridge", "title": "The same once more", "content": "x"},
        {"url": "https://old.example/", "title": "Old", "publishedDate": "2019-01-01T10:00:00"},
    ],
    "answers": [],
    "unresponsive_engines": [],
}
BRAVE = {
    "type": "search",
    "web": {
        "type": "search",
        "results": [
            {
                "title": "The <strong>longest</strong> bridge",
                "url": "https://example.org/bridge",
                "description": "It is <strong>164.8 km</strong> long &amp; opened in 2011.",
                "age": "March 14, 2026",
                "page_age": "2026-03-14T09:30:00",
                "extra_snippets": ["…"],
            }
        ],
    },
}
TAVILY = {
    "query": "longest bridge",
    "answer": None,
    "results": [
        {
            "title": "The longest bridge",
            "url": "https://example.org/bridge",
            "content": "It is 164.8 km long & opened in 2011.",
            "score": 0.81,
            "published_date": "2026-03-14",
            "raw_content": None,
        }
    ],
    "response_time": "1.67",
}
EXA = {
    "requestId": "b5947044c4b78efa9552a7c89b306d95",
    "results": [
        {
            "title": "The longest bridge",
            "url": "https://example.org/bridge",
            "publishedDate": "2026-03-14T01:36:32.547Z",
            "author": "Ada Writer",
            "text": "A long text",
            "highlights": ["It is 164.8 km long & opened in 2011.", "Another."],
        }
    ],
}
MWMBL = [
    {
        "title": [
            {"value": "The ", "is_bold": False},
            {"value": "longest", "is_bold": True},
            {"value": " bridge", "is_bold": False},
        ],
        "url": "https://example.org/bridge",
        "extract": [
            {"value": "It is 164.8 km", "is_bold": True},
            {"value": " long & opened in 2011.", "is_bold": False},
        ],
    }
]
DUCKDUCKGO = """<html><body><div id="links" class="results">
<div class="result results_links results_links_deep result--ad"><h2 class="result__title">
<a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=shop.example">Buy bridges</a></h2>
</div>
<div class="result results_links results_links_deep web-result">
<div class="links_main links_deep result__body"><h2 class="result__title">
<a rel="nofollow" class="result__a"
 href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fbridge&amp;rut=abc">The longest bridge</a>
</h2><div class="result__extras"><span class="result__timestamp">2026-03-14T00:00:00.0000000</span></div>
<a class="result__snippet" href="//duckduckgo.com/l/?uddg=x">It is <b>164.8 km</b> long &amp; opened in
2011.</a></div></div></div></body></html>"""

SHAPES: dict[str, tuple[str, Any]] = {
    "searxng": ("/search", SEARXNG),
    "brave": ("/web/search", BRAVE),
    "tavily": ("/search", TAVILY),
    "exa": ("/search", EXA),
    "mwmbl": ("/search", MWMBL),
    "duckduckgo": ("/html/", DUCKDUCKGO),
}


def answering(name: str) -> tuple[str, SiteAnswer]:
    path, shape = SHAPES[name]
    body = shape if isinstance(shape, str) else json.dumps(shape)
    return path, SiteAnswer(
        body, type="text/html" if isinstance(shape, str) else "application/json"
    )


def table(site: ScriptedSite, name: str) -> dict[str, Any]:
    key = {"key_env": "SEARCH_KEY"} if PROVIDERS[name].needs_key else {}
    return {name: {"url": site.url("/").rstrip("/"), **key}}


@pytest.mark.parametrize("name", sorted(PROVIDERS))
async def test_provider_answers_in_one_shape(name: str) -> None:
    path, answer = answering(name)
    async with ScriptedSite({path: answer}) as site:
        environment = {"SEARCH_KEY": KEY}
        async with open_web_hub(providers=table(site, name), environment=environment) as web:
            found = await web.search("longest bridge", newer_than="2025-11-01", site="example.org")

    [hit] = found.structured["passages"]
    assert hit["address"] == "https://example.org/bridge"
    assert hit["title"] == "The longest bridge"
    assert hit["text"] == "It is 164.8 km long & opened in 2011."
    assert hit["date"] == ("" if name == "mwmbl" else "2026-03-14")
    assert found.passages[0].address == hit["address"]
    [seen] = site.seen
    sent = f"{seen.path} {seen.body.decode()} {dict(seen.headers)}"
    assert (KEY in sent) == PROVIDERS[name].needs_key
    assert KEY not in seen.path
    if name != "mwmbl":
        assert "example.org" in sent.replace("%3A", ":")
        assert ("2025-11-01" in sent) == (name != "searxng")


def fault(name: str, body: bytes) -> str:
    """What the provider says is wrong with an answer; empty if it finds hits, or none."""
    try:
        hits = list(PROVIDERS[name].hits(body))
    except ValueError as error:
        return str(error)
    return "" if all(isinstance(hit.address, str) for hit in hits) else "no hits"


@pytest.mark.parametrize("name", sorted(PROVIDERS))
@given(body=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
@pytest.mark.slow
def test_any_answer_is_hits_or_one_kind_of_error(name: str, body: bytes) -> None:
    assert fault(name, body) in {"", "it wants to see a person"} or "its answer" in fault(
        name, body
    )


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["web", "results", "url", "title", "content", "extract", "highlights", "value"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("name", sorted(set(PROVIDERS) - {"duckduckgo"}))
@given(value=_JSON)
@pytest.mark.slow
def test_json_of_another_shape_breaks_nothing(name: str, value: Any) -> None:
    said = fault(name, json.dumps(value).encode())

    assert not said or said.startswith("its answer")


@pytest.mark.parametrize(
    "trouble",
    [
        SiteAnswer(status=503),
        SiteAnswer(status=429, headers={"Retry-After": "60"}),
        SiteAnswer("<html>maintenance</html>", type="text/html"),
        SiteAnswer(status=401),
        SiteAnswer(status=302, headers={"Location": "http://127.0.0.1/"}),
        SiteAnswer(json.dumps({"results": []}), type="application/json"),
    ],
    ids=["down", "limited", "no JSON", "refused", "redirect", "empty"],
)
async def test_next_provider_is_asked_where_one_has_nothing(trouble: SiteAnswer) -> None:
    path, answer = answering("searxng")
    async with ScriptedSite({"/search": trouble}) as bad, ScriptedSite({path: answer}) as good:
        providers = table(bad, "tavily") | table(good, "searxng")
        async with open_web_hub(providers=providers, environment={"SEARCH_KEY": KEY}) as web:
            found = await web.search("longest bridge", limit=1)

    assert [each.address for each in found.passages] == ["https://example.org/bridge"]
    assert bad.asked_for("/search") == 1


async def test_without_any_answer_all_troubles_are_told_and_it_passes_if_one_does() -> None:
    async with ScriptedSite({"/search": SiteAnswer(status=401)}) as site:
        providers = table(site, "tavily") | {"brave": {"key_env": "NOT_SET"}}
        async with open_web_hub(providers=providers, environment={"SEARCH_KEY": KEY}) as web:
            with pytest.raises(ToolFailed) as failed:
                await web.search("longest bridge")
            said = str(failed.value)
            assert "tavily: does not take the key (401)" in said
            assert "brave: NOT_SET is not set in the worker's environment" in said
            site.pages["/search"] = SiteAnswer(status=503)
            with pytest.raises(ToolBusy, match=r"tavily: 127\.0\.0\.1:\d+ answers 503"):
                await web.search("longest bridge")


async def test_nothing_found_is_an_empty_answer() -> None:
    async with (
        ScriptedSite({"/search": SiteAnswer('{"results": []}')}) as site,
        open_web_hub(providers=table(site, "searxng")) as web,
    ):
        found = await web.search("longest bridge")

    assert found.structured == {"passages": []}, "the engine knows this as nothing found"


async def test_duckduckgo_that_wants_a_person_is_left_alone() -> None:
    def page(seen: SiteRequest) -> SiteAnswer:
        return SiteAnswer('<div class="anomaly-modal__title">Select all ducks</div>', 202 - 2)

    async with (
        ScriptedSite({"/html/": page}) as site,
        open_web_hub(providers=table(site, "duckduckgo")) as web,
    ):
        with pytest.raises(ToolBusy, match="wants to see a person"):
            await web.search("longest bridge")
        with pytest.raises(ToolBusy, match="left alone"):
            await web.search("another")
    assert len(site.seen) == 1


async def test_place_of_a_provider_is_not_let_be_fetched() -> None:
    path, answer = answering("searxng")
    async with ScriptedSite({path: answer}) as site:
        providers = table(site, "searxng")
        async with open_web_hub(providers=providers, ports=(site.port,)) as web:
            await web.search("longest bridge")
            with pytest.raises(ToolFailed, match="not public"):
                await web.fetch(site.url("/search?q=secrets"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"query": " "}, "query is empty"),
        ({"query": "a", "site": "not a host"}, "is not a host"),
        ({"query": "a", "newer_than": "last week"}, "YYYY-MM-DD"),
    ],
)
async def test_arguments_that_mean_nothing_say_what_to_write(
    arguments: dict[str, str], words: str
) -> None:
    async with open_web_hub() as web:
        with pytest.raises(ToolFailed, match=words):
            await web.search(**arguments)


async def test_without_providers_pages_can_be_read_only() -> None:
    async with open_web_hub(providers={}) as web:
        assert [each.name for each in await web.hub.signatures()] == ["web.fetch"]


async def test_key_is_in_no_error_log_or_answer(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    def echo(seen: SiteRequest) -> SiteAnswer:
        return SiteAnswer(
            json.dumps({"detail": f"bad key {KEY}"}), answers.pop(), "application/json"
        )

    answers = [200, 500, 401, 400]
    said: list[str] = []
    async with (
        ScriptedSite({"/search": echo}) as site,
        open_web_hub(providers=table(site, "tavily"), environment={"SEARCH_KEY": KEY}) as web,
    ):
        for _ in range(4):
            try:
                said.append(repr(await web.search("bridge")))
            except (ToolBusy, ToolFailed) as error:
                said.append(str(error))

    assert site.seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert len(said) == 4
    assert KEY not in "".join(said)
    ours = [each for each in caplog.records if not each.name.startswith(("hpack", "asyncio"))]
    assert KEY not in "\n".join(each.getMessage() for each in ours)


@pytest.mark.parametrize(
    ("name", "entry", "words"),
    [
        ("google", {}, "not a known provider; known: brave"),
        ("searxng", {}, 'write url = "http://localhost:8888"'),
        ("brave", {}, 'key_env = "BRAVE_API_KEY"'),
    ],
)
def test_provider_that_lacks_something_says_what_to_write(
    name: str, entry: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadConfiguration, match=words):
        configure_providers({name: ProviderSettings.model_validate(entry)}, {})


async def test_key_is_not_shown_by_what_holds_it() -> None:
    tables = {"brave": ProviderSettings(key_env="B"), "mwmbl": ProviderSettings()}
    table = WebSettings(providers=tables)
    async with open_web_resources(table, {"B": KEY}) as (parts, _):
        assert parts.search is not None
        assert KEY not in repr(parts.search)
        assert parts.search.secrets == (KEY,)
