"""Tests for reading web pages over real HTTP through the hub."""

import gzip
import io
import json
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from reportlab.pdfgen import canvas

from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.errors import ToolBusy, ToolFailed
from holdfast.tools.mcp.answers.error_results import is_gone
from holdfast.tools.mcp.meta_keys import READS_KEY
from tests.support.tools.hostile_web import ScriptedSite, SiteAnswer, SiteRequest, redirect
from tests.support.tools.web_hub import WebHub, open_web_hub

ARTICLE = """<!doctype html><html><head><title>Bridges | The Daily</title>
<meta property="og:title" content="The longest bridge">
<meta name="author" content="Ada Writer">
<meta property="article:published_time" content="2026-03-14T09:30:00+01:00"></head><body>
<nav><a href="/">Home</a> <a href="/news">News</a></nav><article><h1>The longest bridge</h1>
<p>The bridge at Lanyang is 164.8 kilometres long, which makes it the longest bridge of all.
It carries a railway line and was opened in June 2011 after four years of building.</p>
<h2>Costs</h2><p>It cost about 8.5 billion dollars, most of which went into its pillars.
Ten thousand people worked on it, and it has not needed any large repair since then.</p>
</article><footer>Copyright</footer></body></html>"""


@pytest.fixture(scope="module")
async def site() -> AsyncIterator[ScriptedSite]:
    async with ScriptedSite() as site:
        yield site


@pytest.fixture(scope="module")
async def web(site: ScriptedSite) -> AsyncIterator[WebHub]:
    async with open_web_hub(site) as web:
        yield web


def said(answer: ToolAnswer) -> str:
    return "\n".join(passage.text for passage in answer.passages)


async def test_article_comes_with_title_date_and_author(web: WebHub, site: ScriptedSite) -> None:
    site.pages["/bridge"] = ARTICLE

    answer = await web.fetch(site.url("/bridge#costs"))

    page = answer.structured
    assert page["address"] == site.url("/bridge")
    assert page["title"] == "The longest bridge"
    assert (page["date"], page["author"]) == ("2026-03-14", "Ada Writer")
    assert "8.5 billion dollars" in said(answer)
    assert "Copyright" not in said(answer)
    costs = next(each for each in answer.passages if "billion" in each.text)
    assert costs.heading.endswith("Costs")
    assert (costs.address, costs.title) == (page["address"], page["title"])
    assert page["passages"][0]["date"] == "2026-03-14"


async def test_long_page_comes_in_parts_that_give_the_whole(
    web: WebHub, site: ScriptedSite
) -> None:
    text = "\n\n".join(f"Paragraph {n}: " + "a word or two more " * 30 for n in range(150))
    site.pages["/long"] = SiteAnswer(text, type="text/plain")

    parts = [await web.fetch(site.url("/long"))]
    while (start := parts[-1].structured["next_start"]) is not None:
        parts.append(await web.fetch(site.url("/long"), start=start))

    assert len(parts) > 2
    assert site.asked_for("/long") == 1, "all parts are of one reading"
    passages = [passage for part in parts for passage in part.passages]
    assert all(text[each.start : each.end] == each.text for each in passages)
    assert "".join("".join(each.text for each in passages).split()) == "".join(text.split())
    with pytest.raises(ToolFailed, match="none are left"):
        await web.fetch(site.url("/long"), start=10**6)


async def test_fresh_page_comes_whole(web: WebHub, site: ScriptedSite) -> None:
    site.pages["/whole"] = SiteAnswer("\n\n".join(["word " * 100] * 100), type="text/plain")

    answer = await web.fetch(site.url("/whole"), fresh=True)

    assert answer.structured["next_start"] is None
    assert answer.structured["total_chars"] > 40_000


async def test_pdf_is_read(web: WebHub, site: ScriptedSite) -> None:
    packed = io.BytesIO()
    sheet = canvas.Canvas(packed)
    sheet.setTitle("Annual report")
    sheet.drawString(72, 720, "Revenue was 41 million euros.")
    sheet.save()
    # Called something else: what it is counts.
    site.pages["/report"] = SiteAnswer(packed.getvalue(), type="application/octet-stream")

    answer = await web.fetch(site.url("/report"))

    assert "Revenue was 41 million euros." in said(answer)
    assert answer.structured["title"] == "Annual report"


