"""A message as clauses, and what a person does not want in them: above all nothing deleted."""

import re
from collections.abc import Sequence

from shared.adapters.llm.offline import goals as g

_VERBS = (
    "list|show|display|read|open|print|cat|summari[sz]e|write|save|store|create|make|delete|remove|erase|copy|"
    "duplicate|append|add|move|rename|count|find|search|look|tell|give|get|check|put|report|record|export|grep|"
    "describe|what|how|which|don't|do not|never"
)
_CLAUSES = re.compile(
    rf"\s*;\s*|\n+|[.!?]\s+(?=\w)"
    rf"|,?\s+(?:and\s+)?(?:then|afterwards|after that|finally|also)\s+(?:please\s+)?(?={_VERBS})"
    rf"|,\s*(?:and\s+)?(?:please\s+)?(?=(?:{_VERBS})\b)|\s+and\s+(?:please\s+)?(?=(?:{_VERBS})\b)",
    re.IGNORECASE,
)
GREETING = re.compile(
    r"^(?:(?:please|kindly|can you|could you|would you|i want you to|i'd like you to|now|also|and|then|ok|okay|"
    r"just|simply|only)[\s,]+)+",
    re.IGNORECASE,
)
NEGATED = re.compile(
    r"^\s*(?:(?:please|but|you|i|must|should|shall|may|can|under)\s+)*"
    r"(?:do not|don['’]?t|never|without|not|mustn['’]?t|shouldn['’]?t|no circumstances?|avoid)\b",
    re.IGNORECASE,
)
_SENTENCE_ENDS = re.compile(r"[.!?;\n]")
_GOES_ON = re.compile(r"\b(?:then|finally|afterwards|after that|also)\b", re.IGNORECASE)
"""Where a `do not` stops: in `do not list, delete or move files` it goes on."""
NOT_TO_DELETE = re.compile(
    r"\b(?:delet|remov|eras|touch|chang|modif|los)(?:e|es|ing|y|ying)?\b", re.IGNORECASE
)
_SIDE_WISH = re.compile(
    r",?\s+but\s+(?:please\s+)?(?=(?:do not|don['’]?t|never)\s+(?:delete|remove|erase|touch|change|modify)\b)",
    re.IGNORECASE,
)
DELETES = re.compile(r"\b(?:delete|remove|erase)\b", re.IGNORECASE)


def clauses(masked: str) -> list[tuple[str, bool]]:
    """Each with whether it begins a sentence, which ends what a `do not` before it covers."""
    if not DELETES.match(GREETING.sub("", masked.strip())):
        masked = _SIDE_WISH.sub("; ", masked)  # else it is the deletion's own exception
    masked = re.sub(
        r"^(\s*(?:please\s+)?without\s+\w+ing\s+(?:anything|any(?:\s+\w+)?|\S+))\s*,",
        r"\1;",
        masked,
        flags=re.I,
    )
    parts: list[tuple[str, bool]] = []
    start, begins = 0, True
    for found in _CLAUSES.finditer(masked):
        parts.append((masked[start : found.start()], begins))
        start, begins = found.end(), _SENTENCE_ENDS.search(found[0]) is not None
        if not begins and _GOES_ON.search(found[0]):
            begins = DELETES.match(masked[start:]) is None  # `do not read and then delete it`
    return [*parts, (masked[start:], begins)]


def spared_by(tasks: list[g.Task], spared: Sequence[g.Files]) -> list[g.Task]:
    """The tasks without any deletion that the person does not want; one that names no file forbids all."""
    kept: list[g.Task] = []
    for task in tasks:
        if isinstance(task, g.Delete):
            files: g.Files | None = task.files
            for other in spared:
                files = _without(files, other) if files is not None else None
            if files is None:
                continue
            task = g.Delete(files)
        kept.append(task)
    return kept


def _without(files: g.Files, spared: g.Files) -> g.Files | None:
    if not (spared.paths or spared.suffixes or spared.folder):
        return None
    if files.paths:
        left = tuple(path for path in files.paths if not spared.fits(path))
        return files._replace(paths=left) if left else None
    folder = (f"{spared.folder}/",) if spared.folder else ()
    return files._replace(excluded=(*files.excluded, *spared.paths, *spared.suffixes, *folder))
