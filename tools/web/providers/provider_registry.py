"""List all search providers by their name in `[web.providers.NAME]`."""

from collections.abc import Mapping

from tools.web.providers.brave import Brave
from tools.web.providers.duckduckgo import DuckDuckGo
from tools.web.providers.exa import Exa
from tools.web.providers.mwmbl import Mwmbl
from tools.web.providers.search_provider import SearchProvider
from tools.web.providers.searxng import SearXNG
from tools.web.providers.tavily import Tavily

PROVIDERS: Mapping[str, SearchProvider] = {
    "brave": Brave(),
    "duckduckgo": DuckDuckGo(),
    "exa": Exa(),
    "mwmbl": Mwmbl(),
    "searxng": SearXNG(),
    "tavily": Tavily(),
}
