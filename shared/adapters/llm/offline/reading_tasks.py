"""One clause of a goal as a task: the first rule that fits, each tried on the words before the names."""

import re
from collections.abc import Callable

from shared.adapters.llm.offline import goals as g
from shared.adapters.llm.offline.naming import Names

_EVERYTHING = re.compile(
    r"\b(all|each|every|everything|them|these|those|files|storage|folder|folders|documents|notes|contents|texts)\b",
    re.IGNORECASE,
)


_COMPARED = re.compile(
    r"\b(?:newest|oldest|latest|newer|older|longest|shortest|most|least|recent(?:ly)?|duplicates?|largest|smallest)\b",
    re.IGNORECASE,
)


def task_in(clause: str, names: Names, *, follows: bool) -> g.Task | None:
    for pattern, build in _RULES:
        found = re.search(pattern, clause, re.IGNORECASE)
        task = build(found, clause, names) if found else None
        if task is not None:
            return task
    if names.paths(clause) and re.fullmatch(r"\S+", clause.strip("? ")):
        return g.ShowFiles(names.files(clause))
    if follows and re.match(
        r"(?:tell|show|give|report)\b.{0,40}$|(?:thanks|thank you)\b", clause, re.IGNORECASE
    ):
        return None
    return g.Unsupported(names.restored(clause))


_Rule = Callable[[re.Match[str], str, Names], g.Task | None]


def _weather(found: re.Match[str], clause: str, names: Names) -> g.Task | None:
    if re.search(r"\bfiles?\b", clause, re.IGNORECASE) or names.paths(clause):
        return None
    place = re.search(r"\b(?:in|for|at|of|near)\s+(?:the\s+city\s+of\s+)?(.+)$", clause, re.IGNORECASE)
    if place is None:
        return None
    where = re.sub(
        r"\b(?:right now|now|today|tomorrow|currently|at the moment|like)\b", "", place[1], flags=re.I
    )
    places = [names.restored(p).strip(" ?.!\"'") for p in re.split(r"\s*(?:;|\band\b)\s*", where)]
    return g.Weather(tuple(p[:200] for p in places[:5] if p)) if any(places) else None


def _delete(found: re.Match[str], clause: str, names: Names) -> g.Task | None:
    files = names.files(clause)
    if names.unexplained(clause):
        return None  # a condition beyond these rules: deleting more than was meant is worse than not deleting
    chosen = files.paths or files.suffixes or files.folder or files.only_empty or _EVERYTHING.search(clause)
    return g.Delete(files) if chosen else None


def _copy(found: re.Match[str], clause: str, names: Names) -> g.Task | None:
    paths = names.paths(clause)
    return (
        g.Copy(paths[0], paths[1], move=found[1].lower() in ("move", "rename")) if len(paths) == 2 else None
    )


def _append(found: re.Match[str], clause: str, names: Names) -> g.Task | None:
    paths = names.paths(clause)
    if not paths:
        return None
    quote = names.any_quote(clause)
    text = quote if quote is not None else names.restored(found["text"])
    return g.AppendTo(paths[-1], text.strip()) if text.strip() else None


def _write(found: re.Match[str], clause: str, names: Names) -> g.Task | None:
    paths, quote = names.paths(clause), names.any_quote(clause)
    if not paths or quote is None:
        empty = re.search(r"\bempty\b", clause, re.IGNORECASE)
        return g.WriteFile(paths[0], "") if paths and empty else None
    return g.WriteFile(paths[-1], quote)


def _summarise(found: re.Match[str], clause: str, names: Names) -> g.Task | None:
    files = names.files(clause)
    return g.Summarise(files) if files.paths or files.suffixes or _EVERYTHING.search(clause) else None


def _times(found: re.Match[str], clause: str, names: Names) -> g.Task | None:
    quote = names.any_quote(clause)
    files = names.files(clause)
    return g.Search(quote if quote is not None else found["word"], files)


def _another(found: re.Match[str], clause: str, names: Names) -> g.Task | None:
    paths, quote = names.paths(clause), names.any_quote(clause)
    return g.WriteFile(paths[0], quote) if paths and quote is not None else None


def _count(found: re.Match[str], clause: str, names: Names) -> g.Task | None:
    what = re.search(
        r"\b(words?|lines?|characters?|bytes?|folders?|files?|documents?|notes?)\b", clause, re.IGNORECASE
    )
    if what is None:
        return None
    noun = what[1].lower().rstrip("s") + "s"
    noun = "files" if noun in ("documents", "notes") else noun
    per_folder = re.search(r"\b(?:per|each|every|by)\s+(?:folder|directory)\b", clause, re.IGNORECASE)
    return g.Count(noun, names.files(clause, folder=not per_folder), per_folder=bool(per_folder))


def _sizes(found: re.Match[str], clause: str, names: Names) -> g.Task | None:
    if re.search(r"\b(?:newest|oldest|line|lines|words?)\b", clause, re.IGNORECASE):
        return None
    extreme = re.search(r"\b(largest|biggest|heaviest|smallest|tiniest)\b", clause, re.IGNORECASE)
    number = re.search(
        r"\b([1-9]\d?)\s+(?:largest|biggest|heaviest|smallest|tiniest)\b", clause, re.IGNORECASE
    )
    order = "total"
    if extreme is not None:
        order = "smallest" if extreme[1].lower() in ("smallest", "tiniest") else "largest"
    return g.Sizes(order, names.files(clause), int(number[1]) if number else 1)


