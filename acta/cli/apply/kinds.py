"""The kinds of definitions that files can hold: where their files are, and what of an API answer a file has.

Definitions are compared as files: without what Acta adds, and without what means the same as nothing. Files of tools
have more: what follows from the rest, and what the API does not show. No file of any kind holds a credential.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from acta.cli.apply.schema import Json, Problem, part_of, quoted, schema_of
from acta.client import shapes
from acta.engine.agents.agent import AGENT_ID_PATTERN, AgentSettings
from acta.engine.api.answers import fields_of
from acta.engine.schedules.schedule import SCHEDULE_ID_PATTERN, ScheduleSettings
from acta.engine.tools.mcp.server import SERVER_NAME_PATTERN
from acta.engine.tools.tenant.headers import PLAIN_NAMES, holds_credential, may_be_literal
from acta.engine.tools.tool import HIDDEN, TOOL_NAME_PATTERN, is_high_stakes_unless_said
from acta.engine.triggers.trigger import TRIGGER_ID_PATTERN, TriggerSettings
from acta.engine.untrusted.validation_messages import error_sentence
from acta.yaml_text import Path

HOW = "store it with `acta tools secrets set NAME --host HOST` and write {secret: NAME} in its place"


def simplest(name: str, definition: Json) -> Json:
    """Leaves out stakes that already follow from the name, the effect and the risk, and empty parts of the config."""
    made = {**definition, "description": definition["description"].strip()}
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
    """Leaves out those stakes of the confirmed tools that follow from the rest."""
    tools = {}
    for name, tool in definition.get("tools", {}).items():
        asks = tool.get("approver_role") is not None or not tool.get("confirmed_read")
        tools[name] = {key: value for key, value in tool.items() if key != "high_stakes" or value != asks}
    return {**definition, **({"tools": tools} if tools else {})}


def of_server(answer: Mapping[str, Any]) -> Json:
    """An answer about an MCP server, with its tools as in a file: under their own names, with an admin's settings."""
    words = ("pin", "confirmed_read", "high_stakes", "approver_role")
    tools = {each["tool"]: {word: each[word] for word in words} for each in answer["tools"]}
    return {**answer, "tools": tools}


def shown(definition: Json) -> Json:
    """The definition as the API shows it: values of headers are hidden unless they are references."""
    config = definition.get("config")
    headers = config.get("headers") if isinstance(config, dict) else None
    if not isinstance(config, dict) or not isinstance(headers, dict):
        return dict(definition)
    hidden = {header: HIDDEN if isinstance(value, str) else value for header, value in headers.items()}
    return {**definition, "config": {**config, "headers": dict(sorted(hidden.items()))}}


def credentials(definition: Any) -> Iterator[Problem]:
    """Finds what looks like a credential, in a definition of any kind. No message quotes a value."""
    config = definition.get("config") if isinstance(definition, Mapping) else None
    headers = config.get("headers") if isinstance(config, Mapping) else None
    literal = headers.items() if isinstance(headers, Mapping) else ()
    found = set()
    for header, value in literal:
        place = ("config", "headers", header)
        if value == HIDDEN:
            yield Problem(place, f"{HIDDEN} stands for a value that is not shown: write it")
        elif isinstance(value, str) and not may_be_literal(header, value):
            found.add(place)
            said = f"its value may be a credential: {HOW}. A text is for names such as {PLAIN_NAMES}"
            yield Problem(place, said)
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


NOTHING: Mapping[str, tuple[str, ...]] = MappingProxyType({})
AS_DEFINED = "as_defined"
"""The answer's field that has what the definition says, where an operator's setting overrides it."""


