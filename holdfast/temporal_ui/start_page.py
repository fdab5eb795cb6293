"""The start page of the UI: give the list of workflows a column with the question, and open it.

Temporal's UI keeps the columns of its lists in the browser; a user's own choice stays.
"""

import base64
import hashlib
import json

from holdfast.models.wire.search_attributes import SearchAttribute

_COLUMNS = ("Status", "Workflow ID", SearchAttribute.QUESTION.value, "Start", "End")
_KEY = "namespace-workflow-table-columns"
_SCRIPT = f"""
const columns = {json.dumps([{"label": name} for name in _COLUMNS])};
try {{
  const kept = JSON.parse(localStorage.getItem("{_KEY}") || "{{}}");
  if (!kept.default) {{
    localStorage.setItem("{_KEY}", JSON.stringify({{...kept, default: columns}}));
  }}
}} catch {{}}
location.replace("/namespaces/default/workflows");
"""
_HASH = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()

START_PAGE = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Temporal UI</title></head>
<body><p><a href="/namespaces/default/workflows">Workflows</a></p>
<script>{_SCRIPT}</script></body></html>
"""
START_PAGE_POLICY = f"default-src 'none'; script-src 'sha256-{_HASH}'; frame-ancestors 'none'"
