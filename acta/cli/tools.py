"""`acta tools call` tries a tool, `acta tools secrets` sets what tools need, `acta mcp` is about MCP servers.

A secret's value is never an argument, because other programs can see arguments.
"""

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from acta.cli import exit_codes
from acta.cli.apply.schema import nearest
from acta.cli.connection import connect
from acta.cli.definitions import json_in, text_of
from acta.cli.exit_codes import CliError
from acta.cli.terminal.prompt import is_agreed, secret_value
from acta.cli.terminal.text import Columns, cli_error, note, one_line, second, show, show_list, visible
from acta.client.errors import ConflictError, NotFoundError
from acta.engine.untrusted.exact_json import InvalidJson, parse_object

OUTCOMES = {
    "failed": "the call failed",
    "not_run": "the tool has not run",
    "unknown": "nobody knows whether the tool has run",
}


def call(arguments: Namespace) -> int:
    """The result goes to standard output, what is said about the call to standard error."""
    given = input_of(arguments)
    tools = connect(arguments, role="admin").tools
    try:
        trial = tools.call(arguments.name, given, confirm=arguments.yes)
    except NotFoundError:
        near = nearest(arguments.name, [each["name"] for each in tools.list()])
        raise CliError(f"there is no tool {one_line(arguments.name)}. {one_line(near, 500)}") from None
    except ConflictError as conflict:
        if "confirm" not in conflict.details:
            raise
        raise CliError(
            "in a session a person approves each call of this tool; --yes runs it now, with what it does"
        ) from None
    show(trial, [] if trial["result"] is None else [visible(trial["result"])], as_json=arguments.json)
    for line in () if arguments.json else about(trial):
        note(f"acta: {visible(line, keep_newlines=False)}")
    return exit_codes.OK if trial["outcome"] == "succeeded" else exit_codes.FAILED


def input_of(arguments: Namespace) -> dict[str, Any]:
    """The input from the argument, from a file, or from standard input (`-`). Raises CliError."""
    if arguments.file is not None:
        if arguments.input is not None:
            raise CliError("give the input as an argument or in --file, not both")
        return json_in(arguments.file, parse_object)
    if arguments.input is None:
        return {}
    text = text_of("-") if arguments.input == "-" else arguments.input
    with cli_error(InvalidJson, words='the input is {}. Such as: \'{"order_id": "7"}\''):
        return parse_object(text)


def about(trial: Mapping[str, Any]) -> Iterator[str]:
    """What is said about the call, in addition to the result."""
    status = f", status {trial['status']}" if trial["status"] is not None else ""
    took = f"{trial['duration_ms']} ms{status}, effect id {trial['effect_id']}"
    if trial["truncated"]:
        yield f"this is the beginning of {trial['bytes']:,} bytes"
    error = trial["error"]
    if error is None:
        yield f"it ran: {took}"
        return
    yield f"{OUTCOMES.get(trial['outcome'], trial['outcome'])}: {took}"
    yield error["message"]
    if error["remedy"]:
        yield error["remedy"]


def set_secret(arguments: Namespace) -> int:
    client = connect(arguments, role="admin")
    hosts = [] if arguments.no_host else arguments.host
    client.tool_secrets.write(arguments.name, secret_value(arguments.name), hosts)
    return exit_codes.OK


def list_secrets(arguments: Namespace) -> int:
    found = list(connect(arguments, role="admin").tool_secrets.list())

    def line(secret: Mapping[str, Any]) -> str:
        at = second(secret["updated_at"])
        by = visible(str(secret["updated_by"]), keep_newlines=False)
        return f"{secret['name']:<32}  {at}  {by}  {' '.join(secret.get('hosts', ()))}".rstrip()

    return show(found, map(line, found), as_json=arguments.json)


NOBODY_TO_ASK = "there is nobody to ask: give --pin with what was looked at, or --yes"


def refresh(arguments: Namespace) -> int:
    listed = connect(arguments, role="admin").mcp_servers.refresh(arguments.name)
    found = listed["items"]
    for line in (listed.get("broken"), *map(_cut, found)):
        if line:
            note(visible(line, keep_newlines=False))
    columns: Columns = {
        "tool": "tool",
        "state": "state",
        "reads": _reads,
        "pin": lambda one: one["pin"][:12],
        "description": lambda one: one["reason"] or one["description"],
    }
    return show_list(found, columns, as_json=arguments.json)


def confirm(arguments: Namespace) -> int:
    """Sends the pins of what is shown now, so that only what was looked at is confirmed."""
    if arguments.pin is not None and len(arguments.tool) != 1:
        raise CliError("--pin is of one TOOL")
    servers = connect(arguments, role="admin").mcp_servers
    if arguments.pin is not None:
        pins = {arguments.tool[0]: arguments.pin}
    else:
        looked_at = _looked_at(servers.refresh(arguments.name)["items"], arguments.tool)
        for one in looked_at:
            for line in _about(one):
                note(visible(line))
        these = "this tool" if len(looked_at) == 1 else f"these {len(looked_at)} tools"
        question = f"Let agents have {these}? [y/N] "
        if not arguments.yes and not is_agreed(question, NOBODY_TO_ASK, as_json=arguments.json):
            raise CliError("nothing was confirmed")
        pins = {one["tool"]: one["pin"] for one in looked_at}
    wishes: dict[str, Any] = {"confirmed_read": arguments.read}
    if arguments.no_approval:
        wishes["high_stakes"] = False
    if arguments.approver_role is not None:
        wishes["approver_role"] = arguments.approver_role
    written = servers.confirm(arguments.name, {tool: {"pin": pin, **wishes} for tool, pin in pins.items()})
    asks = {True: "a person approves each call", False: "nobody is asked"}
    lines = [
        f"{visible(one['name'], keep_newlines=False)}  {asks[bool(one['high_stakes'])]}"
        for one in written["tools"]
        if one["tool"] in pins
    ]
    return show(written, lines, as_json=arguments.json)


def _looked_at(listed: Sequence[Mapping[str, Any]], wanted: Sequence[str]) -> list[Mapping[str, Any]]:
    """Raises CliError."""
    by_name = {one["tool"]: one for one in listed if one["state"] not in ("gone", "unusable")}
    missing = [name for name in wanted if name not in by_name]
    if missing:
        named = visible(", ".join(missing), keep_newlines=False)
        raise CliError(f"the server has no such tool that agents can have: {named}")
    return [by_name[name] for name in dict.fromkeys(wanted)]


def _about(one: Mapping[str, Any]) -> Iterator[str]:
    """The server's own words are indented: they are not Acta's."""
    name = visible(one["tool"], keep_newlines=False)
    yield f"{name} ({one['state']}; says that it only reads: {_reads(one)}; pin {one['pin']})"
    for line in str(one["description"]).splitlines():
        yield f"    {line}"
    if cut := _cut(one):
        yield cut
    yield f"    input: {json.dumps(one['input_schema'], ensure_ascii=False)}"


def _cut(one: Mapping[str, Any]) -> str | None:
    """What an admin should know of a description that is too long for models."""
    most = one.get("cut_after")
    return f"{one['tool']}: models get the first {most:,} characters of this description." if most else None


def _reads(one: Mapping[str, Any]) -> str:
    return "yes" if one["annotations"].get("readOnlyHint") is True else "-"
