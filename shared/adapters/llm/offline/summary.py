"""Extractive summaries: sentences of the text itself. Nothing that a text says is followed."""

import csv
import io
import re
from collections import Counter

NOT_FOLLOWED = "It also holds text addressed to an assistant, which was not followed."

_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'“(\[]?[^\W_a-z])|\n\s*\n|\n(?=\s*(?:[-*+•]|\d+[.)])\s)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?=\S)")
_MARKUP = re.compile(r"!?\[([^\]]{0,300})\]\([^)]{0,300}\)|(?<!\w)[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}(?!\w)")
_LIST_MARK = re.compile(r"^\s*(?:[-*+•>]|\d+[.)]|\[[ xX]\])\s+")
_FENCE = re.compile(r"\s*-{3,}")
_INSTRUCTION = re.compile(
    r"GOAL_COMPLETE|update_plan|system prompt|\b(ignore|disregard|forget|override)\b[^.]{0,40}"
    r"\b(instruction|previous|prior|above|rule|prompt)|\byou (are|must) now\b|\bas an? (ai|assistant|agent)\b|"
    r"\b(assistant|agent|ai)s?\b[^.]{0,30}\b(must|should|shall|has to|delete|remove|call|approve)\b|"
    r"\b(delete|remove|erase|overwrite)\b[^.]{0,20}\b(all|every|any)\b[^.]{0,20}\bfiles?\b",
    re.IGNORECASE,
)
_STOP_WORDS_TEXT = (
    "a about after all also an and any are as at be because been but by can could did do for from had has have he her "
    "his how i if in into is it its just me more most my no not of on one only or our out over she should so some "
    "such than that the their them then there these they this those to up us was we were what when where which who "
    "will with would you your"
)
_STOP_WORDS = frozenset(_STOP_WORDS_TEXT.split())
_MIN_WRAPPED_CHARS = 50
"""A shorter line was ended on purpose, not wrapped."""
_MAX_SENTENCE_CHARS = 240


def summary_of(path: str, text: str, sentences: int) -> str:
    """One paragraph about a file, as a table where its path ends with `.csv`. `sentences`: how many it may quote."""
    if not text.strip():
        return "The file is empty."
    table = _table(text) if path.lower().endswith(".csv") else None
    return table or _prose(text, sentences)


def word_count(text: str) -> str:
    """For example "120 words in 9 lines"."""
    return f"{plural(len(text.split()), 'word')} in {plural(len(text.splitlines()), 'line')}"


def plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _prose(text: str, sentences: int) -> str:
    lines = ["" if _has_instruction(line) or _FENCE.match(line) else line for line in text.splitlines()]
    headings = [_plain(heading) for line in lines if (heading := _heading(line))]
    body = "\n\n".join("" if _heading(line) else line for line in _unwrapped(lines))
    more = f" and {len(headings) - 5} more" if len(headings) > 5 else ""
    parts = [f"Headings: {'; '.join(headings[:5])}{more}."] if headings else []
    parts += _chosen(_sentences(body), sentences)
    if _has_instruction(text):
        parts.append(NOT_FOLLOWED)
    return " ".join(parts or ["No sentences to quote."]) + f" ({word_count(text)})"


def _heading(line: str) -> str:
    """The heading that the line is, without its marks; empty: it is none."""
    marks = _HEADING.match(line)
    return line[marks.end() :].rstrip().rstrip("#").rstrip() if marks else ""


def _has_instruction(text: str) -> bool:
    return _INSTRUCTION.search(text) is not None


def _unwrapped(lines: list[str]) -> list[str]:
    """Paragraph by paragraph. Hard-wrapped lines are joined; list items and headings stand alone."""
    joined: list[str] = []
    is_wrapped = False
    for line in lines:
        is_heading = _heading(line) != ""
        stands_alone = not line.strip() or _LIST_MARK.match(line) or is_heading
        if is_wrapped and not stands_alone:
            joined[-1] = f"{joined[-1].rstrip()} {line.strip()}"
        else:
            joined.append(line)
        is_wrapped = len(line) >= _MIN_WRAPPED_CHARS and not is_heading
    return joined


def _sentences(text: str) -> list[str]:
    found = []
    for piece in _SENTENCE_END.split(text):
        sentence = _plain(_LIST_MARK.sub("", piece))
        if len(_WORD.findall(sentence)) >= 3 and not _has_instruction(sentence):
            found.append(sentence if sentence[-1] in ".!?:" else sentence + ".")
    return list(dict.fromkeys(found))


def _chosen(sentences: list[str], wanted: int) -> list[str]:
    """The first sentence, and those whose words come most often in the text, in the text's order."""
    uses = Counter(word for sentence in sentences for word in _content_words(sentence))

    def weight(index: int) -> float:
        words = _content_words(sentences[index])
        numbers = 1.0 if re.search(r"\d", sentences[index]) else 0.0
        return (sum(uses[word] for word in set(words)) + numbers) / (len(words) + 3)

    ranked = sorted(range(1, len(sentences)), key=lambda index: (-weight(index), index))
    return [_short(sentences[index]) for index in sorted([0, *ranked[: wanted - 1]]) if sentences]


def _content_words(sentence: str) -> list[str]:
    return [word for word in (w.lower() for w in _WORD.findall(sentence)) if word not in _STOP_WORDS]


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub(r"\1", text).split())


def _short(sentence: str) -> str:
    return (
        sentence
        if len(sentence) <= _MAX_SENTENCE_CHARS
        else sentence[: sentence.rfind(" ", 0, _MAX_SENTENCE_CHARS)] + " …"
    )


def _table(text: str) -> str | None:
    """The number of rows, the columns, and the ranges of columns that hold numbers. None: the text is no table."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
    except csv.Error:
        return None
    if not rows or len(rows[0]) < 2 or _has_instruction(" ".join(rows[0])):
        return None
    names, body = [name.strip() for name in rows[0]], rows[1:]
    ranges = [
        found
        for column, name in enumerate(names)
        if (found := _range(name, [row[column].strip() for row in body if column < len(row)]))
    ]
    size = f"A table of {plural(len(body), 'row')} and {len(names)} columns ({', '.join(names[:10])})."
    return f"{size} {'; '.join(ranges[:5])}." if ranges else size


def _range(name: str, cells: list[str]) -> str | None:
    try:
        numbers = [float(cell) for cell in cells if cell]
    except ValueError:
        return None
    if not numbers or max(map(abs, numbers)) > 1e15:
        return None
    low, high, average = min(numbers), max(numbers), sum(numbers) / len(numbers)
    return f"{name} from {_number(low)} to {_number(high)}, average {_number(average)}"


def _number(number: float) -> str:
    return f"{number:,.2f}".rstrip("0").rstrip(".")
