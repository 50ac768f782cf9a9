"""Which module of the engine may import which, by what it is. What it is shows in its name and place:

http         what speaks HTTP: `routes.py`, `bodies.py`, `shapes.py`, `answers.py`, `views.py` of a room, and the rooms
             `api`, `mcp_server` and `console`.
service      `dynamodb.py`, `s3.py` and their like, and what speaks to AWS, a model provider, or a server of a tenant.
composition  `app.py`, which puts a function together.
anything else: the models, rules and use cases of a room. They import neither http nor services.

So a rule or a use case can be read and tested without either, and is handed the service that it works with.
"""

import re

HTTP = re.compile(
    r"acta\.engine\.((api|mcp_server|console)\b|\w+\.(\w+\.)?(\w*routes|\w*bodies|\w*shapes|\w*answers|\w*views)$)"
)
SERVICE = re.compile(
    r"acta\.engine\.("
    r"(aws|egress)\b"
    r"|\w+\.(\w+\.)?(aws|dynamodb\w*|s3\w*|lambda_\w+)$"
    r"|store\.objects$"
    r"|(notifications\.(sqs|webhooks)|traces\.(otlp|queue)|audit\.trail|files\.tool_credentials"
    r"|tools\.secret_reader|tools\.builtin\.weather)$"
    r"|models\.(anthropic|openai)\b"
    r")"
)
COMPOSITION = re.compile(r"acta\.engine\.app$|acta\.functions\b")
ALLOWED = {
    ("audit.recorder", "api"): "it records requests",
    ("limits.limiter", "api"): "it refuses requests",
    ("sessions.pages", "api"): "it answers with pages",
    ("usage.usage_count", "usage.dynamodb"): "its events are records of the table's stream",
    ("usage.usage_count", "aws.errors"): "it goes on without traces where AWS refuses their queue",
}
"""(Module, imported module or package) of `acta.engine` -> why."""
SPEAKS_TO_SERVERS = re.compile(r"acta\.engine\.(tools\.(tenant|mcp|python)|models)\b")
"""Packages whose modules are services but for the definitions in them."""


def forbidden(edges: dict[str, set[str]]) -> list[str]:
    """`importer -> imported` for each import that breaks a rule. `edges`: module -> modules that it imports."""
    return sorted(
        f"{importer} -> {imported}"
        for importer, found in edges.items()
        for imported in found
        if importer.startswith("acta.engine.") and not may_import(importer, imported)
    )


def may_import(importer: str, imported: str) -> bool:
    if COMPOSITION.match(importer) or (HTTP.match(importer) and not re.search("dynamodb|s3", imported)):
        return True
    if HTTP.match(imported):
        return _is_allowed(importer, imported)
    if SERVICE.match(imported):
        is_service = (
            SERVICE.match(importer)
            or SPEAKS_TO_SERVERS.match(importer)
            or importer.startswith("acta.engine.store.")
        )
        return bool(is_service) or _is_allowed(importer, imported)
    return True


def _is_allowed(importer: str, imported: str) -> bool:
    def fits(name: str, allowed: str) -> bool:
        return name == f"acta.engine.{allowed}" or name.startswith(f"acta.engine.{allowed}.")

    return any(fits(importer, by) and fits(imported, what) for by, what in ALLOWED)
