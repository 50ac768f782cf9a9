"""What is told outside, and how it is signed."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from acta.engine.log.head import Failure, Head, Result, Run
from acta.engine.notifications.notification import (
    Addresses,
    Notification,
    QuestionNotification,
    ReceiverName,
    end_notification,
    question_notification,
)
from acta.engine.notifications.receiver import signature, signing_key
from acta.engine.people.intervention import Intervention
from tests.stores.documents import make_head, make_intervention

FIELDS = {
    "notification_id", "event", "tenant", "session_id", "intervention_id", "type", "role", "also_roles",
    "asked_for", "created_at", "timeout_at", "links",
}  # fmt: skip


def waiting(**fields: Any) -> Intervention:
    return make_intervention("ses_1", "int_1", **fields)


def told(*, tenant: str = "acme", is_new: bool = True, **fields: Any) -> QuestionNotification:
    found = question_notification(tenant, waiting(**fields), is_new=is_new)
    assert found is not None
    return found


def test_a_notification_has_ids_a_type_a_role_and_times_and_nothing_anybody_wrote() -> None:
    full = waiting(context={"question": "SECRET"}, comment="SECRET", input={"text": "SECRET"})
    notification = question_notification("acme", full, is_new=True)
    assert notification is not None
    body = json.loads(notification.to_body())
    assert set(body) == FIELDS
    assert "SECRET" not in notification.to_body().decode()
    assert "delete_file" not in notification.to_body().decode()
    assert (body["event"], body["tenant"], body["session_id"]) == ("intervention.opened", "acme", "ses_1")
    assert (body["intervention_id"], body["type"], body["role"]) == ("int_1", full.type, "approver")


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
    assert question_notification("acme", waiting(), is_new=False) is None
    assert told(warned=True, is_new=False).event == "intervention.warned"


@pytest.mark.parametrize("state", ["resolved", "expired", "withdrawn"])
@pytest.mark.parametrize("is_new", [True, False])
def test_what_waits_no_longer_is_not_sent(state: str, is_new: bool) -> None:
    assert question_notification("acme", waiting(state=state, warned=True), is_new=is_new) is None


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


RUN = Run(run_id="run_1", first=1, max_steps=50, generation=2)


def over(**fields: Any) -> Head:
    return make_head(
        **{
            "tenant": "acme",
            "session_id": "ses_1",
            "state": "completed",
            "state_reason": "max_steps",
            "goal": "SECRET",
            "metadata": {"SECRET": "SECRET"},
            "run": RUN,
            "result": Result(goal_met=False, answer="SECRET", reason="max_steps"),
            "error": None,
            **fields,
        },
    )


def end_of(**fields: Any) -> dict[str, Any]:
    found = end_notification(
        over(**fields), Addresses("https://api.example.com/", "https://console.example.com/acta")
    )
    assert found is not None
    assert b"SECRET" not in found.to_body()
    body: dict[str, Any] = json.loads(found.to_body())
    return body


def test_the_end_of_a_session_has_its_state_and_the_reason_s_code_and_nothing_anybody_wrote() -> None:
    body = end_of()
    assert body.pop("notification_id").startswith("ntf_")
    assert body == {
        "event": "session.ended",
        "tenant": "acme",
        "session_id": "ses_1",
        "run_id": "run_1",
        "state": "completed",
        "reason": "max_steps",
        "goal_met": False,
        "updated_at": "2026-01-01T12:00:00.123Z",
        "links": {
            "api": "https://api.example.com/v1/sessions/ses_1",
            "console": "https://console.example.com/acta/sessions/ses_1",
        },
    }


def test_a_failed_and_a_cancelled_run_say_why_by_their_codes() -> None:
    error = Failure(code="PLAN_FAILED", message="SECRET")
    failed = end_of(state="failed", state_reason="plan_failed", result=None, error=error)
    assert (failed["state"], failed["reason"], failed["goal_met"]) == ("failed", "plan_failed", None)
    stopped = end_of(state="cancelled", state_reason="cancelled", result=None, run=None)
    assert (stopped["state"], stopped["reason"], stopped["run_id"]) == ("cancelled", "cancelled", None)


def test_each_end_has_an_id_of_its_own_and_what_comes_after_it_changes_nothing() -> None:
    first = end_of()["notification_id"]
    assert end_of(updated_at=datetime(2027, 1, 1, tzinfo=UTC))["notification_id"] == first
    others = [
        end_of(run=RUN.model_copy(update={"run_id": "run_2"})),
        end_of(run=RUN.model_copy(update={"generation": 3})),
        end_of(tenant="other"),
        end_of(session_id="ses_2"),
    ]
    assert len({first, *(each["notification_id"] for each in others)}) == 5


@pytest.mark.parametrize("fields", [{"state": "planning"}, {"state": "idle"}, {"deleted": True}])
def test_what_is_not_over_or_is_deleted_has_no_end_to_tell(fields: dict[str, Any]) -> None:
    assert end_notification(over(**fields)) is None


def test_links_lead_to_the_question_on_the_own_page_and_without_a_base_they_are_the_api_s_paths() -> None:
    assert told().links == {"api": "/v1/sessions/ses_1/interventions/int_1"}
    own = Addresses("https://a.example/")
    question, end = question_notification("acme", waiting(), own, is_new=True), end_notification(over(), own)
    assert question is not None
    assert end is not None
    assert question.links == {
        "api": "https://a.example/v1/sessions/ses_1/interventions/int_1",
        "console": "https://a.example/console/inbox/ses_1/int_1",
    }
    assert end.links["console"] == f"https://a.example/console/sessions/{end.session_id}"


def test_links_lead_to_a_console_of_the_operator_s_where_the_environment_names_one() -> None:
    with_console = question_notification("acme", waiting(), Addresses("", "https://c.example"), is_new=True)
    assert with_console is not None
    assert with_console.links["console"] == "https://c.example/sessions/ses_1/interventions/int_1"


def test_a_private_session_is_told_where_its_owner_said_and_its_question_to_who_has_the_role() -> None:
    receivers: tuple[ReceiverName, ...] = ("deployment", "tenant", "session")

    def reached(notification: Notification | None) -> list[ReceiverName]:
        assert notification is not None
        return [each for each in receivers if notification.may_be_told(each)]

    assert reached(end_notification(over(visibility="private"))) == ["session"]
    assert reached(end_notification(over())) == list(receivers)
    assert reached(told(private_to="ann", role=None)) == ["deployment", "session"]
    assert reached(told(private_to="ann", role="finance")) == list(receivers)
    assert b"ann" not in told(private_to="ann").to_body()
