"""DynamoDB's expressions as far as Acta's stores use them, compiled to functions. Each text is compiled once.

Conditions, filters, updates and projections become functions of an item, and a condition on keys becomes SQL. What the
stores do not use raises NotImplementedError, which names it. Source: Amazon DynamoDB Developer Guide, "Expressions".
"""

import operator
import re
from collections.abc import Callable, Mapping
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from acta.engine.store.table_layout import Item

Attribute = dict[str, Any]
"""A type and what is held: `{"S": "text"}`."""
Given = Mapping[str, Any]
"""A request's names and values, by their placeholders (`#name`, `:value`)."""
Operand = Callable[[Item, Given], Attribute | None]
Condition = Callable[[Item, Given], bool]
Change = Callable[[Item, Item, Given], None]
"""Changes an item: takes the item as it was, the one to change and the values."""
T = TypeVar("T")

COMPARED = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
KEYS = ("pk", "sk", "live", "live_at", "op")
"""Attributes that are keys of the table or of an index. They are columns in SQLite."""
COMPILED = 512
"""How many texts of each kind are kept. The stores have some hundred."""
DIGITS = Context(prec=38, traps=[Inexact, InvalidOperation, Overflow])
"""DynamoDB's numbers have 38 digits. It refuses what needs more, and so does this."""
_WORDS = re.compile(r"[#:]?\w+|[<>=]+|[(),+-]")


class Invalid(ValueError):
    """DynamoDB refuses the request as a ValidationException."""


class Compiled(NamedTuple, Generic[T]):
    run: T
    placeholders: frozenset[str]
    """The names and values that a request has to give: all of them and no others."""


@lru_cache(COMPILED)
def condition(text: str) -> Compiled[Condition]:
    return _whole(text, _Reader.condition)


@lru_cache(COMPILED)
def update(text: str) -> Compiled[Callable[[Item, Given], Item]]:
    """Makes the new item of the old one."""
    compiled = _whole(text, _Reader.changes)

    def run(old: Item, given: Given) -> Item:
        new = dict(old)
        for change in compiled.run:
            change(old, new, given)
        return new

    return Compiled(run, compiled.placeholders)


@lru_cache(COMPILED)
def projection(text: str) -> Compiled[Callable[[Item, Given], Item]]:
    names, placeholders = _whole(text, lambda words: words.several(words.name))

    def run(item: Item, given: Given) -> Item:
        wanted = (given.get(name, name) for name in names)
        return {name: item[name] for name in wanted if name in item}

    return Compiled(run, placeholders)


@lru_cache(COMPILED)
def key_condition(text: str) -> Compiled[str]:
    """As SQL, which has the same form but for `begins_with`, with the values as its named parameters."""
    return _whole(text, _Reader.sql)


def _whole(text: str, read: "Callable[[_Reader], T]") -> Compiled[T]:
    words = _Reader(text)
    found = read(words)
    if words.next:
        raise words.unknown()
    return Compiled(found, frozenset(each for each in words.words if each[0] in "#:"))


