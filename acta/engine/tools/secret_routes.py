"""Secrets for headers of tools: `/v1/tool-secrets` (docs/design/tools.md 27). A value goes in and never comes out
again."""

from contextlib import suppress
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, WithJsonSchema

from acta.engine.agents.store import DefinitionChanged, NamedDefinitions
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, no_content, page, success
from acta.engine.api.json_body import RequestBody
from acta.engine.errors import Conflict, FieldsInvalid, NotFound
from acta.engine.tools.answers import tool_secret_view
from acta.engine.tools.tool import (
    HOW_TO_HOST,
    MAX_HOSTS,
    MAX_TOOL_SECRETS,
    NAME_PATTERN,
    NAME_RULE,
    VALUE_RULE,
    SecretHost,
    ToolSecret,
    is_secret_name,
    is_usable_value,
)

Name = Annotated[str, WithJsonSchema({"type": "string", "pattern": NAME_PATTERN})]
"""The handler checks it, to say what is wrong in its own words."""


def usable_value(value: str) -> str:
    if not is_usable_value(value):
        raise ValueError(VALUE_RULE)
    return value


class PutToolSecret(RequestBody):
    """A new value."""

    EXAMPLES: ClassVar = {"token": {"value": "example-value-0123456789", "hosts": ["api.example.com"]}}

    value: Annotated[str, AfterValidator(usable_value)] = Field(repr=False)
    """No answer ever shows it. 8 to 4,096 printable ASCII characters, no space at either end."""
    hosts: Annotated[list[SecretHost], Field(max_length=MAX_HOSTS)] | None = None
    """The only hosts that get it, `host` or `host:port`. Absent: those that it has; a new secret has to name them. An
    empty list: it goes nowhere, because it only checks what a trigger's webhook brings."""


def list_tool_secrets(api: Api) -> Response:
    """All on one page: a tenant has at most `MAX_TOOL_SECRETS`."""
    return page([tool_secret_view(each) for each in api.app.secret_names.all(api.caller.tenant)], None)


def set_tool_secret(api: Api, name: Name, body: PutToolSecret) -> Response:
    """Stores the name first, so that a request that fails in between leaves no value without a name."""
    if not is_secret_name(name):
        raise FieldsInvalid({"name": [NAME_RULE]})
    tenant, now = api.caller.tenant, api.app.clock.now()
    known = {each.name: each for each in api.app.secret_names.all(tenant)}
    old = known.get(name)
    if old is None and len(known) >= MAX_TOOL_SECRETS:
        raise Conflict(f"There are {MAX_TOOL_SECRETS} secrets already, which is the most. Delete one.")
    created_at, former = (now, ()) if old is None else (old.created_at, old.hosts)
    hosts = former if body.hosts is None else tuple(body.hosts)
    if body.hosts is None and old is None:
        raise FieldsInvalid({"hosts": [f"A secret goes to no host that it does not name. {HOW_TO_HOST}"]})
    secret = ToolSecret(
        name=name, created_at=created_at, updated_at=now, updated_by=api.caller.user, hosts=hosts
    )
    elsewhere = [
        one.name
        for store in (api.app.tool_definitions, api.app.server_definitions)
        for one in users(store, tenant, name)
        if one.secret_sent_to is not None and secret.refused_for(one.secret_sent_to) is not None
    ]
    if elsewhere:
        raise Conflict(
            f"Tools send this secret to other hosts: {', '.join(elsewhere)}. Change or delete them first.",
            {"tools": elsewhere},
        )
    # The former value gets no further hosts; the new time keeps workers from using a cached value for the new hosts.
    meanwhile = tuple(host for host in hosts if host in former) or former
    api.app.secret_names.put(tenant, secret.model_copy(update={"hosts": meanwhile}))
    # Once before the value, for calls asked for until now, and once after it, for those asked for in between.
    _write_again(api, tenant, name)
    api.app.secret_values.put(tenant, name, body.value)
    secret = secret.model_copy(update={"updated_at": api.app.clock.now()})
    api.app.secret_names.put(tenant, secret)
    _write_again(api, tenant, name)
    return success(tool_secret_view(secret), 201 if old is None else 200)


def _write_again(api: Api, tenant: str, secret: str) -> None:
    """Gives a new version to the tools and servers that refer to the secret, so that no call that was asked for before
    runs with the new value (docs/design/people.md 16).
    """
    for store in (api.app.tool_definitions, api.app.server_definitions):
        for one in users(store, tenant, secret):
            written = one.model_copy(update={"version": one.version + 1, "updated_at": api.app.clock.now()})
            with suppress(DefinitionChanged):  # then somebody else has given it a new version
                store.replace(tenant, one, written)


def delete_tool_secret(api: Api, name: str) -> Response:
    tenant = api.caller.tenant
    if all(name != each.name for each in api.app.secret_names.all(tenant)):
        raise NotFound("There is no secret of this name.")
    for store, kind, field in (
        (api.app.tool_definitions, "Tools", "tools"),
        (api.app.server_definitions, "MCP servers", "mcp_servers"),
        (api.app.triggers, "Triggers", "triggers"),
    ):
        using = [one.name for one in users(store, tenant, name)]
        if using:
            named = ", ".join(using)
            message = f"{kind} refer to this secret: {named}. Change or delete them first."
            raise Conflict(message, {field: using})
    api.app.secret_values.delete(tenant, name)
    api.app.secret_names.delete(tenant, name)
    return no_content()


def users(store: NamedDefinitions[Any], tenant: str, secret: str) -> list[Any]:
    """The tools, the MCP servers or the triggers that refer to the secret."""
    return [one for one in store.all(tenant) if secret in one.secrets]
