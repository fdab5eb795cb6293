"""find words with and without accents: fold them in the words of passages and of queries"""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

# All names are qualified: a restored dump computes the column with an empty search path. Marks go
# only from Latin letters, whose languages are written without them too; "й" is not "и".
_FUNCTION = r"""
create function english_words(content text) returns tsvector
    language sql immutable strict parallel safe as $$
select pg_catalog.to_tsvector('pg_catalog.english'::pg_catalog.regconfig, case
    when pg_catalog.octet_length(content) = pg_catalog.char_length(content) then content
    else pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(
        pg_catalog.replace(pg_catalog.replace(pg_catalog.translate(
            pg_catalog.normalize(pg_catalog.regexp_replace(
                pg_catalog.normalize(content, 'NFKD'), '([A-Za-z])[\u0300-\u036f]+', '\1', 'g'),
                'NFC'),
            'øØłŁđĐı', 'oOlLdDi'),
        'ß', 'ss'), 'æ', 'ae'), 'Æ', 'Ae'), 'œ', 'oe'), 'Œ', 'Oe')
    end)
$$;
"""


def upgrade() -> None:
    op.execute(_FUNCTION)
    _compute("english_words(context || ' ' || text)")


def downgrade() -> None:
    _compute("to_tsvector('english'::regconfig, context || ' ' || text)")
    op.execute("drop function english_words(text)")


def _compute(words: str) -> None:
    """Compute the words of all passages again, and count them."""
    op.execute(f"""
        alter table passages drop column tsv;
        alter table passages add column tsv tsvector generated always as ({words}) stored;
        create index ix_passages_tsv on passages using gin (tsv);
        delete from collection_words;
        insert into collection_words (collection, word, passages)
        select collection, word, count(*)
        from passages, unnest(tsvector_to_array(tsv) || array['']) as word
        group by collection, word;
    """)  # noqa: S608 - the text is constant
