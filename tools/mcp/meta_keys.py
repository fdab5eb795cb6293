"""Define the `_meta` keys by which tools and answers declare properties to Holdfast."""

READS_KEY = "holdfast/reads"
"""The name of the parameter that takes the address of a document. A call with this parameter (and
with the fact `fresh` set to "yes" if the tool binds it) returns the whole current document."""

REMEMBERS_KEY = "holdfast/remembers"
"""True means that the answer depends on earlier calls of the job, so that a recorded answer to the
same arguments may be out of date."""

COMPUTED_KEY = "holdfast/computed"
"""True in an answer means that its value was computed and contains no documents, in any shape:
code that returns `passages` must not be able to forge their addresses."""
