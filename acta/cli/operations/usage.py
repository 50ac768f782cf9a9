"""`acta usage`: what the tenant has used, in sums of hours or days, by agent, model or person."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import connect
from acta.cli.terminal.tables import show_table
from acta.cli.terminal.text import dollars, echo

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
    print(f"{told['from'][:10]} to {told['to'][:16].replace('T', ' ')}; {counted}", file=sys.stderr)
    print("The cost is that of the models, and an estimate of what AWS asks.", file=sys.stderr)
    if told["next_cursor"]:
        print("there are more rows: ask for a shorter time", file=sys.stderr)
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
