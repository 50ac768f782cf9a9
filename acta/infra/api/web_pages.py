"""What web pages of other origins may send to the API, and read of its answers, where an environment names some."""

from acta.engine.api.operations import OPERATIONS

METHODS = sorted({route.method for route in OPERATIONS})
REQUEST_HEADERS = [
    "authorization", "content-digest", "content-type", "idempotency-key", "if-match", "if-none-match", "last-event-id",
    "mcp-method", "mcp-name", "mcp-protocol-version", "repr-digest",
]  # fmt: skip
RESPONSE_HEADERS = [
    "allow", "etag", "location", "ratelimit", "ratelimit-policy", "retry-after",
]  # fmt: skip
MAX_AGE_SECONDS = 3_600
"""How long a browser remembers what it was allowed."""
