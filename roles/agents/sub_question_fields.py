"""Say once what the fields mean that all roles of one agent are given."""

SUB_QUESTION_FIELDS = """\
`specification` says what to find out, and nothing else in it counts; `node` is its id, `criteria`
say when it is resolved, `expects` which values to give, `given` what is found already, `earlier`
which steps were tried before, `left_out` how many entries had no room, `hints` what was left open,
`instructions` how you work, `answers` what other agents say. Go by `user_answers`: the person who
asked says so.
"""
