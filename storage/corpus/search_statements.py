"""Build SQL that ranks passages by words (BM25), by meaning (vectors), or by both."""

from typing import Any

from sqlalchemy import TextClause, text

from holdfast.models.corpus.search_criteria import DateRange, MetadataFilter
from holdfast.models.text.storable_text import storable_text

MAX_POSTINGS = 7_000
"""How many passages are looked at for a query's rarest words; what else a likely one holds counts
as well. All words cost 460 ms (p95) in 100,000 passages, these 90, and find no less: see
docs/performance.md."""
STORED_LANGUAGE = "(select language from passages where collection = :collection limit 1)"
"""The language of a collection's words, which every passage has; null without passages."""
OF_COLLECTION = f"coalesce({STORED_LANGUAGE}, 'english')"
_LIKELY = 300
_CANDIDATES = 50  # of each way of searching, to be fused
_MOST_WORDS = 40

# BM25 (Robertson and Zaragoza 2009) with k1 = 1.2 and b = 0.75 over distinct lexemes, of which a
# passage has about 50. How many passages hold a word is counted while they are stored. Of each
# word's passages PostgreSQL must read the rows, not the index alone; so only the rarest words are
# looked up, as many as FEW_POSTINGS allows and at least one, and the best by those are scored by
# all words. A question whose words were all asked for at once would find nothing.
_BY_WORDS = """
words as materialized (
    select lexeme, passages as held, sum(passages) over (order by passages, lexeme) as looked_at,
           '''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || '''' as quoted,
           ln(1 + (select passages from collection_words where collection = :collection
                   and word = '') / cast(passages as float8)) as idf
    from (select lexeme from unnest(passage_words({language}, :query))
          order by positions[1] limit {most_words}) as asked
    join collection_words on collection = :collection and word = lexeme and passages > 0),
found as materialized (
    select idf, passages.id from words
    join passages on tsv @@ cast(quoted as tsquery) and collection = :collection {of_documents}
    where looked_at <= {few} or looked_at = (select min(looked_at) from words)),
likely as materialized (
    select id from found group by id order by sum(idf) desc, id limit {likely}),
by_words as materialized (
    select id, sum(idf * uses * 2.2 / (uses + 1.2 * (0.25 + 0.75 * size / 50.0))) as score
    from (select id, lexeme, length(tsv) as size, cardinality(positions) as uses
          from likely join passages using (id), unnest(tsv)) as held
    join words using (lexeme) group by id order by score desc, id limit {candidates})"""

# Every vector is compared; there is no index. Up to about 100,000 passages that takes less time
# than the embedding of the query, is exact, and filters need nothing special. A vector of zeros
# has the distance NaN, which sorts after all numbers.
_BY_MEANING = """
by_meaning as materialized (
    select id, 1 - distance as score from (
        select passage_id as id, embedding <=> cast(:vector as vector) as distance
        from passage_vectors {join_passages}
        where passage_vectors.collection = :collection and model = :model
            and dimension = :dimension {of_documents}
        order by distance, passage_id limit {candidates}) as near
    where distance < 3)"""

# Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009) with its k of 60.
_FUSED = """
fused as (
    select id, coalesce(1.0 / (60 + w.place), 0) + coalesce(1.0 / (60 + m.place), 0) as score
    from (select id, row_number() over (order by score desc, id) as place from by_words) as w
    full join (select id, row_number() over (order by score desc, id) as place from by_meaning)
        as m using (id))"""

_PASSAGES = """
select address, title, heading, start_char, end_char, passages.text,
       cast(best.score as float8) as score
from {best} as best join passages using (id) join documents on documents.id = document_id
order by best.score desc, passages.id limit :limit"""


def keyword_statement(where: MetadataFilter) -> tuple[TextClause, dict[str, Any]]:
    """Takes collection, query and limit; gives passages with their scores, best first."""
    return _statement(where, (_BY_WORDS,), "by_words")


def semantic_statement(where: MetadataFilter) -> tuple[TextClause, dict[str, Any]]:
    """As `keyword`, but takes vector, model and dimension in place of the query."""
    return _statement(where, (_BY_MEANING,), "by_meaning")


def hybrid_statement(where: MetadataFilter) -> tuple[TextClause, dict[str, Any]]:
    """As `keyword`, and takes what `semantic` takes."""
    return _statement(where, (_BY_WORDS, _BY_MEANING, _FUSED), "fused")


def _statement(
    where: MetadataFilter, parts: tuple[str, ...], best: str
) -> tuple[TextClause, dict[str, Any]]:
    conditions, values = _conditions(where)
    # The text is constant: keys and values are parameters.
    chosen = f"select id from documents where collection = :collection {conditions}"  # noqa: S608
    filled = ",".join(parts).format(
        few=MAX_POSTINGS,
        language=OF_COLLECTION,
        likely=_LIKELY,
        candidates=_CANDIDATES,
        most_words=_MOST_WORDS,
        of_documents=f"and document_id in ({chosen})" if where else "",
        join_passages="join passages on passages.id = passage_id" if where else "",
    )
    return text(f"with {filled} {_PASSAGES.format(best=best)}"), values


def _conditions(where: MetadataFilter) -> tuple[str, dict[str, Any]]:
    """Return the conditions of a metadata filter; keys and values are parameters."""
    lines: list[str] = []
    values: dict[str, Any] = {}
    for n, (key, wanted) in enumerate(where.items()):
        values[f"key_{n}"] = storable_text(key).lower()
        if isinstance(wanted, DateRange):
            lines += _within(n, wanted, values)
        else:
            texts = (wanted,) if isinstance(wanted, str) else wanted
            values[f"any_{n}"] = [storable_text(each) for each in texts]
            lines.append(f"jsonb_exists_any(metadata -> :key_{n}, cast(:any_{n} as text[]))")
    return "".join(f" and {line}" for line in lines), values


def _within(n: int, wanted: DateRange, values: dict[str, Any]) -> list[str]:
    """Return the condition of a date range; 2020-06-30 is within `to` 2020."""
    lines = [f"metadata ->> :key_{n} is not null"]
    for name, bound, sign in (("since", wanted.since, ">="), ("until", wanted.until, "<=")):
        if bound is not None:
            values[f"{name}_{n}"] = bound
            lines.append(f"left(metadata ->> :key_{n}, {len(bound)}) {sign} :{name}_{n}")
    return lines
