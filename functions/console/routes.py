"""The page for people, `/console`, and what it needs to know of this deployment to sign them in (ADR 103).

It is reachable without a token, has no rights beyond its log, and says the same to everybody. All data the page gets
from `/v1`, with the token of whoever has signed in.
"""

from pathlib import Path

from functions.console.page import MADE, Page
from shared.api.app import Api
from shared.api.response.envelope import Response, success
from shared.settings import Settings

FIRST = "/console/inbox"


def build(settings: Settings, made: Path = MADE) -> Api:
    """`made`: the folder with the built page."""
    api = Api("console", settings)
    page = Page(made, settings.console_connects.split())

    @api.get("/console")
    def begin() -> Response:
        return Response(302, "", "", {"Location": FIRST})

    @api.get("/console/sign-in.json")
    def sign_in() -> Response:
        return success(
            {
                "issuer": settings.console_issuer,
                "client_id": settings.console_client,
                "scope": settings.console_scopes,
                "takes": settings.console_takes,
                "environment": settings.env,
            }
        )

    @api.get("/console/{place+}")
    def show() -> Response:
        """Whatever place: the page itself knows which there are."""
        return page.answer(api.request.headers)

    return api
