"""Agents, tools and their secrets, memories and prompts."""

from acta_engine.agents.shapes import (
    Agent,
    ListedMcpTools,
    McpServer,
    Memory,
    Prompt,
    PromptInForce,
    Tool,
    ToolSecret,
    ToolTrial,
)
from acta_engine.agents.shapes import Notifications as NotificationSettings
from acta_engine.prompts.prompt import PLANNING, SEED_VERSION
from acta_engine.tools.mcp.server import SERVER_NAME_PATTERN
from acta_engine.tools.tool_secret import NAME_PATTERN
from acta_infra.document.operations.operation import NOTHING, Answer, Operation, ok, page_of

REPLACED = (
    "It is replaced. `If-Match` with its ETag, or its version in the body, protects others' changes: 409."
)

AGENTS = {
    "GET /v1/agents": Operation("listAgents", "List agents", (page_of(Agent, "Agents by id."),)),
    "POST /v1/agents": Operation(
        "createAgent",
        "Define an agent",
        (ok(Agent, says="The agent.", status=201, headers=("Location",)),),
        takes=("Idempotency-Key",),
        bodies={
            "researcher": {
                "agent_id": "researcher",
                "name": "Researcher",
                "goal": "Answer questions from the tenant's files, and name the file of each fact.",
                "tools": ["list_files", "read_file"],
                "limits": {"max_steps": 30},
            },
            "careful": {
                "name": "Careful writer",
                "high_stakes": ["create_file"],
                "interventions": {"approval_required": {"timeout_seconds": 3600, "default_action": "reject"}},
            },
        },
    ),
    "GET /v1/agents/{agent_id}": Operation(
        "readAgent", "Read an agent", (ok(Agent, says="The agent.", headers=("ETag",)),), codes=("NOT_FOUND",)
    ),
    "PUT /v1/agents/{agent_id}": Operation(
        "replaceAgent",
        "Replace an agent's definition",
        (ok(Agent, says=REPLACED, headers=("ETag",)),),
        about="The whole definition: absent fields take their defaults. `default` may be replaced, too.",
        codes=("NOT_FOUND", "CONFLICT"),
        takes=("If-Match",),
        bodies={"researcher": {"name": "Researcher", "tools": ["list_files", "read_file", "create_file"]}},
    ),
    "DELETE /v1/agents/{agent_id}": Operation(
        "deleteAgent",
        "Delete an agent",
        (NOTHING,),
        about="Its memories stay for an agent that is made again under its id.",
        codes=("NOT_FOUND", "CONFLICT"),
        takes=("If-Match",),
    ),
}

