"""Counts the steps of a matcher that goes back like Python's own, on texts that make it go back most.

Python's `re` tells nobody how much it works, so a slow pattern can only be timed there. This matcher walks the same
tree of a pattern in the same order, without the shortcuts, and counts. It knows what the patterns of the sources need.
"""

import re
from collections.abc import Callable, Iterator
from itertools import product
from math import log
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Literal, NamedTuple

Use = Literal["at one place", "anywhere"]
"""`at one place`: match and fullmatch; `anywhere`: search, and what finds one match after the other."""
Go = Callable[[int], bool]

SHORT = 4
MOST_STEPS = 100_000
"""A run is given up there, and counts as so many."""
MOST_REPEATED = 16
"""Different characters that are repeated; `MOST_PAIRED` of them in pairs, too: those that most of the pattern takes."""
MOST_PAIRED = 4
MOST_EXAMPLES = 3
MOST_PLACES = 16
MOST_TEXTS = 200


class NotCounted(Exception):
    """No pattern of Acta's has this element, so the matcher below does not know it."""


class TooManySteps(Exception):
    """The pattern took `MOST_STEPS` on one text."""


class Growth(NamedTuple):
    """`text`: what was repeated when the steps grew most. `steps`: for the longer of the two texts. `degree`: 1 where
    twice the text takes twice the steps, 2 where it takes four times as many.
    """

    text: str
    steps: int
    degree: float


class _Matcher:
    def __init__(self, text: str, flags: int) -> None:
        self.text = text
        self.flags = flags
        self.steps = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooManySteps

    def sequence(self, items: list[Any], index: int, at: int, go: Go) -> bool:
        if index == len(items):
            return go(at)
        kind, value = items[index]
        return self.one(kind, value, at, lambda end: self.sequence(items, index + 1, end, go))

    def one(self, kind: Any, value: Any, at: int, go: Go) -> bool:
        self.step()
        match kind:
            case sre.BRANCH:
                return any(self.sequence(list(each), 0, at, go) for each in value[1])
            case sre.SUBPATTERN:
                return self.sequence(list(value[3]), 0, at, go)
            case sre.MAX_REPEAT | sre.MIN_REPEAT:
                least, most, inner = _shortened(*value)
                return self.repeat(kind is sre.MAX_REPEAT, least, most, list(inner), 0, at, go)
            case sre.AT:
                return _holds(value, self.text, at) and go(at)
            case sre.ASSERT | sre.ASSERT_NOT:
                direction, inner = value
                start = at if direction > 0 else at - inner.getwidth()[0]
                found = start >= 0 and self.sequence(list(inner), 0, start, lambda end: True)
                return found == (kind is sre.ASSERT) and go(at)
            case _:
                fits = at < len(self.text) and _fits(kind, value, self.text[at], self.flags)
                return fits and go(at + 1)

    def repeat(
        self, greedy: bool, least: int, most: int, inner: list[Any], count: int, at: int, go: Go
    ) -> bool:
        def further(end: int) -> bool:
            return end > at and self.repeat(greedy, least, most, inner, count + 1, end, go)

        self.step()
        if count < least:
            return self.sequence(
                inner, 0, at, lambda end: self.repeat(greedy, least, most, inner, count + 1, end, go)
            )
        if greedy:
            return (count < most and self.sequence(inner, 0, at, further)) or go(at)
        return go(at) or (count < most and self.sequence(inner, 0, at, further))


def _shortened(least: int, most: int, inner: Any) -> tuple[int, int, Any]:
    """A repetition with a limit of its own, with a smaller one: what it costs at most is a constant, so what counts is
    how the work grows beyond it.
    """
    return min(least, SHORT), most if most is sre.MAXREPEAT else min(most, SHORT), inner


