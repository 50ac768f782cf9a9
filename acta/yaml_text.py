"""A definition's file: YAML with JSON's values, and nothing of YAML that reads as something else than it looks like.

Only `true` and `false` are truth values, `null`, `~` and nothing are null, numbers are decimal; a date is text. Refused
are a key given twice, aliases, and tags. What is written is quoted wherever any reader of YAML might take it for
something else than text.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml
from yaml.events import AliasEvent, Event
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from acta.engine.untrusted.exact_json import exact_float

Path = tuple[str | int, ...]
"""Where a value stands: keys, and numbers of items from 0."""
PREFIX = "tag:yaml.org,2002:"
NUMBER_STARTS = "-+0123456789."
NEXT_LINE = "\x85"
"""A line break to YAML, which would be read as another one: only between double quotes it stands as itself."""
PLAIN: Mapping[str, Any] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}


class NoYaml(Exception):
    """`line`: from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


class Read(NamedTuple):
    """`lines`: of each key and each item, its line from 1."""

    value: Any
    lines: Mapping[Path, int]


class Loader(yaml.SafeLoader):
    """Reads nodes; `_value` makes values of them."""

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        event: Event = self.peek_event()  # type: ignore[no-untyped-call]  # its stub has no annotation
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, AliasEvent):
            raise NoYaml(line, "aliases (*name) are not read: write it out")
        if getattr(event, "tag", None) is not None:
            raise NoYaml(line, "tags (!name) are not read")
        node: Node | None = super().compose_node(parent, index)
        return node


class Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _write_text(dumper: Dumper, text: str) -> ScalarNode:
    style = "|" if "\n" in text and text.strip() else "'" if _is_special(text) else None
    style = '"' if NEXT_LINE in text else style
    return dumper.represent_scalar(f"{PREFIX}str", text, style=style)


Dumper.add_representer(str, _write_text)


def read(text: str) -> Read:
    """Raises NoYaml."""
    lines: dict[Path, int] = {}
    try:
        node = yaml.compose(text, Loader=Loader)
        return Read(None if node is None else _value(node, (), lines), lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise NoYaml(
            mark.line + 1 if mark else 1, f"it is no YAML: {error.problem or error.context}"
        ) from None
    except yaml.YAMLError:
        raise NoYaml(1, "it is no YAML: it has characters that YAML does not allow") from None
    except RecursionError:
        raise NoYaml(1, "it is nested too deeply") from None


def write(value: Any) -> str:
    """The same text for the same value."""
    return yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=float("inf"))


def _value(node: Node, path: Path, lines: dict[Path, int]) -> Any:
    if isinstance(node, MappingNode):
        return dict(_pairs(node, path, lines))
    if isinstance(node, SequenceNode):
        made = []
        for number, each in enumerate(node.value):
            lines[(*path, number)] = each.start_mark.line + 1
            made.append(_value(each, (*path, number), lines))
        return made
    try:
        return _scalar(node.value) if getattr(node, "style", None) is None else node.value
    except ValueError as error:
        raise NoYaml(node.start_mark.line + 1, str(error)) from None


def _pairs(node: MappingNode, path: Path, lines: dict[Path, int]) -> Iterator[tuple[str, Any]]:
    seen = set()
    for key, each in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, ScalarNode):
            raise NoYaml(line, "a key is a text")
        if key.value in seen:
            raise NoYaml(line, f"{key.value!r} is given twice")
        seen.add(key.value)
        lines[(*path, key.value)] = line
        yield key.value, _value(each, (*path, key.value), lines)


def _scalar(text: str) -> Any:
    """What a plain word is: JSON's truth values, null and numbers; all else is text. Raises ValueError for a
    number that a double cannot hold."""
    if text in PLAIN:
        return PLAIN[text]
    if text[0] not in NUMBER_STARTS:
        return text
    digits = text.lstrip("-+")
    if not digits[:1].isdigit() or "_" in text or not text.isascii():
        return text
    if digits.isdigit():
        return text if len(digits) > 1 and digits[0] == "0" else int(text)
    try:
        float(text)
    except ValueError:
        return text
    return exact_float(text)


def _is_special(text: str) -> bool:
    """Whether the word, written plainly, would be read as no text."""
    try:
        return not isinstance(_scalar(text) if text else None, str)
    except ValueError:
        return True
