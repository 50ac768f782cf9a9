"""`acta run` and `acta watch`."""

import json
import sys
from argparse import Namespace
from typing import Any

from infra.cli import exits
from infra.cli.client import Client, session_path
from infra.cli.follow import follow
from infra.cli.target import Target
from infra.cli.watching import print_outcome, say, watch


def run(arguments: Namespace) -> int:
    client = Client(Target.from_arguments(arguments))
    body = {
        "message": arguments.goal,
        "max_steps": arguments.max_steps,
        "token_budget": arguments.token_budget,
    }
    session = client.post("/v1/sessions", {name: value for name, value in body.items() if value is not None})
    session_id = str(session["session_id"])
    if arguments.detach:
        say(json.dumps(session) if arguments.json else session_id)
        return exits.OK
    if arguments.json:
        print(f"session {session_id}", file=sys.stderr, flush=True)
        return finish_quietly(client, session_id)
    say(f"session {session_id}")
    return finish(client, session_id)


def watch_session(arguments: Namespace) -> int:
    return finish(Client(Target.from_arguments(arguments)), arguments.id)


def finish(client: Client, session_id: str) -> int:
    try:
        session = watch(client, session_id)
    except KeyboardInterrupt:
        print(
            f"\nThe session goes on without you: acta watch {session_id}, or acta cancel {session_id}",
            file=sys.stderr,
        )
        return exits.INTERRUPTED
    print_outcome(session)
    return exits.of_session(session)


def finish_quietly(client: Client, session_id: str) -> int:
    session: dict[str, Any] = {}
    for update in follow(client, session_id):
        session = update.session
    print(json.dumps(session))
    return exits.of_session(session)


def snapshot(client: Client, session_id: str) -> dict[str, Any]:
    session: dict[str, Any] = client.get(session_path(session_id), after=0, wait=0)["session"]
    return session