def growth(pattern: str, flags: int, use: Use, sizes: tuple[int, int]) -> Growth:
    """The worst growth that was found between texts of the two sizes, in repetitions."""
    tree = _parser.parse(pattern, flags)
    flags = tree.state.flags
    chars = _characters(list(tree), flags)
    worst = Growth("", 0, 0)
    texts = list(_texts(list(tree), chars))
    for before, after, repeated in texts[:: 1 + len(texts) // MOST_TEXTS]:
        small, large = (_steps(list(tree), flags, use, before + repeated * size + after) for size in sizes)
        found = Growth(f"{before!r} + {repeated!r} * n + {after!r}", large, _degree(small, large, sizes))
        worst = max(worst, found, key=lambda one: (one.degree if one.steps > 200 else 0, one.steps))
    return worst


def _degree(small: int, large: int, sizes: tuple[int, int]) -> float:
    return log(max(large, 1) / max(small, 1)) / log(sizes[1] / sizes[0])


def _steps(tree: list[Any], flags: int, use: Use, text: str) -> int:
    matcher = _Matcher(text, flags)
    try:
        if use == "at one place":
            matcher.sequence(tree, 0, 0, lambda end: end == len(text))
        else:
            _everywhere(matcher, tree, text)
    except TooManySteps:
        pass
    return matcher.steps


def _everywhere(matcher: _Matcher, tree: list[Any], text: str) -> None:
    at, ends = 0, [0]

    def ended(end: int) -> bool:
        ends.append(end)
        return True

    while at <= len(text):
        found = matcher.sequence(tree, 0, at, ended)
        at = max(ends[-1], at + 1) if found else at + 1


def _texts(tree: list[Any], chars: list[str]) -> Iterator[tuple[str, str, str]]:
    """Before, after, and what is repeated between them: characters and pairs of characters of the pattern, at each
    place of examples that fit it.
    """
    pairs = product(chars[:MOST_PAIRED], chars[:MOST_PAIRED])
    repeated = [*chars, *("".join(pair) for pair in pairs if pair[0] != pair[1])]
    for example in _examples(tree):
        for place in range(0, len(example) + 1, 1 + len(example) // MOST_PLACES):
            for each in repeated:
                for after in dict.fromkeys(("", "\0", example[place:], example[place:] + "\0")):
                    yield example[:place], after, each


def _examples(tree: list[Any], flags: int = 0) -> list[str]:
    """Short texts that fit: each alternative stands in one of them."""
    found = [""]
    for kind, value in tree:
        match kind:
            case sre.BRANCH:
                further = [text for each in value[1] for text in _examples(list(each))]
            case sre.SUBPATTERN:
                further = _examples(list(value[3]))
            case sre.MAX_REPEAT | sre.MIN_REPEAT:
                least, _, inner = _shortened(*value)
                further = [text * max(1, least) for text in _examples(list(inner))]
            case sre.AT | sre.ASSERT | sre.ASSERT_NOT:
                further = [""]
            case _:
                further = [next((char for char in _POOL if _fits(kind, value, char, flags)), "")]
        longer = [found[0] + text for text in further]
        found = [*longer, *(text + further[0] for text in found[1:])]
    return list(dict.fromkeys(found))[:MOST_EXAMPLES]


_POOL = [chr(code) for code in range(32, 127)] + [
    "\n",
    "\t",
    "\r",
    "é",
    "か",
    "“",
    "”",
    "’",
    "─",
    "\u2028",
    "\0",
]


def _characters(tree: list[Any], flags: int) -> list[str]:
    """One character for each group that the pattern tells apart."""
    atoms = list(_atoms(tree))
    groups: dict[tuple[bool, ...], str] = {}
    for char in _POOL:
        groups.setdefault(tuple(_fits(kind, value, char, flags) for kind, value in atoms), char)
    weighted = sorted(groups.items(), key=lambda group: -sum(group[0]))
    return [char for _, char in weighted][:MOST_REPEATED]


def _atoms(tree: list[Any]) -> Iterator[tuple[Any, Any]]:
    for kind, value in tree:
        match kind:
            case sre.BRANCH:
                for each in value[1]:
                    yield from _atoms(list(each))
            case sre.SUBPATTERN:
                yield from _atoms(list(value[3]))
            case sre.MAX_REPEAT | sre.MIN_REPEAT:
                yield from _atoms(list(value[2]))
            case sre.ASSERT | sre.ASSERT_NOT:
                yield from _atoms(list(value[1]))
            case sre.AT:
                pass
            case _:
                yield kind, value


def _fits(kind: Any, value: Any, char: str, flags: int) -> bool:
    if flags & re.IGNORECASE and kind in (sre.LITERAL, sre.NOT_LITERAL, sre.IN):
        flags &= ~re.IGNORECASE
        return any(_fits(kind, value, one, flags) for one in (char.lower(), char.upper()))
    match kind:
        case sre.LITERAL:
            return bool(ord(char) == value)
        case sre.NOT_LITERAL:
            return bool(ord(char) != value)
        case sre.ANY:
            return bool(flags & re.DOTALL) or char != "\n"
        case sre.IN:
            negated = bool(value) and value[0][0] is sre.NEGATE
            members = value[1:] if negated else value
            return any(_fits(each, inner, char, flags) for each, inner in members) != negated
        case sre.RANGE:
            return bool(value[0] <= ord(char) <= value[1])
        case sre.CATEGORY:
            return _CATEGORIES[value](char)
    raise NotCounted(str(kind))


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    sre.CATEGORY_DIGIT: str.isdecimal,
    sre.CATEGORY_NOT_DIGIT: lambda char: not char.isdecimal(),
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    sre.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    sre.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}


def _holds(where: Any, text: str, at: int) -> bool:
    word = [
        0 <= place < len(text) and (text[place].isalnum() or text[place] == "_") for place in (at - 1, at)
    ]
    match where:
        case sre.AT_BEGINNING | sre.AT_BEGINNING_STRING:
            return at == 0
        case sre.AT_END:
            return at == len(text) or (at == len(text) - 1 and text[at] == "\n")
        case sre.AT_END_STRING:
            return at == len(text)
        case sre.AT_BOUNDARY:
            return word[0] != word[1]
        case sre.AT_NON_BOUNDARY:
            return word[0] == word[1]
    raise NotCounted(str(where))
