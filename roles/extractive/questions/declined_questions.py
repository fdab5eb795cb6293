"""Tell which questions the rules cannot answer, as one value that stands in the documents does.

Of two questions in one sentence the rules answer the first, and name the second.

A rule that reads values finds some number for `how many days passed from A to B`, some sentence for
words that it does not know, and the first of many for `which actions were decided`. All would be
wrong, so the question is declined, with the reason; what was read is reported all the same.
"""

import re

from holdfast.roles.extractive.questions.letter_phrases import without_letter_phrases
from holdfast.roles.extractive.questions.question_analysis import parse_question
from holdfast.roles.extractive.text.words_and_sentences import words

_MORE = (
    "more|fewer|less|larger|smaller|bigger|longer|shorter|older|younger|higher|lower|taller|"
    "heavier|lighter|cheaper|earlier|later|faster|slower|wider|deeper"
)
_TIMES = "days|weeks|months|years|hours|minutes|seconds"
_CALCULATES = re.compile(
    rf"\bhow (?:many|much) (?:\w+ )?(?:{_MORE})\b.*\bthan\b|\bby how (?:many|much)\b"
    r"|\bwhat (?:is|was|were|are) the (?:difference|sum|total|average|mean) (?:between|of|in)\b"
    rf"|\bhow (?:many (?:{_TIMES})|much time|long) (?:passed|elapsed|went by)\b"
    rf"|\bhow many (?:{_TIMES})\b.*\bbetween\b.*\band\b",
    re.IGNORECASE,
)
_PLURAL_ONLY = "hours|costs|terms|headquarters|premises|damages|odds|proceeds|earnings|savings"
"""Plurals that often name one value: `the opening hours`, `the costs of the repair`."""
_MANY = rf"(?!(?:{_PLURAL_ONLY})\b)[a-z][a-z-]+(?<![siu])s"
_NO_PLURAL = (
    "series|species|news|gas|lens|canvas|means|goods|works|sales|details|atlas|bias|alias|"
    "christmas|corps|crossroads|barracks|[a-z]+ics|does|has|was"
)
"""Words that end as a plural does, and name one thing or may do so."""
_PLURAL = rf"(?!(?:{_NO_PLURAL})\b){_MANY}"
_QUALIFIER = (
    r"(?:(?!(?:of|in|at|for|by|from|with|to|that|who|which|do|does|did|can|must|may|will|would|"
    r"should|has|have|had|is|are|was|were)\s)[a-z-]+\s+)"
)
"""A word before the noun; what follows one of these belongs to another phrase."""
_VERBS_OF_MANY = (
    "do|did|does|has|would|should|can|must|may|will|use|cost|end|expire|begin|start|need|require|"
    "include|belong|exceed|apply|remain|happen|happened|occur|occurred|run|hold|store|supply|"
    "provide|pay|owe|work|lie|attend|attended|report|reported|sign|signed"
)
"""Verbs that follow a plural, as its own or as those of the words after it."""
_EVENTS = "meeting|inspection|workshop|conference|session|hearing|visit|training|ceremony"
_LIST = re.compile(
    rf"^(?:[Ww]hich|[Ww]hat)\s+(?:[a-z-]+\s+){{0,3}}?{_MANY}\s+(?:are|were|have)\b(?!.*\bor\b)"
    rf"|^(?:[Ww]hich|[Ww]hat)\s+{_QUALIFIER}{{0,2}}?{_PLURAL}\s+(?:of|in|at|from|for|with|on)\s+"
    rf"(?:[\w-]+\s+){{1,3}}?(?:are|were|have|remain)\b(?!.*\bor\b)"
    rf"|^[Ww]hich\s+{_QUALIFIER}{{0,2}}?{_PLURAL}\s+(?:(?:of|in|at|from|for|with)\s+(?:the\s+)?"
    rf"[\w-]+\s+){{0,2}}(?:{_VERBS_OF_MANY})\b(?!.*\bor\b)"
    rf"|^[Ww]ho\s+(?:attended|took part in|(?:was|were) present at)\s+the\s+{_QUALIFIER}{{0,2}}?"
    rf"(?:{_EVENTS})(?:\s+(?:of|on|at|in)\s+(?!.*\b(?:for|as|from|when|with|behalf)\b).*)?\W*$"
    rf"|^(?:[Nn]ame|[Ss]tate|[Gg]ive)\s+(?:me\s+)?(?:all|each|every|the)\s+{_QUALIFIER}{{0,2}}?"
    rf"(?!(?:{_TIMES})\b){_PLURAL}(?=\W*$|\s+(?:of|in|at|for|that|who|from|with)\b)"
    rf"|^(?:[Ww]hich|[Ww]hat|[Ww]ho)\s+(?:are|were)\s+(?:all\s+)?the\s+(?:(?!of\b)[a-z-]+\s+){{0,3}}?"
    rf"{_MANY}\b(?!.*\bor\b)"
)
_ACCOUNT = re.compile(
    r"^(?:please\s+)?(?:summari[sz]e|describe|explain(?!\s+(?:who|when|where)\b)"
    r"|(?:list|outline)\s+(?:all|each|every|the|an?|these|those|any)|tell me (?:about|what|all)"
    r"|give (?:me )?an? (?:overview|summary|list|account))\b",
    re.IGNORECASE,
)
_USUAL_IN_ENGLISH = """
the of what which who whom whose how did does when where why are were and by with for from has have
had its their that this
"""
_ENGLISH = frozenset(_USUAL_IN_ENGLISH.split())
_USUAL_ELSEWHERE = """
wer wie wo wann warum welche welcher welches wieviel der die das den dem des ein eine einen im
sind wird wurde und von für mit auf nach bei zum zur
qui que quoi quel quelle quels quelles où quand combien pourquoi comment le la les du un une est
sont dans pour avec sur et
quién quiénes qué cuál cuáles dónde cuándo cuánto cuánta cuántos por el los las del una es son en
con y para
chi che quale quali dove quando quanto quanti perché come il lo gli della dello dei è sono nel di
per wat welke waar wanneer hoe hoeveel waarom het een zijn van voor met op bij
quem qual quais onde quantos o os as do da dos das em um uma são
vem vad vilken vilket var när hur och är av på till
"""
_FOREIGN = frozenset(_USUAL_ELSEWHERE.split())
_LEAST_FOREIGN = 2


