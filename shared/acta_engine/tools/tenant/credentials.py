"""Headers of `http` tools that are credentials: how a definition refers to their values, how a call gets them, and how
they are kept out of what the model is given (design §7).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from acta_engine.errors import AwsDenied, StoreThrottled, StoreUnavailable, ToolFailed, ToolNotRun
from acta_engine.tools.secret_reader import SecretUnusable
from acta_engine.tools.tenant.headers import FieldRefused
from acta_engine.tools.tool import HttpConfig
from acta_engine.tools.tool_secret import NAME_RULE, ToolSecret, is_secret_name

Secrets = Callable[[str, str, str], str | None]
"""From a tenant, a secret's name and when it was set last, where that is known, to its value; None: there is no such
secret. A value that was read before it was set is not used."""
Known = Callable[[str], Sequence[ToolSecret]]
"""From a tenant to what is known of its secrets."""


class Credentials(NamedTuple):
    """Of one call. `headers`: with their values. `values`: by the secrets' names."""

    headers: Mapping[str, str]
    values: Mapping[str, str]

    def hidden(self, text: str) -> str:
        """The text, in which each value is `[secret NAME]`. Linear in the text."""
        from acta_engine.tools.tenant.echoes import without_echoes

        return without_echoes(text, self.values) if self.values else text


def with_references(given: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of an `http` tool as it is stored: values `{"secret": "name"}` of `headers` are in
    `secret_headers`. Raises FieldRefused.
    """
    if "secret_headers" in given:
        raise FieldRefused(
            "config.secret_headers",
            'There is no such field. Write {"secret": "NAME"} as the value of a header.',
        )
    headers = given.get("headers")
    if not isinstance(headers, Mapping):
        return dict(given)
    references = {header: value for header, value in headers.items() if isinstance(value, Mapping)}
    for value in references.values():
        name = value.get("secret")
        if value.keys() != {"secret"} or not isinstance(name, str) or not is_secret_name(name):
            raise FieldRefused(
                "config.headers", f'A header refers to a secret as {{"secret": "NAME"}}. {NAME_RULE}'
            )
    return {
        **given,
        "headers": {header: value for header, value in headers.items() if header not in references},
        "secret_headers": {header: value["secret"] for header, value in references.items()},
    }


def credentials_of(tool: str, config: HttpConfig, secrets: Secrets, known: Known, tenant: str) -> Credentials:
    """What a call of the tool is sent with. Raises ToolNotRun where the store of the secrets is away or refuses, and
    ToolFailed where an admin has to do something. Neither says more of a secret than its name.
    """
    values: dict[str, str] = {}
    try:
        about = {each.name: each for each in known(tenant)} if config.secret_headers else {}
    except (AwsDenied, StoreThrottled, StoreUnavailable) as away:
        raise ToolNotRun(away) from None
    for name in dict.fromkeys(config.secret_headers.values()):
        secret = about.get(name)
        if secret is not None and not secret.may_be_sent_to(config.url):
            raise _failed(
                tool, name, "is for other hosts", " --host HOST, with the host of the tool among them"
            )
        set_at = "" if secret is None else secret.updated_at.isoformat()
        try:
            value = secrets(tenant, name, set_at)
        except (AwsDenied, StoreThrottled, StoreUnavailable) as away:
            raise ToolNotRun(away) from None
        except SecretUnusable:
            raise _failed(tool, name, "holds no text that a header may have") from None
        if value is None:
            raise _failed(tool, name, "is not set")
        values[name] = value
    return Credentials({header: values[name] for header, name in config.secret_headers.items()}, values)


def _failed(tool: str, name: str, what: str, host: str = "") -> ToolFailed:
    return ToolFailed(
        f"{tool} did not run: its secret {name} {what}. An admin has to set it (acta tools secrets set {name}). "
        "Tell the user, or go on without it.",
        ran=False,
        remedy=f"Set it: acta tools secrets set {name}{host}.",
    )