class _Reader:
    """Reads an expression word by word."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = _WORDS.findall(text)
        self.at = 0
        if "".join(self.words) != "".join(text.split()):
            raise self.unknown()

    def unknown(self) -> NotImplementedError:
        where = f"at {self.next!r} in" if self.next else "at the end of"
        return NotImplementedError(f"the embedded table does not know this expression, {where}: {self.text}")

    @property
    def next(self) -> str:
        """Empty: there is no more."""
        return self.words[self.at] if self.at < len(self.words) else ""

    def skip(self, word: str) -> bool:
        """Whether the next word was this one, which is passed."""
        is_next = self.next == word
        self.at += is_next
        return is_next

    def take(self, word: str) -> None:
        if not self.skip(word):
            raise self.unknown()

    def name(self) -> str:
        """An attribute's name, or the placeholder of one."""
        word = self.next
        if not word.removeprefix("#").isidentifier():
            raise self.unknown()
        self.at += 1
        return word

    def several(self, read: Callable[[], T]) -> list[T]:
        found = [read()]
        while self.skip(","):
            found.append(read())
        return found

    def condition(self) -> Condition:
        parts = [self._all()]
        while self.skip("OR"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else lambda item, given: any(part(item, given) for part in parts)

    def _all(self) -> Condition:
        parts = [self._term()]
        while self.skip("AND"):
            parts.append(self._term())
        return parts[0] if len(parts) == 1 else lambda item, given: all(part(item, given) for part in parts)

    def _term(self) -> Condition:
        if self.skip("("):
            inner = self.condition()
            self.take(")")
            return inner
        for function, holds in _FUNCTIONS.items():
            if self.skip(function):
                self.take("(")
                asked = self.several(self.operand)
                self.take(")")
                return lambda item, given: holds(*(one(item, given) for one in asked))
        left = self.operand()
        if self.skip("BETWEEN"):
            low = self.operand()
            self.take("AND")
            high = self.operand()
            return lambda item, given: (
                _compare("<=", low(item, given), left(item, given))
                and _compare("<=", left(item, given), high(item, given))
            )
        if self.skip("IN"):
            self.take("(")
            members = self.several(self.operand)
            self.take(")")
            return lambda item, given: any(
                _compare("=", left(item, given), one(item, given)) for one in members
            )
        sign = self.next
        if sign not in COMPARED:
            raise self.unknown()
        self.at += 1
        right = self.operand()
        return lambda item, given: _compare(sign, left(item, given), right(item, given))

    def operand(self) -> Operand:
        """An attribute, a value, or `if_not_exists(attribute, value)`."""
        word = self.next
        if word.startswith(":"):
            self.at += 1
            return lambda item, given: given[word]
        if self.skip("if_not_exists"):
            self.take("(")
            stored = self.operand()
            self.take(",")
            other = self.operand()
            self.take(")")
            return lambda item, given: found if (found := stored(item, given)) else other(item, given)
        name = self.name()
        return lambda item, given: item.get(given.get(name, name))

    def changes(self) -> list[Change]:
        read = {"SET": self._set, "ADD": self._add, "REMOVE": self._remove}
        found: list[Change] = []
        while self.next in read:
            clause = read[self.next]
            self.at += 1
            found += self.several(clause)
        return found

    def _set(self) -> Change:
        name = self.name()
        self.take("=")
        left, sign = self.operand(), self.next
        right = None
        if sign in ("+", "-"):
            self.at += 1
            right = self.operand()

        def change(old: Item, new: Item, given: Given) -> None:
            value = left(old, given)
            if right is not None:
                value = _sum(value, right(old, given), sign)
            if value is None:
                raise Invalid("the expression refers to an attribute that is not in the item")
            new[given.get(name, name)] = value

        return change

    def _add(self) -> Change:
        name, added = self.name(), self.operand()

        def change(old: Item, new: Item, given: Given) -> None:
            stored = given.get(name, name)
            new[stored] = _sum(old.get(stored, {"N": "0"}), added(old, given), "+")

        return change

    def _remove(self) -> Change:
        name = self.name()

        def change(old: Item, new: Item, given: Given) -> None:
            new.pop(given.get(name, name), None)

        return change

    def sql(self) -> str:
        found = []
        while self.next:
            if self.skip("begins_with"):
                self.take("(")
                name = self.name()
                self.take(",")
                first, self.at = self.next, self.at + 1
                self.take(")")
                found.append(f"{name} BETWEEN {first} AND {first} || char(1114111)")  # the last character
            elif self.next in (*KEYS, *COMPARED, "AND", "BETWEEN") or self.next[0] == ":":
                found.append(self.next)
                self.at += 1
            else:
                raise self.unknown()
        return " ".join(found)


def _compare(sign: str, left: Attribute | None, right: Attribute | None) -> bool:
    """False, too, where one of the two is missing or of another type."""
    if not left or not right or left.keys() != right.keys():
        return False
    (a,), (b,) = left.values(), right.values()
    return bool(COMPARED[sign](Decimal(a), Decimal(b)) if "N" in left else COMPARED[sign](a, b))


def _begins_with(stored: Attribute | None, first: Attribute | None) -> bool:
    return bool(stored and first and "S" in stored and stored["S"].startswith(first["S"]))


def _contains(stored: Attribute | None, part: Attribute | None) -> bool:
    """Whether a text has a part, or a set of texts a member."""
    if not stored or not part:
        return False
    held: Any = stored["S"] if "S" in stored else stored.get("SS", ())
    return part["S"] in held


_FUNCTIONS: Mapping[str, Callable[..., bool]] = {
    "attribute_exists": lambda stored: stored is not None,
    "attribute_not_exists": lambda stored: stored is None,
    "begins_with": _begins_with,
    "contains": _contains,
}


def _sum(left: Attribute | None, right: Attribute | None, sign: str) -> Attribute:
    if not left or not right or "N" not in left or "N" not in right:
        raise Invalid("a sum needs two numbers")
    calculate = DIGITS.add if sign == "+" else DIGITS.subtract
    try:
        return {"N": format(calculate(Decimal(left["N"]), Decimal(right["N"])), "f")}
    except (Inexact, Overflow):
        raise Invalid("a number has more than 38 digits") from None
