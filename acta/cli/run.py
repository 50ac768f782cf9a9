"""`acta run` and `acta watch`."""

import json
import sys
from argparse import Namespace
from typing import Any

from acta.cli import exits
from acta.cli.client import Client, session_path
from acta.cli.follow import Update, follow
from acta.cli.hints import Invocation, deciding_lines
from acta.cli.target import Target
from acta.cli.text import encodable
from acta.cli.watching import print_outcome, say, watch


def run(arguments: Namespace) -> int:
    client = Client(Target.from_arguments(arguments))
    body = {
        "message": arguments.goal,
        "max_steps": arguments.max_steps,
        "token_budget": arguments.token_budget,
        "review_every": arguments.review_every,
    }
    session = client.post("/v1/sessions", {name: value for name, value in body.items() if value is not None})
    session_id = str(session["session_id"])
    if arguments.detach:
        say(json.dumps(session) if arguments.json else session_id)
        return exits.OK
    if arguments.json:
        print(f"session {session_id}", file=sys.stderr, flush=True)
        return finish_quietly(client, session_id, arguments)
    say(f"session {session_id}")
    return finish(client, session_id, arguments)


def watch_session(arguments: Namespace) -> int:
    return finish(Client(Target.from_arguments(arguments)), arguments.id, arguments)


def finish(client: Client, session_id: str, arguments: Namespace) -> int:
    invocation = Invocation.from_arguments(arguments)
    try:
        session = watch(client, session_id, invocation, no_wait=arguments.no_wait)
    except KeyboardInterrupt:
        ways = " or ".join(invocation.line(name, session_id) for name in ("watch", "cancel"))
        print(f"\nThe session goes on without you: {ways}", file=sys.stderr)
        return exits.INTERRUPTED
    print_outcome(session)
    return exit_code(session)


def finish_quietly(client: Client, session_id: str, arguments: Namespace) -> int:
    """Standard output stays the session's; that a person is needed is told on standard error, once each."""
    session: dict[str, Any] = {}
    invocation, told = Invocation.from_arguments(arguments), set[str]()
    for update in follow(client, session_id):
        session = update.session
        for intervention in update.open_interventions:
            identity = str(intervention.get("intervention_id"))
            if identity not in told:
                told.add(identity)
                print("a person is needed; look with", invocation.line("watch", session_id), file=sys.stderr)
                for line in deciding_lines(invocation, session_id, intervention):
                    print(f"  {encodable(line, sys.stderr.encoding)}", file=sys.stderr, flush=True)
        if arguments.no_wait and update.waits_for_a_person:
            break
    print(json.dumps(session))
    return exit_code(session)


def exit_code(session: dict[str, Any]) -> int:
    """Of a followed session; one that has not ended was left because it waits."""
    return exits.WAITING if Update(session, []).waits_for_a_person else exits.of_session(session)


def snapshot(client: Client, session_id: str) -> dict[str, Any]:
    session: dict[str, Any] = client.get(session_path(session_id), after=0, wait=0)["session"]
    return session
