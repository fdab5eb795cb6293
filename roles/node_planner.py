"""The node planner: how one agent works its sub-question, and it sees nothing of any other.

Task-Decoupled Planning (seed 002): a node's planner gets its specification, what it depends on
found, and its own trace; never the global history.
"""

from pydantic import Field, JsonValue

from models.base import Frozen
from models.plan import Expected
from models.tools import ToolSignature
from roles.base import Role
from roles.drafts import Draft, PlanDraft
from roles.planner import TASK_RULES
from roles.reasoner import Given

NODE_CLOSING = """\
- Ids begin with the sub-question's own: the steps of T3 are T3.1, T3.2 and so on, and a reference
  to one is <JSON_PATH>T3.1.name</JSON_PATH>.
- What is in `given` may be written into values as it stands there.
- The last task yields exactly the entities in `expects`, with these names and types, from the
  entities it takes as inputs. A single call that finds them all may be the only task.
"""


class TraceStep(Frozen):
    """A step that was taken: what was done, and what was observed."""

    id: str
    action: str = Field(description="the tool with its arguments, or the deduction")
    status: str
    found: dict[str, JsonValue] = Field(default_factory=dict)
    failure: str = ""


class Answered(Frozen):
    """A question that was asked before, with its answer."""

    question: str
    answer: str
    by: str = Field(description="memory, evidence, task, user or default")


class NodeTask(Frozen):
    """All that an agent's roles are given: nothing of what does not concern this sub-question."""

    node: str = Field(description="the sub-question's id")
    specification: str
    criteria: str = ""
    expects: tuple[Expected, ...]
    given: tuple[Given, ...] = Field(
        default=(), description="what the sub-questions it depends on found"
    )
    instructions: str = Field(default="", description="how this kind of agent works")
    tools: tuple[ToolSignature, ...] = ()
    objectives: tuple[str, ...] = ()
    trace: tuple[TraceStep, ...] = ()
    answers: tuple[Answered, ...] = ()
    guidance: str = Field(default="", description="what the supervisor says to do next")
    hints: tuple[str, ...] = Field(
        default=(), description="what an earlier attempt at this sub-question left open"
    )
    deviation: str = Field(
        default="", description="what was observed that the objectives did not expect"
    )
    must_end: str = Field(
        default="", description="the limit that is reached: no more calls, conclude now"
    )
    used_ids: tuple[str, ...] = ()


NODE_PLANNER = Role(
    name="node_planner",
    instructions=(
        "You are an agent that works one sub-question. You get its specification, what is\n"
        "given, and your tools, and answer with all the steps that will resolve it. Where there\n"
        "is a `trace`, those steps were taken already: continue behind them, with ids that are\n"
        "not in `used_ids`, and heed the guidance. Where there are `hints`, an earlier attempt\n"
        "left these open: go about it in another way. Heed `instructions`.\n\n"
        + TASK_RULES
        + NODE_CLOSING
    ),
    foreign=("given", "tools", "trace", "answers"),
    task=NodeTask,
    answer=PlanDraft,
)


class Objectives(Draft):
    """What an agent means to reach, one after the other."""

    objectives: list[str] = Field(description="two to five, each a state of knowledge to reach")


OBJECTIVES = Role(
    name="objectives",
    instructions="""\
You are an agent that works one sub-question, one call at a time. You get its specification, what
is given, and your tools. Before the first call, write down the intermediate objectives: two to
five states of knowledge to reach, in order, each of which can be checked. Do not choose calls
yet. Where there are `hints`, an earlier attempt left these open. Heed `instructions`.
""",
    foreign=("given", "tools", "trace", "answers"),
    task=NodeTask,
    answer=Objectives,
)

REPAIRER = Role(
    name="repairer",
    instructions="""\
You are an agent that works one sub-question, one call at a time. What was observed conflicts with
your objectives: `deviation` says how. Write the objectives anew from here on, so that the
sub-question can still be resolved: keep what was reached, drop what cannot be, find another way
to the same end. Only this sub-question is yours to change.
""",
    foreign=("given", "tools", "trace", "deviation", "answers"),
    task=NodeTask,
    answer=Objectives,
)
