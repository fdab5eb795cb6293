"""Read the question out of a letter: without its greeting, its thanks and its `please tell me`."""

import re

_ASKING = r"who|whom|whose|what|which|when|where|why|how"
_GREETING = re.compile(
    r"^\W*(?:dear|hello|hi|hey|good (?:morning|afternoon|evening))\b[^,.!?:;\n]{0,60}[,.!;\n]\s*"
    rf"(?=(?:{_ASKING}|please|kindly|could|can|would|will|do|does|did|is|are|was|were|has|have|"
    r"i|we|tell|let|summari[sz]e|list|describe|explain)\b)",
    re.IGNORECASE,
)
"""What follows says that it is a greeting: `Dear John, a film of 1953` begins with a title."""
_REQUESTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:please|kindly)\W+",
        r"^(?:could|can|would|will) you (?:please |kindly )?(?=(?:tell|let|look|find|check|say)\b)",
        r"^(?:i|we)(?: would| should|['’]d) like (?=to know\b)",
        (
            rf"^(?:tell (?:me|us)|let (?:me|us) know|to know|find out|look up|check|say)\W+"
            rf"(?=(?:{_ASKING})\b)"
        ),
    )
)
_CLOSING = re.compile(
    r"(?<=[.!?,;\n])\s*(?:(?:many |with |kind |best |warm )*"
    r"(?:thanks|thank you|regards|wishes|greetings)\b"
    r"|yours (?:sincerely|faithfully|truly)\b|sincerely,)[^?]{0,80}$",
    re.IGNORECASE,
)


def without_letter_phrases(text: str) -> str:
    """The question alone; a text of nothing else comes back as it is."""
    kept = _CLOSING.sub("", _GREETING.sub("", text, count=1), count=1).strip()
    for request in _REQUESTS:
        kept = request.sub("", kept, count=1)
    return kept or text
