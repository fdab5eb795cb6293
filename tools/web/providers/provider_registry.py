"""List all search providers by their name in `[web.providers.NAME]`."""

from collections.abc import Mapping

from holdfast.tools.web.providers.brave import Brave
from holdfast.tools.web.providers.duckduckgo import DuckDuckGo
from holdfast.tools.web.providers.exa import Exa
from holdfast.tools.web.providers.mwmbl import Mwmbl
from holdfast.tools.web.providers.search_provider import SearchProvider
from holdfast.tools.web.providers.searxng import SearXNG
from holdfast.tools.web.providers.tavily import Tavily

PROVIDERS: Mapping[str, SearchProvider] = {
    "brave": Brave(),
    "duckduckgo": DuckDuckGo(),
    "exa": Exa(),
    "mwmbl": Mwmbl(),
    "searxng": SearXNG(),
    "tavily": Tavily(),
}
