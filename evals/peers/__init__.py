"""Compare Holdfast with its peers: same questions, documents, search and endpoint.

Each contestant answers through one metered endpoint, which counts its calls and tokens and keeps
every exchange, so a run that was stopped continues without paying for a call again. A result is
stored for each question and contestant.
"""
