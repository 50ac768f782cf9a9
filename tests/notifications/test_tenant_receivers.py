"""Where tenants are told."""

from datetime import timedelta

import pytest

from acta.engine.notifications.receiver import TenantReceiver
from tests.stores.backends import Stores

pytestmark = pytest.mark.contract


def make_receiver(
    stores: Stores, tenant: str, url: str | None = "https://hooks.example.com/x"
) -> TenantReceiver:
    now = stores.clock.now()
    later = now + timedelta(seconds=1)
    return TenantReceiver(tenant=tenant, url=url, created_at=now, updated_at=later, updated_by="Bö #1")


@pytest.mark.parametrize("name", ["", "Ämter & Söhne", "@" * 100])
def test_a_tenant_has_its_own_and_the_last_one_written(stores: Stores, tenant: str, name: str) -> None:
    tenant += name
    assert stores.receivers.get(tenant) is None
    for url in ("https://hooks.example.com/x", None):
        receiver = make_receiver(stores, tenant, url)
        stores.receivers.put(receiver)
        assert stores.receivers.get(tenant) == receiver
    assert stores.receivers.get(f"{tenant}x") is None


def test_a_deletion_may_be_repeated(stores: Stores, tenant: str) -> None:
    stores.receivers.put(make_receiver(stores, tenant))
    stores.receivers.put(make_receiver(stores, f"{tenant}x"))
    for _ in range(2):
        stores.receivers.delete(tenant)
    assert stores.receivers.get(tenant) is None
    assert stores.receivers.get(f"{tenant}x") is not None
