"""What anybody may ask without a token: `/healthz`, the document of the API and its page, and every path and method
that has no route (404, 405).

It is a function of its own with no rights beyond its log. So whoever asks for nothing in particular, however often,
keeps no function busy that serves people with a token. It uses no store, so it answers in an outage too.
"""

from pathlib import Path

from functions.fallback.document import MADE, add_document
from shared.api.app import Api
from shared.api.response.envelope import Response, success
from shared.settings import Settings

MOVED = {"/console/": "/console"}
"""The gateway's routes end with no slash."""


def build(settings: Settings, made: Path = MADE) -> Api:
    """`made`: the folder with the document and its page."""
    api = Api("fallback", settings)
    api.moved = MOVED

    @api.get("/healthz")
    def health() -> Response:
        return success({"status": "ok"})

    add_document(api, made)
    return api
