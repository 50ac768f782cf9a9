"""Extractive summaries: what a text is, in its own words. Nothing in a text is ever followed."""

import re
from collections import Counter

from shared.adapters.llm.offline.tables import describe_json, describe_lines_of_json, describe_table

_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'“(\[]?[^\W_a-z])|\n\s*\n|\n(?=\s*(?:[-*+•]|\d+[.)])\s)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.+?)\s*#*\s*")
_MARKUP = re.compile(
    r"!?\[([^\]]*)\]\([^)]*\)|<[^<>\n]{1,200}>|(?<!\w)[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}(?!\w)"
)
_LIST_MARK = re.compile(r"^\s*(?:[-*+•>]|\d+[.)]|\[[ xX]\])\s+")
_DEFINITION = re.compile(
    r"^\s*(?:export\s+)?(?:async\s+)?(?:def|class|function|func|fn|interface)\s+(\w+)", re.MULTILINE
)
_LEVEL = re.compile(r"\b(CRITICAL|FATAL|ERROR|WARN(?:ING)?)\b")
_ADDRESSED_TO_AN_ASSISTANT = re.compile(
    r"GOAL_COMPLETE|update_plan|system prompt|\b(ignore|disregard|forget|override)\b[^.]{0,40}"
    r"\b(instruction|previous|prior|above|rule|prompt)|\byou (are|must) now\b|\bas an? (ai|assistant|agent)\b|"
    r"\b(assistant|agent|ai)s?\b[^.]{0,30}\b(must|should|shall|has to|delete|remove|call|approve)\b|"
    r"\b(delete|remove|erase|overwrite)\b[^.]{0,20}\b(all|every|any)\b[^.]{0,20}\bfiles?\b|<\|?im_start|\[/?INST\]",
    re.IGNORECASE,
)
_CODE = (".py", ".js", ".ts", ".go", ".rs", ".java", ".c", ".cpp", ".rb", ".sh")
_STOPWORDS = frozenset(
    [
        "a",
        "about",
        "after",
        "all",
        "also",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "just",
        "me",
        "more",
        "most",
        "my",
        "no",
        "not",
        "of",
        "on",
        "one",
        "only",
        "or",
        "our",
        "out",
        "over",
        "she",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "up",
        "us",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)
_FENCE = re.compile(r"\s*-{3,}")
_WRAPPED_FROM = 50
"""A shorter line was ended on purpose, not wrapped."""
NOT_FOLLOWED = "It also holds text addressed to an assistant, which was not followed."


def summary_of(path: str, text: str, *, sentences: int = 3) -> str:
    """One paragraph about a file's text."""
    if not text.strip():
        return "The file is empty."
    if "\ufffd" in text[:2_000] or "\x00" in text:
        return f"Not text: {len(text):,} characters that do not decode."
    name = path.lower()
    described = None
    if name.endswith((".csv", ".tsv")):
        described = describe_table(text, "\t" if name.endswith(".tsv") else None)
    elif name.endswith(".json"):
        described = describe_json(text)
    elif name.endswith((".jsonl", ".ndjson")):
        described = describe_lines_of_json(text)
    elif name.endswith(_CODE):
        described = _code(text)
    elif name.endswith(".log"):
        described = _log(text)
    return described or _prose(text, sentences)


def addressed_to_an_assistant(text: str) -> bool:
    return _ADDRESSED_TO_AN_ASSISTANT.search(text) is not None


def counted(text: str) -> str:
    words, lines = len(text.split()), len(text.splitlines())
    return f"{words:,} word{'s' * (words != 1)} in {lines:,} line{'s' * (lines != 1)}"


def _prose(text: str, sentences: int) -> str:
    headings = [plain(found[1]) for line in text.splitlines() if (found := _HEADING.fullmatch(line))]
    headings = [heading for heading in headings if heading and not addressed_to_an_assistant(heading)]
    body = "\n\n".join("" if _HEADING.fullmatch(line) else line for line in _unwrapped(text))
    chosen = _informative(_sentences(body), sentences)
    parts = []
    if headings:
        more = f" and {len(headings) - 5} more" if len(headings) > 5 else ""
        parts.append(f"Headings: {'; '.join(headings[:5])}{more}.")
    parts += chosen
    if addressed_to_an_assistant(text):
        parts.append(NOT_FOLLOWED)
    return " ".join(parts or ["No sentences to quote."]) + f" ({counted(text)})"


def _unwrapped(text: str) -> list[str]:
    """Paragraph by paragraph: hard-wrapped lines joined, list items and headings by themselves."""
    joined: list[str] = []
    wrapped = False
    for line in text.splitlines():
        if addressed_to_an_assistant(line) or _FENCE.match(line):
            line = ""
        apart = not line.strip() or _LIST_MARK.match(line) or _HEADING.fullmatch(line)
        if wrapped and not apart:
            joined[-1] = f"{joined[-1].rstrip()} {line.strip()}"
        else:
            joined.append(line)
        wrapped = len(line) >= _WRAPPED_FROM and not _HEADING.fullmatch(line)
    return joined


def _sentences(text: str) -> list[str]:
    found = []
    for piece in _SENTENCE_END.split(text):
        sentence = plain(_LIST_MARK.sub("", piece))
        if len(_WORD.findall(sentence)) >= 3 and not addressed_to_an_assistant(sentence):
            found.append(sentence if sentence[-1] in ".!?:" else sentence + ".")
    return list(dict.fromkeys(found))


def _informative(sentences: list[str], wanted: int) -> list[str]:
    """The first one, then those whose words the text uses most, in the text's order."""
    if len(sentences) <= wanted:
        return [_short(sentence) for sentence in sentences]
    uses = Counter(word for sentence in sentences for word in _content_words(sentence))

    def weight(index: int) -> float:
        words = _content_words(sentences[index])
        numbers = 1.0 if re.search(r"\d", sentences[index]) else 0.0
        return (sum(uses[word] for word in set(words)) + numbers) / (len(words) + 3)

    ranked = sorted(range(1, len(sentences)), key=lambda index: (-weight(index), index))
    return [_short(sentences[index]) for index in sorted([0, *ranked[: wanted - 1]])]


def _content_words(sentence: str) -> list[str]:
    return [word for word in (w.lower() for w in _WORD.findall(sentence)) if word not in _STOPWORDS]


def plain(text: str) -> str:
    return " ".join(_MARKUP.sub(r"\1", text).split())


def _short(sentence: str, limit: int = 240) -> str:
    return sentence if len(sentence) <= limit else sentence[: sentence.rfind(" ", 0, limit)] + " …"


def _code(text: str) -> str:
    names = list(dict.fromkeys(_DEFINITION.findall(text)))
    comment = re.search(r'^\s*(?:"""|#(?!!)|//|/\*+)\s*(\S.*?)\s*(?:"""|\*/)?$', text, re.MULTILINE)
    said = f" {_short(plain(comment[1]))}" if comment and not addressed_to_an_assistant(comment[1]) else ""
    defines = f" Defines {', '.join(names[:6])}{' and more' if len(names) > 6 else ''}." if names else ""
    return f"Source code, {len(text.splitlines()):,} lines.{said}{defines}"


def _log(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    levels = Counter("WARNING" if level == "WARN" else level for level in _LEVEL.findall(text))
    seen = ", ".join(f"{count} {level}" for level, count in sorted(levels.items())) or "no errors or warnings"
    worst = next((line for line in lines if re.search(r"\b(CRITICAL|FATAL|ERROR)\b", line)), lines[-1])
    quoted = "" if addressed_to_an_assistant(worst) else f" “{_short(plain(worst), 160)}”"
    return f"A log of {len(lines):,} lines: {seen}.{quoted}"
