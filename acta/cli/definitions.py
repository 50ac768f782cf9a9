"""`acta agents`, `acta tools`, `acta prompts`, `acta memories`: a tenant's definitions; `acta notifications`: its
webhook.
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from acta.cli import exit_codes
from acta.cli.connection import connect
from acta.cli.exit_codes import CliError
from acta.cli.files import content_of
from acta.cli.terminal.prompt import secret_value
from acta.cli.terminal.text import (
    Columns,
    cli_error,
    echo,
    exact_json,
    minute,
    note,
    second,
    show,
    show_list,
    visible,
)
from acta.client.errors import ConflictError, NotFoundError
from acta.engine.untrusted.exact_json import InvalidJson, parse_object

Row = Mapping[str, Any]
T = TypeVar("T")
READ_BY_ADMINS = ("prompts", "mcp_servers", "triggers")
NAMED_AS = {"agents": "this agent", "tools": "this tool", "mcp_servers": "tools of this server"}
"""What other agents may name of a definition that is to be deleted."""
COLUMNS: Mapping[str, Columns] = {
    "agents": {
        "id": "agent_id",
        "version": "version",
        "model": lambda one: one["model"] or "-",
        "calls": lambda one: ", ".join(each["agent"] for each in one["agents"]) or "-",
        "name": "name",
    },
    "tools": {
        "name": "name",
        "kind": "kind",
        "effect": "effect",
        "risk": "risk",
        "asks": lambda one: "asks" if one["high_stakes"] else "-",
        "description": "description",
    },
    "mcp_servers": {
        "name": "name",
        "version": "version",
        "credentials": lambda one: (
            "-" if one["auth"] is None else "secret" if "secret" in one["auth"] else "client credentials"
        ),
        "tools": lambda one: len(one["tools"]),
        "url": "url",
    },
    "triggers": {
        "id": "trigger_id",
        "agent": "agent_id",
        "from": lambda one: one["source"] or f"a webhook ({one['webhook']['scheme']})",
        "state": lambda one: "paused" if one["paused"] else "on",
        "goal": "goal",
    },
    "prompts": {
        "name": "name",
        "version": "version",
        "by": "created_by",
        "at": lambda one: minute(one["created_at"]),
        "for": lambda one: one.get("description"),
    },
    "schedules": {
        "id": "schedule_id",
        "agent": "agent_id",
        "when": lambda one: one["cron"] or f"every {one['every'].removeprefix('every ')}",
        "next": lambda one: "paused" if one["paused"] else local(one) if one["next_at"] else "ended",
        "failures": lambda one: one["failures"] or "-",
        "by": "created_by",
    },
    "memories": {
        "id": "memory_id",
        "agent": "agent_id",
        "kind": "kind",
        "at": lambda one: minute(one["updated_at"]),
        "text": "text",
    },
}


def calls_of(arguments: Namespace, *, reads: bool = False) -> Any:
    """The client's calls for `arguments.kind`. Most kinds may be read by anybody and written by admins only."""
    kind = arguments.kind
    anybody = kind in ("files", "memories", "schedules") or (reads and kind not in READ_BY_ADMINS)
    return getattr(connect(arguments, role="member" if anybody else "admin"), kind)


def list_all(arguments: Namespace) -> int:
    calls, agent = calls_of(arguments, reads=True), getattr(arguments, "agent", None)
    found = list(calls.list(agent) if agent else calls.list())
    return show_list(found, COLUMNS[arguments.kind], as_json=arguments.json)


def show_one(arguments: Namespace) -> int:
    """Prints JSON: on a terminal in a form to read, elsewhere in a form to change and put again."""
    found = calls_of(arguments, reads=True).get(arguments.name)
    return show(found, [exact_json(found)], as_json=arguments.json)


