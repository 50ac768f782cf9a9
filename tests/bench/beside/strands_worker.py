# mypy: disable-error-code="import-not-found, misc, untyped-decorator"
"""The same work as Strands Agents does it, with its sessions in S3: one invocation of an agent with one tool.

Run by the interpreter of `.venv-bench`. Arguments: AWS's endpoint and the setting; what is asked comes a line each
(`outcome.Asked`). The model is played; the tool reads the file from S3.

Settings: `messages` is S3SessionManager with its defaults, an object a message; `snapshots` is SnapshotSessionManager
on S3Storage, which the release measured recommends, saved at each message: by default it saves when the invocation is
over, and nothing of it outlives a crash.
"""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import boto3
from strands import Agent, tool
from strands.models import Model
from strands.session import S3SessionManager, SnapshotSessionManager
from strands.storage import S3Storage

from tests.bench.beside.outcome import RESUME, RUN, Asked, Ended, serve
from tests.bench.stand.script import PLAN, Call, Reply, reading


class ScriptedModel(Model):
    """Says the script's replies one after the other; a reply a request."""

    def __init__(self, said: list[Reply]) -> None:
        self._said, self.turn = said, 0

    def update_config(self, **model_config: Any) -> None:
        """Has none."""

    def get_config(self) -> dict[str, Any]:
        return {"model_id": "scripted"}

    async def structured_output(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        for reply in self._said[:0]:
            yield reply

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        reply = self._said[self.turn]
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": reply.text}}}
        yield {"contentBlockStop": {}}
        for call in reply.calls:
            for event in self._used(call):
                yield event
        yield {"messageStop": {"stopReason": "tool_use" if reply.calls else "end_turn"}}
        usage = {"inputTokens": 1_000, "outputTokens": 60, "totalTokens": 1_060}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 5_000}}}
        self.turn += 1

    def _used(self, call: Call) -> list[dict[str, Any]]:
        start = {"toolUse": {"name": call.name, "toolUseId": f"toolu_{self.turn:024d}"}}
        delta = {"toolUse": {"input": json.dumps(call.input)}}
        return [
            {"contentBlockStart": {"start": start}},
            {"contentBlockDelta": {"delta": delta}},
            {"contentBlockStop": {}},
        ]


def main() -> None:
    endpoint, setting = sys.argv[1:3]
    session = boto3.Session(region_name="us-east-1")
    files = session.client("s3", endpoint_url=endpoint)

    def work(asked: Asked) -> Ended:
        @tool
        def read_file(path: str) -> str:
            """Reads a file.

            Args:
                path: The file's path.
            """
            return str(files.get_object(Bucket=asked.bucket, Key=path)["Body"].read().decode())

        model = ScriptedModel([*reading(asked.size, asked.turns)[1:-1], Reply("All notes are read.")])
        agent = Agent(
            model=model, tools=[read_file], system_prompt="You are an agent.", agent_id="agent",
            session_manager=_sessions(session, endpoint, setting, asked),
            state={"plan": PLAN} if asked.doing == RUN else None, callback_handler=None,
        )  # fmt: skip
        if asked.doing == RESUME:
            return Ended(
                sum("toolResult" in part for message in agent.messages for part in message["content"])
            )
        try:
            agent("Read all field notes.")
        except Exception as error:  # where it ends is what is asked for
            return Ended(model.turn, error)
        return Ended(model.turn - 1)

    serve(work)


def _sessions(session: boto3.Session, endpoint: str, setting: str, asked: Asked) -> Any:
    name = f"{setting}-{asked.session}"
    if setting == "messages":
        return S3SessionManager(name, asked.bucket, boto_session=session, endpoint_url=endpoint)
    storage = S3Storage(asked.bucket, boto_session=session)  # the endpoint by AWS_ENDPOINT_URL
    return SnapshotSessionManager(name, storage=storage, save_latest_on="message")


if __name__ == "__main__":
    main()
