"""The routes of `status`: everything that only reads sessions, and their usage (design §3)."""

from functions.status.dependencies import Dependencies
from functions.status.history import add_history
from functions.status.interventions import add_interventions
from functions.status.listing import add_listing
from functions.status.polling import add_polling
from functions.status.usage import add_usage
from shared.api.app import Api
from shared.api.response.envelope import Response, success
from shared.api.response.spending_views import receipt_view
from shared.domain.errors import SessionNotFound
from shared.domain.spending.aws_estimate import receipt_of


def build(deps: Dependencies) -> Api:
    return add_routes(Api("status", deps.settings, audit=deps.audit, limiter=deps.limiter), deps)


def add_routes(api: Api, deps: Dependencies) -> Api:
    @api.get("/v1/me")
    def me() -> Response:
        """What a page needs to know to show what this person may do, and nothing else."""
        tenant, user, roles = api.caller
        return success({"tenant": tenant, "user": user, "roles": sorted(roles)})

    @api.get("/v1/sessions/{session_id}/receipt")
    def receipt(session_id: str) -> Response:
        newest = deps.log.latest(api.caller.tenant, session_id)
        if newest is None or newest.head.deleted:
            raise SessionNotFound("There is no such session.")
        return success(receipt_view(newest.head, receipt_of(newest.head, deps.rates), deps.rates.prices))

    add_listing(api, deps)
    add_polling(api, deps)
    add_history(api, deps.log, deps.blobs)
    add_interventions(api, deps)
    if deps.usage is not None and deps.audit is not None:
        add_usage(api, deps.usage, deps.audit.pseudonyms, deps.clock, deps.rates)
    return api