def put(arguments: Namespace) -> int:
    """Creates it, or replaces it if it exists. What `get` showed can be put again: an MCP server then keeps the tools
    that were confirmed.
    """
    from acta.cli.apply.kinds import KINDS  # imported only now: it takes a moment

    kind, source = KINDS[arguments.kind.replace("_", "-")], arguments.source
    if Path(source).suffix in (".yaml", ".yml"):
        raise CliError(
            f"{source}: {kind.folder} in YAML are applied, a folder at a time: acta apply FOLDER, with this file at "
            f"FOLDER/{kind.folder}/{Path(source).stem}.yaml; put takes JSON"
        )
    told = kind.told - {"version"}
    definition = {name: value for name, value in json_in(source, parse_object).items() if name not in told}
    calls = calls_of(arguments)
    identity = definition.pop(kind.identity, None)
    if not isinstance(identity, str):
        raise CliError(f"{source}: it has no {kind.identity}")
    if kind.folder == "mcp-servers" and isinstance(definition.get("tools"), list):
        del definition["tools"]
    if kind.is_put:
        written = calls.write(identity, definition)
    elif exists(lambda: calls.get(identity)):
        written = calls.replace(identity, definition)
    else:
        definition.pop("version", None)
        written = calls.create({kind.identity: identity, **definition})
    return show(written, [f"{identity}  version {written['version']}"], as_json=arguments.json)


def exists(read: Callable[[], object]) -> bool:
    try:
        read()
    except NotFoundError:
        return False
    return True


def remove(arguments: Namespace) -> int:
    """Deletes a definition, and also a file, a secret or the webhook (a tenant has only one). An agent, a tool,
    or an MCP server with its tools is not deleted while agents name it, unless --force is given.
    """
    named = [arguments.name] if "name" in arguments else []
    forced = {"force": arguments.force} if "force" in arguments else {}
    try:
        calls_of(arguments).delete(*named, **forced)
    except ConflictError as conflict:
        if not forced or "agents" not in conflict.details:
            raise
        naming = ", ".join(visible(str(each), keep_newlines=False) for each in conflict.details["agents"])
        what = NAMED_AS[arguments.kind]
        raise CliError(
            f"agents name {what}: {naming}. Change them first; --force deletes it, and they go on without it"
        ) from None
    return exit_codes.OK


def trigger_url(arguments: Namespace) -> int:
    """Prints where a trigger's events are posted, and nothing else."""
    found = connect(arguments, role="admin").triggers.get(arguments.name)
    if found["url"] is None:
        raise CliError("this trigger has no URL: its events come from a source of the operator's")
    return show(found["url"], [found["url"]], as_json=arguments.json)


def set_paused(arguments: Namespace) -> int:
    """Of a schedule or a trigger."""
    calls = calls_of(arguments)
    written = (calls.pause if arguments.paused else calls.resume)(arguments.name)
    if written["paused"] or arguments.kind == "triggers":
        said = "paused" if written["paused"] else "on"
    else:
        said = f"next {local(written)}" if written["next_at"] else "no time comes any more"
    return show(written, [f"{arguments.name}  {said}"], as_json=arguments.json)


def trigger_events(arguments: Namespace) -> int:
    found = list(connect(arguments, role="admin").triggers.events(arguments.name, outcome=arguments.outcome))
    columns: Columns = {
        "id": "event_id",
        "at": lambda one: second(one["received_at"]),
        "outcome": "outcome",
        "session": lambda one: one["session_id"] or "-",
        "reason": lambda one: one["reason"] or "-",
    }
    return show_list(found, columns, as_json=arguments.json)


def send_event(arguments: Namespace) -> int:
    event = json_in(arguments.source, parse_object)
    sent = connect(arguments, role="admin").triggers.send(arguments.name, event, event_id=arguments.event_id)
    told = (
        f"{sent['event_id']}  {sent['outcome']}"
        if "event_id" in sent
        else "ignored: it does not fit the pattern"
    )
    return show(sent, [told], as_json=arguments.json)


def replay_event(arguments: Namespace) -> int:
    event = connect(arguments, role="admin").triggers.replay(arguments.name, arguments.event)
    return show(
        event, [f"{event['event_id']}  {event['outcome']}: {event['reason']}"], as_json=arguments.json
    )


def add_memory(arguments: Namespace) -> int:
    written = connect(arguments).memories.create(
        arguments.kind, arguments.text, tags=arguments.tag or (), agent_id=arguments.agent
    )
    return show(written, [written["memory_id"]], as_json=arguments.json)


def local(schedule: Row, at: str | None = None) -> str:
    """The time (absent: the schedule's next one) on the clocks of the schedule's time zone, with its name."""
    zone, moment = schedule["timezone"], datetime.fromisoformat(at or schedule["next_at"])
    return f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M} {zone}"


