"""What a tenant has used, `/v1/usage`: admins see the tenant's, everybody else their own (docs/design/usage.md 3,
ADR 67). And what one session has cost: its receipt."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Annotated

from pydantic import Field

from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, success
from acta.engine.api.listing_cursor import MAX_LONG_PAGE, Instant, ListingCursor
from acta.engine.errors import Forbidden, SessionNotFound, ValidationFailed
from acta.engine.log.head import Head
from acta.engine.subagents.tree import MOST_NODES, tree
from acta.engine.usage.answers import TreeCostView, receipt_view, usage_view
from acta.engine.usage.aws_estimate import receipt_of, total_usd
from acta.engine.usage.report import By, ReportPeriod, report

USUAL = timedelta(days=7)
SOON = timedelta(days=1)
"""A caller's clock and time zone may be ahead. Nothing is counted later, and far from now there are no instants."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
OWN: tuple[By, ...] = ("day", "user")
"""What is kept of one person."""


def read_usage(
    api: Api,
    from_: Instant | None = None,
    to: Instant | None = None,
    by: By = "day",
    limit: Annotated[int, Field(ge=1, le=MAX_LONG_PAGE)] = 100,
    cursor: ListingCursor = None,
) -> Response:
    caller = api.caller
    who = None if "admin" in caller.roles else api.app.audit.pseudonyms.of(caller.tenant, caller.user)
    if who is not None and by not in OWN:
        raise Forbidden(f"Usage by {by} is for admins.", {"role": ["admin"]})
    found = report(api.app.usage, caller.tenant, by, _span(from_, to, api.app.clock.now()), who)
    left = [name for name in found.items if cursor is None or name > cursor]
    names = left[:limit]
    next_cursor = names[-1] if len(left) > limit else None
    agent_names = api.app.usage.agent_names(caller.tenant, names) if by == "agent" else {}

    shown = usage_view(found, by, names, next_cursor, api.app.rates, agent_names)
    recorded = {"by": by} if who is None and by == "user" else {}
    return success(shown)._replace(recorded=recorded)


def read_receipt(api: Api, session_id: str) -> Response:
    newest = api.app.log.latest(api.caller.tenant, session_id)
    if newest is None or newest.head.deleted:
        raise SessionNotFound("There is no such session.")
    head, rates = newest.head, api.app.rates
    of_tree = _of_tree(api, head) if head.children_made else None
    return success(receipt_view(head, receipt_of(head, rates), rates.prices, of_tree))


def _of_tree(api: Api, root: Head) -> TreeCostView:
    """The sums of a session and all below it. A read for each of them."""
    heads = [node.head for node in islice(tree(api.app.log, root), MOST_NODES + 1)]
    costs = [receipt_of(head, api.app.rates) for head in heads[:MOST_NODES]]
    return {
        "sessions": len(costs),
        "complete": len(heads) <= MOST_NODES,
        "tokens": sum(head.usage.total_tokens for head in heads[:MOST_NODES]),
        "models_usd": total_usd(*(each.models_usd for each in costs)),
        "estimated_aws_usd": total_usd(*(each.aws.usd for each in costs)),
        "total_usd": total_usd(*(each.total_usd for each in costs)),
    }


def _span(since: datetime | None, until: datetime | None, now: datetime) -> ReportPeriod:
    """Raises ValidationFailed."""
    until = now + timedelta(microseconds=1) if until is None else until
    try:
        since = until - USUAL if since is None else since
    except OverflowError:
        raise ValidationFailed("There was no such time.", {"to": ["a later instant"]}) from None
    if until > now + SOON:
        raise ValidationFailed("The time is not over.", {"to": ["at most a day from now"]})
    if since >= until or since < EPOCH:
        raise ValidationFailed("The time is empty.", {"from": ["an instant before `to`"]})
    return ReportPeriod(since, until)