TOOLS = {
    "GET /v1/tools": Operation(
        "listTools", "List tools", (page_of(Tool, "All on one page, built-in ones first."),)
    ),
    "POST /v1/tools": Operation(
        "createTool",
        "Add a tool",
        (ok(Tool, says="The tool.", status=201, headers=("Location",)),),
        about="Of kind `http` or `lambda`. Its input is validated against `input_schema` before anything runs. A "
        "header's value is a text only where its name and value are plain; all else refers to a secret. `{name}` in "
        "the path of `url` is an argument; `parameters` says of others where they go, as in OpenAPI.",
        takes=("Idempotency-Key",),
        bodies={
            "http": {
                "name": "find_orders",
                "description": "Finds orders by the customer's number.",
                "kind": "http",
                "config": {"url": "https://api.example.com/orders", "method": "GET"},
                "input_schema": {
                    "type": "object",
                    "properties": {"customer": {"type": "string"}},
                    "required": ["customer"],
                },
                "effect": "read",
            },
            "path and query": {
                "name": "order_lines",
                "description": "The lines of an order, those with a word in their text or all.",
                "kind": "http",
                "config": {
                    "url": "https://api.example.com/orders/{order_id}/lines",
                    "method": "GET",
                    "parameters": {"word": {"in": "query", "name": "q"}},
                },
                "input_schema": {
                    "type": "object",
                    "properties": {"order_id": {"type": "string"}, "word": {"type": "string"}},
                    "required": ["order_id"],
                },
                "effect": "read",
            },
        },
    ),
    "GET /v1/tools/{name}": Operation(
        "readTool",
        "Read a tool",
        (Answer(200, "The tool. A built-in one has no ETag.", (Tool,), sometimes=("ETag",)),),
        codes=("NOT_FOUND",),
    ),
    "PUT /v1/tools/{name}": Operation(
        "replaceTool",
        "Replace a tool's definition",
        (ok(Tool, says=REPLACED, headers=("ETag",)),),
        codes=("NOT_FOUND", "CONFLICT"),
        takes=("If-Match",),
        bodies={
            "http": {
                "description": "Finds orders by the customer's number, newest first.",
                "kind": "http",
                "config": {"url": "https://api.example.com/orders?sort=newest", "method": "GET"},
                "input_schema": {"type": "object", "properties": {"customer": {"type": "string"}}},
                "effect": "read",
            }
        },
    ),
    "DELETE /v1/tools/{name}": Operation(
        "deleteTool",
        "Delete a tool",
        (NOTHING,),
        about="409 where agents name it, and `details.agents` says which. With `force=true` they go on without it.",
        codes=("NOT_FOUND", "CONFLICT"),
        takes=("If-Match",),
        parameters={"force": "Delete it although agents name it."},
    ),
    "POST /v1/tools/{name}/call": Operation(
        "callTool",
        "Try a tool",
        (
            ok(
                ToolTrial,
                says="It was called once, or could not be: `outcome` says which, `error.remedy` what helps.",
            ),
        ),
        about="Outside a session, with the same checks: the schema, the hosts, the secrets, the functions. At most 20 "
        "seconds. A tool of high stakes needs `confirm: true` (409), one with an `approver_role` that role (403), and "
        "what somebody else has to approve is not tried (403), nor is a built-in tool (409). An input that does not "
        "fit the schema: 400. 503: nothing was done. The same `Idempotency-Key` makes no second call: 409.",
        codes=("NOT_FOUND",),
        takes=("Idempotency-Key",),
        bodies={
            "read": {"input": {"customer": "7"}},
            "high stakes": {"input": {"order": "7", "cents": 1250}, "confirm": True},
        },
    ),
    "GET /v1/mcp-servers": Operation(
        "listMcpServers",
        "List the MCP servers",
        (page_of(McpServer, "All on one page, with their confirmed tools."),),
    ),
    "GET /v1/mcp-servers/{name}": Operation(
        "readMcpServer",
        "Read an MCP server",
        (ok(McpServer, says="The server and its confirmed tools.", headers=("ETag",)),),
        codes=("NOT_FOUND",),
    ),
    "PUT /v1/mcp-servers/{name}": Operation(
        "writeMcpServer",
        "Name an MCP server, or replace its definition",
        (
            ok(McpServer, says=REPLACED, headers=("ETag",)),
            ok(McpServer, says="It is new. No agent has a tool of it yet.", status=201),
        ),
        about="409 also where a tool is to be confirmed and the server does not answer.",
        codes=("CONFLICT",),
        takes=("If-Match",),
        bodies={
            "bearer": {"url": "https://mcp.example.com/mcp", "auth": {"secret": "desk_key"}},
            "client credentials": {
                "url": "https://mcp.example.com/mcp",
                "auth": {"client_credentials": {"client_id": "acta", "secret": "desk_client"}},
            },
        },
        values={"name": {"type": "string", "pattern": SERVER_NAME_PATTERN}},
    ),
    "DELETE /v1/mcp-servers/{name}": Operation(
        "deleteMcpServer",
        "Delete an MCP server and its tools",
        (NOTHING,),
        about="409 where agents name one of its tools, and `details.agents` says which. With `force=true` they go on "
        "without them.",
        codes=("NOT_FOUND", "CONFLICT"),
        takes=("If-Match",),
        parameters={"force": "Delete it although agents name its tools."},
    ),
    "POST /v1/mcp-servers/{name}/refresh": Operation(
        "refreshMcpServer",
        "Ask an MCP server what it says of its tools now",
        (ok(ListedMcpTools, says="Each tool, and whether that is what was confirmed. Nothing is stored."),),
        about="409 where the server does not answer as one of MCP.",
        codes=("NOT_FOUND", "CONFLICT"),
    ),
    "POST /v1/mcp-servers/{name}/confirm": Operation(
        "confirmMcpTools",
        "Let agents have tools of an MCP server",
        (ok(McpServer, says="The server with its confirmed tools.", headers=("ETag",)),),
        about="400 where the server describes a tool otherwise than the pin says.",
        codes=("NOT_FOUND", "CONFLICT"),
        takes=("If-Match",),
        bodies={"read": {"tools": {"search": {"pin": "0" * 64, "confirmed_read": True}}}},
    ),
    "GET /v1/tool-secrets": Operation(
        "listToolSecrets",
        "List the secrets that tools' headers refer to",
        (page_of(ToolSecret, "All on one page, without their values, which nobody is shown."),),
    ),
    "PUT /v1/tool-secrets/{name}": Operation(
        "setToolSecret",
        "Set a secret",
        (ok(ToolSecret, says="It has a new value."), ok(ToolSecret, says="It is new.", status=201)),
        codes=("CONFLICT",),
        bodies={"token": {"value": "example-value-0123456789", "hosts": ["api.example.com"]}},
        values={"name": {"type": "string", "pattern": NAME_PATTERN}},
    ),
    "DELETE /v1/tool-secrets/{name}": Operation(
        "deleteToolSecret",
        "Delete a secret",
        (NOTHING,),
        about="409 where a tool refers to it.",
        codes=("NOT_FOUND", "CONFLICT"),
    ),
}

