"""Entity tags and preconditions (RFC 9110, 8.8.3 and 13).

The row of an operation says which preconditions it takes, and a request with another one is refused (`arguments.py`):
whoever sends one relies on it. After a `GET`, `unless_known` compares `If-None-Match` with the answer's ETag. A write
asks `admits` of what it is about to change.
"""

import re

from acta.engine.api.envelope import NO_BODY, Response
from acta.engine.errors import FieldsInvalid

PRECONDITIONS = ("If-Match", "If-None-Match", "If-Unmodified-Since")
"""Those that decide whether something is done. `If-Modified-Since` and `If-Range` only spare bytes."""
_TAG = re.compile(r'(?:W/)?("[\x21\x23-\x7e\x80-\xff]*")')
TAGS = r'^[ \t,]*(W/)?"[!#-~\x80-\xff]*"([ \t]*,[ \t,]*(W/)?"[!#-~\x80-\xff]*")*[ \t,]*$'
"""What `If-Match` has where it is not `*`: a list with at least one tag, as the document says, too. A tag without its
quotation marks is no tag; it would be taken for that of another state.
"""


def etag(*parts: object) -> str:
    """A strong tag, made of what identifies the representation: a commit number, for instance."""
    return '"' + "-".join(str(part) for part in parts) + '"'


def plan_tag(version: int) -> str:
    """The tag of a plan's version, which an edit names. Steps change their status within it; edits check that."""
    return etag(version)


def matches(if_none_match: str | None, tag: str) -> bool:
    """Weak comparison, as RFC 9110 asks for; `*` fits everything."""
    if not if_none_match:
        return False
    return if_none_match.strip() == "*" or tag in _TAG.findall(if_none_match)


def unless_known(if_none_match: str | None, response: Response) -> Response:
    """The answer to a `GET`, or 304 where the client has it already (RFC 9110, 15.4.5)."""
    if response.status != 200 or not matches(if_none_match, response.headers.get("ETag", "")):
        return response
    kept = {name: response.headers[name] for name in ("ETag", "Vary") if name in response.headers}
    return response._replace(status=304, content_type="", body=NO_BODY, headers=kept)


def is_for_new(if_none_match: str | None, if_match: str | None) -> bool:
    """Whether a write is only for a place where there is nothing. Raises FieldsInvalid for another `If-None-Match`."""
    if if_none_match is not None and (if_none_match.strip() != "*" or if_match is not None):
        raise FieldsInvalid(
            {"If-None-Match": ["Send `*`, alone: nothing is written where there is something."]}
        )
    return if_none_match is not None


def admits(if_match: str | None, tag: str) -> bool:
    """Whether `If-Match` permits a change of what has this tag. Strong comparison; `*` or no header permits any."""
    if if_match is None or if_match == "*":
        return True
    return any(found[0] == tag for found in _TAG.finditer(if_match))
