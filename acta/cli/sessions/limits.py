"""`acta limits`: shows a session's limits, or changes them while it runs or before its next run."""

from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from acta.cli.connection import connect
from acta.cli.naming import session_named
from acta.cli.terminal.text import show


def limits(arguments: Namespace) -> int:
    """Those that are not given stay."""
    client = connect(arguments)
    session_id = session_named(client, arguments.id)
    wanted = {
        "max_steps": arguments.max_steps,
        "token_budget": arguments.token_budget,
        "cost_budget_usd": arguments.cost_budget,
        "review_every": arguments.review_every,
    }
    is_asked = any(value is not None for value in wanted.values())
    session = client.limit(session_id, **wanted) if is_asked else client.session(session_id)
    told = {"session_id": session_id, "limits": session["limits"]}
    return show(told, limit_lines(session), as_json=arguments.json)


def limit_lines(session: Mapping[str, Any]) -> Iterator[str]:
    """Each limit, and how much of it is used."""
    limits, run, budget = session["limits"], session.get("run") or {}, session.get("budget") or {}
    steps = f", {run['iteration']:,} used" if run.get("iteration") is not None else ""
    yield f"steps         {limits['max_steps']:,} of a run{steps}"
    yield f"tokens        {limits['token_budget']:,}{_used(budget, 'tokens')}"
    cost = limits["cost_budget_usd"]
    yield "cost          no limit" if cost is None else f"cost          {cost:g} USD"
    every = limits["review_every"]
    yield f"review        before every {every:,} turns" if every else "review        nobody reviews the work"


def _used(budget: Mapping[str, Any], name: str) -> str:
    used = budget.get(f"{name}_used")
    return "" if used is None else f", {used:,} used"
