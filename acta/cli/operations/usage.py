"""`acta usage`: what the tenant has used, in sums. `acta audit`: who did what in the tenant, newest first."""

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import connect
from acta.cli.terminal.tables import show_table
from acta.cli.terminal.text import dollars, echo, note, one_line

COLUMNS = ("", "runs", "ended", "messages", "questions", "tool calls", "tokens", "cost, about")
Row = Mapping[str, Any]


def usage(arguments: Namespace) -> int:
    role = "admin" if arguments.by in ("agent", "model", "hour") else "member"
    told = connect(arguments, role=role).usage(by=arguments.by, since=arguments.since, until=arguments.until)
    if arguments.json:
        echo(json.dumps(told))
        return exit_codes.OK
    show_table(COLUMNS, rows(told))
    until = told["complete_until"]
    counted = f"counted up to {until[:16].replace('T', ' ')} UTC" if until else "nothing was counted so far"
    note(f"{told['from'][:10]} to {told['to'][:16].replace('T', ' ')}; {counted}")
    note("The cost is that of the models, and an estimate of what AWS asks.")
    if told["next_cursor"]:
        note("there are more rows: ask for a shorter time")
    return exit_codes.OK


def rows(told: Row) -> Iterator[tuple[object, ...]]:
    """One for each item, and one for the whole time."""
    for item in told["items"]:
        key = str(item["key"])
        if item.get("agent_name"):  # names are for reading, ids tell agents of one name apart
            key = f"{item['agent_name']} ({key})"
        yield row(key[:16].replace("T", " ") if told["by"] in ("hour", "day") else key, item)
    yield row("together", told["total"])


def row(name: str, item: Row) -> tuple[object, ...]:
    work, tokens, cost = item["work"], item["tokens"], dollars(item["cost"]["total_usd"])
    if work is None:  # of a model: it makes no runs
        return name, "", "", "", "", "", f"{tokens['total']:,}", dollars(item["cost"]["models_usd"])
    runs, messages, asked, tools = work["runs"], work["messages"], work["interventions"], work["tools"]
    return (
        name,
        runs["started"],
        runs["completed"] + runs["failed"] + runs["cancelled"],
        messages["from_people"] + messages["from_agents"],
        asked["opened"],
        tools["ok"] + tools["failed"],
        f"{tokens['total']:,}",
        cost,
    )


DETAILS_WIDTH = 100


def audit(arguments: Namespace) -> int:
    client = connect(arguments, role="admin")
    records = client.audit(
        since=arguments.since,
        until=arguments.until,
        action=arguments.action,
        user=arguments.user,
        session_id=arguments.session,
    )
    found = list(islice(records, arguments.limit))
    if not found:
        note("no records")
    for record in found:
        echo(json.dumps(record) if arguments.json else line(record))
    return exit_codes.OK


def line(record: Mapping[str, Any]) -> str:
    """When, how it ended, what, by whom and from where, on what."""
    at = str(record["at"])[:19].replace("T", " ")
    ended = f"{record['outcome']} {record['code']}" if record.get("code") else str(record["outcome"])
    details = " ".join(f"{name}={value}" for name, value in record["details"].items())
    who = f"{record['who']} {record['source'] or '-'}"
    return f"{at}  {ended:<8}  {record['action']:<20}  {who}  {one_line(details, DETAILS_WIDTH)}"
