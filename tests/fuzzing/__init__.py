"""Coverage-guided fuzzing of every reader of foreign text, and the inputs that once were too much.

`make fuzz` gives each target of `fuzz_targets` a process of its own, in which atheris changes the
seeds until a reader raises something else than its typed refusal, or stalls for longer than
`LONGEST_STALL_S`. What it finds is kept under `inputs/TARGET/`, and `test_kept_inputs` reads every
kept input again with each run of the suite.
"""
