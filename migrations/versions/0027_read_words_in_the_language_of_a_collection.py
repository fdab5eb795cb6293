"""read the words of a collection in its language"""

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

# Bodies that are parsed now find their functions in a restored dump, too, whose search path is
# empty. English words keep their function: accents go before the endings, as in every collection
# until now. Other stemmers need the accents, so these go from the stems; compatible characters
# (NFKC) become plain before, since a quote that folding made would break the vector's text.
_FUNCTIONS = r"""
create function fold_accents(content text) returns text
    language sql immutable strict parallel safe
    return replace(replace(replace(replace(replace(translate(
        normalize(
            regexp_replace(normalize(content, NFD), '([A-Za-z])[\u0300-\u036f]+', '\1', 'g'), NFC),
        'øØłŁđĐı', 'oOlLdDi'),
        'ß', 'ss'), 'æ', 'ae'), 'Æ', 'Ae'), 'œ', 'oe'), 'Œ', 'Oe');

create function passage_words(language text, content text) returns tsvector
    language sql immutable strict parallel safe
    return case language
        when 'english' then english_words(content)
        else cast(fold_accents(cast(to_tsvector(
            cast('pg_catalog.' || language as regconfig), normalize(content, NFKC)) as text))
            as tsvector)
        end;
"""


def upgrade() -> None:
    op.execute(_FUNCTIONS)
    op.execute("""
        alter table document_uploads add column language text;
        comment on column document_uploads.language is
            'that the collection gets; null: its own stays';
        alter table passages add column language text default 'english' not null;
        comment on column passages.language is 'of the words; the same in the whole collection';
    """)
    _compute("passage_words(language, context || ' ' || text)")


def downgrade() -> None:
    _compute("english_words(context || ' ' || text)")
    op.execute("""
        delete from collection_words where collection in
            (select collection from passages where language <> 'english');
        insert into collection_words (collection, word, passages)
        select collection, word, count(*)
        from passages, unnest(tsvector_to_array(tsv) || array['']) as word
        where collection not in (select collection from collection_words)
        group by collection, word;
        alter table passages drop column language;
        alter table document_uploads drop column language;
        drop function passage_words(text, text);
        drop function fold_accents(text);
    """)


def _compute(words: str) -> None:
    """Compute the words of all passages again."""
    op.execute(f"""
        alter table passages drop column tsv;
        alter table passages add column tsv tsvector generated always as ({words}) stored;
        create index ix_passages_tsv on passages using gin (tsv);
    """)
