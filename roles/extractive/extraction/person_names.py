"""Take the post off a person's name: `CTO Tom Hale` is Tom Hale."""

_POST_LIST = """
ceo cfo coo cto cio ciso dpo md chair chairman chairwoman director engineer manager mayor minister
officer president secretary supervisor treasurer
"""
_POSTS = frozenset(_POST_LIST.split())
_LEAST_NAME = 2
"""Words that a name keeps: `Mayor Quill` has no other name."""


def without_post(name: str) -> str:
    """The name after the last of its posts, as in `Vice President Ada Quill`; else the name."""
    said = name.split()
    posts = [at for at, each in enumerate(said[:-_LEAST_NAME]) if each.lower() in _POSTS]
    return " ".join(said[posts[-1] + 1 :]) if posts else name
