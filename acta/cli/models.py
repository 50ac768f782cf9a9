"""`acta models`: which models are configured, what they cost, and whether the providers take the keys."""

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from acta.cli import exits
from acta.cli.client import Client
from acta.cli.target import Target
from acta.cli.text import one_line
from acta.cli.watching import say

KEY = {
    "present": "has a key",
    "missing": "no key",
    "unreadable": "key cannot be read",
    "not_needed": "needs no key",
}
CHECKED = {
    "works": "the key works",
    "refused": "the key is REFUSED",
    "missing": "no key",
    "unreachable": "NOT REACHED",
    "unchecked": "not checked",
}
TROUBLE = ("refused", "unreachable")

Json = Mapping[str, Any]


def models(arguments: Namespace) -> int:
    """Ends with 1 where a check finds a key refused, a provider away, or no key for the default model."""
    client = Client(Target.from_arguments(arguments, role="admin"))
    found = client.get("/v1/models")
    checked = client.post("/v1/models/check")["providers"] if arguments.check else []
    if arguments.json:
        say(json.dumps(found | ({"checked": checked} if arguments.check else {})))
    else:
        for line in lines(found, {one["provider"]: one["status"] for one in checked}):
            say(line)
    default = found["default"]["provider"]
    bad = [
        one
        for one in checked
        if one["status"] in TROUBLE or (one["provider"], one["status"]) == (default, "missing")
    ]
    return exits.SESSION_FAILED if bad else exits.OK


def lines(found: Json, checked: Mapping[str, str]) -> Iterator[str]:
    default = found["default"]
    yield f"default    {_shown(default['provider'])}  {_shown(default['model'])}"
    yield ""
    for one in found["providers"]:
        name = str(one["provider"])
        state = (
            CHECKED.get(checked[name], checked[name]) if name in checked else KEY.get(one["key"], one["key"])
        )
        yield f"{_shown(name):<10} {_shown(state)}"
    yield ""
    rows = [_row(one) for one in found["models"]]
    header = ("model", "window", "input", "cached", "output", "used by")
    widths = [max(len(row[at]) for row in (header, *rows)) for at in range(len(header) - 1)]
    for name, *figures, users in (header, *rows):
        cells = [f"{figure:>{width}}" for figure, width in zip(figures, widths[1:], strict=True)]
        yield "  ".join([f"{name:<{widths[0]}}", *cells, users])
    yield ""
    yield f"window: tokens; prices: US dollars per million tokens, as of {_shown(found['priced_at'])}"


def _row(one: Json) -> tuple[str, str, str, str, str, str]:
    prices = one["usd_per_million_tokens"]
    told = [f"{prices[name]:.2f}" if prices else "?" for name in ("input", "cached_input", "output")]
    name = f"{_shown(one['provider'])} {_shown(one['model'])}"
    return name, f"{one['context_window_tokens']:,}", told[0], told[1], told[2], _users(one["used_by"])


def _users(uses: list[Json]) -> str:
    """As in `deployment; librarian (plan, think)`."""
    by_agent: dict[str | None, list[str]] = {}
    for use in uses:
        by_agent.setdefault(use["agent_id"], []).append(str(use["purpose"]))
    return "; ".join(
        "deployment" if agent is None else f"{_shown(agent)} ({', '.join(dict.fromkeys(purposes))})"
        for agent, purposes in by_agent.items()
    )


def _shown(value: Any) -> str:
    return one_line(str(value), 200)
