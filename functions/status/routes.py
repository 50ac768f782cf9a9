"""The routes of `status`: everything that only reads sessions (design §3)."""

from functions.status.history import add_history
from functions.status.interventions import add_interventions
from functions.status.listing import add_listing
from functions.status.polling import add_polling
from functions.status.root import Root
from shared.api.app import Api


def build(root: Root) -> Api:
    api = Api("status", root.settings)
    add_listing(api, root.session_index, root.log)
    add_polling(api, root.log, root.clock, root.partials)
    add_history(api, root.log, root.blobs)
    add_interventions(api, root.session_index, root.log, root.blobs)
    return api
