"""What a tool may declare about itself to Holdfast, as keys in its `_meta`."""

READS = "holdfast/reads"
"""Names the parameter that takes the address of a document: a call with it, and with the fact
`fresh` set to "yes" where the tool binds it, gives the whole document that is there now."""

REMEMBERS = "holdfast/remembers"
"""True says that the answer depends on what the job did before, so that a recorded answer to the
same arguments is not the answer now."""
