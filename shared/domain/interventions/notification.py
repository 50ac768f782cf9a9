"""Notifications that a person is needed: ids, type and times, no text that anybody wrote (design §8).

They are signed as the Standard Webhooks specification says (https://www.standardwebhooks.com), so that a receiver can
use a library of its language.
"""

import base64
import binascii
import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Literal

from shared.domain.frozen_model import FrozenModel
from shared.domain.interventions.intervention import Intervention
from shared.domain.interventions.options_and_defaults import InterventionType

NotificationEvent = Literal["intervention.opened", "intervention.warned"]

BASE64_PREFIX = "whsec_"
"""What follows this prefix in a secret is base64. A secret without the prefix is the key itself."""
MIN_KEY_BYTES = 16


class Notification(FrozenModel):
    """`notification_id`: made from what happened, so that a repeated notification has the same id."""

    notification_id: str
    event: NotificationEvent
    tenant: str
    session_id: str
    intervention_id: str
    type: InterventionType
    created_at: datetime
    timeout_at: datetime | None

    def to_body(self) -> bytes:
        """The notification as JSON; the same notification gives the same bytes. Times are written as in the API."""
        fields = self.model_dump()
        for name in ("created_at", "timeout_at"):
            fields[name] = None if fields[name] is None else _timestamp(fields[name])
        return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()


def notification_of(tenant: str, intervention: Intervention, *, is_new: bool) -> Notification | None:
    """The notification after a change of an intervention. `is_new`: the change was its opening.

    None: there is nothing to send, because it is no longer open, or because the change was neither the opening nor the
    warning.
    """
    if intervention.state != "pending" or not (is_new or intervention.warned):
        return None
    event: NotificationEvent = "intervention.opened" if is_new else "intervention.warned"
    happened = "\0".join((tenant, intervention.session_id, intervention.intervention_id, event))
    return Notification(
        notification_id=f"ntf_{hashlib.sha256(happened.encode()).hexdigest()[:32]}",
        event=event,
        tenant=tenant,
        session_id=intervention.session_id,
        intervention_id=intervention.intervention_id,
        type=intervention.type,
        created_at=intervention.created_at,
        timeout_at=intervention.timeout_at,
    )


def _timestamp(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def signing_key(secret: str) -> bytes:
    """The key in a configured secret. Raises ValueError where it has none; the message does not quote the secret."""
    secret = secret.strip()
    try:
        if secret.startswith(BASE64_PREFIX):
            key = base64.b64decode(secret.removeprefix(BASE64_PREFIX), validate=True)
        else:
            key = secret.encode()
    except (binascii.Error, UnicodeError):
        raise ValueError(f"what follows {BASE64_PREFIX} is not base64") from None
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(f"the key has fewer than {MIN_KEY_BYTES} bytes")
    return key


def signature(key: bytes, notification_id: str, timestamp: int, body: bytes) -> str:
    """`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. `timestamp`: whole seconds since 1970."""
    signed = b".".join((notification_id.encode(), str(timestamp).encode(), body))
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
