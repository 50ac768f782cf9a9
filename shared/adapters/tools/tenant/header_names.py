"""Names of headers that a tool of kind `http` cannot set."""

from collections.abc import Iterable

RESERVED_HEADERS = frozenset((
    "accept-encoding", "connection", "content-length", "content-type", "expect", "host", "idempotency-key",
    "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
))  # fmt: skip
"""Acta or HTTP itself sets them."""
_NO_ARGUMENT = frozenset((
    "accept", "authorization", "cookie", "cookie2", "forwarded", "origin", "range", "referer", "user-agent", "via",
    "x-api-key", "x-http-method", "x-http-method-override", "x-method-override", "x-original-method", "x-original-url",
    "x-real-ip", "x-rewrite-url", "true-client-ip", "cf-connecting-ip", "client-ip", "x-client-ip",
    "x-cluster-client-ip",
))  # fmt: skip
"""Beside them, what says who calls, from where, or which request it is: no model says that."""
_NO_ARGUMENT_BEGINS = ("content-", "proxy-", "sec-", "x-amz-", "x-forwarded-", "x-envoy-")


def as_servers_read(name: str) -> str:
    """A header's name in lower case, with `-` for what CGI and its heirs (RFC 3875, 4.1.18) do not tell from it:
    `Transfer_Encoding` is `transfer-encoding` there.
    """
    return "".join(char if char.isalnum() else "-" for char in name.lower())


def reserved(names: Iterable[str]) -> list[str]:
    """Those of `names` that no tool may set, sorted."""
    return sorted(name for name in names if as_servers_read(name) in RESERVED_HEADERS)


def no_arguments(names: Iterable[str]) -> list[str]:
    """Those of `names` that no argument of a model may set, sorted."""
    return sorted(name for name in names if _is_no_argument(as_servers_read(name)))


def _is_no_argument(name: str) -> bool:
    return name in RESERVED_HEADERS or name in _NO_ARGUMENT or name.startswith(_NO_ARGUMENT_BEGINS)
