"""The routes of `status`: everything that only reads sessions, and their usage (docs/design/api.md)."""

from acta_engine.api.app import Api
from acta_engine.api.envelope import Response, success
from acta_engine.app import App
from acta_engine.errors import SessionNotFound
from acta_engine.people.listing_routes import add_interventions
from acta_engine.sessions.history_routes import add_history
from acta_engine.sessions.listing_routes import add_listing
from acta_engine.sessions.polling_routes import add_polling
from acta_engine.usage.answers import receipt_view
from acta_engine.usage.aws_estimate import receipt_of
from acta_engine.usage.routes import add_usage


def build(deps: App) -> Api:
    return add_routes(Api("status", deps.settings, audit=deps.audit, limiter=deps.limiter), deps)


def add_routes(api: Api, deps: App) -> Api:
    @api.on("readMe")
    def me() -> Response:
        """What a page needs to know to show what this person may do, and nothing else."""
        tenant, user, roles = api.caller
        return success({"tenant": tenant, "user": user, "roles": sorted(roles)})

    @api.on("readReceipt")
    def receipt(session_id: str) -> Response:
        newest = deps.log.latest(api.caller.tenant, session_id)
        if newest is None or newest.head.deleted:
            raise SessionNotFound("There is no such session.")
        return success(receipt_view(newest.head, receipt_of(newest.head, deps.rates), deps.rates.prices))

    add_listing(api, deps)
    add_polling(api, deps)
    add_history(api, deps.log, deps.blobs)
    add_interventions(api, deps)
    add_usage(api, deps)
    return api
