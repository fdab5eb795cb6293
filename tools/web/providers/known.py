"""All search providers by the name that `[web.providers.NAME]` calls them."""

from collections.abc import Mapping

from tools.web.providers.base import Provider
from tools.web.providers.brave import Brave
from tools.web.providers.duckduckgo import DuckDuckGo
from tools.web.providers.exa import Exa
from tools.web.providers.mwmbl import Mwmbl
from tools.web.providers.searxng import SearXNG
from tools.web.providers.tavily import Tavily

PROVIDERS: Mapping[str, Provider] = {
    "brave": Brave(),
    "duckduckgo": DuckDuckGo(),
    "exa": Exa(),
    "mwmbl": Mwmbl(),
    "searxng": SearXNG(),
    "tavily": Tavily(),
}
