"""`acta demo`: a goal run on a local stack, shown live; the files it made are kept."""

import shutil
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import Invocation
from acta.cli.exit_codes import CliError
from acta.cli.local.up import model_line, started_stack
from acta.cli.sessions.listings import trace_lines
from acta.cli.sessions.run import print_outcome, watch_session
from acta.cli.terminal.prompt import stopped_by_signals
from acta.cli.terminal.text import echo, note
from acta.client.api import Client
from acta.client.deployment import Deployment
from acta_infra.local.stack import LocalStack
from acta_infra.local.state_directory import StateDir
from acta_infra.local.toolchain import ROOT

SAMPLES = Path(__file__).parent / "samples"
FOLDER = ROOT / "build" / "demo"
TENANT, USER = "demo", "demo"
GOAL = "List all files in my storage, summarize each, and write the summary to summary.md"
RESULT = "summary.md"
TOKEN_BUDGET = 400_000
MAX_STEPS = 60
"""Enough for a real model that is thorough; the defaults are meant for smaller goals."""


def demo(arguments: Namespace) -> int:
    """Exit code 0 when the agent met the goal. The stack is stopped in any case."""
    state_dir = fresh_folder()
    with stopped_by_signals():
        echo("Acta on a local AWS")
        with started_stack(state_dir, None) as stack:
            session = run_goal(stack)
    return exit_codes.of_session(session)


def fresh_folder() -> Path:
    """An empty state directory; what the last demo left is deleted. Raises CliError while another demo runs."""
    state = StateDir(FOLDER / "state")
    if state.is_served():
        raise CliError(f"another demo is running in {state.path}")
    shutil.rmtree(FOLDER, ignore_errors=True)
    return state.path


def run_goal(stack: LocalStack) -> Mapping[str, Any]:
    """The session as it ended; all of it is shown."""
    client = Client(Deployment(stack.url, stack.issuer.issue_token(TENANT, USER, "member")))
    samples = sorted(path for path in SAMPLES.iterdir() if path.is_file())
    for sample in samples:
        client.files.write(sample.name, sample.read_bytes())
    echo("")
    echo(f"files  {', '.join(sample.name for sample in samples)}")
    echo(f"model  {model_line(stack)}")
    echo(f"goal   {GOAL}")
    echo("")
    session_id = client.start(GOAL, token_budget=TOKEN_BUDGET, max_steps=MAX_STEPS)["session_id"]
    session = watch_session(
        client, session_id, Invocation.from_arguments(Namespace(state=str(stack.state.path)))
    )
    echo("")
    echo("What it thought and did")
    for item in client.trace(session_id):
        planned = item.get("action") == "update_plan"  # the plan was on screen all the time
        row: Mapping[str, Any] = (
            {name: item.get(name) for name in ("step_number", "thought")} if planned else item
        )
        for line in trace_lines(row):
            echo(line)
    print_outcome(session)
    if exit_codes.of_session(session) == exit_codes.OK:
        echo(f"the summary is in {download(client)}")
    else:
        note(f"acta: the session ended {session.get('state')}, the goal was not met")
    return session


def download(client: Client) -> Path:
    """Copies the agent's file to this machine; where it is then."""
    target = FOLDER / RESULT
    target.write_bytes(client.files.read(RESULT))
    try:
        return target.relative_to(Path.cwd())
    except ValueError:
        return target
