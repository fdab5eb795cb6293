"""Name the languages in which a collection's words may be compared."""

from enum import StrEnum

from holdfast.models.errors import BadInput


class SearchLanguage(StrEnum):
    """How keyword search reads words: the text-search configurations of PostgreSQL 14 and later."""

    SIMPLE = "simple"
    """Any language: words as they are written, without endings taken off or words left out."""
    ARABIC = "arabic"
    ARMENIAN = "armenian"
    BASQUE = "basque"
    CATALAN = "catalan"
    DANISH = "danish"
    DUTCH = "dutch"
    ENGLISH = "english"
    FINNISH = "finnish"
    FRENCH = "french"
    GERMAN = "german"
    GREEK = "greek"
    HINDI = "hindi"
    HUNGARIAN = "hungarian"
    INDONESIAN = "indonesian"
    IRISH = "irish"
    ITALIAN = "italian"
    LITHUANIAN = "lithuanian"
    NEPALI = "nepali"
    NORWEGIAN = "norwegian"
    PORTUGUESE = "portuguese"
    ROMANIAN = "romanian"
    RUSSIAN = "russian"
    SERBIAN = "serbian"
    SPANISH = "spanish"
    SWEDISH = "swedish"
    TAMIL = "tamil"
    TURKISH = "turkish"
    YIDDISH = "yiddish"


def search_language(name: str) -> SearchLanguage:
    """Return the language of this name.

    Raises:
        BadInput: there is none; the message lists all.
    """
    if name not in [*SearchLanguage]:
        listed = ", ".join(SearchLanguage)
        raise BadInput(f"there is no language {name[:40]!r}; choose one of {listed}")
    return SearchLanguage(name)
