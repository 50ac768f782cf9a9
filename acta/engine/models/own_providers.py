"""The setting `providers`: a deployment's own endpoints, each of which speaks a protocol that Acta knows (ADR 191).

    {"gateway": {"url": "https://llm.example.com/v1", "protocol": "chat", "secret": true, "models": ["qwen3-32b"]}}

An endpoint becomes a row beside those of `providers.py`, and is then a provider like any other: agents name it, `acta
models` lists it, and prices and windows of its models are in the setting `models`.
"""

import re
from collections.abc import Mapping
from typing import Any

from acta.engine.models.providers import BUILT_IN, PROVIDER_PATTERN, PROVIDERS, Api, Provider

FIELDS = ("url", "protocol", "secret", "role", "models")
PROTOCOLS: tuple[Api, ...] = ("chat", "responses", "messages", "converse")
NOT_NAMES = ("audit", "notifications", "notify", "origin", "tools")
"""What `acta/<env>/…` already names among the deployment's secrets."""
NAMES = r"[A-Za-z0-9/_+=.@-]{1,256}"


def add_providers(told: Mapping[str, Any]) -> None:
    """Adds the endpoints to `PROVIDERS`. A process serves one deployment, whose `App` does this once. Raises
    ValueError, as `own_providers` does.
    """
    PROVIDERS.update(own_providers(told))


def own_providers(told: Mapping[str, Any]) -> dict[str, Provider]:
    """By name. Raises ValueError with a sentence about what is wrong. URLs are checked by whoever knows whether plain
    HTTP will do (`acta/engine/settings.py`).
    """
    rows: dict[str, Provider] = {}
    taken = {*NOT_NAMES, *(each.name for each in BUILT_IN)}
    for name, given in told.items():
        if not re.fullmatch(PROVIDER_PATTERN, name) or name in taken:
            raise ValueError(
                f"{name!r} cannot be the name of a provider of your own: take lower-case letters, digits and hyphens, "
                f"32 at most, and none of {', '.join(sorted(taken))}"
            )
        try:
            rows[name] = _row(name, given)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return rows


def _row(name: str, given: Any) -> Provider:
    if not isinstance(given, Mapping) or not set(given) <= set(FIELDS):
        raise ValueError(f"it is an object that has {', '.join(FIELDS)} and nothing else")
    url, protocol, secret = given.get("url", ""), given.get("protocol"), given.get("secret", False)
    models, role = given.get("models", ()), given.get("role", False) is True or protocol == "converse"
    if not isinstance(url, str) or not (url or protocol == "converse"):
        raise ValueError("url is missing: the base URL, such as https://llm.example.com/v1")
    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol is one of {', '.join(PROTOCOLS)}, not {protocol!r}")
    if not isinstance(secret, bool) and not (isinstance(secret, str) and re.fullmatch(NAMES, secret)):
        raise ValueError(
            "secret is true, or the name of a secret of yours; leave it out where no key is needed"
        )
    if role and (secret or protocol == "messages"):
        raise ValueError(
            "with its role the function asks Amazon Bedrock over chat, responses or converse, and without a secret"
        )
    if not isinstance(models, list | tuple) or not all(isinstance(each, str) and each for each in models):
        raise ValueError("models is a list of names; leave it out where agents may give any name")
    return Provider(
        name=name,
        api=protocol,
        default_model=models[0] if models else "",
        model_names="|".join(map(re.escape, models)) or None,
        address=url,
        with_role=role,
        key_variable=f"{name.upper().replace('-', '_')}_API_KEY" if secret else "",
    )