def _search(found: re.Match[str], clause: str, names: Names) -> g.Task | None:
    quote = names.any_quote(clause)
    named = re.search(
        r"\b(?:named|called|whose names?|with names?)\b\s*(?:contains?|containing)?\s*(\S+)?",
        clause,
        re.IGNORECASE,
    )
    term = quote or (named[1] if named else None) or found.groupdict().get("term") or ""
    term = re.sub(
        r"^(?:the\s+)?(?:words?|terms?|phrases?|text|string|name)\s+", "", names.restored(term), flags=re.I
    )
    term = re.sub(
        r"^(?:all|any|every|each)\s+|\s+(?:comments?|mentions?|occurrences?|references?)$",
        "",
        term,
        flags=re.I,
    )
    term = re.split(
        r"\s+(?:across|in|within|inside|among|through|from)\s+(?=(?:all|my|the|every|each|any|files)\b)", term
    )[0]
    term = term.strip(" ?.!\"'")
    files = (
        names.files(clause.replace(found.groupdict().get("term") or "\0", ""))
        if not quote
        else names.files(clause)
    )
    return g.Search(term, g.Files((), files.suffixes, files.folder), in_names=bool(named)) if term else None


def _list(found: re.Match[str], clause: str, names: Names) -> g.Task | None:
    if names.paths(clause) or re.search(r"\b(?:contents? of|say|says)\b", clause, re.IGNORECASE):
        return None
    if _COMPARED.search(clause):
        return None  # all files would be no answer
    return g.ListFiles(names.files(clause))


def _show(found: re.Match[str], clause: str, names: Names) -> g.Task | None:
    files = names.files(clause)
    everything = re.match(
        r"(?:read|show|print|open)\s+(?:me\s+)?(?:all|each|every|everything)\b", clause, re.IGNORECASE
    )
    return g.ShowFiles(files) if files.paths or files.suffixes or everything else None


_RULES: tuple[tuple[str, _Rule], ...] = (
    (r"\b(?:weather|forecast|temperature)\b", _weather),
    (r"^(?:delete|remove|erase|get rid of|throw away)\b", _delete),
    (r"^(copy|duplicate|move|rename)\b", _copy),
    (
        r"^(?:append|add)\s+(?:the\s+)?(?:text|line|words?|sentence)?\s*:?\s*(?P<text>.+?)\s+"
        r"(?:to|at the end of)\s+",
        _append,
    ),
    (r"^(?:create|write|make|save|put|store)\b", _write),
    (r"^\S+\s+(?:with|containing|saying)\b", _another),
    (
        r"\bsummar|\boverview\b|\bdigest\b|\btl;?dr\b|\bgist\b|\bkey points\b|^describe\b"
        r"|\bwhat(?:'s| is| are)\b.*\babout\b",
        _summarise,
    ),
    (
        r"\bhow (?:many times|often)\b.*?\b(?:the\s+)?(?:word|term|phrase)?\s*(?P<word>\S+)\s+"
        r"(?:appear|occur|is |comes|shows)",
        _times,
    ),
    (
        r"^(?:(?:and\s+)?which|what|show|list|find|tell|name|give|the)\b.*"
        r"\b(?:largest|biggest|heaviest|smallest|tiniest)\b.*?\bfiles?\b"
        r"|^(?:which|what)\b.*\bfiles?\b.*\b(?:largest|biggest|heaviest|smallest|tiniest)\b"
        r"|\btotal\s+size\b|^how\s+(?:big|large)\b|^how\s+much\s+(?:space|storage)\b|^what(?:'s| is) the size of\b",
        _sizes,
    ),
    (r"\bhow many\b|^count\b|\bnumber of\b|\bword count\b|\bline count\b", _count),
    (
        r"^(?:find|search|grep|look)\b.*?\b(?:for|contain(?:s|ing)?|mention(?:s|ing)?|about|the (?:word|term|phrase))\b"
        r"\s*(?P<term>.+)$|^(?:which|what)\b.*\b(?:contain|mention|include|talk about)s?\b\s*(?P<which>.+)$"
        r"|^(?:find|grep)\s+.+",
        lambda found, clause, names: _search(_with_term(found, clause), clause, names),
    ),
    (
        r"\b(?:list|show|display|see|what|which|tell)\b.*\b(?:files?|folders?|director(?:y|ies)|storage|documents)\b"
        r"|^(?:ls|dir|list)\b",
        _list,
    ),
    (
        r"^(?:read|show|display|open|print|cat|get|give|tell)\b|\bwhat does\b|\bcontents? of\b|\bwhat(?:'s| is) in\b",
        _show,
    ),
)


def _with_term(found: re.Match[str], clause: str) -> re.Match[str]:
    """The same rule's three spellings, as one match with a `term`."""
    term = found.groupdict().get("term") or found.groupdict().get("which") or re.sub(r"^\w+\s+", "", clause)
    again = re.search(rf"(?P<term>{re.escape(term)})$", clause)
    assert again is not None
    return again