NOTIFICATIONS = {
    "GET /v1/notifications": Operation(
        "readNotifications",
        "Where the tenant is told of questions and ended sessions",
        (ok(NotificationSettings, says="Without the secret, which nobody is shown."),),
        codes=("NOT_FOUND",),
    ),
    "PUT /v1/notifications": Operation(
        "setNotifications",
        "Set where the tenant is told, and what that is signed with",
        (
            ok(NotificationSettings, says="They are replaced."),
            ok(NotificationSettings, says="They are new.", status=201),
        ),
        about="The URL's host is one of those that the operator allows, else 400. Notifications to sessions' own "
        "webhooks are signed with the same secret.",
        bodies={
            "webhook": {
                "url": "https://hooks.example.com/acta",
                "secret": "whsec_ZXhhbXBsZS1rZXktb2YtdGhpcnR5LXR3by1ieXRlcy4=",
            },
            "secret": {"secret": "whsec_ZXhhbXBsZS1rZXktb2YtdGhpcnR5LXR3by1ieXRlcy4="},
        },
    ),
    "DELETE /v1/notifications": Operation(
        "deleteNotifications",
        "Delete the URL and the secret",
        (NOTHING,),
        about="Sessions with a webhook of their own are not told there any more.",
        codes=("NOT_FOUND",),
    ),
}

MEMORIES = {
    "GET /v1/memories": Operation(
        "listMemories",
        "List memories, newest first",
        (page_of(Memory, "Memories that you may see."),),
        parameters={"agent_id": "Only this agent's.", "kind": "Only of this kind."},
    ),
    "POST /v1/memories": Operation(
        "createMemory",
        "Write a memory",
        (ok(Memory, says="The memory.", status=201, headers=("Location",)),),
        about="What a person writes is for everybody's sessions of the agent.",
        takes=("Idempotency-Key",),
        bodies={
            "fact": {"kind": "fact", "text": "Invoices are in the folder billing/.", "tags": ["billing"]}
        },
    ),
    "GET /v1/memories/{memory_id}": Operation(
        "readMemory",
        "Read a memory",
        (ok(Memory, says="The memory.", headers=("ETag",)),),
        codes=("NOT_FOUND",),
    ),
    "PUT /v1/memories/{memory_id}": Operation(
        "replaceMemory",
        "Replace a memory",
        (ok(Memory, says=REPLACED, headers=("ETag",)),),
        codes=("NOT_FOUND", "CONFLICT"),
        takes=("If-Match",),
        bodies={
            "shared": {"kind": "fact", "text": "Invoices are in the folder billing/2026/.", "shared": True}
        },
    ),
    "DELETE /v1/memories/{memory_id}": Operation(
        "deleteMemory", "Delete a memory", (NOTHING,), codes=("NOT_FOUND", "CONFLICT"), takes=("If-Match",)
    ),
}

PROMPTS = {
    "GET /v1/admin/prompts": Operation(
        "listPrompts", "List the managed prompts", (page_of(Prompt, "The versions in force."),)
    ),
    "GET /v1/admin/prompts/{name}": Operation(
        "readPrompt",
        "Read a prompt",
        (ok(PromptInForce, says="The version in force.", headers=("ETag",)),),
        codes=("NOT_FOUND",),
    ),
    "PUT /v1/admin/prompts/{name}": Operation(
        "writePrompt",
        "Write a new version of a prompt",
        (
            ok(
                Prompt,
                says="The version that was written. A text that is in force already, or the newest draft's, makes no "
                "new one.",
                headers=("ETag",),
            ),
        ),
        about="The text is in force at once, for all agents of the tenant: read the present one first, and change what "
        "you mean to change. The example is the text of the release, and changes nothing. An earlier version can be "
        "restored. With `active` false it is a draft, in force nowhere: a start or a fork names it in `prompts` to try "
        "it, and restoring it puts its text in force.",
        codes=("NOT_FOUND", "CONFLICT"),
        takes=("If-Match",),
        bodies={
            "version": {
                "content": PLANNING,
                "comment": "The text of the release",
                "expected_version": SEED_VERSION,
            }
        },
    ),
    "GET /v1/admin/prompts/{name}/versions": Operation(
        "listPromptVersions",
        "The versions of a prompt",
        (page_of(Prompt, "Newest first."),),
        codes=("NOT_FOUND",),
    ),
    "POST /v1/admin/prompts/{name}/versions/{version}/restore": Operation(
        "restorePrompt",
        "Put another version of a prompt in force",
        (ok(Prompt, says="Its text is in force, as a new version. An earlier version or a draft."),),
        codes=("NOT_FOUND",),
        takes=("Idempotency-Key", "If-Match"),
        bodies={"restored": {"comment": "As it was"}},
        parameters={"version": "The number of the version."},
    ),
}