class DefinitionKind(NamedTuple):
    """`folder`: the folder of its files, and its name on screen; with `_` for `-` it names the client's calls.
    `identity`: the field whose value is the file's name, and `pattern`: what that may be. `answer`: the client's name
    for the shape of an answer. `settings`: the API's model of what its author says, where the command line has it.
    `is_put`: a PUT makes one, too. `beside`: fields that a file may have and that are no part of the definition: what
    accompanies a change, and what people switch by an operation. `names`: by kind, the fields that name definitions of
    it, which have to stay for that. `denies`: fields that name tools which may as well be deleted. `simplest`: leaves
    out what follows from the rest. `shown`: makes of a file what the API would show. `answered`: makes a body of an
    answer. `written`: fields that a body always has. `prefix`: a tool's name is its server's name, this, and the rest.
    """

    folder: str
    identity: str
    pattern: str
    answer: str
    settings: type[BaseModel] | None = None
    is_put: bool = False
    beside: tuple[str, ...] = ()
    names: Mapping[str, tuple[str, ...]] = NOTHING
    denies: tuple[str, ...] = ()
    simplest: Callable[[str, Json], Json] = lambda _, definition: definition
    shown: Callable[[Json], Json] = dict
    answered: Callable[[Mapping[str, Any]], Json] = dict
    written: Mapping[str, Any] = NOTHING
    prefix: str | None = None

    @property
    def one(self) -> str:
        """The word for one definition, and the schema's name."""
        return self.folder.removesuffix("s")

    @property
    def told(self) -> frozenset[str]:
        """The fields of answers that neither files nor bodies have."""
        said = fields_of(getattr(shapes, self.answer)).keys() - {self.identity}
        return frozenset(said - schema_of(self.one)["properties"].keys())


TOOLS = DefinitionKind("tools", "name", TOOL_NAME_PATTERN, "Tool", simplest=simplest, shown=shown)
MCP_SERVERS = DefinitionKind(
    "mcp-servers",
    "name",
    SERVER_NAME_PATTERN,
    "McpServer",
    is_put=True,
    simplest=simplest_server,
    answered=of_server,
    written={"tools": {}},
    prefix="__",
)
PROMPTS = DefinitionKind("prompts", "name", r"^[a-z][a-z0-9_]{0,63}$", "PromptInForce", beside=("comment",))
AGENTS = DefinitionKind(
    "agents",
    "agent_id",
    AGENT_ID_PATTERN,
    "Agent",
    AgentSettings,
    names={**dict.fromkeys(("tools", "mcp-servers"), ("tools", "high_stakes")), "agents": ("agents",)},
    denies=("deny",),
)
ITS_AGENT = MappingProxyType({"agents": ("agent_id",)})
PAUSED = "paused"
SCHEDULES = DefinitionKind(
    "schedules",
    "schedule_id",
    SCHEDULE_ID_PATTERN,
    "Schedule",
    ScheduleSettings,
    beside=(PAUSED,),
    names=ITS_AGENT,
)
TRIGGERS = DefinitionKind(
    "triggers",
    "trigger_id",
    TRIGGER_ID_PATTERN,
    "TriggerWithCounts",
    TriggerSettings,
    is_put=True,
    beside=(PAUSED,),
    names=ITS_AGENT,
)
KINDS: Mapping[str, DefinitionKind] = MappingProxyType(
    {each.folder: each for each in (TOOLS, MCP_SERVERS, PROMPTS, AGENTS, SCHEDULES, TRIGGERS)}
)
"""The kinds in the order in which they are written: a definition comes before those that name it."""


def broken_rules(kind: DefinitionKind, definition: Json) -> Iterator[Problem]:
    """What the API would refuse of a definition that fits its schema, wherever it is sent: by the API's own model."""
    if kind.settings is None:
        return
    try:
        settings = kind.settings.model_validate_json(json.dumps(definition))
    except ValidationError as error:
        for each in error.errors(include_url=False):
            yield Problem(each["loc"], f"{quoted(each['input'])}{error_sentence(each)}")
        return
    for field, sentences in getattr(settings, "wrong", dict)().items():
        at = tuple(int(part) if part.isdecimal() else part for part in field.split("."))
        value: Any = definition
        for part in at:
            value = value[part] if isinstance(value, list) else (value or {}).get(part)
        for sentence in sentences:
            yield Problem(at, f"{quoted(value)}{sentence}")


