"""MCP server with a perfect look-up tool over question-answer facts; `python -m
holdfast.evals.oracle.fact_lookup_server FILE` serves a file."""

import difflib
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from holdfast.evals.oracle.gold_programs import gold_answer_text

_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True)


def read_facts(path: Path) -> dict[str, str]:
    """The answers by their questions, from lines of {"question", "answer"}."""
    rows = (json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip())
    return {row["question"]: gold_answer_text(row["answer"]) for row in rows}


def fact_lookup_server(facts: Mapping[str, str]) -> MCPServer:
    """A server whose one tool answers exactly these questions."""
    server = MCPServer("facts")

    @server.tool(annotations=_READ_ONLY, structured_output=False)
    def lookup(question: str) -> str:
        """Answers a single-hop question that is a complete sentence."""
        if question not in facts:
            near = difflib.get_close_matches(question, facts, n=3, cutoff=0.6)
            raise ToolError(f"no fact answers {question!r}; nearest: {' | '.join(near) or 'none'}")
        return facts[question] or "nothing"

    return server


if __name__ == "__main__":
    fact_lookup_server(read_facts(Path(sys.argv[1]))).run("stdio")
