"""`acta models`: the configured models, their prices, and whether the providers accept the keys. `acta usage`: the sums
of what the tenant has used. `acta audit`: who did what in the tenant, newest first.
"""

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import connect
from acta.cli.terminal.text import dollars, echo, minute, note, one_line, second, show, show_table

Row = Mapping[str, Any]
KEY_LABELS = {
    "present": "has a key",
    "missing": "no key",
    "unreadable": "key cannot be read",
    "not_needed": "needs no key",
}
CHECK_LABELS = {
    "works": "the key works",
    "refused": "the key is REFUSED",
    "missing": "no key",
    "unreachable": "NOT REACHED",
    "unchecked": "not checked",
}
FAILED_CHECKS = ("refused", "unreachable")


def models(arguments: Namespace) -> int:
    """Returns exit code 1 if a check finds a refused key, a silent provider, or no key for the default model."""
    client = connect(arguments, role="admin")
    found = client.models()
    checked = client.check_models()["providers"] if arguments.check else []
    told = found | ({"checked": checked} if arguments.check else {})
    statuses = {one["provider"]: one["status"] for one in checked}
    show(told, model_lines(found, statuses), as_json=arguments.json)
    default = found["default"]["provider"]
    bad = [
        one
        for one in checked
        if one["status"] in FAILED_CHECKS or (one["provider"], one["status"]) == (default, "missing")
    ]
    return exit_codes.SESSION_FAILED if bad else exit_codes.OK


def model_lines(found: Row, checked: Mapping[str, str]) -> Iterator[str]:
    """`found`: the answer of `/v1/models`. `checked`: the status of each provider that was asked."""
    default = found["default"]
    yield f"default    {_shown(default['provider'])}  {_shown(default['model'])}"
    yield ""
    for one in found["providers"]:
        name = str(one["provider"])
        state = (
            CHECK_LABELS.get(checked[name], checked[name])
            if name in checked
            else KEY_LABELS.get(one["key"], one["key"])
        )
        yield f"{_shown(name):<10} {_shown(state)}"
    yield ""
    rows = [_model_row(one) for one in found["models"]]
    header = ("model", "window", "context", "input", "cached", "output", "used by")
    widths = [max(len(row[at]) for row in (header, *rows)) for at in range(len(header) - 1)]
    for name, *figures, users in (header, *rows):
        cells = [f"{figure:>{width}}" for figure, width in zip(figures, widths[1:], strict=True)]
        yield "  ".join([f"{name:<{widths[0]}}", *cells, users])
    yield ""
    yield "window: the model's, in tokens; context: with more tokens a conversation is shortened"
    yield f"prices: US dollars per million tokens, as of {_shown(found['priced_at'])}"
    unpriced = [one for one in found["models"] if not one["usd_per_million_tokens"]]
    if unpriced:
        names = ", ".join(f"{_shown(one['provider'])} {_shown(one['model'])}" for one in unpriced)
        yield f"no price is known of {names}: name price and window in `models` of the environment (docs/options.md)"


def _model_row(one: Row) -> tuple[str, ...]:
    prices = one["usd_per_million_tokens"]
    dollars = [f"{prices[name]:.2f}" if prices else "?" for name in ("input", "cached_input", "output")]
    name = f"{_shown(one['provider'])} {_shown(one['model'])}"
    tokens = [f"{one[field]:,}" for field in ("context_window_tokens", "context_tokens")]
    return (name, *tokens, *dollars, _users(one["used_by"]))


def _users(uses: list[Row]) -> str:
    """Written like `deployment; librarian (plan, think)`."""
    by_agent: dict[str | None, list[str]] = {}
    for use in uses:
        by_agent.setdefault(use["agent_id"], []).append(str(use["purpose"]))
    return "; ".join(
        "deployment" if agent is None else f"{_shown(agent)} ({', '.join(dict.fromkeys(purposes))})"
        for agent, purposes in by_agent.items()
    )


def _shown(value: Any) -> str:
    return one_line(str(value), 200)


COLUMNS = (
    "",
    "runs",
    "ended",
    "goal met",
    "needed nobody",
    "rated",
    "messages",
    "questions",
    "tool calls",
    "tokens",
    "cost, about",
)


def usage(arguments: Namespace) -> int:
    role = "admin" if arguments.by in ("agent", "model", "hour") else "member"
    told = connect(arguments, role=role).usage(by=arguments.by, since=arguments.since, until=arguments.until)
    if arguments.json:
        echo(json.dumps(told))
        return exit_codes.OK
    show_table(COLUMNS, rows(told), always_named=True)
    until = told["complete_until"]
    counted = f"counted up to {minute(until)} UTC" if until else "nothing was counted so far"
    note(f"{told['from'][:10]} to {minute(told['to'])} UTC; {counted}")
    note("The cost is that of the models, and an estimate of what AWS asks.")
    if told["next_cursor"]:
        note("there are more rows: ask for a shorter time")
    return exit_codes.OK


def rows(told: Row) -> Iterator[tuple[object, ...]]:
    """A row for each item, and one for the whole time."""
    for item in told["items"]:
        key = str(item["key"])
        if item.get("agent_name"):  # people read names, and ids tell agents with the same name apart
            key = f"{item['agent_name']} ({key})"
        yield row(minute(key) if told["by"] in ("hour", "day") else key, item)
    yield row("together", told["total"])


def row(name: str, item: Row) -> tuple[object, ...]:
    work, tokens, cost = item["work"], item["tokens"], dollars(item["cost"]["total_usd"])
    if work is None:  # the row is about a model, which has no runs
        return name, *[""] * 8, f"{tokens['total']:,}", dollars(item["cost"]["models_usd"])
    ratings = work["ratings"]
    runs, messages, asked, tools = work["runs"], work["messages"], work["interventions"], work["tools"]
    return (
        name,
        runs["started"],
        runs["completed"] + runs["failed"] + runs["cancelled"],
        counted_of_ended(runs, "goal_met"),
        counted_of_ended(runs, "unaided"),
        f"{ratings['up']} up, {ratings['down']} down" if ratings["up_rate"] is not None else "",
        messages["from_people"] + messages["from_agents"],
        asked["opened"],
        tools["ok"] + tools["failed"],
        f"{tokens['total']:,}",
        cost,
    )


def counted_of_ended(runs: Row, name: str) -> str:
    """A count, and what share of the runs that ended it is: `3 (75 %)`."""
    rate = runs[f"{name}_rate"]
    return str(runs[name]) if rate is None else f"{runs[name]} ({rate:.0%})".replace("%", " %")


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
    """One line: when it was, how it ended, what was done, by whom, from where and which way, and on what."""
    at = second(record["at"])
    ended = f"{record['outcome']} {record['code']}" if record.get("code") else str(record["outcome"])
    details = " ".join(f"{name}={value}" for name, value in record["details"].items())
    via = f" over {record['via']}" if record.get("via", "api") != "api" else ""
    who = f"{record['who']} {record['source'] or '-'}{via}"
    return f"{at}  {ended:<8}  {record['action']:<20}  {who}  {one_line(details, DETAILS_WIDTH)}"
