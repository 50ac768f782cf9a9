"""`acta demo`: a real deployment on the local AWS, a real goal, live, and the files left behind."""

import shutil
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from acta.cli import exits
from acta.cli.client import Client, file_path, session_path
from acta.cli.errors import CliError
from acta.cli.hints import Invocation
from acta.cli.local_stack import model_line, started_stack
from acta.cli.sessions import trace_lines
from acta.cli.signals import stopped_by_signals
from acta.cli.target import Target
from acta.cli.watching import print_outcome, say, watch
from infra.local.assembly import ROOT
from infra.local.stack import LocalStack
from infra.local.state import StateDir

SAMPLES = Path(__file__).parent / "samples"
FOLDER = ROOT / "build" / "demo"
TENANT, USER = "demo", "demo"
GOAL = "List all files in my storage, summarize each, and write the summary to summary.md"
RESULT = "summary.md"
# room for a real model that is thorough: the standard budget is meant for smaller goals
TOKEN_BUDGET = 400_000
MAX_STEPS = 60


def demo(arguments: Namespace) -> int:
    """0 when the agent met the goal; the stack is stopped in any case."""
    state_dir = fresh_folder()
    with stopped_by_signals():
        say("Acta on a local AWS")
        with started_stack(state_dir, None) as stack:
            session = run_goal(stack)
    return exits.of_session(session)


def fresh_folder() -> Path:
    state = StateDir(FOLDER / "state")
    if state.is_served():
        raise CliError(f"another demo is running in {state.path}")
    shutil.rmtree(FOLDER, ignore_errors=True)
    return state.path


def run_goal(stack: LocalStack) -> dict[str, Any]:
    client = Client(Target(stack.url, stack.issuer.issue_token(TENANT, USER, "member")))
    samples = sorted(path for path in SAMPLES.iterdir() if path.is_file())
    for sample in samples:
        client.put_bytes(file_path(sample.name), sample.read_bytes())
    say("")
    say(f"files  {', '.join(sample.name for sample in samples)}")
    say(f"model  {model_line(stack)}")
    say(f"goal   {GOAL}")
    say("")
    body = {"message": GOAL, "token_budget": TOKEN_BUDGET, "max_steps": MAX_STEPS}
    session_id = str(client.post("/v1/sessions", body)["session_id"])
    session = watch(client, session_id, Invocation.from_arguments(Namespace(state=str(stack.state.path))))
    say("")
    say("What it thought and did")
    for item in client.items(session_path(session_id, "trace")):
        if item.get("action") == "update_plan":  # the plan was on screen all the time
            item = {name: item.get(name) for name in ("step_number", "thought")}
        for line in trace_lines(item):
            say(line)
    print_outcome(session)
    if exits.of_session(session) == exits.OK:
        say(f"the summary is in {download(client)}")
    else:
        print(f"acta: the session ended {session.get('state')}, the goal was not met", file=sys.stderr)
    return session


def download(client: Client) -> Path:
    """Where the agent's file was put on this machine."""
    target = FOLDER / RESULT
    target.write_bytes(client.get_bytes(file_path(RESULT)))
    try:
        return target.relative_to(Path.cwd())
    except ValueError:
        return target
