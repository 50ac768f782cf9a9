"""`acta models`: the configured models, their prices, and whether the providers accept the keys."""

from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from acta.cli import exit_codes
from acta.cli.connection import connect
from acta.cli.terminal.text import one_line, show

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

Json = Mapping[str, Any]


def models(arguments: Namespace) -> int:
    """Exit code 1 where a check finds a refused key, a silent provider, or no key for the default model."""
    client = connect(arguments, role="admin")
    found = client.models()
    checked = client.check_models()["providers"] if arguments.check else []
    told = found | ({"checked": checked} if arguments.check else {})
    statuses = {one["provider"]: one["status"] for one in checked}
    show(told, lines(found, statuses), as_json=arguments.json)
    default = found["default"]["provider"]
    bad = [
        one
        for one in checked
        if one["status"] in FAILED_CHECKS or (one["provider"], one["status"]) == (default, "missing")
    ]
    return exit_codes.SESSION_FAILED if bad else exit_codes.OK


def lines(found: Json, checked: Mapping[str, str]) -> Iterator[str]:
    """`found`: the answer of `/v1/models`. `checked`: provider -> status, for the providers that were asked."""
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
    dollars = [f"{prices[name]:.2f}" if prices else "?" for name in ("input", "cached_input", "output")]
    name = f"{_shown(one['provider'])} {_shown(one['model'])}"
    return (
        name,
        f"{one['context_window_tokens']:,}",
        dollars[0],
        dollars[1],
        dollars[2],
        _users(one["used_by"]),
    )


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
