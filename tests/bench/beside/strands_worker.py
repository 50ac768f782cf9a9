# mypy: disable-error-code="import-not-found, misc, untyped-decorator"
"""The same work as Strands Agents does it, with its sessions in S3: one invocation of an agent with one tool.

Run by the interpreter of `.venv-bench`. Arguments: AWS's endpoint, a table it has no use for, bucket, size, turns,
setting, and what is done: `run`, or `resume` what a run left. The model is played; the tool reads the file from S3.

Settings: `messages` is S3SessionManager with its defaults, an object a message; `snapshots` is SnapshotSessionManager
on S3Storage, which the release measured recommends, saved at each message: by default it saves when the invocation is
over, and nothing of it outlives a crash.
"""

import json
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import boto3
from strands import Agent, tool
from strands.models import Model
from strands.session import S3SessionManager, SnapshotSessionManager
from strands.storage import S3Storage

from tests.bench.beside.outcome import told
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
    since = time.process_time()
    endpoint, _, bucket, size, turns, setting, doing = sys.argv[1:8]
    session = boto3.Session(region_name="us-east-1")
    files = session.client("s3", endpoint_url=endpoint)

    @tool
    def read_file(path: str) -> str:
        """Reads a file.

        Args:
            path: The file's path.
        """
        return str(files.get_object(Bucket=bucket, Key=path)["Body"].read().decode())

    model = ScriptedModel([*reading(size, int(turns))[1:-1], Reply("All notes are read.")])
    name = f"strands-{setting}-{size}-{turns}"
    manager: Any
    if setting == "messages":
        manager = S3SessionManager(name, bucket, boto_session=session, endpoint_url=endpoint)
    else:
        storage = S3Storage(bucket, boto_session=session)  # the endpoint by AWS_ENDPOINT_URL
        manager = SnapshotSessionManager(name, storage=storage, save_latest_on="message")
    agent = Agent(
        model=model, tools=[read_file], system_prompt="You are an agent.", session_manager=manager,
        agent_id="agent", state={"plan": PLAN} if doing == "run" else None, callback_handler=None,
    )  # fmt: skip
    if doing == "resume":
        told(
            sum(1 for message in agent.messages for part in message["content"] if "toolResult" in part), since
        )
        return
    try:
        agent("Read all field notes.")
    except Exception as error:  # where it ends is what is asked for
        told(model.turn, since, error)
    else:
        told(model.turn - 1, since)


if __name__ == "__main__":
    main()