def why_declined(question: str) -> str:
    """Return why the rules do not answer the question; empty if they do."""
    question = without_letter_phrases(question)
    if _CALCULATES.search(question):
        return (
            "The question asks for a calculation; "
            "the built-in model quotes values, and calculates none."
        )
    if _LIST.search(question) or _ACCOUNT.search(question):
        return (
            "The question asks for a list or an account; "
            "the built-in model quotes one value, and writes neither."
        )
    if is_foreign(question):
        return "The question does not seem to be in English; the built-in model reads only English."
    return ""


def unanswered_part(question: str) -> str:
    """Return the gap for the second of two questions in one sentence; empty if it is one."""
    also = parse_question(question).second_question.rstrip(" ?")
    if not also:
        return ""
    return (
        "The second part of the question was not looked into, because the built-in model answers "
        f"one question at a time: {also}?"
    )


def is_foreign(question: str) -> bool:
    """True if the question has words of another language, and none of the usual English ones."""
    letters = [sign for sign in question if sign.isalpha()]
    if sum(not _is_latin(sign) for sign in letters) * 2 > len(letters):
        return True
    said = [each.text.casefold() for each in words(question)]
    if not _ENGLISH.isdisjoint(said):
        return False
    return sum(each in _FOREIGN for each in said) >= _LEAST_FOREIGN


def _is_latin(letter: str) -> bool:
    return ord(letter) < _AFTER_LATIN


_AFTER_LATIN = 0x250
"""The letters of Latin alphabets, with their accents, stand before this code."""
