"""The webhook against a server on the loopback address."""

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acta.engine.clock import SystemClock
from acta.engine.notifications.notification import (
    NotDelivered,
    Notification,
    NotificationRefused,
    question_notification,
)
from acta.engine.notifications.webhooks import DeploymentWebhook
from acta.engine.settings import Settings, SettingsError
from acta.testing.clock import FakeClock
from tests.doubles.http_sink import Reply, Sink
from tests.egress.test_exchange import BODIES
from tests.stores.documents import make_intervention

PAGE = Path(__file__).parents[2] / "docs" / "notifications.md"
SECRET = "a secret of thirty-two characters"


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as made:
        yield made


@pytest.fixture
def notification() -> Notification:
    found = question_notification("acme", make_intervention("ses_1", "int_1"), is_new=True)
    assert found is not None
    return found


def webhook(sink: Sink, path: str = "/hook", secret: str = SECRET, seconds: float = 10) -> DeploymentWebhook:
    return DeploymentWebhook(sink.url(path), lambda: secret, FakeClock(), seconds=seconds)


def test_what_arrives_verifies_as_the_readme_says(sink: Sink, notification: Notification) -> None:
    webhook(sink, "/hook?of=acta").send(notification)
    (heard,) = sink.heard
    assert (heard.method, heard.path) == ("POST", "/hook?of=acta")
    assert heard.headers["content-type"] == "application/json"
    sent = notification.to_body()
    assert heard.body == json.loads(sent)
    identity, timestamp = heard.headers["webhook-id"], heard.headers["webhook-timestamp"]
    signed = f"{identity}.{timestamp}.".encode() + sent
    digest = hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()
    assert heard.headers["webhook-signature"] == "v1," + base64.b64encode(digest).decode()
    assert identity == notification.notification_id
    assert int(timestamp) == int(FakeClock().now().timestamp())


@pytest.mark.parametrize("secret", [SECRET, "whsec_" + base64.b64encode(SECRET.encode()).decode()])
def test_the_example_of_the_page_tells_what_is_genuine(
    sink: Sink, notification: Notification, secret: str
) -> None:
    """The page's code, run as it stands, against what was sent just now."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    page: dict[str, Any] = {}
    exec(code, page)  # noqa: S102
    is_genuine = page["is_genuine"]
    DeploymentWebhook(sink.url(), lambda: secret, SystemClock()).send(notification)
    (heard,) = sink.heard
    body = notification.to_body()
    assert is_genuine(heard.headers, body, secret)
    assert not is_genuine(heard.headers, body + b" ", secret)
    assert not is_genuine(heard.headers, body, f"{SECRET}2")
    assert not is_genuine({**heard.headers, "webhook-timestamp": "1"}, body, secret)


@pytest.mark.parametrize("status", [200, 202, 204])
def test_any_success_is_taken(sink: Sink, notification: Notification, status: int) -> None:
    sink.replies["/hook"] = Reply(status, body=b"")
    webhook(sink).send(notification)
    assert len(sink.heard) == 1


@pytest.mark.parametrize("name", BODIES)
def test_who_answered_2xx_was_told_whatever_the_rest_of_the_answer_does(
    sink: Sink, notification: Notification, name: str
) -> None:
    sink.replies["/hook"] = BODIES[name]
    webhook(sink).send(notification)
    assert len(sink.heard) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 405, 408, 409, 411, 425, 429, 451, 500, 503])
def test_what_may_be_mended_is_not_delivered_yet(sink: Sink, notification: Notification, status: int) -> None:
    sink.replies["/hook"] = Reply(status)
    with pytest.raises(NotDelivered, match=str(status)):
        webhook(sink).send(notification)


@pytest.mark.parametrize("status", [400, 410, 413, 415, 422])
def test_what_the_receiver_calls_wrong_is_refused(
    sink: Sink, notification: Notification, status: int
) -> None:
    sink.replies["/hook"] = Reply(status)
    with pytest.raises(NotificationRefused, match=str(status)):
        webhook(sink).send(notification)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(sink: Sink, notification: Notification, status: int) -> None:
    sink.replies["/hook"] = Reply(status, headers={"Location": sink.url("/elsewhere")})
    with pytest.raises(NotDelivered):
        webhook(sink).send(notification)
    assert [heard.path for heard in sink.heard] == ["/hook"]


def test_a_receiver_that_never_answers_is_left_in_time(sink: Sink, notification: Notification) -> None:
    sink.held = "/hook"
    with pytest.raises(NotDelivered, match="no answer"):
        webhook(sink, seconds=0.3).send(notification)


def test_a_receiver_that_is_not_there_is_tried_again(notification: Notification) -> None:
    with Sink() as gone:
        pass
    with pytest.raises(NotDelivered, match="no answer"):
        webhook(gone).send(notification)


def test_without_a_usable_secret_nothing_is_sent(sink: Sink, notification: Notification) -> None:
    with pytest.raises(NotDelivered, match="secret"):
        webhook(sink, secret="short").send(notification)
    assert sink.heard == []


def test_no_error_shows_the_secret_the_url_or_the_answer(sink: Sink, notification: Notification) -> None:
    sink.replies["/hook"] = Reply(500, body=b"ANSWER")
    with pytest.raises(NotDelivered) as failed:
        webhook(sink).send(notification)
    assert not any(word in str(failed.value) for word in (SECRET, sink.at, "ANSWER"))


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/x",
        "ftp://hooks.example.com",
        "hooks.example.com",
        "https://",
        "https://user:pass@hooks.example.com",
        "https://hooks.example.com:99999/",
        "https://hooks.example.com/a b",
        "https://hooks.example.com/#part",
    ],
)
def test_a_url_that_is_not_https_or_not_plain_is_refused_in_aws(url: str) -> None:
    with pytest.raises(SettingsError, match="NOTIFY_WEBHOOK_URL"):
        Settings(env="prod", table="t", bucket="b", notify_webhook_url=url)


def test_locally_plain_http_will_do() -> None:
    url = "http://127.0.0.1:9/hook"
    settings = Settings(env="local", is_local=True, table="t", bucket="b", notify_webhook_url=url)
    assert settings.notify_webhook_url == url