def named(kind: DefinitionKind, definition: Json, folder: str) -> list[str]:
    """The names of definitions of another kind, whose folder is `folder`, that the definition names."""
    said = [definition.get(field, ()) for field in kind.names.get(folder, ())]
    entries = [each for value in said for each in ([value] if isinstance(value, str) else value)]
    return [each["agent"] if isinstance(each, dict) else each for each in entries]


def secrets_named(definition: Any) -> Iterator[str]:
    """The names of the tenant's secrets in a part of a definition that refers to some."""
    for name, each in definition.items() if isinstance(definition, dict) else ():
        if name == "secret" and isinstance(each, str):
            yield each
        yield from secrets_named(each)


def from_answer(kind: DefinitionKind, answer: Mapping[str, Any]) -> Json:
    """Turns an answer of the API into what the definition's file would say."""
    given = kind.answered(answer)
    return as_file(kind, answer[kind.identity], {**given, **(given.get(AS_DEFINED) or {})})


def as_file(kind: DefinitionKind, name: str, given: Mapping[str, Any]) -> Json:
    """Puts a definition's fields in the schema's order and leaves out what says the same as nothing."""
    schema = schema_of(kind.one)
    kept = {field: value for field, value in given.items() if field not in kind.told | {kind.identity}}
    if kind.settings is not None:
        with suppress(ValidationError):  # a later release may answer what this one does not know
            settings = kind.settings.model_validate_json(json.dumps(kept))
            kept |= settings.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return kind.simplest(name, _plain(kept, schema, schema))


class Digest(NamedTuple):
    """Digests of a definition: one of what the API shows of it, one of the whole. `paused`: what its file says of that,
    `True` or `False`; empty if it says nothing (ADR 226).
    """

    shown: str
    whole: str
    paused: str = ""

    @classmethod
    def of(cls, kind: DefinitionKind, definition: Json) -> "Digest":
        compared = {name: value for name, value in definition.items() if name not in kind.beside}
        return cls(_hash(kind.shown(compared)), _hash(compared), str(definition.get(PAUSED, "")))

    @classmethod
    def from_text(cls, text: str) -> "Digest":
        return cls(*[*text.split(":"), ""][:3])

    def __str__(self) -> str:
        return ":".join(filter(None, self))


def _hash(definition: Json) -> str:
    text = json.dumps(definition, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def _plain(value: Any, schema: Json, whole: Json) -> Any:
    """Leaves out fields that say what their absence says. What people made up (schemas, headers) stays as it is."""
    schema = part_of(schema, whole)
    if isinstance(value, list) and "items" in schema:
        return [_plain(each, schema["items"], whole) for each in value]
    # `type` is a word or a list of words
    if isinstance(value, int) and not isinstance(value, bool) and "number" in schema.get("type", ()):
        return float(value)
    if not isinstance(value, dict):
        return value
    if "properties" in schema:
        known, required = schema["properties"], schema.get("required", ())
        made = {name: _plain(value[name], known[name], whole) for name in known if name in value}
        kept = [name for name in made if name in required or not _is_absence(made[name], known[name])]
        rest = {name: each for name, each in value.items() if name not in known}
        said = {name: each for name, each in rest.items() if each not in (None, "", [], {}, False)}
        return {name: made[name] for name in kept} | said
    if isinstance(schema.get("additionalProperties"), dict):
        return {name: _plain(each, schema["additionalProperties"], whole) for name, each in value.items()}
    return value


def _is_absence(value: Any, schema: Json) -> bool:
    if "default" in schema:
        return bool(value == schema["default"])
    return value is None or value in ([], {})
