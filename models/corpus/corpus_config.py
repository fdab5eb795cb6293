"""Define the table `[corpus]` of `holdfast.toml`."""

from holdfast.models.corpus.search_language import SearchLanguage
from holdfast.models.frozen_model import Frozen


class CorpusConfig(Frozen):
    """What new collections get."""

    language: SearchLanguage = SearchLanguage.ENGLISH
