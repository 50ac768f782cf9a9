"""The routes of `admin`: files, tools, agents, prompts, memories, health. Paths without a route come here too."""

from functions.admin.agents import add_agents
from functions.admin.files import add_files
from functions.admin.memories import add_memories
from functions.admin.prompts import add_prompts
from functions.admin.root import Root
from functions.admin.tools import add_tools, registered
from shared.adapters.egress.address import AddressGuard
from shared.api.app import Api
from shared.api.response.envelope import Response, success


def build(root: Root) -> Api:
    api = Api("admin", root.settings)
    add_files(api, root.files, root.settings.max_file_bytes)
    add_tools(api, root.tools, root.idempotency, root.clock, AddressGuard(root.settings))
    add_agents(
        api,
        root.definitions,
        root.idempotency,
        root.clock,
        lambda tenant: registered(root.tools, tenant),
        offline=root.settings.offline,
    )
    add_prompts(api, root.definitions, root.idempotency, root.clock)
    add_memories(api, root.memories, root.definitions, root.idempotency, root.clock)

    @api.get("/healthz")
    def health() -> Response:
        return success({"status": "ok"})

    return api