def schedule_runs(arguments: Namespace) -> int:
    schedules = connect(arguments).schedules
    found, schedule = list(schedules.runs(arguments.name)), schedules.get(arguments.name)
    columns: Columns = {
        "time": lambda one: local(schedule, one["tick"]),
        "outcome": lambda one: f"{one['outcome']}, asked for" if one["asked"] else one["outcome"],
        "session": lambda one: one["session_id"] or "-",
        "reason": lambda one: one["reason"] or "",
    }
    return show_list(found, columns, as_json=arguments.json)


def run_schedule(arguments: Namespace) -> int:
    started = connect(arguments).schedules.run(arguments.name)
    if not arguments.json:
        note(
            "the schedule takes no notice of this session: its times, its overlap and {{last}} stay as they are"
        )
    return show(started, [started["session_id"]], as_json=arguments.json)


def show_prompt(arguments: Namespace) -> int:
    prompt = connect(arguments, role="admin").prompts.get(arguments.name)
    return show(prompt, [visible(prompt["content"])], as_json=arguments.json)


def put_prompt(arguments: Namespace) -> int:
    written = connect(arguments, role="admin").prompts.write(
        arguments.name,
        text_of(arguments.source),
        comment=arguments.comment,
        expected_version=arguments.expected_version,
        active=False if arguments.draft else None,
    )
    return tell_written(written, as_json=arguments.json)


def prompt_versions(arguments: Namespace) -> int:
    found = list(connect(arguments, role="admin").prompts.versions(arguments.name))
    columns: Columns = {
        "version": "version",
        "": lambda one: "in force" if one["active"] else "draft" if one.get("draft") else "",
        "at": lambda one: minute(one["created_at"]),
        "by": "created_by",
        "comment": "comment",
    }
    return show_list(found, columns, as_json=arguments.json)


def restore_prompt(arguments: Namespace) -> int:
    written = connect(arguments, role="admin").prompts.restore(
        arguments.name, arguments.version, comment=arguments.comment
    )
    return tell_written(written, as_json=arguments.json)


def tell_written(prompt: Row, *, as_json: bool) -> int:
    draft = "  draft" if prompt.get("draft") else ""
    show(prompt, [f"{prompt['name']}  version {prompt['version']}{draft}"], as_json=as_json)
    for warning in prompt.get("warnings") or ():
        note(f"acta: {visible(str(warning), keep_newlines=False)}")
    return exit_codes.OK


def json_in(source: str, parse: Callable[[str], T]) -> T:
    """What `parse` makes of the text of `source`. Raises CliError."""
    with cli_error(InvalidJson, words=f"{source}: it is {{}}"):
        return parse(text_of(source))


def text_of(source: str) -> str:
    """The text of a file, or of standard input if `source` is `-`. Raises CliError."""
    with cli_error(UnicodeDecodeError, words=f"{source}: it is no UTF-8 text"):
        return sys.stdin.read() if source == "-" else content_of(Path(source)).decode("utf-8-sig")


ASKED_FOR = "the secret that notifications are signed with"


def show_webhook(arguments: Namespace) -> int:
    client = connect(arguments, role="admin")
    try:
        found = client.notifications.read()
    except NotFoundError:
        if arguments.json:
            echo("null")
        note("nobody is told: set a webhook with acta notifications set URL")
        return exit_codes.OK
    return _tell_webhook(found, as_json=arguments.json)


def put_webhook(arguments: Namespace) -> int:
    """Asks for a secret if there is none yet."""
    client = connect(arguments, role="admin")
    is_needed = arguments.secret or not exists(client.notifications.read)
    secret = secret_value(ASKED_FOR) if is_needed else None
    return _tell_webhook(client.notifications.write(arguments.url, secret), as_json=arguments.json)


def _tell_webhook(found: Mapping[str, Any], *, as_json: bool) -> int:
    where = found["url"] or "only sessions with a webhook of their own are told"
    at = minute(found["updated_at"])
    said = visible(f"{where}  since {at}, by {found['updated_by']}", keep_newlines=False)
    return show(found, [said], as_json=as_json)
