"""Runs an example on this machine: `python examples/run.py research-team`.

It starts Acta in one process with an empty state, applies the example's definitions, puts its files and does what the
example's file in `plays/` says: start a goal, run a schedule now, or put a file. Without a model's key a script stands
in for the model (`stand_in.py`); all else is real.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from stand_in import StandIn

from acta import Client, Deployment
from acta.yaml_text import read

HERE = Path(__file__).parent
ACTA = [sys.executable, "-c", "import sys, acta.cli; sys.exit(acta.cli.run())"]
ENDED = ("completed", "failed", "cancelled")


def main(name: str) -> int:
    folder, play_file = HERE / name, HERE / "plays" / f"{name}.yaml"
    if not play_file.is_file():
        names = sorted(each.stem for each in HERE.glob("plays/*.yaml"))
        print(f"There is no example {name}. There are: {', '.join(names)}.")
        return 2
    play = dict(read(play_file.read_text()).value)
    environment = dict(os.environ)
    if not any(environment.get(key) for key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ACTA_PROVIDER")):
        model = StandIn(play["script"])
        threading.Thread(target=model.serve_forever, daemon=True).start()
        environment |= {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none", "ACTA_PROVIDER": "openai"}
        environment |= {"ACTA_MODEL": "stand-in"}
        print("No model's key is set, so a script stands in for the model. All else is real.")
    with tempfile.TemporaryDirectory() as state:
        process = subprocess.Popen(
            [*ACTA, "dev", "--json", "--state", state],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            apply = [*ACTA, "apply", str(folder / "definitions"), "--yes", "--state", state]
            subprocess.run(apply, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            return perform(play, folder, ready, state)
        finally:
            process.terminate()
            process.wait()


def perform(play: dict[str, Any], folder: Path, ready: dict[str, Any], state: str) -> int:
    with Client(Deployment(ready["api_url"], ready["token"])) as client:
        for path in sorted((folder / "files").rglob("*")):
            if path.is_file():
                client.files.write(path.relative_to(folder / "files").as_posix(), path.read_bytes())
        if "goal" in play:
            session = client.start(content=play["goal"], agent_id=play["agent"])
        elif "schedule" in play:
            session = client.schedules.run(play["schedule"])
        else:
            client.files.write(play["puts"]["path"], play["puts"]["text"].encode())
            session = first_session(client)
        return follow(client, session["session_id"], play, ready["api_url"], state)


def first_session(client: Any) -> Any:
    for _ in range(100):
        found = next(iter(client.sessions()), None)
        if found is not None:
            return found
        time.sleep(0.2)
    raise SystemExit("The file has started no session.")


def follow(client: Any, session_id: str, play: dict[str, Any], api_url: str, state: str) -> int:
    for event in client.follow(session_id):
        data = event["data"]
        if event["type"] in ("tool.started", "tool.finished", "state.changed", "intervention.opened"):
            told = data.get("name") or data.get("reason") or data.get("to") or data.get("question") or ""
            print(f"  {event['type']:<20} {told}")
        if event["type"] == "intervention.opened" and "approves" in play:
            tenant = client.me()["tenant"]
            approve(tenant, session_id, data["intervention_id"], play["approves"], api_url, state)
    last = client.session(session_id)
    print("answer:", (last["result"] or {}).get("answer"))
    for prefix in play.get("shows", ()):
        for file in client.files.list(prefix):
            print(f"--- {file['path']}\n{client.files.read(file['path']).decode()}")
    return 0 if last["state"] == "completed" else 1


def approve(tenant: str, session_id: str, intervention_id: str, role: str, api_url: str, state: str) -> None:
    """Decides as somebody who has the role."""
    who = ["--tenant", tenant, "--user", f"somebody-of-{role}", "--role", role, "--role", "member"]
    token = subprocess.check_output([*ACTA, "token", *who, "--state", state], text=True).strip()
    with Client(Deployment(api_url, token)) as client:
        client.decide(session_id, intervention_id, "approve")
    print(f"  approved by somebody of {role}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