async def test_json_and_text_are_read_as_they_stand(web: WebHub, site: ScriptedSite) -> None:
    data = json.dumps({"price": "1.50", "names": ["Zoë"]}, ensure_ascii=False)
    site.pages["/data"] = SiteAnswer(data, type="application/vnd.api+json")
    site.pages["/notes.md"] = SiteAnswer("# Notes\n\nThe price is 1.50.", type="text/markdown")

    assert said(await web.fetch(site.url("/data"))) == data
    answer = await web.fetch(site.url("/notes.md"))
    assert said(answer) == "The price is 1.50."
    assert answer.passages[0].heading == "Notes"


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("Größe: 5 µm, naïve café", "utf-8"),
        ("Größe: 5 µm, naïve café", "iso-8859-1"),
        ("Привет, мир. Это страница.", "koi8-r"),
        ("日本語のページです。", "shift_jis"),
        ("日本語のページです。", "iso-2022-jp"),
        ("Größe", "utf-16"),
    ],
)
async def test_charset_that_the_server_says(
    web: WebHub, site: ScriptedSite, body: str, charset: str
) -> None:
    path = f"/charset/{charset}"
    site.pages[path] = SiteAnswer(body.encode(charset), type=f"text/plain; charset={charset}")

    assert said(await web.fetch(site.url(path))) == body


@pytest.mark.parametrize(
    ("encoded", "lie"),
    [("utf-8", "iso-8859-1"), ("cp1252", "utf-8"), ("utf-8", "utf-7"), ("utf-8", "rot13")],
)
async def test_charset_that_is_a_lie(
    web: WebHub, site: ScriptedSite, encoded: str, lie: str
) -> None:
    path = f"/lie/{encoded}/{lie}"
    text = "The café of Zoë has 25 seats and is open every day of the week."
    site.pages[path] = SiteAnswer(text.encode(encoded), type=f"text/plain; charset={lie}")

    assert said(await web.fetch(site.url(path))) == text


@pytest.mark.parametrize("coding", ["gzip", "deflate", "raw"])
async def test_packed_page_is_unpacked(web: WebHub, site: ScriptedSite, coding: str) -> None:
    packer = zlib.compressobj(wbits=-15)
    body = {
        "gzip": gzip.compress(ARTICLE.encode()),
        "deflate": zlib.compress(ARTICLE.encode()),
        "raw": packer.compress(ARTICLE.encode()) + packer.flush(),
    }[coding]
    name = "deflate" if coding == "raw" else coding
    site.pages[f"/{coding}"] = SiteAnswer(body, headers={"Content-Encoding": name})

    assert "8.5 billion" in said(await web.fetch(site.url(f"/{coding}")))
    assert site.seen[-1].headers["accept-encoding"] == "gzip, deflate"


async def test_redirects_are_followed_and_the_end_is_the_address(
    web: WebHub, site: ScriptedSite
) -> None:
    site.pages |= {
        "/old": redirect("/older", 301),
        "/older": redirect(site.url("/new?a=b"), 308),
        "/new": ARTICLE,
    }

    answer = await web.fetch(site.url("/old"))

    assert {each.address for each in answer.passages} == {site.url("/new?a=b")}


async def test_cookies_are_neither_kept_nor_sent(web: WebHub, site: ScriptedSite) -> None:
    site.pages["/login"] = SiteAnswer(
        status=302, headers={"Location": "/inside", "Set-Cookie": "session=abc; Path=/"}
    )
    site.pages["/inside"] = ARTICLE

    await web.fetch(site.url("/login"))

    assert not any("cookie" in each.headers for each in site.seen)


async def test_young_page_is_remembered_and_fresh_asks_again(
    web: WebHub, site: ScriptedSite
) -> None:
    site.pages["/twice"] = "<p>The first version of this page says ten.</p>"
    first = await web.fetch(site.url("/twice"))
    site.pages["/twice"] = "<p>The second version of this page says eleven.</p>"

    assert said(await web.fetch(site.url("/twice"))) == said(first)
    assert "eleven" in said(await web.fetch(site.url("/twice"), fresh=True))
    assert "eleven" in said(await web.fetch(site.url("/twice")))
    assert site.asked_for("/twice") == 2


async def test_planner_sees_neither_fresh_nor_can_it_set_it(
    web: WebHub, site: ScriptedSite
) -> None:
    signature = next(each for each in await web.hub.signatures() if each.name == "web.fetch")
    assert set(signature.input_schema["properties"]) == {"url", "start"}
    assert signature.is_repeatable
    assert (web.hub._places["web"].link.tools["fetch"].tool.meta or {})[READS_KEY] == "url"


async def test_page_that_must_not_be_stored_is_asked_for_again(
    web: WebHub, site: ScriptedSite
) -> None:
    site.pages["/private"] = SiteAnswer(ARTICLE, headers={"Cache-Control": "private, no-store"})

    await web.fetch(site.url("/private"))
    await web.fetch(site.url("/private"))

    assert site.asked_for("/private") == 2


async def test_old_page_is_asked_after_and_taken_if_unchanged() -> None:
    def page(seen: SiteRequest) -> SiteAnswer:
        if seen.headers.get("if-none-match") == '"v1"':
            return SiteAnswer(status=304)
        return SiteAnswer(ARTICLE, headers={"ETag": '"v1"'})

    async with ScriptedSite({"/page": page}) as site, open_web_hub(site, cache_minutes=1e-6) as web:
        first = await web.fetch(site.url("/page"))
        second = await web.fetch(site.url("/page"))
        await web.fetch(site.url("/page"), fresh=True)

    assert said(first) == said(second)
    asked = [each.headers.get("if-none-match") for each in site.seen if each.path == "/page"]
    assert asked == [None, '"v1"', None], "a fresh reading takes nobody's word"


