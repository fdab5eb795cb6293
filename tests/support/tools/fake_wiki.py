"""A wiki with two articles that answers as MediaWiki's API does."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.tools.hostile_web import SiteAnswer, SiteRequest

TEMPLE = """<div class="mw-content-ltr mw-parser-output" lang="en" dir="ltr">
<div class="shortdescription noprint">American actress</div>
<p><b>Shirley Temple Black</b> (April 23, 1928 – February 10, 2014) was an American actress and
diplomat.<sup class="reference"><a href="#cite_note-1">[1]</a></sup> She was the leading child star
of her time.</p>
<div class="mw-heading mw-heading2"><h2 id="Early_years">Early years</h2>
<span class="mw-editsection">[edit]</span></div>
<p>Temple was born on April 23, 1928, in Santa Monica. She had two brothers.</p>
<div class="mw-heading mw-heading2"><h2 id="Career">Career</h2></div>
<p>Her career began when she was three years old. It lasted for twenty years.</p>
<div class="mw-heading mw-heading3"><h3 id="Diplomatic_career">Diplomatic career</h3></div>
<p>Temple was appointed Chief of Protocol of the United States in 1976. She was an ambassador to
Ghana and to Czechoslovakia.</p>
<div class="mw-heading mw-heading2"><h2 id="Death">Death</h2></div>
<table class="wikitable"><tbody><tr><th>Year</th><th>Film</th></tr>
<tr><td>1934</td><td>Bright Eyes</td></tr></tbody></table><ul><li>One<ul><li>Two</li></ul></li></ul>
<p>Temple died on February 10, 2014, at the age of 85.</p>
<div class="navbox">Navigation to other actresses</div></div>"""
DRINK = """<div class="mw-parser-output"><p>A <b>Shirley Temple</b> is a drink without alcohol that is
made with ginger ale and a splash of grenadine, and served with a cherry.</p></div>"""
PAGES = {"Shirley Temple": (7, TEMPLE), "Shirley Temple (drink)": (8, DRINK)}
REDIRECTS = {"Shirley Temple Black": "Shirley Temple", "Temple": "Temple (disambiguation)"}


@dataclass
class FakeWiki:
    """Answers as the API does, in the shapes of its documentation."""

    fault: str = ""
    asked: list[dict[str, str]] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)

    def answer(self, seen: SiteRequest) -> SiteAnswer:
        self.agents.add(seen.headers["user-agent"])
        asked = {key: values[0] for key, values in parse_qs(urlsplit(seen.path).query).items()}
        self.asked.append(asked)
        if self.fault:
            error = {"code": self.fault, "info": "Waiting for a database server: 7 seconds lagged."}
            return _json({"error": error})
        if asked["action"] == "parse":
            text = next(text for number, text in PAGES.values() if str(number) == asked["oldid"])
            return _json({"parse": {"title": "any", "text": text}})
        return self._searched(asked) if "srsearch" in asked else self._titled(asked["titles"])

    def _searched(self, asked: dict[str, str]) -> SiteAnswer:
        words = asked["srsearch"].lower().split()
        found = [
            {
                "ns": 0,
                "title": title,
                "snippet": f'The <span class="searchmatch">{words[0]}</span> of &quot;{title}&quot;',
                "timestamp": "2026-05-06T07:08:09Z",
            }
            for title in PAGES
            if any(word in title.lower() for word in words)
        ]
        info = {"totalhits": len(found), **({} if found else {"suggestion": "shirley temple"})}
        general = {"server": "//en.wikipedia.org", "articlepath": "/wiki/$1"}
        query = {"searchinfo": info, "search": found[: int(asked["srlimit"])], "general": general}
        return _json({"batchcomplete": True, "query": query})

    def _titled(self, title: str) -> SiteAnswer:
        moved = [{"from": title, "to": REDIRECTS[title]}] if title in REDIRECTS else []
        title = REDIRECTS.get(title, title)
        if title not in PAGES:
            return _json({"query": {"pages": [{"ns": 0, "title": title, "missing": True}]}})
        number, _ = PAGES[title]
        page = {
            "pageid": number,
            "title": title,
            "fullurl": f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}",
            "revisions": [{"revid": number, "timestamp": "2026-05-06T07:08:09Z"}],
        }
        if "drink" in title:
            page["pageprops"] = {"disambiguation": ""}
        return _json({"query": {"redirects": moved, "pages": [page]}})


def _json(value: Any) -> SiteAnswer:
    return SiteAnswer(json.dumps(value), type="application/json")
