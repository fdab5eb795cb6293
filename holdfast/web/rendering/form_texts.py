"""Read the texts of a form that a browser sent."""

from collections.abc import Mapping


def form_texts(form: Mapping[str, object]) -> dict[str, str]:
    """The texts of the form by the names of their fields, without its files."""
    return {name: value for name, value in form.items() if isinstance(value, str)}