async def test_page_that_is_gone_says_so_in_a_way_that_is_understood(
    web: WebHub, site: ScriptedSite
) -> None:
    for status, is_said in ((404, True), (410, True), (403, False)):
        site.pages["/was"] = SiteAnswer(status=status)
        link = web.hub._places["web"].link
        result = await link.call("fetch", {"url": site.url("/was")}, seconds=30, is_repeatable=True)
        assert result.is_error
        assert is_gone(result) == is_said


@pytest.mark.parametrize(
    ("status", "words"), [(404, "is not there"), (403, "does not let"), (410, "is gone")]
)
async def test_page_that_is_not_there_fails_for_good(
    web: WebHub, site: ScriptedSite, status: int, words: str
) -> None:
    site.pages[f"/{status}"] = SiteAnswer("<p>sorry</p>", status)

    with pytest.raises(ToolFailed, match=words):
        await web.fetch(site.url(f"/{status}"))


async def test_busy_host_is_left_alone_as_long_as_it_wants() -> None:
    site = ScriptedSite({"/page": SiteAnswer(status=429, headers={"Retry-After": "120"})})
    async with site, open_web_hub(site, robots="ignore") as web:
        with pytest.raises(ToolBusy, match="answers 429"):
            await web.fetch(site.url("/page"))
        site.pages["/page"] = ARTICLE
        with pytest.raises(ToolBusy, match="left alone"):
            await web.fetch(site.url("/page"))

        assert site.asked_for("/page") == 1


async def test_host_that_wants_hours_or_fails_on_and_on_is_given_up() -> None:
    site = ScriptedSite({"/page": SiteAnswer(status=503)})
    async with site, open_web_hub(site, robots="ignore") as web:
        for _ in range(3):
            with pytest.raises(ToolBusy, match="answers 503"):
                await web.fetch(site.url("/page"))
        with pytest.raises(ToolFailed, match="4 times in a row: use another source"):
            await web.fetch(site.url("/page"))

    site = ScriptedSite({"/page": SiteAnswer(status=503, headers={"Retry-After": "7200"})})
    async with site, open_web_hub(site, robots="ignore") as web:
        with pytest.raises(ToolFailed, match="use another source"):
            await web.fetch(site.url("/page"))


async def test_host_that_does_not_answer_passes() -> None:
    async with ScriptedSite() as site, open_web_hub(site) as web:
        site._server.close()
        await site._server.wait_closed()
        with pytest.raises(ToolBusy, match="does not take the connection"):
            await web.fetch(site.url("/"))


@pytest.mark.slow
async def test_robots_are_obeyed_unless_the_operator_says_otherwise() -> None:
    robots = "User-agent: *\nDisallow: /private\n\nUser-agent: holdfast\nDisallow: /not-for-us\n"
    pages = {"/robots.txt": SiteAnswer(robots, type="text/plain")}
    pages |= dict.fromkeys(("/private", "/not-for-us"), SiteAnswer(ARTICLE))
    pages |= {"/leads": redirect("/not-for-us")}
    async with ScriptedSite(pages) as site, open_web_hub(site) as web:
        for path in ("/not-for-us", "/leads"):
            with pytest.raises(ToolFailed, match=r"robots\.txt"):
                await web.fetch(site.url(path))
        await web.fetch(site.url("/private"))

        assert site.asked_for("/not-for-us") == 0
        assert site.asked_for("/robots.txt") == 1, "it is remembered"
        async with open_web_hub(site, robots="ignore") as careless:
            await careless.fetch(site.url("/not-for-us"))


async def test_robots_that_cannot_be_had_let_nothing_be_read() -> None:
    pages = {"/robots.txt": SiteAnswer(status=500), "/page": ARTICLE}
    async with ScriptedSite(pages) as site, open_web_hub(site) as web:
        with pytest.raises(ToolBusy, match="answers 500"):
            await web.fetch(site.url("/page"))

        assert site.asked_for("/page") == 0


async def test_agent_says_who_it_is() -> None:
    async with (
        ScriptedSite({"/": ARTICLE}) as site,
        open_web_hub(site, contact="ada@example.org") as web,
    ):
        await web.fetch(site.url("/"))

    agents = {each.headers["user-agent"] for each in site.seen}
    assert agents == {"holdfast/0.1 (research engine; ada@example.org)"}


async def test_proxy_of_the_environment_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with ScriptedSite({"/": "<p>I am the proxy of someone else.</p>"}) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url())
        async with ScriptedSite({"/": ARTICLE}) as site, open_web_hub(site) as web:
            await web.fetch(site.url("/"))

    assert not proxy.seen
