"""What is told outside when something waits for a person: ids and the type, nothing anybody wrote (design §8).

Signed as the Standard Webhooks specification says (https://www.standardwebhooks.com), so that a receiver can use a
library of its language.
"""

import base64
import binascii
import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Literal

from shared.domain.interventions.intervention import Intervention, InterventionType
from shared.domain.value import Value

NotificationEvent = Literal["intervention.opened", "intervention.warned"]

ENCODED = "whsec_"
"""A secret that begins so is base64 behind it; any other is taken as it stands."""
MIN_KEY_BYTES = 16


class Notification(Value):
    """`notification_id` is a function of what happened: a repeat has the id of the first."""

    notification_id: str
    event: NotificationEvent
    tenant: str
    session_id: str
    intervention_id: str
    type: InterventionType
    created_at: datetime
    timeout_at: datetime | None

    def to_body(self) -> bytes:
        """JSON, the same bytes each time; times as the API tells them."""
        told = self.model_dump()
        for name in ("created_at", "timeout_at"):
            told[name] = None if told[name] is None else _told(told[name])
        return json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode()


def notification_of(tenant: str, intervention: Intervention, *, is_new: bool) -> Notification | None:
    """What its change calls for, given how it is now: nothing once it is decided or over."""
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


def _told(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def key_of(secret: str) -> bytes:
    """Raises ValueError, without the secret in it, where it is no key."""
    secret = secret.strip()
    try:
        encoded = secret.startswith(ENCODED)
        key = base64.b64decode(secret.removeprefix(ENCODED), validate=True) if encoded else secret.encode()
    except (binascii.Error, UnicodeError):
        raise ValueError(f"behind {ENCODED} stands no base64") from None
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(f"a key has at least {MIN_KEY_BYTES} bytes")
    return key


def signature(key: bytes, notification_id: str, timestamp: int, body: bytes) -> str:
    """`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; `timestamp` in whole seconds since 1970."""
    signed = b".".join((notification_id.encode(), str(timestamp).encode(), body))
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
