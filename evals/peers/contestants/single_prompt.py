"""Answer with a single prompt: the question over its ten best passages."""

import httpx2

from holdfast.evals.peers.contestants.bracket_citations import check_plain_answer
from holdfast.evals.peers.contestants.contestant_interface import (
    CITE_AND_SAY,
    Delivered,
    RunOrder,
)
from holdfast.evals.peers.shared_search import SharedSearch

_PASSAGES = 10
_TIMEOUT_S = 1_800.0
_INSTRUCTIONS = f"Answer the question from the passages alone. {CITE_AND_SAY}"


class SinglePrompt:
    """The question and its best passages, asked once."""

    def __init__(self, search: SharedSearch) -> None:
        self._search = search

    async def answer(self, order: RunOrder) -> Delivered:
        """Return the model's reply."""
        found = await self._search.find(order.given.collection, order.question.text, _PASSAGES)
        passages = "\n\n".join(f"[{each.title}]\n{each.text}" for each in found)
        request = {
            "model": order.run,
            "messages": [
                {"role": "system", "content": _INSTRUCTIONS},
                {"role": "user", "content": f"{order.question.text}\n\n{passages}"},
            ],
        }
        async with httpx2.AsyncClient(timeout=_TIMEOUT_S) as client:
            sent = await client.post(f"{order.address}/v1/chat/completions", json=request)
        if sent.status_code != 200:
            return Delivered(text="", failure=f"the endpoint said {sent.status_code}")
        text = sent.json()["choices"][0]["message"]["content"] or ""
        return check_plain_answer(text, order.given, searches=1)
