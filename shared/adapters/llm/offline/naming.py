"""File names, quotes and filters in a sentence."""

import re

from shared.adapters.llm.offline.goals import Files

_QUOTED = re.compile(r"\"([^\"]*)\"|“([^”]*)”|«([^»]*)»|`([^`]*)`|(?<!\w)'([^'\n]*)'(?!\w)", re.DOTALL)
_MARK = re.compile(r"\x01(\d+)\x02")
_PATH = re.compile(
    r"(?<![\w.*/])(?!https?:)[\w@+~-][\w@+./~-]*\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/])|\x01\d+\x02"
)
_BARE_NAME = re.compile(
    r"\b(?:file|files)\s+(?:named\s+|called\s+)(?P<name>[\w@+./-]+)|\b(?P<known>README|Makefile|LICENSE|Dockerfile)\b",
    re.I,
)
_SUFFIX = re.compile(r"(?<![\w/])\*?(\.[A-Za-z][A-Za-z0-9]{0,7})(?=\s|$|[,;?!)])")
_KIND = re.compile(
    r"\b(markdown|text|csv|json|python|log|temp(?:orary)?|html|yaml)\s+(?:files?|documents?)\b", re.IGNORECASE
)
_KINDS = {
    "markdown": (".md", ".markdown"), "text": (".txt",), "csv": (".csv",), "json": (".json",),
    "python": (".py",), "log": (".log",), "temp": (".tmp", ".temp"), "temporary": (".tmp", ".temp"),
    "html": (".html", ".htm"), "yaml": (".yaml", ".yml"),
}  # fmt: skip
_FOLDER = re.compile(
    r"\b(?:folder|directory)\s+(?:named\s+|called\s+)?(?P<after>[\w@+./-]*[\w/])"
    r"|\b(?:in|under|inside|within|from|of)\s+(?:the\s+|my\s+)?(?P<before>[\w@+./-]*[\w/])\s+(?:folder|directory)\b"
    r"|\b(?:in|under|inside|within|from)\s+(?P<slash>[\w@+./-]+/)(?=\s|$|[.,;?!])",
    re.IGNORECASE,
)
_NO_FOLDER = frozenset({"the", "a", "my", "this", "each", "every", "root", "per", "home", "same", "storage"})


_EXCEPT = re.compile(
    r"[,\s]+(?:except(?:\s+for)?|excluding|other\s+than|apart\s+from|besides|without|but\s+(?:not|keep|leave|do\s+not|don't))\b",
    re.IGNORECASE,
)
_PLAIN = frozenset(
    {
        *("delete", "remove", "erase", "get", "rid", "throw", "away", "please", "permanently"),
        *(
            "all",
            "every",
            "each",
            "any",
            "everything",
            "empty",
            "the",
            "a",
            "my",
            "our",
            "these",
            "those",
            "this",
            "that",
        ),
        *(
            "file",
            "files",
            "document",
            "documents",
            "folder",
            "folders",
            "directory",
            "storage",
            "content",
            "contents",
        ),
        *("named", "called", "with", "ending", "end", "ends", "extension", "extensions", "are"),
        *("of", "in", "under", "inside", "within", "from", "and", "or"),
    }
)
"""Words of a deletion that leave nothing unexplained."""


class Names:
    """`masked`: the sentence with each quote replaced by a mark, which stands for it everywhere below."""

    def __init__(self, text: str) -> None:
        self._quotes: list[str] = []
        self._spelled: list[str] = []

        def take(found: re.Match[str]) -> str:
            self._quotes.append(next(group for group in found.groups() if group is not None))
            self._spelled.append(found[0])
            return f"\x01{len(self._quotes) - 1}\x02"

        self.masked = _QUOTED.sub(take, text.replace("\x01", "").replace("\x02", ""))

    def restored(self, text: str) -> str:
        return _MARK.sub(lambda found: self._spelled[int(found[1])], text)

    def any_quote(self, text: str) -> str | None:
        """The first quote that is no file name."""
        quotes = [self._quotes[int(found[1])] for found in _MARK.finditer(text)]
        return next((quote for quote in quotes if not _looks_like_a_path(quote)), None)

    def leading_quote(self, text: str) -> tuple[str, str] | None:
        found = _MARK.match(text)
        return (self._quotes[int(found[1])], text[found.end() :]) if found else None

    def written(self, path: str) -> str:
        """How `path` stands in `masked`: itself, or the mark of its quote."""
        return f"\x01{self._quotes.index(path)}\x02" if path in self._quotes else path

    def paths(self, text: str) -> list[str]:
        found = []
        for match in _PATH.finditer(text):
            mark = _MARK.fullmatch(match[0])
            name = self._quotes[int(mark[1])].strip() if mark else match[0]
            if not mark or _looks_like_a_path(name):
                found.append(name)
        if not found:
            found = [match["name"] or match["known"] for match in _BARE_NAME.finditer(text)]
        return list(dict.fromkeys(found))

    def files(self, text: str, *, folder: bool = True) -> Files:
        text, _, spared = self._parted(text)
        spared_folder = self._folder(spared)
        excluded = [
            *self.paths(spared),
            *_suffixes(spared),
            *([f"{spared_folder}/"] if spared_folder else []),
        ]
        return Files(
            paths=tuple(self.paths(text)),
            suffixes=tuple(_suffixes(text)),
            excluded=tuple(excluded),
            folder=self._folder(text) if folder else "",
            only_empty=re.search(r"\bempty\s+(?:files?|documents?)\b", text, re.IGNORECASE) is not None,
        )

    def unexplained(self, text: str) -> str:
        """What is left of a sentence without its file names, filters and the words in `_PLAIN`: a condition
        that no rule understands."""
        text, spoken, spared = self._parted(text)
        if spoken and not (self.paths(spared) or _suffixes(spared) or self._folder(spared)):
            return spared.strip() or spoken
        folder = self._folder(text)
        for pattern in (_PATH, _SUFFIX, _KIND, *((re.compile(re.escape(folder)),) if folder else ())):
            text = pattern.sub(" ", text)
        return " ".join(word for word in re.findall(r"[\w'-]+", text) if word.lower() not in _PLAIN)

    def _parted(self, text: str) -> tuple[str, str, str]:
        """The sentence before, and after, the word that begins an exception."""
        found = _EXCEPT.search(text)
        return (text[: found.start()], found[0], text[found.end() :]) if found else (text, "", "")

    def _folder(self, text: str) -> str:
        for match in _FOLDER.finditer(text):
            name = (match["after"] or match["before"] or match["slash"]).strip("/")
            if name and name.lower() not in _NO_FOLDER and not _PATH.fullmatch(name):
                return name
        return ""


def _suffixes(text: str) -> list[str]:
    kinds = [suffix for match in _KIND.finditer(text) for suffix in _KINDS[match[1].lower()]]
    return list(dict.fromkeys([match[1].lower() for match in _SUFFIX.finditer(text)] + kinds))


def _looks_like_a_path(text: str) -> bool:
    return (
        re.fullmatch(r"[^\s/](?:[^\n/]{0,100}/)*[^\n/]{0,100}\.[A-Za-z][A-Za-z0-9]{0,7}", text.strip())
        is not None
    )
