"""The built-in tools: descriptions for the model, schemas, effects and risks (design §7)."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from acta_engine.memories.memory import MAX_TEXT_CHARS
from acta_engine.plans.plan import MAX_STEPS
from acta_engine.tools.tool import ToolSpec

UPDATE_PLAN = "update_plan"
READ_RESULT = "read_result"
CREATE_FILE = "create_file"
GET_WEATHER = "get_weather"
REMEMBER, RECALL = "remember", "recall"
MAX_PAGE_BYTES = 16_384
"""The most that one call of `read_result` returns."""


class BuiltinTool(ToolSpec):
    """`bounded`: its calls reach the session, the tenant's files and its memories and nothing else, and are soon over.
    So the worker that committed such a call may make it itself, unless a person has to decide on it (ADR 57).
    """

    bounded: bool = False


def _object(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


_PATH = _text(
    "Relative path, folders separated by /, for example reports/may.md", minLength=1, maxLength=1_024
)

_PLAN_STEP = _object(
    ("description",),
    step_number={"type": "integer", "minimum": 1},
    description=_text("What this step does"),
    tool=_text("The one tool it mainly uses, if any"),
    input={"type": "object", "description": "The tool's whole input, if all of it is known already"},
    requires_permission={"type": "boolean", "description": "True if a person should approve it first"},
)


@cache
def builtins() -> Mapping[str, ToolSpec]:
    """The built-in tools by name, in the order in which the model gets them.

    They are made at the first use, because making them takes time at a cold start.
    """
    specs = (
        BuiltinTool(
            name=UPDATE_PLAN,
            description=(
                "Keep the plan of this session. create: goal and 1-10 steps (also replaces a live plan). "
                "update_step: step_number, step_status (in_progress, completed, failed, skipped) and, when "
                "completed, a step_result. complete: all steps are finished, reason is the answer. fail: the goal "
                "cannot be reached, reason says why. wait_for_user: reason is the question to the user."
            ),
            input_schema=_object(
                ("action",),
                action={
                    "type": "string",
                    "enum": ["create", "update_step", "complete", "fail", "wait_for_user"],
                },
                goal=_text("What the user wants to have at the end"),
                steps={"type": "array", "minItems": 1, "maxItems": MAX_STEPS, "items": _PLAN_STEP},
                risks={
                    "type": "array",
                    "maxItems": 5,
                    "items": _text("A risk you see beside those of the tools"),
                },
                step_number={"type": "integer", "minimum": 1},
                step_status={"type": "string", "enum": ["in_progress", "completed", "failed", "skipped"]},
                step_result=_text("What the step found or made, in a sentence or two"),
                reason=_text("The answer, the cause or the question"),
            ),
            effect="idempotent",
        ),
        BuiltinTool(
            name="list_files",
            bounded=True,
            description="List the files and folders in the user's storage, with sizes.",
            input_schema=_object(
                path=_text("A folder; leave out for the top"),
                recursive={"type": "boolean", "description": "Also what is in folders below; default true"},
            ),
        ),
        BuiltinTool(
            name="read_file",
            bounded=True,
            description="Read a text file from the user's storage.",
            input_schema=_object(("path",), path=_PATH),
        ),
        BuiltinTool(
            name=CREATE_FILE,
            bounded=True,
            description=(
                "Write a new text file to the user's storage. A file that is there is replaced only with replace true, "
                "and a person is asked first."
            ),
            input_schema=_object(
                ("path", "content"),
                path=_PATH,
                content=_text("The whole text of the file"),
                replace={"type": "boolean", "description": "Replace the file that is there; default false"},
            ),
            effect="idempotent",
            risk="write",
        ),
        BuiltinTool(
            name="delete_file",
            description="Delete a file from the user's storage. A person is asked first.",
            input_schema=_object(("path",), path=_PATH),
            effect="idempotent",
            risk="write",
            high_stakes=True,
        ),
        BuiltinTool(
            name=GET_WEATHER,
            description="Current weather at a place.",
            input_schema=_object(
                ("location",), location=_text("Town, or town and country", minLength=1, maxLength=200)
            ),
            risk="network",
        ),
        BuiltinTool(
            name=READ_RESULT,
            bounded=True,
            description=(
                "Read more of a large tool result that was shown in part or elided: its handle stands where it was. "
                "Offset and limit count bytes; the answer says how to go on."
            ),
            input_schema=_object(
                ("handle",),
                handle=_text("The handle, exactly as it was given", pattern="^[0-9a-f]{64}$"),
                offset={"type": "integer", "minimum": 0, "description": "Where to begin; default 0"},
                limit={
                    "type": "integer",
                    "minimum": 256,
                    "maximum": MAX_PAGE_BYTES,
                    "description": "Default 8192",
                },
            ),
        ),
        BuiltinTool(
            name=REMEMBER,
            bounded=True,
            description=(
                "Keep a note. scope session: for the rest of this session, shown to you in every turn. scope "
                "agent: for later sessions too; only what will hold then, and never a secret."
            ),
            input_schema=_object(
                ("text", "scope"),
                text=_text("One thing, understandable on its own", minLength=1, maxLength=MAX_TEXT_CHARS),
                scope={"type": "string", "enum": ["session", "agent"]},
                kind={
                    "type": "string",
                    "enum": ["fact", "preference", "lesson"],
                    "description": "With scope agent: a truth, a liking, something learned; default fact",
                },
            ),
            effect="idempotent",
            risk="write",
        ),
        BuiltinTool(
            name=RECALL,
            bounded=True,
            description="Look up what was kept from earlier sessions with remember, scope agent.",
            input_schema=_object(
                ("query",), query=_text("Words that what you look for has", minLength=1, maxLength=500)
            ),
        ),
    )
    return MappingProxyType({spec.name: spec for spec in specs})


@cache
def offered_builtins(*, weather: bool) -> Mapping[str, ToolSpec]:
    """The built-in tools of a deployment. `weather`: its functions may call the public weather service. A tool that is
    not offered keeps its name: no tool of a tenant's has it.
    """
    if weather:
        return builtins()
    return {name: spec for name, spec in builtins().items() if name != GET_WEATHER}


def with_environments(own: Mapping[str, ToolSpec], *, weather: bool) -> dict[str, ToolSpec]:
    """What a tenant has without its own definitions: the built-in tools that are offered, then the environment's.

    `own`: those of the environment, by name. One may get the name of a tool that a later release has built in. The
    built-in one wins.
    """
    added = {name: spec for name, spec in own.items() if name not in builtins()}
    return {**offered_builtins(weather=weather), **added}
