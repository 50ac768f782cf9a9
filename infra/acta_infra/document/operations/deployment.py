"""Models, the audit trail, health, and this document."""

from acta_engine.agents.shapes import CheckedKeys, ConfiguredModels
from acta_engine.sessions.record_shapes import AuditRecord, DeploymentHealth, Health, Me, PageSignIn
from acta_engine.usage.shapes import TenantUsage
from acta_infra.document.operations.operation import Answer, Operation, ok, page_of

TEXTS = {"text/css; charset=utf-8": {"type": "string"}, "text/javascript; charset=utf-8": {"type": "string"}}

METADATA = {
    "application/json": {
        "type": "object",
        "properties": {
            "resource": {"type": "string"},
            "authorization_servers": {"type": "array", "items": {"type": "string"}},
            "bearer_methods_supported": {"type": "array", "items": {"type": "string"}},
            "resource_name": {"type": "string"},
        },
        "required": ["resource", "authorization_servers"],
    }
}

HTML = {"text/html; charset=utf-8": {"type": "string"}}

DEPLOYMENT = {
    "GET /v1/me": Operation(
        "readMe", "Who asks: tenant, subject and roles", (ok(Me, says="As the token says."),)
    ),
    "GET /v1/models": Operation(
        "listModels",
        "Which models there are, their prices, who uses them, whether a key is there",
        (ok(ConfiguredModels, says="What is configured."),),
    ),
    "POST /v1/models/check": Operation(
        "checkModelKeys",
        "Ask every provider whether its key works",
        (ok(CheckedKeys, says="What the providers say. Nothing is changed."),),
    ),
    "GET /v1/audit": Operation(
        "listAuditRecords",
        "Who did what, newest first",
        (page_of(AuditRecord, "Records of the tenant, deleted sessions included."),),
        parameters={
            "from": "Only from this instant on.",
            "to": "Only until this instant.",
            "action": "Only this action.",
            "user": "Only this subject's, as the identity provider names it.",
            "who": "Only this pseudonym's.",
            "session_id": "Only of this session.",
        },
    ),
    "GET /v1/admin/health": Operation(
        "readDeployment",
        "Which release answers, what it allows the tenant, and when recovery looked last",
        (ok(DeploymentHealth, says="As the deployment is set up, and what its last recovery did."),),
    ),
    "GET /v1/usage": Operation(
        "readUsage",
        "What the tenant has used, in sums",
        (ok(TenantUsage, says="Sums of whole hours or days, UTC. What was used in none is left out."),),
        about="Admins see the tenant's. Everybody else sees their own, `by` day or user. Sums are made from the "
        "sessions' commits within a minute or two, deleted sessions included. What AWS asks is an estimate.",
        parameters={
            "from": "The beginning, rounded down to an hour (`by` hour) or a day. Absent: seven days before `to`.",
            "to": "The end, which is not part of it, rounded up. At most 92 days after `from`. Absent: now.",
            "by": "What an item is about.",
        },
    ),
    "GET /console": Operation(
        "openConsole",
        "The page for people",
        (Answer(302, "Its first place is `/console/inbox`.", form="empty", headers=("Location",)),),
    ),
    "GET /console/sign-in.json": Operation(
        "readPageSignIn",
        "Where the page for people signs them in",
        (ok(PageSignIn, says="The same for everybody."),),
    ),
    "GET /console/{place}": Operation(
        "readConsole",
        "The page for people, at one of its places",
        (
            Answer(
                200,
                "One file that loads nothing from elsewhere, the same at every place.",
                form="raw",
                raw=HTML,
                headers=("Content-Security-Policy", "ETag"),
            ),
            Answer(304, "It is still the one that you have.", form="empty", headers=("ETag",)),
        ),
        takes=("If-None-Match",),
        parameters={
            "place": "`inbox`, `sessions`, a session's id below it … The page itself knows which there are."
        },
    ),
    "GET /.well-known/oauth-protected-resource": Operation(
        "readProtectedResource",
        "Who issues the API's tokens",
        (Answer(200, "Metadata of the API (RFC 9728).", form="raw", raw=METADATA),),
        codes=("NOT_FOUND",),
    ),
    "GET /.well-known/oauth-protected-resource/mcp": Operation(
        "readProtectedMcp",
        "Who issues the tokens that `/mcp` takes",
        (Answer(200, "Metadata of `/mcp` (RFC 9728).", form="raw", raw=METADATA),),
        codes=("NOT_FOUND",),
    ),
    "GET /healthz": Operation("readHealth", "Whether the API answers", (ok(Health, says="It does."),)),
    "GET /v1/openapi.json": Operation(
        "readDocument",
        "This document",
        (Answer(200, "OpenAPI 3.1.", form="raw", raw={"application/json": {"type": "object"}}),),
    ),
    "GET /v1/docs": Operation(
        "readPage",
        "This document as a page to read and to try",
        (
            Answer(
                200,
                "It loads nothing from elsewhere.",
                form="raw",
                raw={"text/html; charset=utf-8": {"type": "string"}},
                headers=("Content-Security-Policy",),
            ),
        ),
    ),
    "GET /v1/docs/{file}": Operation(
        "readPageFile",
        "What the page is made of",
        (Answer(200, "A file of the page.", form="raw", raw=TEXTS, headers=("Content-Security-Policy",)),),
        codes=("NOT_FOUND",),
        parameters={"file": "Its name, as the page has it."},
    ),
}
