"""List the signs by which endpoints say why they refuse a request, as data.

Each word was seen in a public document or a public issue of the endpoint; the tests in
`test_endpoint_peculiarities` and `test_streamed_peculiarities` hold the recorded shapes. Words are
in lower case.
"""

TOO_LONG = (
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
)
"""The request does not fit into the context: OpenAI, llama.cpp, vLLM, Anthropic."""

FORMAT = (
    "response_format",
    "json_schema",
    "json_object",
    "json schema",
    "structured output",
    "grammar",
    "tool_choice",
    "support tool",
    "tools",
    "tool call",
    "function call",
    "guided",
    # Gemini names the fields of its own API, also at its OpenAI-compatible address.
    "response_schema",
    "responseschema",
    "function_declarations",
    "response_mime_type",
    "schema produces a constraint",
    "nesting depth",
    "too many states",
)
"""The way of asking for JSON is refused, or this schema; the next way may be taken."""

FAILED_GENERATION = ("json_validate_failed", "tool_use_failed")
"""Groq: the model wrote something, and it does not fit the schema or is no tool call."""

OUTPUT_LIMIT_KEYS = ("max_tokens", "max_completion_tokens")
"""The two names of the output limit; OpenAI's reasoning models refuse the older one."""

UNKNOWN_PARAMETER = ("unsupported", "unrecognized", "unknown", "not supported", "extra inputs")
"""Words with which endpoints name a parameter that they do not take."""

STREAM_OPTIONS = "stream_options"
"""The key by which a stream is asked for its usage; Azure and Fireworks refused it at times."""

STREAM = "stream"
"""A word of errors that refuse to stream; Groq: `response_format` does not support streaming."""
