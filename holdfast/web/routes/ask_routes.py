"""Define the page that asks a question: what it reads, how thorough it is, and what it may take."""

from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote
from uuid import uuid4

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import RedirectResponse

from holdfast.api.api_context import CallerSession
from holdfast.api.owned_collections import SHARED_PREFIX, OwnedCollections
from holdfast.api.request_limits import MAX_UPLOAD_BYTES
from holdfast.api.routes.job_submission_routes import submit_job
from holdfast.api.routes.upload_routes import MAX_FILES, show_upload
from holdfast.capabilities.model_lines import model_lines
from holdfast.configuration.price_settings import read_prices
from holdfast.corpus.collection_lookup import list_collections
from holdfast.jobs.job_lookup import newest_jobs
from holdfast.models.corpus.document_uploads import DocumentUpload
from holdfast.models.errors import (
    BadInput,
    HoldfastError,
    RequestKeyTaken,
    ServiceDown,
    StorageAway,
)
from holdfast.models.jobs.job_filter import JobFilter
from holdfast.planning.strategies.strategy_presets import all_presets
from holdfast.storage.ledger.spending_queries import costs_of
from holdfast.storage.views.earlier_job_amounts import load_earlier_amounts
from holdfast.web.access.page_session import PageAsker, PageReader
from holdfast.web.ask.ask_form import AskForm, read_ask_form
from holdfast.web.ask.offered_collection import offered_collection
from holdfast.web.ask.question_files import reading_fault, with_question_files
from holdfast.web.page_route import PageRoute
from holdfast.web.rendering.page_templates import page

_NEWEST = 6
_MAX_FIELDS = 20
_FIRST_PRESETS = ("research", "loop", "vmao", "kpi-chain")

router = APIRouter(route_class=PageRoute)


@router.get("/")
async def show_ask(
    session: PageReader,
    request: Request,
    model: Annotated[str, Query(max_length=200)] = "",
    question: Annotated[str, Query(max_length=20_000)] = "",
    collection: Annotated[str, Query(max_length=300)] = "",
    preset: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """The form, with what earlier jobs took."""
    form = AskForm(question=question, collection=collection, preset=preset, model=model)
    return await _ask_page(session, request, form)


@router.post("/ask")
async def ask_from_page(session: PageAsker, request: Request) -> Response:
    """Submit the question, once the files that came with it are read.

    The form comes back with what cannot be used, and while the files are read.
    """
    # Read here and not by FastAPI, which would read the files of a sender without a key.
    async with request.form(max_files=MAX_FILES, max_fields=_MAX_FIELDS) as sent:
        form = read_ask_form(sent)
        try:
            form = await with_question_files(session, form, sent)
        except (BadInput, StorageAway) as error:
            return await _fault_page(session, request, form, error)
    if form.upload:
        upload = await show_upload(session, form.upload)
        if not upload.status.is_final:
            return await _ask_page(session, request, form, upload=upload)
        # The next time, the question is asked with what could be read.
        form = form.model_copy(update={"upload": ""})
        if fault := reading_fault(upload):
            return await _ask_page(
                session, request, form, fault=fault, status=HTTPStatus.BAD_REQUEST
            )
    try:
        submitted = await submit_job(form.submission(), session, Response(), form.key or None)
    except RequestKeyTaken as error:
        # The browser went back to a form that was sent before: this is another question.
        return await _fault_page(session, request, form.model_copy(update={"key": ""}), error)
    except (BadInput, ServiceDown, StorageAway) as error:
        return await _fault_page(session, request, form, error)
    return RedirectResponse(f"/jobs/{quote(submitted.job_id, safe='')}?did=asked", 303)


@router.get("/ask/files/{upload}")
async def show_question_files(session: PageReader, request: Request, upload: str) -> Response:
    """How far the reading of a question's files is."""
    return page(request, "question_files", upload=await show_upload(session, upload))


async def _fault_page(
    session: CallerSession, request: Request, form: AskForm, error: HoldfastError
) -> Response:
    """The form as it was filled in, with what went wrong; sent again, it gives one job."""
    is_passing = isinstance(error, ServiceDown | StorageAway)
    status = HTTPStatus.SERVICE_UNAVAILABLE if is_passing else HTTPStatus.BAD_REQUEST
    return await _ask_page(session, request, form, fault=str(error), status=status)


async def _ask_page(
    session: CallerSession,
    request: Request,
    form: AskForm,
    *,
    fault: str = "",
    status: int = HTTPStatus.OK,
    upload: DocumentUpload | None = None,
) -> Response:
    holdfast, caller = session.holdfast, session.caller
    settings = holdfast.settings
    models = model_lines(settings)
    model = form.model or next(each.name for each in models if each.is_default)
    presets = all_presets()
    order = [name for name in _FIRST_PRESETS if name in presets]
    collections = OwnedCollections(caller).visible(await list_collections(holdfast))
    offered = offered_collection(caller, [each.name for each in collections])
    which = JobFilter(limit=_NEWEST, owner=caller.visible_owner)
    jobs = await newest_jobs(holdfast, which)
    return page(
        request,
        "ask",
        code=status,
        form=form,
        fault=fault,
        upload=upload,
        key=form.key or uuid4().hex,
        collections=collections,
        chosen=form.collection or ("" if form.question else offered),
        has_foreign=not caller.sees_all
        and any(each.name.startswith(SHARED_PREFIX) for each in collections),
        most_bytes=MAX_UPLOAD_BYTES,
        models=models,
        model=model,
        presets=[
            presets[name] for name in (*order, *(each for each in presets if each not in order))
        ],
        preset=form.preset or settings.preset,
        amounts=await load_earlier_amounts(holdfast.db, model, caller.visible_owner),
        currency=read_prices(settings.config_file).currency,
        jobs=jobs,
        costs=await costs_of(holdfast.db, [each.job_id for each in jobs]),
    )
