"""Names of the secrets of tenants' tools."""

from datetime import timedelta

import pytest

from acta.engine.tools.tool import ToolSecret
from tests.stores.backends import Stores

pytestmark = pytest.mark.contract


def make_secret(stores: Stores, name: str, by: str = "ann") -> ToolSecret:
    now = stores.clock.now()
    return ToolSecret(name=name, created_at=now, updated_at=now + timedelta(seconds=1), updated_by=by)


def test_secrets_are_listed_by_name_for_their_tenant_alone(stores: Stores, tenant: str) -> None:
    one, other = make_secret(stores, "stripe"), make_secret(stores, "desk", by="Bö #1")
    for each in (one, other):
        stores.secret_names.put(tenant, each)
    assert stores.secret_names.all(tenant) == (other, one)
    assert stores.secret_names.all(f"{tenant}x") == ()
    later = make_secret(stores, "stripe", by="bob").model_copy(
        update={"hosts": ("a.example", "b.example:8443")}
    )
    stores.secret_names.put(tenant, later)
    assert stores.secret_names.all(tenant) == (other, later)


def test_a_deletion_may_be_repeated(stores: Stores, tenant: str) -> None:
    stores.secret_names.put(tenant, make_secret(stores, "stripe"))
    for _ in range(2):
        stores.secret_names.delete(tenant, "stripe")
        stores.secret_names.delete(f"{tenant}x", "stripe")
    assert stores.secret_names.all(tenant) == ()
    assert stores.tools.all(tenant) == ()
