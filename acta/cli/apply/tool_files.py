"""What is particular to tools as files: what follows from the rest, what the API does not show, and that no file holds
a credential.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from acta.cli.apply.schema import Json, Problem
from acta.yaml_text import Path
from acta_engine.tools.tenant.headers import PLAIN_NAMES, holds_credential, may_be_literal
from acta_engine.tools.tool import HIDDEN, is_high_stakes_unless_said

HOW = "store it with `acta tools secrets set NAME` and write {secret: NAME} in its place"


def simplest(name: str, definition: Json) -> Json:
    """Without stakes that the name, the effect and the risk have anyhow, and without an empty part of its config."""
    made = dict(definition)
    role = made.get("approver_role")
    effect, risk = made.get("effect", "once"), made.get("risk", "network")
    named = bool(role or made.get("approver_must_differ"))
    if made.get("high_stakes") == (named or is_high_stakes_unless_said(name, effect, risk)):
        del made["high_stakes"]
    if made.get("approver_must_differ") == (role is not None):
        del made["approver_must_differ"]
    config = made.get("config")
    if isinstance(config, dict):
        made["config"] = {field: value for field, value in config.items() if value not in (None, {})}
    return made


def simplest_server(_: str, definition: Json) -> Json:
    """Without stakes of confirmed tools that follow from the rest."""
    tools = {name: _simplest_confirmed(each) for name, each in definition.get("tools", {}).items()}
    return {**definition, **({"tools": tools} if tools else {})}


def _simplest_confirmed(tool: Json) -> Json:
    asks = tool.get("approver_role") is not None or not tool.get("confirmed_read")
    return {field: value for field, value in tool.items() if field != "high_stakes" or value != asks}


def of_server(answer: Mapping[str, Any]) -> Json:
    """An answer about an MCP server with its tools as in a file: by the server's names, with an admin's words."""
    words = ("pin", "confirmed_read", "high_stakes", "approver_role")
    tools = {each["tool"]: {word: each[word] for word in words} for each in answer["tools"]}
    return {**answer, "tools": tools}


def shown(definition: Json) -> Json:
    """As the API shows it: headers' values that are no references are not."""
    config = definition.get("config")
    headers = config.get("headers") if isinstance(config, dict) else None
    if not isinstance(config, dict) or not isinstance(headers, dict):
        return dict(definition)
    hidden = {header: HIDDEN if isinstance(value, str) else value for header, value in headers.items()}
    return {**definition, "config": {**config, "headers": dict(sorted(hidden.items()))}}


def credentials(definition: Any) -> Iterator[Problem]:
    """What looks like a credential, in a definition of any kind. No value is quoted."""
    config = definition.get("config") if isinstance(definition, Mapping) else None
    headers = config.get("headers") if isinstance(config, Mapping) else None
    literal = headers.items() if isinstance(headers, Mapping) else ()
    found = set()
    for header, value in literal:
        if value == HIDDEN:
            yield Problem(
                ("config", "headers", header), f"{HIDDEN} stands for a value that is not shown: write it"
            )
        elif isinstance(value, str) and not may_be_literal(header, value):
            found.add(("config", "headers", header))
            yield Problem(
                ("config", "headers", header),
                f"its value may be a credential: {HOW}. A text is for names such as {PLAIN_NAMES}",
            )
    for at, text in _texts((), definition):
        if at not in found and holds_credential(text):
            yield Problem(at, f"this looks like a credential, which no definition holds: {HOW}")


def _texts(at: Path, value: Any) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from _texts((*at, name), each)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _texts((*at, number), each)
