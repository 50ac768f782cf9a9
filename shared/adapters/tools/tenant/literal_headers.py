"""Which headers of `http` tools may have their value in the definition, which is in the table, its backups and its
exports. All others refer to a secret (design §7): whoever names a header may call a credential anything.
"""

_PLAIN = (
    "accept", "agent", "cachecontrol", "caller", "country", "currency", "environment", "format", "language", "locale",
    "mode", "origin", "prefer", "referer", "region", "team", "tenant", "timezone", "version",
)  # fmt: skip
"""What the name of such a header ends with, without its separators: `X-GitHub-Api-Version`, `X-Tenant`."""
PLAIN_NAMES = "Accept, Accept-Language, …-Version, …-Format, …-Region, …-Tenant, …-Team, …-Caller"
"""Those that an admin is told of."""
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
"""Of the credentials that large services give out; `eyJ` is a JSON object in base64, such as a JWT."""
_LONG = 24
"""A word of so many characters that has letters and digits is taken for a credential."""


def may_be_literal(name: str, value: str) -> bool:
    """Whether the header may stand in the definition as it is: its name says that it is none, and so does its value.

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
