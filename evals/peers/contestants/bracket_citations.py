"""Check a plain answer that cites titles in brackets: do the titles exist, do its quotes stand?"""

import re

from holdfast.evals.peers.contestants.contestant_interface import ANSWER_LABEL, Delivered
from holdfast.evals.peers.question_sets import QuestionSet
from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.planning.loop.passage_numbers import passage_title
from holdfast.planning.text.folded_text import fold_text
from holdfast.tools.documents.passage_splitter import split_passages

_CITATION = re.compile(r"\[([^\[\]\n]{2,300})\](?!\()")
_QUOTE = re.compile(r"[“\"]([^”\"\n]{12,600})[”\"]")
_ANSWER = re.compile(rf"^\W*{ANSWER_LABEL}[\s*_]*(.+)$", re.MULTILINE | re.IGNORECASE)


def check_plain_answer(text: str, given: QuestionSet, searches: int = 0) -> Delivered:
    """Return the answer with its citations and quotes counted."""
    titles = {fold_text(each).text for each in passage_titles(given)}
    cited = [part for each in _CITATION.findall(text) for part in _parts(each, titles)]
    documents = [fold_text(each.text) for each in given.documents]
    quotes = [fold_text(each) for each in _QUOTE.findall(text)]
    short = _ANSWER.search(text)
    return Delivered(
        text=text,
        answer=short.group(1).strip() if short else text,
        citations=len(cited),
        citations_that_exist=sum(fold_text(each).text in titles for each in cited),
        quotes=len(quotes),
        quotes_that_stand=sum(any(doc.find(each) for doc in documents) for each in quotes),
        searches=searches,
    )


def passage_titles(given: QuestionSet) -> set[str]:
    """Return the title of every passage, as the search shows it."""
    return {
        passage_title(
            SourcePassage(
                address=each.address,
                title=each.title,
                heading=span.heading,
                text="",
                start=0,
                end=0,
            )
        )
        for each in given.documents
        for span in split_passages(each.text)
    }


def _parts(cited: str, titles: set[str]) -> list[str]:
    """A citation, or several in one pair of brackets."""
    if fold_text(cited).text in titles:
        return [cited]
    return [part.strip() for part in re.split(r"[;|]", cited) if part.strip()]
