"""MCP server of the 27 KoPL functions.

`python -m holdfast.evals.kopl.kopl_server KB` serves a knowledge base over stdio.
"""

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from holdfast.evals.kopl.knowledge_base import KnowledgeBase
from holdfast.evals.kopl.kopl_tools import KoplTools

_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True)


def tool_functions(kopl: KoplTools) -> Mapping[str, Callable[..., Any]]:
    """The functions by the names that programs call them by."""
    return {
        "FindAll": kopl.find_all,
        "Find": kopl.find,
        "FilterConcept": kopl.filter_concept,
        "FilterStr": kopl.filter_str,
        "FilterNum": kopl.filter_num,
        "FilterYear": kopl.filter_year,
        "FilterDate": kopl.filter_date,
        "QFilterStr": kopl.qfilter_str,
        "QFilterNum": kopl.qfilter_num,
        "QFilterYear": kopl.qfilter_year,
        "QFilterDate": kopl.qfilter_date,
        "Relate": kopl.relate,
        "And": kopl.both,
        "Or": kopl.either,
        "QueryName": kopl.query_name,
        "Count": kopl.count,
        "SelectBetween": kopl.select_between,
        "SelectAmong": kopl.select_among,
        "QueryAttr": kopl.query_attr,
        "QueryAttrUnderCondition": kopl.query_attr_under_condition,
        "VerifyStr": kopl.verify_str,
        "VerifyNum": kopl.verify_num,
        "VerifyYear": kopl.verify_year,
        "VerifyDate": kopl.verify_date,
        "QueryRelation": kopl.query_relation,
        "QueryAttrQualifier": kopl.query_attr_qualifier,
        "QueryRelationQualifier": kopl.query_relation_qualifier,
    }


def kopl_server(base: KnowledgeBase) -> MCPServer:
    """A server of the tools over this knowledge base."""
    server = MCPServer("kopl")
    for name, function in tool_functions(KoplTools(base)).items():
        server.add_tool(_telling(function), name=name, annotations=_READ_ONLY)
    return server


def _telling(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose faults are answers that say what was wrong."""

    @wraps(function)
    def told(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the function's own
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            raise ToolError(str(error)) from None

    return told


if __name__ == "__main__":
    kopl_server(KnowledgeBase.read(Path(sys.argv[1]))).run("stdio")
