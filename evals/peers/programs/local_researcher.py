"""Answer a question with gpt-researcher over local documents (runs in the peers' environment).

Reads the order as JSON from standard input, and prints the answer as JSON. The program writes its
own kind of report. Its documents are a vector store, as its documentation has it; this one asks the
search of the comparison, so nothing is embedded.
"""

import asyncio
import json
import os
import re
import sys
import tempfile
from typing import Any, ClassVar

import httpx
import tiktoken

_ORDER: dict[str, Any] = json.load(sys.stdin) if __name__ == "__main__" else {}
_PASSAGES = 4
_TIMEOUT_S = 60
_LINK = re.compile(r"\[[^\]\n]*\]\(((?:[^()\n]|\([^()\n]*\))+)\)")


class _Letters:
    """Counts tokens as a quarter of the letters: the real tables are a download."""

    def encode(self, text: str) -> range:
        return range(len(text) // 4)


class SharedPassages:
    """The search of the comparison, as the retriever and as the vector store of the program."""

    searches: ClassVar[int] = 0

    def __init__(self, query: str = "", **_settings: object) -> None:
        self.query = query

    def search(self, max_results: int = _PASSAGES) -> list[dict[str, str]]:
        """Return what the program's planner of queries is shown."""
        found = _found(self.query, min(max_results, _PASSAGES))
        return [{"title": p["title"], "href": p["title"], "body": p["text"]} for p in found]

    async def asimilarity_search(self, query: str, **_settings: object) -> list[Any]:
        """Return the passages of one of its queries as documents."""
        from langchain_core.documents import Document

        found = await asyncio.to_thread(_found, query, _PASSAGES)
        return [
            Document(
                page_content=each["text"],
                metadata={"source": each["title"], "title": each["title"]},
            )
            for each in found
        ]


def _found(query: str, limit: int) -> list[dict[str, str]]:
    SharedPassages.searches += 1
    asked = {"collection": _ORDER["collection"], "query": query, "limit": limit}
    reply = httpx.post(f"{_ORDER['address']}/search", json=asked, timeout=_TIMEOUT_S)
    reply.raise_for_status()
    found: list[dict[str, str]] = reply.json()
    return found


async def main() -> None:
    """Run the program on the order."""
    tiktoken.get_encoding = lambda _name: _Letters()
    model = f"openai:{_ORDER['run']}"
    os.environ |= {
        "OPENAI_BASE_URL": f"{_ORDER['address']}/v1",
        "OPENAI_API_KEY": "none",
        "RETRIEVER": "custom",
        "RETRIEVER_ENDPOINT": f"{_ORDER['address']}/search",
        **dict.fromkeys(("FAST_LLM", "SMART_LLM", "STRATEGIC_LLM"), model),
    }
    from gpt_researcher import GPTResearcher

    researcher = GPTResearcher(
        query=_ORDER["question"],
        report_type="research_report",
        report_source="langchain_vectorstore",
        vector_store=SharedPassages(),
        verbose=False,
    )
    researcher.retrievers = [SharedPassages]
    await researcher.conduct_research()
    report = await researcher.write_report()
    # Its citations are links to a document; the comparison reads titles in brackets.
    told = {"text": _LINK.sub(r"[\1]", report), "searches": SharedPassages.searches}
    sys.stdout.write(f"\n{json.dumps(told)}")


if __name__ == "__main__":
    os.chdir(tempfile.mkdtemp())  # the program writes a log where it runs
    asyncio.run(main())
