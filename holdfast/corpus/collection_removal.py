"""Remove a collection or one document of it."""

from collections.abc import Sequence

from holdfast.client import Holdfast
from holdfast.corpus.collection_names import check_collection
from holdfast.models.errors import NotFound
from holdfast.storage.corpus.corpus_store import CorpusStore


async def document_addresses(
    holdfast: Holdfast, collection: str, address: str | None, *, shown: str | None = None
) -> Sequence[str]:
    """The addresses of the documents that a removal of `address`, or of all, would remove.

    `shown` is the collection's name as the caller uses it, if that is not the stored name.

    Raises:
        NotFound: there is no such collection or document.
    """
    corpus = CorpusStore(holdfast.db)
    check_collection(collection, await corpus.collections())
    addresses = [document.address for document in await corpus.documents(collection)]
    if address is None:
        return addresses
    if address not in addresses:
        name = shown or collection
        raise NotFound(
            f"there is no document {address!r} in collection {name!r}; "
            f"`holdfast corpus list {name}` lists its documents",
            field="address",
        )
    return [address]


async def remove_documents(
    holdfast: Holdfast, collection: str, address: str | None, *, shown: str | None = None
) -> int:
    """Remove the document, or all documents; return how many. Jobs keep what they found there.

    `shown` is the collection's name as the caller uses it, if that is not the stored name.

    Raises:
        NotFound: there is no such collection or document.
    """
    await document_addresses(holdfast, collection, address, shown=shown)
    async with CorpusStore(holdfast.db).writing(collection) as writer:
        return await (writer.remove(address) if address else writer.keep_only(()))
