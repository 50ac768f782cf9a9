"""Patterns of tenants' schemas. RE2 matches them: in time that grows with the text and with the pattern's program, and
no faster (ADR 53). Python's own `re` takes exponential time for some.

The package `re2` is imported at the first pattern.
"""

from functools import cache
from typing import Any, NamedTuple

from shared.adapters.tools.schema.work import spend
from shared.domain.untrusted.quoting import one_line

MAX_MEMORY = 1 << 18
"""Bytes that one compiled pattern may take."""
STEPS_A_UNIT = 2_000
"""Characters times instructions that count as one unit of work."""
ALLOWED = "Patterns are those of RE2: no look-around, no back-reference, no repetition above 1,000."


class BadPattern(Exception):
    """The message is a sentence for the admin who wrote the schema."""


class Pattern(NamedTuple):
    """`matcher`: RE2's. `instructions`: of its program."""

    matcher: Any
    instructions: int

    def found_in(self, text: str) -> bool:
        """Raises TooMuchWork."""
        spend(1 + len(text) * self.instructions // STEPS_A_UNIT)
        return self.matcher.search(text) is not None


def compiled(pattern: str) -> Pattern:
    """Raises BadPattern. RE2's own cache keeps what was compiled."""
    import re2

    try:
        matcher = re2.compile(_for_re2(pattern), _options())
    except (re2.error, UnicodeEncodeError):
        raise BadPattern(f'The pattern "{one_line(pattern, 80)}" cannot be used. {ALLOWED}') from None
    return Pattern(matcher, matcher.programsize)


def _for_re2(pattern: str) -> str:
    """JSON Schema's `\\u00e9` is `\\x{00e9}` in RE2."""
    parts = pattern.split("\\\\")
    return "\\\\".join(_with_code_points(part) for part in parts)


def _with_code_points(part: str) -> str:
    first, *others = part.split("\\u")
    return first + "".join(
        f"\\x{{{other[:4]}}}{other[4:]}" if len(other) >= 4 else f"\\u{other}" for other in others
    )


@cache
def _options() -> Any:
    import re2

    options = re2.Options()
    options.max_mem = MAX_MEMORY
    options.log_errors = False
    return options
