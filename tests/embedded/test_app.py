"""Every store of `App` asks the clients that were given for DynamoDB and S3: none reaches for AWS in one process."""

from collections.abc import Iterator
from functools import cached_property
from types import ModuleType
from typing import Any

import pytest

from acta.engine.app import App
from acta.engine.aws.clients import Service
from acta.engine.settings import Settings
from tests.stores.backends import sqlite

NOT_HERE = {"made", "models", "turns", "steps", "configured_models", "telemetry", "key_refused", "turn_told"}
"""Parts that a handler gives, and what is made of them."""
SETTINGS = Settings(
    env="test", table="t", bucket="b", session_bucket="s", audit_table="a", measure_load=False,
    tenant_limits={"*": {"requests_per_second": 1}}, provider_limits={"openai": {"requests_per_minute": 1}},
)  # fmt: skip
PARTS = sorted(name for name, part in vars(App).items() if isinstance(part, cached_property))


def services(of: Any, seen: set[int]) -> Iterator[Service]:
    """All that are part of it, however deep."""
    if id(of) in seen or isinstance(of, str | bytes | int | type | ModuleType):
        return
    seen.add(id(of))
    if isinstance(of, Service):
        yield of
    inner = [*getattr(of, "__dict__", {}).values(), *(of if isinstance(of, tuple | list) else ())]
    for each in inner:
        yield from services(each, seen)


@pytest.mark.parametrize("part", sorted({*PARTS} - NOT_HERE))
def test_a_part_asks_the_given_clients(part: str) -> None:
    given = sqlite()
    app = App(SETTINGS, dynamodb=given.dynamodb, s3=given.s3, telemetry=None)
    clients = {"dynamodb": given.dynamodb, "s3": given.s3}
    for service in services(getattr(app, part), set()):
        if service._name in clients:
            assert service._client is clients[service._name]
