"""Define the built-in MCP server `python`: run code on the values that a task passes in."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, JsonValue

from holdfast.models.errors import BadInput
from holdfast.tools.mcp.meta_keys import COMPUTED_KEY
from holdfast.tools.python.bubblewrap_sandbox import Sandbox
from holdfast.tools.python.code_result import CodeResult
from holdfast.tools.python.monty_interpreter import Interpreter

_SAFE = ToolAnnotations(
    read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False
)
PythonCode = Annotated[
    str, Field(description="Python; sets `result`, or ends with the expression that is the result.")
]
CodeInputs = Annotated[
    dict[str, JsonValue],
    Field(description='Variables of the code: {"sales": [1, 2]}; references go here, not in code.'),
]
_ABOUT = """Runs Python on the values in `inputs`, and gives back its result as JSON.

Has no files, network or packages. Importable: json re math datetime csv collections itertools \
functools random decimal dataclasses bisect copy, and of statistics mean median stdev variance \
pstdev pvariance correlation quantiles. Not there: yield, del, class inheritance, decorated \
methods, strptime, other modules."""
_ABOUT_DATA = """Runs Python with {libraries} on the values in `inputs`; the result as JSON.

Slower than `run`; take it for what needs the libraries. Has no files and no network."""


def python_server(interpreter: Interpreter, sandbox: Sandbox | None = None) -> MCPServer:
    """Return the MCP server `python`; a sandbox adds a tool with its libraries."""
    server = MCPServer("python")

    @server.tool(annotations=_SAFE, structured_output=False, description=_ABOUT)
    async def run(code: PythonCode, inputs: CodeInputs | None = None) -> CallToolResult:
        return await _answered(interpreter.run, code, inputs or {})

    if sandbox is not None:
        libraries = ", ".join(sandbox.libraries()) or "the libraries of the operator"

        @server.tool(
            annotations=_SAFE,
            structured_output=False,
            description=_ABOUT_DATA.format(libraries=libraries),
        )
        async def run_data(code: PythonCode, inputs: CodeInputs | None = None) -> CallToolResult:
            return await _answered(sandbox.run, code, inputs or {})

    return server


_Run = Callable[[str, Mapping[str, JsonValue]], Awaitable[CodeResult]]


async def _answered(run: _Run, code: str, inputs: Mapping[str, JsonValue]) -> CallToolResult:
    try:
        ran = await run(code, inputs)
    except BadInput as fault:
        raise ToolError(str(fault)) from fault
    lines = [] if ran.result is None else [f"result = {json.dumps(ran.result, ensure_ascii=False)}"]
    lines += [f"printed:\n{ran.printed}"] if ran.printed else []
    lines += ["(more was printed, and is cut)"] if ran.is_cut else []
    structured: dict[str, JsonValue] = (
        {"printed": ran.printed} if ran.result is None else {"result": ran.result}
    )
    return CallToolResult(
        content=[TextContent(text="\n".join(lines))],
        structured_content=structured,
        _meta={COMPUTED_KEY: True},
    )
