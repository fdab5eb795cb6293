"""Small documents of binary formats, for the fuzzer to change."""

import io
import zipfile
from functools import cache

import docx
import openpyxl
from reportlab.pdfgen.canvas import Canvas

DOCX_TEXT = "word/document.xml"
XLSX_SHEET = "xl/worksheets/sheet1.xml"


@cache
def small_docx() -> bytes:
    """A file with a heading, a paragraph and a table."""
    document = docx.Document()
    document.add_heading("Lights", 1)
    document.add_paragraph("It was lit in 1932.")
    document.add_table(2, 2).cell(0, 0).text = "Name"
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


@cache
def small_xlsx() -> bytes:
    """A file with one sheet of two rows."""
    book = openpyxl.Workbook()
    book.worksheets[0].append(["Name", "Height", True])
    book.worksheets[0].append(["Eddystone", 49.5, None])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


@cache
def small_pdf() -> bytes:
    """A file with one page."""
    file = io.BytesIO()
    canvas = Canvas(file, pageCompression=0, invariant=1)
    canvas.drawString(50, 700, "It was lit in 1932.")
    canvas.save()
    return file.getvalue()


def part_of(package: bytes, part: str) -> bytes:
    """One part of a zip file."""
    with zipfile.ZipFile(io.BytesIO(package)) as opened:
        return opened.read(part)


def with_part(package: bytes, part: str, content: bytes) -> bytes:
    """The zip file with other content in that part."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(name, content if name == part else old.read(name))
    return file.getvalue()
