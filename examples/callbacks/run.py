"""Runs the whole example on this machine: a build server, Acta in one process, the tool, the agent and a session.

Without a model's key a stand-in, which is no LLM, calls the tool that the goal names.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from build_server import BuildServer

from acta import Client, Deployment
from acta.yaml_text import read

HERE = Path(__file__).parent
GOAL = 'use start_build with {"ref": "%s"}'


def definition(path: str) -> dict[str, Any]:
    return dict(read((HERE / path).read_text()).value)


def main(ref: str) -> int:
    server = BuildServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    at = f"127.0.0.1:{server.server_port}"
    acta = [sys.executable, "-c", "import acta.cli; acta.cli.run()", "dev", "--json"]
    with tempfile.TemporaryDirectory() as state:
        process = subprocess.Popen(
            [*acta, "--state", state],
            env={**os.environ, "ACTA_HTTP_TOOL_ALLOW": at},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            return follow(ready, at, ref)
        finally:
            process.terminate()
            process.wait()


def follow(ready: dict[str, Any], at: str, ref: str) -> int:
    tool, agent = definition("tools/start_build.yaml"), definition("agents/builder.yaml")
    tool["config"]["url"] = f"http://{at}/builds"
    with Client(Deployment(ready["api_url"], ready["admin_token"])) as admin:
        admin.tools.create({"name": "start_build", **tool})
        admin.agents.create({"agent_id": "builder", **agent})
    with Client(Deployment(ready["api_url"], ready["token"])) as client:
        session = client.start(content=GOAL % ref, agent_id="builder")
        for event in client.follow(session["session_id"]):
            if event["type"] in ("tool.started", "tool.finished", "state.changed"):
                print("acta:", event["type"], event["data"].get("reason") or event["data"].get("to") or "")
        last = client.session(session["session_id"])
    print("answer:", (last["result"] or {}).get("answer"))
    return 0 if last["state"] == "completed" else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "main"))
