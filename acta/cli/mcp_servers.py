"""`acta mcp`: MCP servers, what they say of their tools, and which of those agents may have."""

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from acta.cli.connection import connect
from acta.cli.definitions import TOLD, json_object
from acta.cli.exit_codes import CliError
from acta.cli.terminal.prompt import is_agreed
from acta.cli.terminal.tables import show_list
from acta.cli.terminal.text import note, show, visible

NOBODY_TO_ASK = "there is nobody to ask: give --pin with what was looked at, or --yes"


def put(arguments: Namespace) -> int:
    """What `acta mcp get` showed can be put again: its tools are the confirmed ones, which stay."""
    definition = {name: value for name, value in json_object(arguments.source).items() if name not in TOLD}
    name = definition.pop("name", None)
    if not isinstance(name, str):
        raise CliError(f"{arguments.source}: it has no name")
    if isinstance(definition.get("tools"), list):
        del definition["tools"]
    written = connect(arguments, role="admin").mcp_servers.write(name, definition)
    return show(written, [f"{name}  version {written['version']}"], as_json=arguments.json)


def refresh(arguments: Namespace) -> int:
    found = connect(arguments, role="admin").mcp_servers.refresh(arguments.name)["items"]

    def row(one: Mapping[str, Any]) -> tuple[object, ...]:
        return one["tool"], one["state"], _reads(one), one["pin"][:12], one["reason"] or one["description"]

    return show_list(found, ("tool", "state", "reads", "pin", "description"), row, as_json=arguments.json)


def confirm(arguments: Namespace) -> int:
    """With the pins of what is shown now, so that nothing else is confirmed than what was looked at."""
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
    """A server's words are indented: they are not Acta's."""
    name = visible(one["tool"], keep_newlines=False)
    yield f"{name} ({one['state']}; says that it only reads: {_reads(one)}; pin {one['pin']})"
    for line in str(one["description"]).splitlines():
        yield f"    {line}"
    yield f"    input: {json.dumps(one['input_schema'], ensure_ascii=False)}"


def _reads(one: Mapping[str, Any]) -> str:
    return "yes" if one["annotations"].get("readOnlyHint") is True else "-"
