"""What a tool may declare about itself, or of an answer, to Holdfast: keys in the `_meta`."""

READS = "holdfast/reads"
"""Names the parameter that takes the address of a document: a call with it, and with the fact
`fresh` set to "yes" where the tool binds it, gives the whole document that is there now."""

REMEMBERS = "holdfast/remembers"
"""True says that the answer depends on what the job did before, so that a recorded answer to the
same arguments is not the answer now."""

COMPUTED = "holdfast/computed"
"""True in an answer says that its value was computed and holds no documents, whatever its shape:
code that gives back `passages` must not be able to name where they stand."""
