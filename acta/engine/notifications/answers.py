"""Where a tenant is told, as the API answers it."""

from __future__ import annotations

from acta.engine.api.answers import Instant, TypedDict, copied
from acta.engine.notifications.receiver import TenantReceiver


class NotificationsView(TypedDict):
    """Where the tenant is told. A secret is stored, and is never shown."""

    url: str | None
    """The URL of the tenant's webhook. null: only sessions have webhooks, those with a `notify_url`."""
    created_at: Instant
    updated_at: Instant
    updated_by: str


def notifications_view(receiver: TenantReceiver) -> NotificationsView:
    """Without the secret, which nobody is shown."""
    return copied(NotificationsView, receiver)
