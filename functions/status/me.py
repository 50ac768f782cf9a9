"""Who is asking: what a page needs to know to show what this person may do, and nothing else."""

from shared.api.app import Api
from shared.api.response.envelope import Response, success


def add_me(api: Api) -> None:
    @api.get("/v1/me")
    def me() -> Response:
        tenant, user, roles = api.caller
        return success({"tenant": tenant, "user": user, "roles": sorted(roles)})
