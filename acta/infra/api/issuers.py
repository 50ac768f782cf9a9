"""Who issues the tokens that an environment accepts, as data: Acta's own Cognito pool, or the team's own OpenID issuer.

An impossible value raises ValueError as soon as the object is created. What each field does: docs/sign-in.md.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

RENEWAL_GRACE_SECONDS = 30
"""How long a refresh token that was used works again, for a client that has not received the answer. Cognito allows 60.
Source: Amazon Cognito API reference, RefreshTokenRotationType."""
MINUTES_OF_A_DAY = 1_440
MOST_SIGN_IN_DAYS = 3_650
"""What Cognito allows. Source: Amazon Cognito API reference, CreateUserPoolClient."""
MOST_MACHINES = 40
"""The gateway takes 50 audiences. Source: API Gateway developer guide, "Quotas for configuring an HTTP API"."""
MACHINES_CHARS = 3_500
"""All machines are listed in one variable of a function. Source: AWS Lambda developer guide, "Lambda quotas": 4 KB."""
MACHINE_CHARS = 40
NAME_PATTERN = r"[a-z0-9]+(-[a-z0-9]+)*"
"""The names that machines and environments may have."""
TENANT_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._@+:-]{0,63}"
"""Tenant names that the API accepts (`acta/engine/api/identity.py`) and that fit in the pool's attribute."""
ROLE_NAME_PATTERN = r"[A-Za-z0-9._:-]{1,64}"
ORIGIN_PATTERN = r"https://[a-z0-9.-]+(:[0-9]{1,5})?|http://(localhost|127\.0\.0\.1)(:[0-9]{1,5})?"
"""An origin as a browser sends it: lower case, nothing after host and port. Source: WHATWG Fetch, "serializing a
request origin"."""
PAGE_URL_PATTERN = rf"({ORIGIN_PATTERN})(/[\w./~-]*)?"


@dataclass(frozen=True)
class Machine:
    """A program that gets tokens with a secret of its own: whose data it works on, and in which roles."""

    tenant: str
    roles: tuple[str, ...] = ("member",)

    def __post_init__(self) -> None:
        if not re.fullmatch(TENANT_PATTERN, self.tenant):
            raise ValueError(f"Machine.tenant is 1 to 64 of A-Z a-z 0-9 . _ @ + : - and not {self.tenant!r}")
        if not 1 <= len(self.roles) <= 5 or not all(
            re.fullmatch(ROLE_NAME_PATTERN, each) for each in self.roles
        ):
            raise ValueError("Machine.roles are 1 to 5 names of A-Z a-z 0-9 . _ : -")


@dataclass(frozen=True)
class OwnPool:
    """Acta creates a Cognito user pool. An administrator sets each user's tenant; roles are the pool's groups.

    `mfa`: whether who signs in needs a second factor, an authenticator app; None: as the posture says.
    `token_minutes`: how long a token is valid; programs get the next one by themselves. `sign_in_days`: after how many
    days a person at the command line signs in again. `page_urls`: addresses of your own web page to which people return
    after signing in; empty: no page has a client. `machines`: name -> a program with a client of its own, which gets
    tokens without a person (ADR 81).
    """

    mfa: Literal["required", "optional"] | None = None
    token_minutes: int = 60
    sign_in_days: int = 30
    page_urls: tuple[str, ...] = ()
    machines: Mapping[str, Machine] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 5 <= self.token_minutes <= MINUTES_OF_A_DAY:
            raise ValueError(f"OwnPool.token_minutes is 5 to {MINUTES_OF_A_DAY}, not {self.token_minutes}")
        if not 1 <= self.sign_in_days <= MOST_SIGN_IN_DAYS:
            raise ValueError(f"OwnPool.sign_in_days is 1 to {MOST_SIGN_IN_DAYS}, not {self.sign_in_days}")
        if len(self.machines) > MOST_MACHINES or len(self.machine_table) > MACHINES_CHARS:
            raise ValueError(
                f"OwnPool.machines are {MOST_MACHINES} at most, and {MACHINES_CHARS} characters of JSON"
            )
        for name in self.machines:
            if len(name) > MACHINE_CHARS or not re.fullmatch(NAME_PATTERN, name):
                raise ValueError(f"a machine's name is of a-z, 0-9 and single hyphens, not {name!r}")
        for url in self.page_urls:
            if not re.fullmatch(PAGE_URL_PATTERN, url):
                raise ValueError(
                    f"OwnPool.page_urls are https://host/path, http for localhost alone, not {url!r}"
                )

    @property
    def machine_table(self) -> str:
        """JSON: name of a machine -> its tenant and its roles."""
        known = {name: {"tenant": each.tenant, "roles": each.roles} for name, each in self.machines.items()}
        return json.dumps(known, separators=(",", ":"))


@dataclass(frozen=True)
class ExternalIssuer:
    """An OpenID issuer that signs with RS256. The JWT authorizer of an HTTP API accepts RSA keys only.

    `roles_have_no_spaces`: no role, group or other name in the roles claim contains a space. Otherwise a person with
    several roles is granted something only if `Environment.role_map` knows all of them. `roles_are_json`: the roles
    claim is a text that holds a list as JSON, `["admin", "member"]`, and no list itself. `sign_in_client`: id of the
    public client at the issuer that `acta login` uses; None: people bring their own tokens. Its redirect addresses are
    those of a native app: `http://127.0.0.1:22820/callback`, 22821 and 22822. `page_client`: id of the public client of
    the page `/console`. Its redirect address is the API's address with `/console/signed-in`, and the issuer must accept
    requests from that origin (CORS). None: nobody signs in on the page. `page_connects`: origins of those endpoints of
    the issuer that are not on the origin of `issuer_url`. `sign_in_scopes`: the scopes that both clients ask for; most
    issuers require `offline_access` for a lasting sign-in. `sign_in_takes`: which of the two tokens of a sign-in the
    API takes, the one with `audience` and the tenant.
    """

    issuer_url: str
    audience: str
    roles_have_no_spaces: bool = False
    sign_in_client: str | None = None
    sign_in_scopes: tuple[str, ...] = ("openid", "email", "profile", "offline_access")
    sign_in_takes: Literal["access_token", "id_token"] = "access_token"
    page_client: str | None = None
    page_connects: tuple[str, ...] = ()
    roles_are_json: bool = False

    def __post_init__(self) -> None:
        for origin in self.page_connects:
            if not re.fullmatch(ORIGIN_PATTERN, origin):
                raise ValueError(f"ExternalIssuer.page_connects are origins, https://host, not {origin!r}")
        if "openid" not in self.sign_in_scopes or any(
            not re.fullmatch(r"[!#-\[\]-~]+", each) for each in self.sign_in_scopes
        ):
            raise ValueError("ExternalIssuer.sign_in_scopes are words, and openid is one of them")


@dataclass(frozen=True)
class IssuerParameters:
    """Issuer and audience are parameters of the stack, `IssuerUrl` and `Audience`. So the development issuer may listen
    on another port without a new synthesis."""
