"""The routes of `status`: everything that only reads sessions, and their usage (design §3)."""

from functions.status.dependencies import Dependencies
from functions.status.history import add_history
from functions.status.interventions import add_interventions
from functions.status.listing import add_listing
from functions.status.me import add_me
from functions.status.polling import add_polling
from functions.status.receipt import add_receipt
from functions.status.usage import add_usage
from shared.api.app import Api


def build(deps: Dependencies) -> Api:
    return add_routes(Api("status", deps.settings, audit=deps.audit, limiter=deps.limiter), deps)


def add_routes(api: Api, deps: Dependencies) -> Api:
    add_me(api)
    add_listing(api, deps.session_index, deps.log, deps.clock)
    add_polling(api, deps.log, deps.clock, deps.partials, deps.long_polls, deps.rates)
    add_receipt(api, deps.log, deps.rates)
    add_history(api, deps.log, deps.blobs)
    add_interventions(api, deps.session_index, deps.log, deps.blobs)
    if deps.usage is not None and deps.audit is not None:
        add_usage(api, deps.usage, deps.audit.pseudonyms, deps.clock, deps.rates)
    return api
