"""Tools of kind `python`: a call invokes the Lambda of the tool's folder (docs/own-tools.md).

The function gets `{"tool", "arguments", "effect_id", "session_id", "tenant", "user", "rerun", "deadline", "files"?}`,
`files` where the tool has declared that it needs some: how it reaches them (ADR 88). It answers
`{"result": …}`, a text or JSON, or `{"error": "…"}`, which the tool tells the model (`acta/tools/run.py`). How else it
may fail: `shared/acta_engine/tools/tenant/invoke.py`.
"""

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from acta_engine.clock import Clock
from acta_engine.errors import AwsDenied, StoreThrottled, StoreUnavailable, ToolFailed, ToolNotRun
from acta_engine.tools.port import CallContext
from acta_engine.tools.tenant.invoke import SHOWN_CHARS, function_client, invoke
from acta_engine.tools.tool import FileAccess, PythonTool
from acta_engine.untrusted.quoting import OutsideText

ReachFiles = Callable[[str, str | None, FileAccess], Mapping[str, Any]]
"""From a tenant, the person of a private session and what a tool may do, to how its function reaches the files."""


class PythonTools:
    """Runs calls. `versions`: folder -> the published version of its function that belongs to this release; a folder
    that is not among them is called at its newest code. `reach_files`: `FileCredentials.for_call`. `client`: as
    `LambdaTool`'s.
    """

    def __init__(
        self,
        versions: Mapping[str, str],
        clock: Clock,
        reach_files: ReachFiles,
        client: Callable[[int], Any] = function_client,
    ) -> None:
        self._versions = versions
        self._clock = clock
        self._reach_files = reach_files
        self._client = client

    def run(self, tool: PythonTool, arguments: Mapping[str, Any], context: CallContext) -> OutsideText:
        """Raises ToolFailed, ToolUnanswered, ToolNotRun, FunctionUnavailable."""
        version = self._versions.get(tool.folder)
        function = tool.function if version is None else f"{tool.function}:{version}"
        deadline = self._clock.now() + timedelta(seconds=context.deadline_seconds)
        payload: dict[str, Any] = {
            "tool": tool.name,
            "arguments": dict(arguments),
            "effect_id": context.effect_id,
            "session_id": context.session_id,
            "tenant": context.tenant,
            "user": context.user,
            "rerun": context.rerun,
            "deadline": deadline.isoformat(),
        }
        if tool.files is not None:
            payload["files"] = self._reached(tool.files, context)
        body = invoke(self._client, tool, function, payload, context.deadline_seconds, tells_messages=False)
        return OutsideText("answer", tool.name, _result(tool, body))

    def _reached(self, access: FileAccess, context: CallContext) -> Mapping[str, Any]:
        """Raises ToolNotRun."""
        try:
            return self._reach_files(context.tenant, context.user if context.private else None, access)
        except (AwsDenied, StoreThrottled, StoreUnavailable) as missing:
            raise ToolNotRun(missing) from None


def _result(tool: PythonTool, body: bytes) -> str:
    """A text as it is, everything else as JSON. Raises ToolFailed."""
    answer = json.loads(body)
    if "error" in answer:
        said = OutsideText("answer", tool.name, str(answer["error"])[:SHOWN_CHARS])
        raise ToolFailed(f"{tool.name} failed.", said)
    result = answer["result"]
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
