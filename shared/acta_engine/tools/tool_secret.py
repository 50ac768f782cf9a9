"""Secrets that headers of tools refer to by name (design §7). Their values are in AWS Secrets Manager alone."""

from datetime import datetime
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from acta_engine.store.frozen_model import FrozenModel

NAME_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"
"""No hyphen: Secrets Manager may take a name that ends with one and six characters for a part of an ARN."""
NAME_RULE = "A secret's name is 1 to 64 letters, digits and _, and does not begin with a digit."
MAX_TOOL_SECRETS = 40
"""Of a tenant. One answer of the API lists them."""
MIN_VALUE_CHARS = 8
"""A shorter text could not be taken out of a tool's answers: too much else looks like it."""
MAX_VALUE_CHARS = 4_096
VALUE_RULE = (
    f"A value is {MIN_VALUE_CHARS} to {MAX_VALUE_CHARS:,} printable ASCII characters, and neither begins nor ends with "
    "a space: it becomes a header's value as it is."
)

HOST_PATTERN = r"^[a-z0-9.-]{1,253}(:[0-9]{1,5})?$"
MAX_HOSTS = 10

SecretHost = Annotated[str, Field(pattern=HOST_PATTERN)]
SecretName = Annotated[str, Field(pattern=NAME_PATTERN)]


class ToolSecret(FrozenModel):
    """What is known of a secret without its value. `updated_by`: the subject who set the value last. `hosts`: where
    tools may send it, `host` (for port 443) or `host:port`; none: wherever tools may go.
    """

    name: SecretName
    created_at: datetime
    updated_at: datetime
    updated_by: str
    hosts: Annotated[tuple[SecretHost, ...], Field(max_length=MAX_HOSTS)] = ()

    def may_be_sent_to(self, url: str) -> bool:
        """Whether a tool with this URL may refer to the secret. `url`: one that tools may call."""
        parts = urlsplit(url)
        host, port = (parts.hostname or "").removesuffix("."), parts.port or 443
        return not self.hosts or f"{host}:{port}" in self.hosts or (port == 443 and host in self.hosts)


def is_secret_name(name: str) -> bool:
    """Whether the name fits `NAME_PATTERN`."""
    return name.isascii() and name.isidentifier() and len(name) <= 64


def is_usable_value(value: str) -> bool:
    """Whether the value may be a header's, see `VALUE_RULE`."""
    in_bounds = MIN_VALUE_CHARS <= len(value) <= MAX_VALUE_CHARS
    return in_bounds and value.isascii() and value.isprintable() and value == value.strip(" ")
