"""`acta run`, `acta fork`, `acta watch`, `acta say`; `acta pause`, `acta resume`, `acta cancel`."""

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from acta.cli.connection import connect
from acta.cli.exit_codes import CliError
from acta.cli.files import put_directory
from acta.cli.naming import session_named
from acta.cli.sessions.follow import follow_as_json, follow_on_screen
from acta.cli.terminal.session_lines import line_words, state_words
from acta.cli.terminal.text import echo, note, show
from acta.client.api import Client


def run(arguments: Namespace) -> int:
    client = connected(arguments)
    if arguments.files:
        count = len(put_directory(client, arguments.files))
        note(f"put {count} file{'' if count == 1 else 's'} into the storage")
    fields = {"content": arguments.goal, "review_every": arguments.review_every, **started(arguments)}
    return follow_new(client, client.start(**fields), arguments)


def fork(arguments: Namespace) -> int:
    client = connected(arguments)
    fields = {"content": arguments.text or None, "at": arguments.at, **started(arguments)}
    return follow_new(client, client.fork(session_named(client, arguments.id), **fields), arguments)


def started(arguments: Namespace) -> dict[str, Any]:
    """Fields of a start or a fork, by the API's names. Raises CliError."""
    fields = {
        "agent_id": arguments.agent,
        "max_steps": arguments.max_steps,
        "token_budget": arguments.token_budget,
        "cost_budget_usd": arguments.cost_budget,
        "visibility": "private" if arguments.private else None,
        "prompts": tried(arguments.prompts),
    }
    for text in arguments.fields or ():
        name, equals, value = text.partition("=")
        if not name.isidentifier() or not equals or name in ("session_id", "idempotency_key"):
            raise CliError(f"--set {text}: write NAME=VALUE, such as notify_url=https://example.com")
        try:
            fields[name] = json.loads(value)
        except ValueError:
            fields[name] = value
    return fields


def connected(arguments: Namespace) -> Client:
    """As an admin where that is needed. On the local stack anybody may be one."""
    return connect(arguments, role="admin") if arguments.prompts else connect(arguments)


def tried(named: Sequence[str] | None) -> dict[str, int] | None:
    """Of each `NAME=VERSION`. Raises CliError."""
    prompts = {}
    for text in named or ():
        name, _, version = text.partition("=")
        if not version.isdecimal():
            raise CliError(f"--prompt {text}: write NAME=VERSION, such as agent_planning_system=3")
        prompts[name] = int(version)
    return prompts or None


def follow_new(client: Client, session: Mapping[str, Any], arguments: Namespace) -> int:
    """A session that was just made, unless nobody wants to see it (--detach)."""
    session_id = str(session["session_id"])
    if arguments.detach:
        return show(session, [session_id], as_json=arguments.json)
    if arguments.json:
        note(f"session {session_id}")
        return follow_as_json(client, session_id, arguments)
    echo(f"session {session_id}")
    return follow_on_screen(client, session_id, arguments)


def watch(arguments: Namespace) -> int:
    client = connect(arguments)
    follow = follow_as_json if arguments.json else follow_on_screen
    return follow(client, session_named(client, arguments.id), arguments)


def say(arguments: Namespace) -> int:
    client = connect(arguments)
    told = client.say(session_named(client, arguments.id), arguments.text)
    return show_state(told, as_json=arguments.json)


def control(arguments: Namespace) -> int:
    """`arguments.action`: pause, resume or cancel."""
    client = connect(arguments)
    session = getattr(client, arguments.action)(session_named(client, arguments.id))
    return show_state(session, as_json=arguments.json)


def show_state(session: Mapping[str, Any], *, as_json: bool) -> int:
    said = "; ".join((state_words(session), *line_words(session)))
    return show(session, [f"{session['session_id']}  {said}"], as_json=as_json)
