"""Gap planner role: retry incomplete agent tasks; add tasks for gaps and contradictions."""

from holdfast.models.verification.gap_plan_drafts import GapPlannerAnswer, GapPlannerTask
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role

GAP_PLANNER = Role(
    name=RoleName.GAP_PLANNER.value,
    instructions="""\
You direct research that is under way on a `question`. The results of its `sub_questions` have been
verified; you decide how the gaps are filled. What was found is kept and shown to the next attempt,
which adds to it. Rules:
- `retry_sub_questions` holds ALL ids in `incomplete`, each with a `hint`: which other words,
  places or steps promise what is `missing`. The attempt is shown `missing` and `tried`: repeat
  neither, nor the `hint` of the last attempt. With nothing else to say, `hint` is empty.
- `new_sub_questions` are added only where `may_add` is true, for aspects that are missing and that
  no sub-question asks for yet; and one for each of the `contradictions`, whatever `may_add` says.
- One that is added for a contradiction looks elsewhere: its `agent` is one of `elsewhere` (any,
  where that is empty), its `settles` names the `tasks` of the contradiction, and its description
  asks for the disputed fact itself, without saying what either side claims.
- New ids, none from `used_ids`, without a dot. `description` stands alone: a reader of nothing
  else knows what to find out. `agent` is one of `agents`. `criteria` says when the answer counts as
  complete. `expects` names the values to find, in snake_case, with precise descriptions; none is
  `final_answer`. `depends_on` names the sub-questions whose results it needs, and no others.
- Where nothing needs to be added, `new_sub_questions` is empty.
- Follow `guidance`: it is from the person who asked. `collection` says what can be searched,
  `today` is the date.
""",
    foreign_fields=("collection", "sub_questions", "contradictions"),
    task=GapPlannerTask,
    answer=GapPlannerAnswer,
)
