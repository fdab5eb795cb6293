"""Tests for the server `tables` through the hub: SQL queries over files, some of them hostile."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import duckdb
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.errors import BadConfiguration, ToolFailed
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.tool_server import BuiltinServer
from holdfast.tools.tables.cell_values import MAX_CELL_CHARS
from holdfast.tools.tables.query_engine import QueryEngine
from holdfast.tools.tables.table_folder import TableFolder, read_table_folder
from holdfast.tools.tables.tables_server import tables_server
from tests.support.tools.answer_or_error import answer_or_error

pytestmark = pytest.mark.slow

AT_ONCE = timedelta(seconds=30)
HOSTILE = {
    "binary.csv": bytes(range(256)) * 100,
    "latin.csv": "name,v\nMüller,1\n".encode("latin-1"),
    "long.csv": b"a,b\n1," + b"x" * 3_000_000 + b"\n",
    "wide.csv": b",".join(b"c%d" % i for i in range(10_000)) + b"\n" + b"1," * 9_999 + b"1\n",
    "odd.parquet": b"PAR1 and nothing else",
    "star*.csv": b"a\n1\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data").resolve()
    (folder / "kpis.csv").write_text(
        "firm,year,revenue,paid\nAcme,2023,1.50,2023-05-01\nAcme,2024,2.25,\nBolt,2024,4,2024-01-31\n"
    )
    (folder / "deep").mkdir()
    (folder / "deep/2024 Staff.tsv").write_text("name\tcount\nAda\t3\n")
    duckdb.sql(
        "select 1 as id, 'x'::blob as data, 1.25::decimal(9, 2) as price, 'nan'::double as odd"
    ).write_parquet(str(folder / "kinds.parquet"))
    (folder / "notes.txt").write_text("no table")
    for name, content in HOSTILE.items():
        (folder / name).write_bytes(content)
    (folder / "secret.csv").symlink_to("/etc/passwd")
    return folder


@pytest.fixture(scope="module")
async def hub(folder: Path) -> AsyncIterator[Hub]:
    # Far beyond what any query here takes, also on a busy machine.
    server = tables_server(TableFolder(folder), timeout_s=25)
    async with Hub({}, {"tables": BuiltinServer(server)}) as opened:
        await opened.signatures()
        yield opened


async def asked(hub: Hub, sql: str, **more: JsonValue) -> ToolAnswer:
    return await hub.call("tables.query", {"sql": sql, **more}, timeout=AT_ONCE)


async def test_every_good_file_is_a_table_and_every_bad_one_is_named(
    hub: Hub, folder: Path
) -> None:
    found = (await hub.call("tables.list", {}, timeout=AT_ONCE)).structured

    assert {each["table"]: each["file"] for each in found["tables"]} == {
        "kpis": "kpis.csv",
        "deep_2024_staff": "deep/2024 Staff.tsv",
        "kinds": "kinds.parquet",
    }
    (kpis,) = [each for each in found["tables"] if each["table"] == "kpis"]
    assert kpis["columns"] == ["firm VARCHAR", "year BIGINT", "revenue DOUBLE", "paid DATE"]
    for name in [*HOSTILE, "secret.csv"]:
        assert any(name in fault for fault in found["left_out"]), name
    assert len(found["left_out"]) == len(HOSTILE) + 1
    assert not [fault for fault in found["left_out"] if str(folder) in fault or "/dev/fd" in fault]


async def test_a_table_is_described_with_its_first_rows(hub: Hub) -> None:
    arguments = {"table": "kpis"}
    found = (await hub.call("tables.describe", arguments, timeout=AT_ONCE)).structured

    assert (found["file"], found["row_count"]) == ("kpis.csv", 3)
    assert found["columns"][1] == {"name": "year", "type": "BIGINT"}
    assert found["first_rows"][0] == {
        "firm": "Acme",
        "year": 2023,
        "revenue": 1.5,
        "paid": "2023-05-01",
    }
    with pytest.raises(ToolFailed, match="no table 'kpi'; tables: t_binary, deep_2024_staff, "):
        await hub.call("tables.describe", {"table": "kpi"}, timeout=AT_ONCE)


async def test_a_query_answers_rows_and_lines_that_evidence_can_quote(hub: Hub) -> None:
    sql = "select firm, sum(revenue) as total from kpis group by firm order by firm"

    answer = await asked(hub, sql)

    assert answer.structured["columns"] == ["firm", "total"]
    assert answer.structured["rows"] == [
        {"firm": "Acme", "total": 3.75},
        {"firm": "Bolt", "total": 4.0},
    ]
    (passage,) = answer.passages
    assert (passage.address, passage.heading) == ("query over kpis.csv", "rows 1 to 2")
    assert passage.title == sql
    assert passage.text == "firm: Acme; total: 3.75\nfirm: Bolt; total: 4.0"


async def test_values_of_every_kind_are_json(hub: Hub) -> None:
    (row,) = (await asked(hub, "select * from kinds")).structured["rows"]
    (other,) = (
        await asked(
            hub,
            "select interval 1 day as i, time '10:00' as t, timestamptz '2024-01-01 00:00:00+00' as z,"
            " 2::hugeint ** 70 as h, [1, null] as l, {'a': 'b'} as s, null as n, uuid() is null as b,"
            " repeat('x', 5000) as long, chr(0) as zero, 1 as same, 2 as same",
        )
    ).structured["rows"]

    assert row == {"id": 1, "data": "(1 bytes) 78", "price": 1.25, "odd": None}
    assert other["long"] == "x" * MAX_CELL_CHARS + "… (5000 characters)"
    assert (other["zero"], other["l"], other["s"]) == ("\ufffd", [1, None], {"a": "b"})
    assert (other["same"], other["same_2"], other["b"]) == (1, 2, False)


async def test_results_of_other_tasks_can_be_queried_with_the_files(hub: Hub) -> None:
    given_rows: JsonValue = [
        {"firm": "Acme", "staff": 3},
        {"firm": "Bolt", "staff": 2.5, "note": {"deep": [1]}},
    ]
    sql = "select f.firm, f.staff, note from found f join kpis k using (firm) where year = 2024 order by 1"

    answer = await asked(hub, sql, inputs={"found": given_rows})

    assert [list(each.values()) for each in answer.structured["rows"]] == [
        ["Acme", 3.0, None],
        ["Bolt", 2.5, '{"deep": [1]}'],
    ]
    assert answer.passages[0].address == "query over kpis.csv, inputs:found"


async def test_what_is_too_much_is_cut_with_a_note(hub: Hub) -> None:
    many = await asked(hub, "select * from range(5000)", limit=50)
    wide = await asked(hub, "select repeat('x', 900) as a from range(1000)", limit=1000)
    none = await asked(hub, "select * from kpis where year = 1900")

    assert len(many.structured["rows"]) == 50
    assert many.structured["note"].startswith("only the first 50 rows")
    assert len(wide.structured["rows"]) < 250
    assert "note" not in none.structured
    assert none.text
    assert none.passages[0].text == "The query gives no rows."


REFUSED = {
    "select * from read_csv('/etc/passwd')": "file system operations are disabled",
    "select * from read_text('/etc/passwd')": "file system operations are disabled",
    "select * from '/etc/passwd'": "does not exist",
    "select * from glob('/*')": "file system operations are disabled",
    "select * from kpis, read_csv('{folder}/notes.txt')": "file system operations are disabled",
    "copy kpis to '{folder}/kpis.csv'": "only queries are answered",
    "explain analyze select * from kpis": "this is EXPLAIN",
    "attach '/tmp/x.db'": "this is ATTACH",
    "install httpfs": "only queries are answered",
    "load httpfs": "only queries are answered",
    "set threads = 8": "this is SET",
    "pragma database_list": "this is PRAGMA",
    "export database '/tmp/x'": "this is EXPORT",
    "create table t as select 1": "this is CREATE",
    "drop view kpis": "this is DROP",
    "call enable_logging()": "this is CALL",
    "select 1; select 2": "these are 2 statements",
    "": "these are 0 statements",
    "select * from duckdb_secrets()": "file system operations are disabled",
    "select getenv('HOME')": "does not exist",
    "select nonsense from kpis": 'Referenced column "nonsense" not found',
    "select length(repeat('x', 2000000000))": "Out of Memory",
    "select list(range) from range(1000000000)": "Out of Memory",
    "select * from t_binary": "'binary.csv' cannot be read as a table",
    "select * from latin": "'latin.csv' cannot be read as a table",
    "select * from secret": "does not exist",
    "select current_setting('allowed_paths') from kpis": "queries read tables and no settings",
    "select 1 where length(system.main.Current_Setting('a')) > 1": "read tables and no settings",
    "with a as (from duckdb_settings()) select * from a": "read tables and no settings",
    "from pg_catalog.pg_settings": "queries read tables and no settings",
    "show allowed_paths": "queries read tables and no settings",
    "summarize select current_setting('allowed_paths')": "queries read tables and no settings",
    "from query(E'select curr\\x65nt_setting(''allowed_paths'')')": "'query' is not answered",
    "from query_table('pg_settings')": "'query_table' is not answered",
    "select json_execute_serialized_sql('{}')": "'json_execute_serialized_sql' is not answered",
}


@pytest.mark.parametrize("sql", REFUSED)
async def test_nothing_but_a_query_over_the_tables_is_answered(
    hub: Hub, folder: Path, sql: str
) -> None:
    before = (folder / "kpis.csv").read_bytes()

    with pytest.raises(ToolFailed) as failed:
        await asked(hub, sql.replace("{folder}", str(folder)))

    assert REFUSED[sql] in str(failed.value)
    assert (folder / "kpis.csv").read_bytes() == before


async def test_the_tables_are_answered_from_after_a_query_that_was_refused(hub: Hub) -> None:
    for sql in ("drop view kpis", "set threads = 8", "select list(range) from range(1000000000)"):
        with pytest.raises(ToolFailed):
            await asked(hub, sql)

    assert len((await asked(hub, "from kpis")).structured["rows"]) == 3


@pytest.mark.parametrize(
    "sql",
    [
        "select sql from duckdb_views() where not internal",
        "select sql from sqlite_master",
        "select view_definition from information_schema.views",
        "select definition from pg_catalog.pg_views",
        "select * from kpis, duckdb_views(), duckdb_tables(), duckdb_databases(), duckdb_columns()",
        "select current_query()",
    ],
)
async def test_no_query_names_the_folder_of_the_tables(hub: Hub, folder: Path, sql: str) -> None:
    told = await asked(hub, f"with k as (from kpis limit 1), s as ({sql}) select s from k, s")

    assert str(folder) not in json.dumps(told.model_dump(mode="json"))


async def test_a_query_that_runs_too_long_is_ended(folder: Path) -> None:
    server = tables_server(TableFolder(folder), timeout_s=2)
    async with Hub({}, {"tables": BuiltinServer(server)}) as hub:
        with pytest.raises(ToolFailed, match="the query ran for 2 s"):
            await asked(hub, "select count(*) from range(100000000000) a, range(1000) b")


async def test_what_one_query_writes_in_passing_is_not_there_for_the_next(hub: Hub) -> None:
    sql = "with x as (insert into mine values (9) returning *) select * from x"
    rows: JsonValue = [{"a": 1}]

    written = await asked(hub, sql, inputs={"mine": rows})
    after = await asked(hub, "from mine", inputs={"mine": rows})

    assert written.structured["rows"] == [{"a": 9}]
    assert after.structured["rows"] == [{"a": 1}]


async def test_a_cancelled_query_ends_with_its_process(folder: Path) -> None:
    engine = QueryEngine(TableFolder(folder), timeout_s=600)
    before = set(psutil.Process().children())
    sql = "select count(*) from range(100000000000) a, range(1000) b"
    call = asyncio.create_task(engine.query(sql, {}, 1))
    while not set(psutil.Process().children()) - before:
        await asyncio.sleep(0.01)

    call.cancel()
    await asyncio.wait({call})

    assert call.cancelled()
    assert not set(psutil.Process().children()) - before


ROWS = st.lists(
    st.dictionaries(
        st.text(max_size=5),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=5)
        | st.lists(st.integers(), max_size=2),
        max_size=3,
    ),
    max_size=4,
)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(
    sql=st.text(max_size=40) | st.sampled_from(["from t", "select count(*) from kpis, t"]),
    inputs=st.dictionaries(
        st.sampled_from(["t", "kpis", "a b", ""]), ROWS | st.integers(), max_size=2
    ),
)
async def test_any_arguments_give_rows_or_an_error_in_words(
    hub: Hub, sql: str, inputs: dict[str, JsonValue]
) -> None:
    found = await answer_or_error(asked(hub, sql, inputs=inputs))

    if isinstance(found, str):
        assert found.startswith(("tables.", "argument"))
    else:
        json.dumps(found.structured, allow_nan=False)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = tmp_path / "holdfast.toml"
    path.write_text('[tables]\nfolder = "nowhere"\n')

    with pytest.raises(BadConfiguration, match=r"tables.folder names no folder: '.*nowhere'"):
        read_table_folder(path)
    path.write_text("")
    assert read_table_folder(path) is None
