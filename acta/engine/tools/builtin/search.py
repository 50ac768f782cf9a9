"""The tools `find_tools` and `use_tool`, for agents with many tools (docs/design/tools.md 3).

Every request repeats the tools that it offers. An agent with many is offered a few, finds the others by words, and
calls them through `use_tool`, so that what a request begins with stays the same (ADR 199). The turn does both itself,
in the reply's commit: a call of `use_tool` becomes a call of the tool that it names before anything else sees it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

from acta.engine.models.model import RequestedCall
from acta.engine.tools.tool import BuiltinTool, ToolSpec, fields
from acta.engine.untrusted.validation_messages import there_are

FIND_TOOLS, USE_TOOL = "find_tools", "use_tool"
BYTES_EACH = 600
"""The bytes that the definition of an offered tool may have on average."""
MOST_FOUND = 5
MAX_FOUND_BYTES = 16_384
"""Of one result. A single tool with a larger definition is shown all the same."""
MAX_QUERY_WORDS = 16
MAX_REMEMBERED = 20
"""The most names of found tools that a head carries."""
LEAST_BEGINNING = 4
"""Words that begin alike count as one from so many characters on, such as `refund` and `refunds`."""
IN_NAME, IN_TEXT, WHOLE_NAME = 3, 1, 100
"""How much it counts where a word stands in a tool's name or in the rest of its definition; WHOLE_NAME is for a query
that is a tool's name."""


def offered_tools(specs: Mapping[str, ToolSpec], named: Iterable[str], most: int) -> dict[str, ToolSpec]:
    """The tools that a request offers, in the order of `specs`. They follow from the agent and the registry alone.

    They are all if there are at most `most`, of at most `BYTES_EACH` on average. Else they are the built-in ones and,
    of those that the agent names, in its order, as many as fit into both bounds. `named`: the names in its definition.
    """
    own = {name: spec for name, spec in specs.items() if name not in (FIND_TOOLS, USE_TOOL)}
    sizes = {name: len(definition_of(spec).encode()) for name, spec in own.items()}
    if len(own) <= most and sum(sizes.values()) <= most * BYTES_EACH:
        return own
    direct = {name for name, spec in specs.items() if isinstance(spec, BuiltinTool)}
    room = most * BYTES_EACH - sum(sizes.get(name, 0) for name in direct)
    for name in named:
        if name in own and name not in direct and len(direct) < most and sizes[name] <= room:
            direct.add(name)
            room -= sizes[name]
    return {name: spec for name, spec in specs.items() if name in direct}


def definition_of(spec: ToolSpec) -> str:
    """What a model needs in order to call the tool, as one line of JSON."""
    told = {"name": spec.name, "description": spec.description, "input_schema": spec.input_schema}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def inner_call(call: RequestedCall, specs: Mapping[str, ToolSpec], bent: Callable[..., Any]) -> RequestedCall:
    """The call that a call of `use_tool` stands for; every other call itself. One whose input does not fit the schema
    of `use_tool` stays what it is, and is refused as such. `bent`: `Registry.bent`.
    """
    while call.name == USE_TOOL and USE_TOOL in specs and call.input is not None:
        said = bent(specs[USE_TOOL], call.input)
        name, given = said.get("tool"), said.get("input", {})
        if not isinstance(name, str) or not isinstance(given, dict) or said.keys() - {"tool", "input"}:
            break
        call = RequestedCall(name, given)
    return call


def search(specs: Mapping[str, ToolSpec], query: str) -> tuple[str, list[str]]:
    """The result of a call of `find_tools`, and the names of the tools in it. `specs`: the tools not offered."""
    lines: list[str] = []
    found = best_matches(specs, query)[:MOST_FOUND]
    for name in found:
        lines.append(definition_of(specs[name]))
        if sum(len(line.encode()) for line in lines) > MAX_FOUND_BYTES:
            del lines[max(1, len(lines) - 1) :]
            break
    if lines:
        return "\n".join(["Call them through use_tool.", *lines]), found[: len(lines)]
    return f"No tool fits these words. Say in others what it should do. {there_are([*specs])}", []


def best_matches(specs: Mapping[str, ToolSpec], query: str) -> list[str]:
    """Names of the tools that have words of the query, best first. A word counts more in a name than in a description
    or a name of an argument, and the more the fewer tools have it.
    """
    places: dict[str, dict[str, int]] = {}
    for name, spec in specs.items():
        said = f"{spec.description} {' '.join(spec.input_schema.get('properties', ()))}"
        for word in _words(said):
            places.setdefault(word, {})[name] = IN_TEXT
        for word in _words(name):
            places.setdefault(word, {})[name] = IN_NAME
    scores: Counter[str] = Counter({query.strip(): WHOLE_NAME})
    for word in _words(query)[:MAX_QUERY_WORDS]:
        hits: dict[str, int] = {}
        for known in (each for each in places if _is_alike(each, word)):
            hits |= {name: max(weight, hits.get(name, 0)) for name, weight in places[known].items()}
        for name, weight in hits.items():
            scores[name] += weight * len(specs) // len(hits)
    return sorted((name for name in specs if scores[name]), key=lambda name: -scores[name])


def _words(said: str) -> list[str]:
    """Each word once, in lower case: three of `getOpenOrders`, as of `get_open-orders`."""
    apart = (
        f" {char}" if char.isupper() and before.islower() else char if char.isalnum() else " "
        for before, char in pairwise(f" {said}")
    )
    return [*dict.fromkeys("".join(apart).casefold().split())]


def _is_alike(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return one == other or (len(shorter) >= LEAST_BEGINNING and longer.startswith(shorter))


def remembered(known: tuple[str, ...], names: Iterable[str]) -> tuple[str, ...]:
    """The names of found tools, each once, the newest last."""
    new = [*dict.fromkeys(names)]
    return (*(name for name in known if name not in new), *new)[-MAX_REMEMBERED:]


TOOLS = (
    BuiltinTool(
        name=FIND_TOOLS,
        description="You have more tools than are listed. Find them by words for what they do.",
        input_schema=fields(("query",), query={"type": "string", "maxLength": 500}),
        always=True,
    ),
    BuiltinTool(
        name=USE_TOOL,
        description="Call a tool that find_tools has found.",
        input_schema=fields(("tool",), tool={"type": "string"}, input={"type": "object"}),
        always=True,
    ),
)
