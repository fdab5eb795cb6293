"""Read untrusted pages in processes of their own."""

from holdfast.models.errors import ToolFailed
from holdfast.tools.sandbox.process_pool import NoAnswer, ProcessPool
from holdfast.tools.sandbox.process_slots import ProcessSlots
from holdfast.tools.web.content_types import BodyKind
from holdfast.tools.web.page_text import PageText


class ReaderPool(ProcessPool):
    """The reading processes of one server."""

    def __init__(self, patience_s: float = 30, slots: ProcessSlots | None = None) -> None:
        super().__init__("holdfast.tools.web.reader_process", patience_s=patience_s, slots=slots)

    async def read(self, kind: BodyKind, address: str, charset: str, body: bytes) -> PageText:
        """Parse the body in a reading process.

        Raises:
            ToolFailed: the body cannot be read, or not in time.
        """
        request = {"kind": kind.value, "address": address, "charset": charset}
        try:
            answer = await self.ask(request, body)
        except NoAnswer as fault:
            raise ToolFailed(f"{address[:300]} {fault}: use another source") from fault
        if "page" not in answer:
            raise ToolFailed(str(answer["wrong"]))
        return PageText.model_validate(answer["page"])
