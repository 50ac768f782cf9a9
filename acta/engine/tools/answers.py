"""Tools, trial calls of them and their secrets as the API answers them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict as RealTypedDict

from acta.engine.agents.answers import AppliedFromView
from acta.engine.api.answers import Instant, TypedDict, as_json, copied
from acta.engine.people.answers import FileOfCallView
from acta.engine.tools import tool
from acta.engine.tools.tool import (
    HIDDEN,
    BuiltinTool,
    Effect,
    HttpConfig,
    HttpParameter,
    LambdaConfig,
    ListedKind,
    Method,
    Risk,
    ToolDefinition,
    ToolSpec,
)


class SecretReferenceView(TypedDict):
    secret: str
    """The secret's name."""


ToolParameterView = RealTypedDict(
    "ToolParameterView", {"in": Literal["path", "query", "header", "body"], "name": NotRequired[str]}
)
ToolParameterView.__doc__ = "Where an argument goes, and under which name where that is another one."


class HttpToolConfigView(TypedDict):
    """The configuration of a tool of kind `http`."""

    url: str
    """`{name}` in its path is an argument."""
    method: Method
    headers: dict[str, str | SecretReferenceView]
    """A value that is not a reference is shown as `***`."""
    parameters: NotRequired[dict[str, ToolParameterView]]
    """Where each named argument goes. All others go into the query of a GET, or else into a JSON body."""


class LambdaToolConfigView(TypedDict):
    """The configuration of a tool of kind `lambda`."""

    function: str


class WhoApprovesView(TypedDict):
    """What a tool's own definition says of its approval."""

    high_stakes: bool
    approver_role: str | None
    approver_must_differ: bool


class LaterRuleView(TypedDict):
    """How a tool's calls may be answered later."""

    seconds: int
    """How long the answer is awaited."""
    default: NotRequired[str]
    """The result if none has come by then."""


class ToolView(TypedDict):
    """A tool of the registry. Built-in ones have no `config`, version or times."""

    name: str
    description: str
    input_schema: dict[str, Any]
    """JSON Schema 2020-12 of an object."""
    kind: ListedKind
    effect: Effect
    """What happens to a call whose end is not known: `read` runs again, `idempotent` runs again under the same id,
    `once` never runs again without a person."""
    risk: Risk
    high_stakes: bool
    """A person approves each call."""
    approver_role: str | None
    approver_must_differ: bool
    repeatable: bool
    timeout_seconds: int
    result_limit_bytes: int
    later: LaterRuleView | None
    """null: the tool's own answer is the result."""
    file: NotRequired[FileOfCallView]
    """What a call of a built-in tool does with one of the tenant's files."""
    config: NotRequired[HttpToolConfigView | LambdaToolConfigView]
    as_defined: NotRequired[WhoApprovesView]
    """What the tool's own definition says. Present only where an operator's setting overrides it."""
    applied: NotRequired[AppliedFromView | None]
    """null: no set of files owns it."""
    version: NotRequired[int]
    created_at: NotRequired[Instant]
    updated_at: NotRequired[Instant]


class AnsweredCallView(TypedDict):
    """How a call ended that was answered later."""

    ok: bool
    """Whether it brought a result, and no failure."""
    at: Instant
    by: Literal["callback"]


class ToolCallErrorView(TypedDict):
    """Why a trial call did not succeed."""

    message: str
    """What a model is told."""
    remedy: str | None
    """What an admin or the operator can do about it."""


class ToolTrialView(TypedDict):
    """A call that was made outside a session."""

    name: str
    effect_id: str
    """The idempotency key that the tool got."""
    outcome: Literal["succeeded", "failed", "not_run", "unknown"]
    """`failed`: it ran and failed. `not_run`: nothing was done. `unknown`: no answer came."""
    result: str | None
    """The first 65,536 bytes of what the tool answered, also where the call failed."""
    bytes: int
    """The size of the whole answer."""
    truncated: bool
    status: int | None
    """The status of the HTTP answer."""
    error: ToolCallErrorView | None
    duration_ms: int


class ToolSecretView(TypedDict):
    """A secret without its value, which nobody is shown."""

    name: str
    hosts: list[str]
    """Where tools may send it. Empty: nowhere, because it was stored without hosts."""
    created_at: Instant
    updated_at: Instant
    updated_by: str


def tool_view(spec: ToolSpec) -> ToolView:
    """A built-in tool has no `config`, version or times. Headers' values may be credentials and are not shown; the
    names of secrets are.
    """
    own: dict[str, Any] = {"approver_must_differ": spec.wants_another_approver}
    own["input_schema"] = spec.input_schema  # JSON already, and a page may have hundreds of large ones
    if isinstance(spec, BuiltinTool) and spec.file is not None:
        own["file"] = spec.file.model_dump()
    if isinstance(spec, ToolDefinition):
        own["config"] = _tool_config(spec.config)
        own |= {
            name: as_json(getattr(spec, name)) for name in ("applied", "version", "created_at", "updated_at")
        }
    return copied(ToolView, spec, **own)


def who_approves_view(spec: ToolSpec) -> WhoApprovesView:
    return copied(WhoApprovesView, spec, approver_must_differ=spec.wants_another_approver)


def _tool_config(
    config: HttpConfig | LambdaConfig,
) -> HttpToolConfigView | LambdaToolConfigView:
    if isinstance(config, LambdaConfig):
        return {"function": config.function}
    headers: dict[str, str | SecretReferenceView] = dict.fromkeys(config.headers, HIDDEN)
    for header, name in config.secret_headers.items():
        headers[header] = {"secret": name}
    view: HttpToolConfigView = {"url": config.url, "method": config.method, "headers": headers}
    if config.parameters:
        view["parameters"] = {name: _parameter(said) for name, said in config.parameters.items()}
    return view


def _parameter(said: HttpParameter) -> ToolParameterView:
    return {"in": said.place} if said.name is None else {"in": said.place, "name": said.name}


def trial_view(name: str, effect_id: str, trial: Mapping[str, Any]) -> ToolTrialView:
    """`trial`: the fields of `Trial` (`acta/engine/tools/port.py`)."""
    result = trial["result"]
    failed = trial["outcome"] != "succeeded"
    return {
        "name": name,
        "effect_id": effect_id,
        "outcome": trial["outcome"],
        "result": result,
        "bytes": trial["bytes"],
        "truncated": result is not None and len(result.encode()) < trial["bytes"],
        "status": trial["status"],
        "error": {"message": trial["message"], "remedy": trial["remedy"] or None} if failed else None,
        "duration_ms": trial["duration_ms"],
    }


def tool_secret_view(secret: tool.ToolSecret) -> ToolSecretView:
    """Without its value, which nobody is shown."""
    return copied(ToolSecretView, secret)
