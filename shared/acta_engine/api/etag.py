"""Entity tags, `If-None-Match` and `If-Match` (RFC 9110, 8.8.3, 13.1.1 and 13.1.2)."""

import re

from acta_engine.errors import FieldsInvalid, PreconditionRequired

_TAG = re.compile(r'(?:W/)?("[\x21\x23-\x7e\x80-\xff]*")')

MOST_TAG_CHARS = 100


def etag(*parts: object) -> str:
    """A strong tag, made of what identifies the representation: a commit number, for instance."""
    return '"' + "-".join(str(part) for part in parts) + '"'


def plan_tag(version: int) -> str:
    """The tag of a plan's version, which an edit names. Steps change their status within it; edits check that."""
    return etag(version)


def required(if_match: str | None) -> str:
    """The header `If-Match` of a request that needs it. Raises PreconditionRequired."""
    if if_match is None:
        raise PreconditionRequired("Send If-Match with the ETag of the plan that you have read.")
    return if_match


def matches(if_none_match: str | None, tag: str) -> bool:
    """Weak comparison, as RFC 9110 asks for; `*` fits everything."""
    if not if_none_match:
        return False
    return if_none_match.strip() == "*" or tag in _TAG.findall(if_none_match)


def of_new_or_known(if_none_match: str | None, if_match: str | None) -> str | None:
    """What a write expects at its place. `*`: nothing; a tag: what has this tag; None: anything. Raises FieldsInvalid
    for headers that say none of this.
    """
    if if_none_match is not None:
        if if_none_match.strip() != "*" or if_match is not None:
            raise FieldsInvalid(
                {"If-None-Match": ["Send `*`, alone: nothing is written where there is something."]}
            )
        return "*"
    if if_match is not None and not _is_one_strong(if_match.strip()):
        raise FieldsInvalid({"If-Match": ["Send the one `etag` of a version, in quotes."]})
    return None if if_match is None else if_match.strip()


def _is_one_strong(tag: str) -> bool:
    inside = tag[1:-1]
    is_quoted = len(tag) >= 2 and tag[0] == tag[-1] == '"' and '"' not in inside
    return is_quoted and 0 < len(inside) <= MOST_TAG_CHARS and inside.isascii() and inside.isprintable()


def admits(if_match: str | None, tag: str) -> bool:
    """Whether `If-Match` allows to change what has this tag. Strong comparison; `*` or no header allows anything."""
    if if_match is None or if_match.strip() == "*":
        return True
    return any(found[0] == tag for found in _TAG.finditer(if_match))
