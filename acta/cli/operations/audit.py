"""`acta audit`: who did what in the tenant, newest first."""

import json
import sys
from argparse import Namespace
from collections.abc import Mapping
from itertools import islice
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import connect
from acta.cli.terminal.text import echo, one_line

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
        print("no records", file=sys.stderr)
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
