"""Checks that a webhook's sender has signed the body, by the sender's scheme.

| scheme | signed | header |
|---|---|---|
| `github` | body | `X-Hub-Signature-256: sha256=<hex>` |
| `stripe` | `{timestamp}.{body}` | `Stripe-Signature: t=<seconds>,v1=<hex>,…` |
| `standard` | `{id}.{timestamp}.{body}` | `webhook-signature: v1,<base64> …` |
| `hmac` | as the trigger says | as the trigger says |

All are HMAC-SHA-256. A signature that came late or early by more than five minutes is refused where the time is signed.
Sources: GitHub Docs, "Validating webhook deliveries"; Stripe Docs, "Receive Stripe events in your webhook endpoint",
section on verifying manually; Standard Webhooks specification 1.0.
"""

import hmac
from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

from acta.engine.errors import Unauthorized
from acta.engine.notifications.receiver import signature, signing_key
from acta.engine.triggers.trigger import SignedWebhook

TOLERANCE_SECONDS = 300
MAX_SIGNATURES = 20
"""A sender that changes its secret signs with both for a while."""
MAX_ID_CHARS = 256
NOT_SIGNED = "The signature is missing, or is not that of this body. Nothing was done."


class Delivered(NamedTuple):
    """What a verified request says beside its body: the event's id, and its kind where a header alone names it."""

    event_id: str
    kind: str = ""


def verified(
    webhook: SignedWebhook, secret: str, headers: Mapping[str, str], body: bytes, now: datetime
) -> Delivered:
    """`headers`: by lower-case name. The id is empty where the body has it (`id_of`). Raises Unauthorized."""
    match webhook.scheme:
        case "github":
            sent = [headers.get("x-hub-signature-256", "")]
            _check(f"sha256={_hex(secret.encode(), body)}", sent)
            return Delivered(headers.get("x-github-delivery", ""), headers.get("x-github-event", ""))
        case "stripe":
            pairs = [each.strip().partition("=") for each in headers.get("stripe-signature", "").split(",")]
            timestamp = next((value for name, _, value in pairs if name == "t"), "")
            sent = [value for name, _, value in pairs if name == "v1"]
            signed = timestamp.encode("utf-8", "surrogatepass") + b"." + body
            _check(_hex(secret.encode(), signed), sent)
            _check_time(timestamp, now)
            return Delivered("")
        case "standard":
            id_, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
            _check_time(timestamp, now)
            try:
                expected = signature(signing_key(secret), id_, int(timestamp), body)
            except ValueError:
                raise Unauthorized("The trigger's secret is no key of Standard Webhooks.") from None
            _check(expected, headers.get("webhook-signature", "").split())
            return Delivered(id_)
        case "hmac":
            return _plain(webhook, secret, headers, body, now)


def _plain(
    webhook: SignedWebhook, secret: str, headers: Mapping[str, str], body: bytes, now: datetime
) -> Delivered:
    named = {"timestamp": webhook.timestamp_header, "id": webhook.id_header}
    values = {name: headers.get((header or "").lower(), "") for name, header in named.items()}
    before, _, after = webhook.signed_text.partition("{body}")
    around = [_filled(part, values).encode("utf-8", "surrogatepass") for part in (before, after)]
    mac = hmac.digest(secret.encode(), around[0] + body + around[1], sha256)
    written = mac.hex() if webhook.encoding == "hex" else b64encode(mac).decode()
    _check(webhook.prefix + written, [headers.get((webhook.header or "").lower(), "")])
    if webhook.timestamp_header is not None:
        _check_time(values["timestamp"], now)
    if webhook.id_header is not None and not values["id"]:
        raise Unauthorized(f"The header {webhook.id_header} with the event's id is missing.")
    return Delivered(values["id"])


def _filled(text: str, values: Mapping[str, str]) -> str:
    """In one pass: what a header says is never taken for a place."""
    parts = text.split("{")
    return parts[0] + "".join(
        values[name] + rest if name in values and closed else f"{{{part}"
        for part in parts[1:]
        for name, closed, rest in [part.partition("}")]
    )


def id_of(webhook: SignedWebhook, delivered: Delivered, event: Mapping[str, Any], body: bytes) -> str:
    """The event's id: the sender's, or the body's SHA-256 where the sender gives none. Raises Unauthorized for one that
    is too long to be one.
    """
    named = event.get("id") if webhook.scheme == "stripe" else delivered.event_id
    event_id = named if isinstance(named, str) and named else f"sha256-{sha256(body).hexdigest()}"
    if len(event_id) > MAX_ID_CHARS:
        raise Unauthorized(f"The event's id has more than {MAX_ID_CHARS} characters.")
    return event_id


def _hex(key: bytes, signed: bytes) -> str:
    return hmac.digest(key, signed, sha256).hex()


def _check(expected: str, sent: list[str]) -> None:
    """Every signature is compared, in constant time. Raises Unauthorized."""
    given = [each.encode("utf-8", "surrogatepass") for each in sent[:MAX_SIGNATURES]]
    if not sum(hmac.compare_digest(expected.encode(), each) for each in given):
        raise Unauthorized(NOT_SIGNED)


def _check_time(timestamp: str, now: datetime) -> None:
    """Raises Unauthorized."""
    is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12
    if not is_number or abs(now.timestamp() - int(timestamp)) > TOLERANCE_SECONDS:
        raise Unauthorized(
            f"The request was signed more than {TOLERANCE_SECONDS // 60} minutes from now. Nothing was done."
        )
