"""Headers of tools of kind `http`: which names a tool cannot set, and which may have their value in the definition.

A definition is in the table, its backups and its exports, so no credential may stand in it. Most headers have to refer
to a secret (docs/design/tools.md 27), because a header with a credential may have any name.
"""

from collections.abc import Iterable


class FieldRefused(Exception):
    """`field`: of the definition of a tool of kind `http`. The message is for the admin."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


RESERVED_HEADERS = frozenset((
    "accept-encoding", "acta-callback-url", "connection", "content-length", "content-type", "expect", "host",
    "idempotency-key", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding",
    "upgrade",
))  # fmt: skip
"""Acta or HTTP itself sets them."""
_NO_ARGUMENT = frozenset((
    "accept", "authorization", "cookie", "cookie2", "forwarded", "origin", "range", "referer", "user-agent", "via",
    "x-api-key", "x-http-method", "x-http-method-override", "x-method-override", "x-original-method", "x-original-url",
    "x-real-ip", "x-rewrite-url", "true-client-ip", "cf-connecting-ip", "client-ip", "x-client-ip",
    "x-cluster-client-ip",
))  # fmt: skip
"""Headers that no model may set either, because they say who calls, from where, or which request it is."""
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


_PLAIN = (
    "accept", "agent", "cachecontrol", "caller", "country", "currency", "environment", "format", "language", "locale",
    "mode", "origin", "prefer", "referer", "region", "team", "tenant", "timezone", "version",
)  # fmt: skip
"""Ends of names whose value may stand in the definition, without separators: `X-GitHub-Api-Version`, `X-Tenant`."""
PLAIN_NAMES = "Accept, Accept-Language, …-Version, …-Format, …-Region, …-Tenant, …-Team, …-Caller"
"""The same names, as they stand in a sentence for an admin."""
_SCHEMES = (
    "apikey ",
    "basic ",
    "bearer ",
    "digest ",
    "dpop ",
    "hmac ",
    "jwt ",
    "key ",
    "negotiate ",
    "token ",
)
_BEGINNINGS = ("akia", "eyj", "gho_", "ghp_", "github_pat_", "glpat-", "pk-", "rk_", "sk-", "sk_", "xox")
"""How credentials of large services begin, in lower case; `eyJ` is a JSON object in base64, such as a JWT."""
_LONG = 24
"""A word with letters and digits that has at least this many characters is taken for a credential."""


def may_be_literal(name: str, value: str) -> bool:
    """Whether the header may stand in the definition as it is: neither its name nor its value is that of a credential.

    Linear in both.
    """
    whole = "".join(char for char in name.lower() if char.isalnum())
    return whole.endswith(_PLAIN) and not _looks_like_credential(value)


def holds_credential(text: str) -> bool:
    """Whether a word of the text is like those that large services give out as credentials. Linear in the text."""
    return any(word.startswith(_BEGINNINGS) and _is_long(word) for word in _words(text.lower()))


def _looks_like_credential(value: str) -> bool:
    lower = value.strip().lower()
    return lower.startswith(_SCHEMES) or any(
        word.startswith(_BEGINNINGS) or _is_long(word) for word in _words(lower)
    )


def _words(lower: str) -> list[str]:
    return "".join(char if char.isalnum() or char in "_-" else " " for char in lower).split()


def _is_long(word: str) -> bool:
    return (
        len(word) >= _LONG and any(char.isdigit() for char in word) and any(char.isalpha() for char in word)
    )
