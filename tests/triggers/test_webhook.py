"""Signatures of webhooks: the published examples of each scheme, and what is not signed so."""

import hmac
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import pytest
from pydantic import ValidationError

from acta.engine.errors import Unauthorized
from acta.engine.triggers.trigger import SignedWebhook
from acta.engine.triggers.webhook import Delivered, id_of, verified

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
SECONDS = str(int(NOW.timestamp()))
BODY = b'{"id":"evt_1","type":"order.paid"}'


def hook(scheme: Any, **fields: Any) -> SignedWebhook:
    return SignedWebhook(scheme=scheme, secret="s", **fields)


def hexed(secret: str, signed: bytes) -> str:
    return hmac.new(secret.encode(), signed, sha256).hexdigest()


def test_github_s_own_example_is_verified() -> None:
    """Source: GitHub Docs, "Validating webhook deliveries", section "Testing the webhook payload validation"."""
    headers = {
        "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
        "x-github-delivery": "72d3162e",
        "x-github-event": "issues",
    }
    found = verified(hook("github"), "It's a Secret to Everybody", headers, b"Hello, World!", NOW)
    assert found == Delivered("72d3162e", "issues")


def test_the_specifications_example_of_standard_webhooks_is_verified_at_its_time() -> None:
    """Source: Standard Webhooks, the test of its reference libraries."""
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    at = datetime.fromtimestamp(1614265330 + 299, UTC)
    assert verified(hook("standard"), secret, headers, body, at).event_id == "msg_p5jXN8AQM9LWM0D4loKWxJek"
    with pytest.raises(Unauthorized, match="5 minutes"):
        verified(hook("standard"), secret, headers, body, datetime.fromtimestamp(1614265330 + 301, UTC))
    with pytest.raises(Unauthorized):
        verified(hook("standard"), secret, {**headers, "webhook-id": "msg_2"}, body, at)


def test_stripe_signs_time_and_body_and_several_signatures_may_come() -> None:
    signed = hexed("whsec_x", SECONDS.encode() + b"." + BODY)
    headers = {"stripe-signature": f"t={SECONDS},v1={'0' * 64},v1={signed},v0=abc"}
    assert verified(hook("stripe"), "whsec_x", headers, BODY, NOW) == Delivered("")
    for wrong in (f"t={int(SECONDS) - 1},v1={signed}", f"v1={signed}", f"t={SECONDS},v0={signed}", ""):
        with pytest.raises(Unauthorized):
            verified(hook("stripe"), "whsec_x", {"stripe-signature": wrong}, BODY, NOW)
    old = str(int(SECONDS) - 301)
    late = {"stripe-signature": f"t={old},v1={hexed('whsec_x', old.encode() + b'.' + BODY)}"}
    with pytest.raises(Unauthorized, match="5 minutes"):
        verified(hook("stripe"), "whsec_x", late, BODY, NOW)


def test_a_plain_hmac_is_as_the_trigger_says() -> None:
    simple = hook("hmac", header="X-Signature", prefix="sha256=")
    assert verified(simple, "key", {"x-signature": f"sha256={hexed('key', BODY)}"}, BODY, NOW) == Delivered(
        ""
    )
    slack = hook(
        "hmac",
        header="X-Slack-Signature",
        prefix="v0=",
        timestamp_header="X-Slack-Time",
        signed="v0:{timestamp}:{body}",
    )
    headers = {
        "x-slack-signature": f"v0={hexed('key', b'v0:' + SECONDS.encode() + b':' + BODY)}",
        "x-slack-time": SECONDS,
    }
    assert verified(slack, "key", headers, BODY, NOW) == Delivered("")
    with pytest.raises(Unauthorized):
        verified(slack, "key", {**headers, "x-slack-time": str(int(SECONDS) + 1)}, BODY, NOW)
    encoded = hook("hmac", header="X-Sum", encoding="base64", id_header="X-Id", signed="{id}.{body}")
    mac = b64encode(hmac.new(b"key", b"{body}." + BODY, sha256).digest()).decode()
    assert verified(encoded, "key", {"x-sum": mac, "x-id": "{body}"}, BODY, NOW).event_id == "{body}"


@pytest.mark.parametrize("scheme", ["github", "stripe", "standard"])
@pytest.mark.parametrize(
    "headers", [{}, {"x-hub-signature-256": "sha256=ü"}, {"stripe-signature": "t=,v1=\udce9"}]
)
def test_what_is_not_signed_is_refused(scheme: str, headers: dict[str, str]) -> None:
    with pytest.raises(Unauthorized):
        verified(hook(scheme), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", headers, BODY, NOW)


def test_an_event_is_known_by_the_id_that_is_signed_or_else_by_its_body() -> None:
    assert id_of(hook("stripe"), Delivered(""), {"id": "evt_1"}, BODY) == "evt_1"
    plain = hook("hmac", header="X-Signature")
    assert id_of(plain, Delivered(""), {"id": "evt_1"}, BODY) == f"sha256-{sha256(BODY).hexdigest()}"
    assert id_of(hook("github"), Delivered("d-1"), {}, BODY) == "d-1"
    with pytest.raises(Unauthorized):
        id_of(hook("github"), Delivered("d" * 257), {}, BODY)


@pytest.mark.parametrize(
    "fields",
    [
        {"scheme": "github", "header": "X-Signature"},
        {"scheme": "hmac"},
        {"scheme": "hmac", "header": "X", "signed": "{timestamp}.{body}"},
        {"scheme": "hmac", "header": "X", "timestamp_header": "X-T", "signed": "{body}"},
        {"scheme": "hmac", "header": "X", "signed": "nothing"},
        {"scheme": "rsa"},
    ],
)
def test_a_scheme_that_proves_nothing_cannot_be_defined(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SignedWebhook(secret="s", **fields)
