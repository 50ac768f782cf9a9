"""`acta interventions`: what waits for the tenant's people, in all of its sessions."""

import json
import sys
from argparse import Namespace
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

from acta.cli import exits
from acta.cli.client import Client
from acta.cli.errors import CliError
from acta.cli.hints import Invocation
from acta.cli.target import Target
from acta.cli.text import one_line
from acta.cli.watching import say

WAITING = "/v1/interventions"
PAGE, LAST = 100, 500
"""How many are looked through for one that waits no longer."""
PREFIX = "int_"
"""How interventions' ids begin (`shared/domain/ids.py`): sessions' begin otherwise."""
SUBJECT_CHARS = 100
SPANS = ((86_400, "d"), (3_600, "h"), (60, "m"))


def interventions(arguments: Namespace) -> int:
    client = Client(Target.from_arguments(arguments))
    waiting = list(client.items(WAITING, state="pending"))
    if arguments.json:
        say(json.dumps(waiting))
        return exits.OK
    if not waiting:
        print("nothing waits for a person", file=sys.stderr)
        return exits.OK
    now = datetime.now(UTC)
    for one in waiting:
        say(line_of(one, now))
    invocation = Invocation.from_arguments(arguments)
    print(f"decide with {invocation.line('approve', 'ID')} (or reject, answer, resolve)", file=sys.stderr)
    return exits.OK


def session_of(client: Client, intervention_id: str) -> str:
    """Whose intervention it is: an open one, or one of the last, for a decision that comes too late is answered with
    the one that was taken. Raises CliError.
    """
    waiting, last = client.items(WAITING, state="pending"), client.items(WAITING, limit=PAGE)
    for one in chain(waiting, islice(last, LAST)):
        if one.get("intervention_id") == intervention_id:
            return str(one["session_id"])
    raise CliError(
        f"nothing that waits for a person has the id {one_line(intervention_id)}, and none of the last {LAST} that "
        "were asked; if it is an older one, name its session before it"
    )


def is_intervention(identity: str) -> bool:
    return identity.startswith(PREFIX)


def line_of(one: Mapping[str, Any], now: datetime) -> str:
    ids = "  ".join(one_line(one.get(name) or "") for name in ("intervention_id", "session_id"))
    when = f"{age(one.get('created_at'), now):>7}  {expiry(one, now):<18}"
    return f"{ids}  {kind(one):<20}  {when}  {subject(one)}".rstrip()


def brief(one: Mapping[str, Any]) -> str:
    """To tell those of one session from each other."""
    return f"{one_line(one.get('intervention_id') or '')}  {kind(one)}  {subject(one)}".rstrip()


def kind(one: Mapping[str, Any]) -> str:
    return "paused" if is_pause(one) else one_line(str(one.get("type", "")).replace("_", " "))


def is_pause(one: Mapping[str, Any]) -> bool:
    """A person paused the session: nothing is asked."""
    context = one.get("context") or {}
    return one.get("type") == "checkpoint_review" and context.get("asked_by") == "person"


def subject(one: Mapping[str, Any]) -> str:
    """The call that is asked for, or what is asked about it; else the question."""
    call, context = one.get("tool_call"), one.get("context") or {}
    if is_pause(one):
        return f"paused by {one_line(context.get('requested_by') or 'a person')}"
    asked = one_line(context.get("question") or context, SUBJECT_CHARS) if context else ""
    if not call:
        return asked
    shown = one_line(f"{call.get('name')} {json.dumps(call.get('input'), ensure_ascii=False)}", SUBJECT_CHARS)
    return f"{asked}  {shown}" if one.get("type") == "error_recovery" and asked else shown


def age(created_at: Any, now: datetime) -> str:
    at = instant(created_at)
    return "" if at is None else span((now - at).total_seconds())


def expiry(one: Mapping[str, Any], now: datetime) -> str:
    """When it is decided by itself, and how."""
    at = instant(one.get("timeout_at"))
    if at is None:
        return "waits for ever"
    left = (at - now).total_seconds()
    default = one_line(one.get("default_action") or "", 20)
    return f"{default} in {span(left)}" if left > 0 else f"{default} now"


def span(seconds: float) -> str:
    """Rounded down to its largest unit."""
    for size, unit in SPANS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(0, int(seconds))}s"


def instant(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text).replace("Z", "+00:00")) if text else None
    except ValueError:
        return None
