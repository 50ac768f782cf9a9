"""What is told outside, and how it is signed."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from shared.domain.interventions.intervention import Intervention
from shared.domain.interventions.notification import Notification, notification_of, signature, signing_key
from tests.contracts.store.documents import make_intervention

FIELDS = {
    "notification_id", "event", "tenant", "session_id", "intervention_id", "type", "created_at", "timeout_at",
}  # fmt: skip


def waiting(**fields: Any) -> Intervention:
    return make_intervention("ses_1", "int_1", **fields)


def told(*, tenant: str = "acme", is_new: bool = True, **fields: Any) -> Notification:
    found = notification_of(tenant, waiting(**fields), is_new=is_new)
    assert found is not None
    return found


def test_a_notification_has_ids_a_type_and_times_and_nothing_anybody_wrote() -> None:
    full = waiting(context={"question": "SECRET"}, comment="SECRET", input={"text": "SECRET"})
    notification = notification_of("acme", full, is_new=True)
    assert notification is not None
    body = json.loads(notification.to_body())
    assert set(body) == FIELDS
    assert "SECRET" not in notification.to_body().decode()
    assert "delete_file" not in notification.to_body().decode()
    assert (body["event"], body["tenant"], body["session_id"]) == ("intervention.opened", "acme", "ses_1")
    assert (body["intervention_id"], body["type"]) == ("int_1", full.type)


def test_times_are_written_as_the_api_writes_them() -> None:
    at = datetime(2026, 1, 1, 12, 0, 0, 250_747, tzinfo=UTC)
    body = json.loads(told(created_at=at, timeout_at=at.astimezone(timezone(timedelta(hours=2)))).to_body())
    assert body["created_at"] == body["timeout_at"] == "2026-01-01T12:00:00.250Z"
    assert json.loads(told(timeout_at=None).to_body())["timeout_at"] is None


def test_a_repeat_is_the_same_to_the_byte() -> None:
    assert told().to_body() == told().to_body()


def test_each_event_of_each_intervention_of_each_tenant_has_an_id_of_its_own() -> None:
    ids = {
        told().notification_id,
        told(warned=True, is_new=False).notification_id,
        told(tenant="other").notification_id,
    }
    assert len(ids) == 3


def test_a_change_is_sent_once_the_warning_came_and_not_before() -> None:
    assert notification_of("acme", waiting(), is_new=False) is None
    assert told(warned=True, is_new=False).event == "intervention.warned"


@pytest.mark.parametrize("state", ["resolved", "expired", "withdrawn"])
@pytest.mark.parametrize("is_new", [True, False])
def test_what_waits_no_longer_is_not_sent(state: str, is_new: bool) -> None:
    assert notification_of("acme", waiting(state=state, warned=True), is_new=is_new) is None


def test_the_signature_is_that_of_the_standard_webhooks_libraries() -> None:
    key = signing_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    signed = signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_every_part_of_what_is_signed_counts() -> None:
    key = signing_key("a plain secret of a team")
    signatures = {
        signature(key, "ntf_1", 1, b"{}"),
        signature(key, "ntf_2", 1, b"{}"),
        signature(key, "ntf_1", 2, b"{}"),
        signature(key, "ntf_1", 1, b"{ }"),
        signature(signing_key("another secret of a team"), "ntf_1", 1, b"{}"),
    }
    assert len(signatures) == 5


@pytest.mark.parametrize("secret", ["", "short", "whsec_", "whsec_not base64!", "whsec_" + "QQ=="])
def test_what_is_no_key_is_refused_without_being_quoted(secret: str) -> None:
    with pytest.raises(ValueError, match=r"key has|not base64") as refused:
        signing_key(secret)
    assert not secret or secret not in str(refused.value)
