"""The variables that the local stack takes from its starter's environment, checked before anything starts.

Settings reach every Lambda and secrets only the function that uses them, both through the emulator's launcher. No
value is written to a template or a file.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args
from urllib.parse import urlsplit

from acta.engine.models.own_providers import own_providers
from acta.engine.models.providers import OFFLINE, PROVIDERS, WITH_KEY, Provider
from acta.engine.notifications.receiver import signing_key
from acta.engine.settings import PREFIX, Settings, SettingsError
from acta.engine.tools.builtin import check_optional
from acta.infra.local.issuer import AUDIENCE
from acta.infra.names import function_name
from acta.infra.sizing import KNOW_ADDRESS, FunctionName
from acta.infra.tool_folders import TOOLS_DIR, ToolFolder, folders_in, tools_directory

PROVIDER_VARIABLES = tuple(
    name
    for provider in PROVIDERS.values()
    for name in (provider.key_variable, provider.address_variable, *provider.other_variables)
    if name
)
REQUIRED = {
    "ACTA_ENV": "local",
    "ACTA_IS_LOCAL": "true",
    "ACTA_TABLE": "given",
    "ACTA_BUCKET": "given",
    "ACTA_OFFLINE": "true",
}
NOTIFY_URL, NOTIFY_SECRET = "ACTA_NOTIFY_WEBHOOK_URL", "ACTA_NOTIFY_SECRET"
NOTIFY_TENANTS = ("ACTA_NOTIFY_HOSTS", "ACTA_NOTIFY_ALLOW")
NOTIFY_API_URL = "ACTA_NOTIFY_API_URL"
TRACES_URL, TRACES_HEADERS = "ACTA_TRACES_URL", "ACTA_TRACES_HEADERS"
PROVIDER_LIMITS = "ACTA_PROVIDER_LIMITS"
A_URL = "an http or https URL"
EMULATOR_OPTIONS = {
    "ACTA_AWS_LONGEST_PAUSE_SECONDS": "longest-pause",
    "ACTA_AWS_INVOCATION_CHECK_URL": "invocation-check",
}
"""Variables that are options of the emulator, for tests (`acta/local_aws/README.md`)."""
OWN_VARIABLES = frozenset(
    (*EMULATOR_OPTIONS, "ACTA_AWS_PORT", "ACTA_LAMBDA_AWS_ENDPOINT_URL", "ACTA_RETRY_BASE_SECONDS",
     "ACTA_PARK_AFTER_SECONDS", "ACTA_API_URL", "ACTA_TOKEN", "ACTA_STATE", TOOLS_DIR, "ACTA_ENVIRONMENTS",
     "ACTA_ISSUER", "ACTA_CLIENT_ID", "ACTA_CLIENT_SECRET", NOTIFY_SECRET, TRACES_HEADERS)
)  # fmt: skip
ONLY_FOR: Mapping[str, tuple[str, ...]] = {
    **{field.variable: field.to for field in Settings.fields.values() if field.to},
    **dict.fromkeys(PROVIDER_VARIABLES, ("step",)),
    NOTIFY_SECRET: ("notify",),
    TRACES_HEADERS: ("traces",),
}
"""The functions that get the variable. Every secret, and every URL, which may hold one, has one function."""


@dataclass(frozen=True)
class LocalConfig:
    """`lambda_env` holds names only; `context` is what synth gets as `-c key=value`."""

    provider: str
    model: str
    lambda_env: tuple[str, ...]
    context: Mapping[str, str]
    own_keys: tuple[str, ...] = ()
    """Variables with the keys of the stack's own providers. `step` alone gets them."""
    aws_port: int | None = None
    lambda_endpoint: str | None = None
    emulator_options: Mapping[str, str] = field(default_factory=dict)
    """Name of an option of the emulator -> its value."""
    unknown: tuple[str, ...] = ()
    """ACTA_ variables that nothing reads: most likely misspelt."""

    def for_every_function(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The variables of all of Acta's Lambdas; none of them is secret."""
        return {name: environ[name] for name in self.lambda_env if name not in ONLY_FOR}

    def for_some_functions(self, environ: Mapping[str, str], api_url: str = "") -> dict[str, dict[str, str]]:
        """Full name of a function -> the variables that only some functions get. `api_url`: the address to which links
        in notifications lead, unless the environment names another.
        """
        given: dict[str, dict[str, str]] = {}
        if api_url:
            given[function_name("local", "notify")] = {NOTIFY_API_URL: api_url}
            given |= {function_name("local", name): {f"{PREFIX}PUBLIC_URL": api_url} for name in KNOW_ADDRESS}
            given[function_name("local", "fallback")][f"{PREFIX}TOKEN_ISSUER"] = api_url
            given[function_name("local", "console")] = {
                f"{PREFIX}CONSOLE_ISSUER": api_url,
                f"{PREFIX}CONSOLE_CLIENT": AUDIENCE,
            }
        for name in self.own_keys:
            given.setdefault(function_name("local", "step"), {})[name] = environ[name]
        for name in self.lambda_env:
            for each in get_args(FunctionName):
                if each in ONLY_FOR.get(name, ()):
                    given.setdefault(function_name("local", each), {})[name] = environ[name]
        return given

    def for_functions(self, environ: Mapping[str, str], api_url: str = "") -> dict[str, dict[str, str]]:
        """Full name of a function of Acta's -> all of its variables. Other functions, such as those of Python tools,
        get the variables of their deployment, as in AWS.
        """
        every, one = self.for_every_function(environ), self.for_some_functions(environ, api_url)
        names = [function_name("local", each) for each in get_args(FunctionName)]
        return {name: {**every, **one.get(name, {})} for name in names}

    @property
    def tool_folders(self) -> tuple[ToolFolder, ...]:
        """Raises BadFolder."""
        directory = self.context.get("tools_dir")
        return folders_in(Path(directory) if directory else None, "local")

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "LocalConfig":
        """Raises SettingsError with one line that names the variable."""
        names = [field.variable for field in Settings.fields.values() if field.by == "person"]
        given = {name: environ[name] for name in names if environ.get(name)}
        settings = Settings.from_environ({**REQUIRED, **given})
        check_optional(settings.offered_tools)
        secrets = [NOTIFY_SECRET] if NOTIFY_URL in given else []  # each secret belongs to a URL
        secrets += [TRACES_HEADERS] if TRACES_URL in given and environ.get(TRACES_HEADERS) else []
        present = [name for name in PROVIDER_VARIABLES if environ.get(name)]
        own = own_providers(settings.providers)
        known = {*OWN_VARIABLES, *(field.variable for field in Settings.fields.values())}
        port = _checked(environ, "ACTA_AWS_PORT", _is_port, "a port from 1 to 65535")
        _checked(environ, "ACTA_AWS_LONGEST_PAUSE_SECONDS", _is_seconds, "a number of seconds")
        _checked(environ, "ACTA_AWS_INVOCATION_CHECK_URL", _is_url, A_URL)
        provider = _provider(settings.provider, own, environ)
        return cls(
            provider=provider,
            model=settings.model or {**PROVIDERS, **own}[provider].default_model,
            lambda_env=(*present, *given, *secrets),
            context=_context(environ),
            own_keys=tuple(each.key_variable for each in own.values() if environ.get(each.key_variable)),
            aws_port=int(port) if port else None,
            lambda_endpoint=_checked(environ, "ACTA_LAMBDA_AWS_ENDPOINT_URL", _is_url, A_URL) or None,
            emulator_options={
                option: environ[name] for name, option in EMULATOR_OPTIONS.items() if environ.get(name)
            },
            unknown=tuple(sorted(name for name in environ if name.startswith(PREFIX) and name not in known)),
        )


def _provider(chosen: str, own: Mapping[str, Provider], environ: Mapping[str, str]) -> str:
    """The provider that the Lambdas will use: `chosen`, or else the first with a key, or else `offline`."""
    if not chosen:
        keyed = (each for each in (*WITH_KEY, *own.values()) if each.key_variable)
        with_key = (each.name for each in keyed if environ.get(each.key_variable, "").strip())
        return next(with_key, OFFLINE)
    variable = {**PROVIDERS, **own}[chosen].key_variable
    if variable and not environ.get(variable, "").strip():
        raise SettingsError(f"ACTA_PROVIDER={chosen} needs {variable} in the environment")
    return chosen


def _context(environ: Mapping[str, str]) -> dict[str, str]:
    """The context values of the deployment that variables set, as text. Raises SettingsError."""
    found = {"provider_limits": environ.get(PROVIDER_LIMITS, "")}
    for name in ("retry_base_seconds", "park_after_seconds"):
        found[name] = _checked(environ, f"ACTA_{name.upper()}", _is_whole, "a whole number of seconds from 1")
    if environ.get(TRACES_URL):  # spans are exported if there is a URL to send them to
        found["traces"] = "on"
    if any(environ.get(name) for name in (NOTIFY_URL, *NOTIFY_TENANTS)):
        found["notifications"] = "on"
    if environ.get(NOTIFY_URL):
        try:
            signing_key(environ.get(NOTIFY_SECRET, ""))
        except ValueError as unusable:
            raise SettingsError(f"{NOTIFY_URL} needs {NOTIFY_SECRET} to sign with: {unusable}") from None
    named, tools = environ.get(TOOLS_DIR, ""), tools_directory(environ)
    if tools.is_dir():
        found["tools_dir"] = str(tools)
    elif named:
        raise SettingsError(f"{TOOLS_DIR} names {named}, and there is no such directory")
    return {name: text for name, text in found.items() if text}


def _checked(environ: Mapping[str, str], name: str, fits: Callable[[str], bool], what: str) -> str:
    """The variable's text, empty where it is not set. Raises SettingsError."""
    text = environ.get(name, "")
    if text and not fits(text):
        raise SettingsError(f"{name} must be {what}, not {text!r}")
    return text


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text) >= 1


def _is_port(text: str) -> bool:
    return _is_whole(text) and int(text) <= 65_535


def _is_seconds(text: str) -> bool:
    return re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) is not None


def _is_url(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname)
