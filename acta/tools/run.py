"""One call of a tool, from the event that the engine sends to the answer that it gets.

The event is `{"tool", "arguments", "effect_id", "session_id", "tenant", "user", "private", "rerun", "deadline",
"files"?, "callback_url"?}`. `private`: only `user` may see the session. The deadline is RFC 3339; `files` says how to
reach the tenant's files. The answer is `{"result": …}`, a text or JSON; `{"error": "…"}` with the text of a ToolError,
or with Acta's own text if a secret is missing or a result is no JSON; or `{"later": {"seconds", "default"}}`, whose
result is sent to the callback URL. Every answer is valid Unicode, which the wire wants (ADR 170). Any other exception
passes through: Lambda tells the engine its type.
"""

import asyncio
import hashlib
import inspect
import json
import math
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from acta.tools.call import Call, Files, LaterAnswer, NoFiles, SecretMissing, ToolError, no_secrets
from acta.tools.define import Tool

Event = Mapping[str, Any]
NO_WORDS = "the tool failed without saying why"


class UnknownTool(LookupError):
    """The folder does not have such a tool any more."""


class WrongEnvironment(RuntimeError):
    """The call belongs to somebody else than this process. Nothing of the tool has run."""


class UnusableResult(TypeError):
    """The function has run, but what it returned is no JSON."""


def require_own_environment(event: Event, environment: str | None) -> None:
    """Checks that this execution environment is that of the event's tenant or, if the session is private, of its person
    (ADR 140). `environment`: its id, from Lambda; None: it has none, and may have served others.

    Raises WrongEnvironment.
    """
    whose = [event["tenant"], event["user"] if event["private"] else None]
    if environment != hashlib.sha256(json.dumps(whose).encode()).hexdigest():
        raise WrongEnvironment("this execution environment does not serve the tenant of this call")


def answer(
    tools: Mapping[str, Tool],
    event: Event,
    *,
    files: Files | None = None,
    read_secret: Callable[[str], str] = no_secrets,
    tell: Callable[[Exception], None] = lambda error: None,
) -> dict[str, Any]:
    """`tell`: called with an error whose text is the answer. Raises UnknownTool, and everything that the function
    raises except ToolError.
    """
    if event["tool"] not in tools:
        raise UnknownTool(f"there is no tool {event['tool']} in this folder")
    made = tools[event["tool"]]
    call = Call(
        tenant=event["tenant"],
        session_id=event["session_id"],
        user=event["user"],
        effect_id=event["effect_id"],
        deadline=datetime.fromisoformat(event["deadline"]),
        rerun=event["rerun"],
        files=files or NoFiles(),
        read_secret=read_secret,
        callback_url=event.get("callback_url", ""),
    )
    try:
        returned = run(made, event["arguments"], call)
        if isinstance(returned, LaterAnswer):
            return {"later": to_later(made, returned)}
        return {"result": to_result(made, returned)}
    except (ToolError, SecretMissing, UnusableResult) as error:
        tell(error)
        said = _well_formed(str(error))
        return {"error": said if said.strip() else NO_WORDS}


def run(made: Tool, arguments: Mapping[str, Any], call: Call) -> Any:
    """What the function returns for these arguments, which are JSON. Raises ToolError, and what the function raises."""
    given = made.parameters.to_arguments(json.dumps(dict(arguments)))
    if made.parameters.call is not None:
        given[made.parameters.call] = call
    returned = made.function(**given)
    return _loop().run(returned) if inspect.iscoroutine(returned) else returned


def to_later(made: Tool, returned: LaterAnswer) -> dict[str, Any]:
    """Raises UnusableResult."""
    if made.later is None:
        raise UnusableResult(
            f"{made.name} has run, and answers later, which it does not declare. Its writer has to say "
            "@tool(later=SECONDS)."
        )
    return {"seconds": returned.seconds, "default": _well_formed(returned.default)}


def to_result(made: Tool, returned: Any) -> Any:
    """The result as JSON. Raises UnusableResult."""
    try:
        # pydantic keeps halves of pairs in values, and refuses them in names
        result = _well_formed(to_jsonable_python(_well_formed(returned), inf_nan_mode="constants"))
        json.dumps(result, allow_nan=False)  # Lambda fails at a number of more than 4,300 digits as this does
        return result
    except (PydanticSerializationError, ValueError, RecursionError):
        kind = type(returned).__name__
        raise UnusableResult(
            f"{made.name} has run, but returned a {kind}, of which no JSON can be made. Its writer has to return a "
            "text, a pydantic model, or what JSON has."
        ) from None


def _well_formed(value: Any) -> Any:
    """The value as UTF-8 can hold it, names of fields included: halves of surrogate pairs are joined, and a half that
    is alone becomes its escape, such as `\\udce9` of a file's name that is not UTF-8. Numbers that JSON does not have
    become their names: `NaN`, `Infinity`, `-Infinity`.
    """
    match value:
        case float() if not math.isfinite(value):
            return json.dumps(float(value))
        case str():
            joined = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
            return joined.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {
                _well_formed(key) if isinstance(key, str) else key: _well_formed(item)
                for key, item in value.items()
            }
        case list() | tuple():
            return [_well_formed(item) for item in value]
    return value


@cache
def _loop() -> asyncio.Runner:
    """One event loop for all calls of a process: clients that a tool keeps between calls belong to it."""
    return asyncio.Runner()
