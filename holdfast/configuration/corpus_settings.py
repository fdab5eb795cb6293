"""Read and check the `[corpus]` table of `holdfast.toml`."""

from pathlib import Path

from holdfast.models.corpus.corpus_config import CorpusConfig
from holdfast.tools.holdfast_toml import read_toml_table

_EXAMPLES = {"language": 'language = "german"'}


def read_corpus(path: Path | None) -> CorpusConfig:
    """Return the table `[corpus]`, or its defaults if the file has none.

    Raises:
        BadConfiguration: an entry is wrong; the message names file, table and key, and an example.
    """
    return read_toml_table(path, "corpus", CorpusConfig, _EXAMPLES) or CorpusConfig()
