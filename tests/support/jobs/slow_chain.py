"""Script a job of tool tasks one after another, each with an extraction that takes its time."""

from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.tools.scripted_tools import ScriptedTools


def script_slow_chain(
    players: ScriptedRoles, tools: ScriptedTools, *, steps: int, delay_s: float
) -> None:
    """Let each job have this many tool tasks and the answer that rests on the last one."""
    chain = [lookup_task("T1", query="q1")]
    chain += [lookup_task(f"T{n}", f"T{n - 1}", query=f"q{n}") for n in range(2, steps + 1)]
    players.plan = plan(*chain, final_task("END", f"T{steps}"))
    tools.answers = lambda argument: f"found {argument}"

    def extractor(asked: ReceivedRequest) -> ScriptedReply:
        query = asked.task["arguments"]["query"]
        return ScriptedReply.of(extractor_script(query, 0.9)(asked), delay=delay_s)

    players.parts["extractor"] = extractor
