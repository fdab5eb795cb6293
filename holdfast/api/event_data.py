"""Write JSON so that every reader of an event stream keeps it on one line."""

_OTHER_LINE_ENDS = ("\u0085", "\u2028", "\u2029")
"""An event stream does not end lines at these; readers that split lines as Python does do."""


def event_data(json_text: str) -> str:
    """The same JSON with such characters escaped; they occur in texts alone."""
    for character in _OTHER_LINE_ENDS:
        json_text = json_text.replace(character, f"\\u{ord(character):04x}")
    return json_text
