"""Webhooks that tenants and sessions name: where they may be, and what becomes of one that is not reached."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from threading import Event

import pytest

from acta.engine.egress.address import FOR_NOTIFICATIONS, AddressGuard, Resolve
from acta.engine.notifications.dynamodb import StoredReceivers
from acta.engine.notifications.notification import (
    EndNotification,
    NotDelivered,
    NotificationRefused,
    end_notification,
)
from acta.engine.notifications.receiver import TenantReceiver
from acta.engine.notifications.webhooks import LONGEST_REST, OwnWebhooks
from acta.engine.settings import Settings, SettingsError
from acta.testing.clock import FakeClock
from tests.doubles.http_sink import Reply, Sink
from tests.stores.documents import make_head

SECRET = "a secret of thirty-two characters"
AT = datetime(2026, 1, 1, tzinfo=UTC)
PLACE = "T#acme"


class Names:
    """The addresses of every host, one list for each time it is looked up; the last one stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Deployment:
    """`allow`: hosts of the local machine; `hosts`: those of a deployment in AWS."""

    def __init__(
        self,
        url: str | None,
        session_url: str | None = None,
        *,
        allow: str = "",
        hosts: str = "",
        names: Resolve | None = None,
    ) -> None:
        settings = Settings(
            env="test", is_local=bool(allow), table="t", bucket="b", notify_allow=allow, notify_hosts=hosts
        )
        guard = AddressGuard(settings, names or Names(["127.0.0.1"]), FOR_NOTIFICATIONS)
        self.tenant: TenantReceiver | None = TenantReceiver(
            tenant="acme", url=url, created_at=AT, updated_at=AT, updated_by="ann"
        )
        self.session_url = session_url
        self.now = 0.0
        self.clock: Callable[[], float] = lambda: time.monotonic() + self.now
        self.webhooks = OwnWebhooks(
            lambda partition, session: StoredReceivers(self.tenant, self.session_url),
            guard, {"acme": SECRET}.__getitem__, FakeClock(), seconds=0.3, now=lambda: self.clock(),
        )  # fmt: skip

    def names(self, told: EndNotification) -> tuple[str, ...]:
        return self.webhooks.of(told, PLACE)

    def send(self, told: EndNotification, place: str = PLACE) -> None:
        self.webhooks.send("tenant", told, place)


def ended(visibility: str = "tenant") -> EndNotification:
    told = end_notification(make_head("acme", "ses_1", state="completed", visibility=visibility))
    assert told is not None
    return told


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as made:
        yield made


def test_each_is_told_signed_with_the_tenant_s_secret(sink: Sink) -> None:
    here = Deployment(sink.url("/tenant"), sink.url("/session?of=mine"), allow=sink.at)
    assert here.names(ended()) == ("tenant", "session")
    for to in here.webhooks.of(ended(), PLACE):
        here.webhooks.send(to, ended(), PLACE)
    assert [heard.path for heard in sink.heard] == ["/tenant", "/session?of=mine"]
    for heard in sink.heard:
        body = ended().to_body()
        assert heard.body == json.loads(body)
        signed = f"{heard.headers['webhook-id']}.{heard.headers['webhook-timestamp']}.".encode() + body
        digest = hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()
        assert heard.headers["webhook-signature"] == "v1," + base64.b64encode(digest).decode()


def test_who_named_nothing_is_not_told_and_one_address_is_told_once() -> None:
    assert Deployment(None).names(ended()) == ()
    assert Deployment(None, "https://a.example/x").names(ended()) == ("session",)
    assert Deployment("https://a.example/x", "https://a.example/x").names(ended()) == ("tenant",)
    without = Deployment(None, "https://a.example/x")
    without.tenant = None
    assert without.names(ended()) == ()


def test_a_private_session_is_told_to_the_webhook_that_its_owner_named_alone() -> None:
    same = "https://a.example/x"
    assert Deployment(same, "https://b.example").names(ended("private")) == ("session",)
    assert Deployment(same, same).names(ended("private")) == ("session",)
    assert Deployment(same).names(ended("private")) == ()


def test_what_was_taken_back_meanwhile_is_not_sent(sink: Sink) -> None:
    here = Deployment(sink.url(), allow=sink.at)
    here.tenant = None
    here.send(ended())
    assert sink.heard == []


@pytest.mark.parametrize(
    "host", ["elsewhere.example", "hooks.example.com:8443", "hooks.example.com.evil.example"]
)
def test_a_host_outside_the_operator_s_list_is_refused_for_good_and_not_looked_up(host: str) -> None:
    names = Names(["93.184.215.14"])
    with pytest.raises(NotificationRefused):
        Deployment(f"https://{host}/x", hosts="hooks.example.com", names=names).send(ended())
    assert names.asked == 0


@pytest.mark.parametrize("address", ["169.254.169.254", "127.0.0.1", "10.0.0.7", "::1", "fd00:ec2::254"])
def test_a_listed_host_at_an_address_inside_is_not_dialled(address: str) -> None:
    names = Names([address])
    with pytest.raises(NotDelivered, match="not at a public address"):
        Deployment("https://hooks.example.com/x", hosts="hooks.example.com", names=names).send(ended())


def test_a_name_that_changes_after_the_check_is_not_followed() -> None:
    """It is looked up once for a request, so there is no second answer to be dialled; the next request checks anew."""
    names = Names(["192.88.99.9"], ["127.0.0.1"])
    here = Deployment("https://hooks.example.com/x", hosts="hooks.example.com", names=names)
    for asked in (1, 2):
        with pytest.raises(NotDelivered, match="not at a public address"):
            here.send(ended())
        assert names.asked == asked
        here.now += LONGEST_REST


def test_plain_http_is_refused_where_the_host_is_not_the_developer_s_own() -> None:
    with pytest.raises(NotificationRefused):
        Deployment("http://hooks.example.com/x", hosts="hooks.example.com,hooks.example.com:80").send(ended())


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(sink: Sink, status: int) -> None:
    sink.replies["/hook"] = Reply(status, headers={"Location": sink.url("/elsewhere")})
    with pytest.raises(NotDelivered, match=str(status)):
        Deployment(sink.url("/hook"), allow=sink.at).send(ended())
    assert [heard.path for heard in sink.heard] == ["/hook"]


def test_a_silent_server_is_left_alone_for_a_while_and_then_tried_again(sink: Sink) -> None:
    here = Deployment(sink.url("/hook"), allow=sink.at)
    sink.held = "/hook"
    with pytest.raises(NotDelivered, match="no answer"):
        here.send(ended())
    with pytest.raises(NotDelivered, match="a moment ago"):
        here.send(ended())
    assert len(sink.heard) == 1
    sink.held, here.now = "", LONGEST_REST
    here.send(ended())
    here.send(ended())
    assert len(sink.heard) == 3


def test_a_server_that_took_one_and_never_ends_its_answer_is_quick(sink: Sink) -> None:
    here = Deployment(sink.url("/hook"), allow=sink.at)
    sink.replies["/hook"] = Reply(wire=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", then="held")
    here.send(ended())
    here.send(ended())
    assert len(sink.heard) == 2


def test_a_server_that_takes_each_one_slowly_goes_on_to_be_told(sink: Sink) -> None:
    here = Deployment(sink.url("/hook"), allow=sink.at)
    here.clock = lambda: here.now + 1.2 * len(sink.heard)
    for number in range(1, 8):
        here.send(ended())
        assert len(sink.heard) == number
        here.now += 10.7
        with pytest.raises(NotDelivered, match="a moment ago"):
            here.send(ended())
        here.now += 0.2


@pytest.mark.parametrize("status", [503, 301])
def test_a_slow_server_that_takes_nothing_rests_twice_as_long_each_time(sink: Sink, status: int) -> None:
    here = Deployment(sink.url("/hook"), allow=sink.at)
    sink.replies["/hook"] = Reply(status)
    here.clock = lambda: here.now + 4.0 * len(sink.heard)
    for number, rest in enumerate((36.0, 72.0, 144.0, 288.0, 576.0, LONGEST_REST, LONGEST_REST), 1):
        with suppress(NotDelivered):
            here.send(ended())
        assert len(sink.heard) == number
        here.now += rest - 1
        with pytest.raises(NotDelivered, match="a moment ago"):
            here.send(ended())
        here.now += 1


def test_a_server_that_refuses_quickly_has_a_tenth_of_the_time_and_one_that_takes_quickly_no_rest(
    sink: Sink,
) -> None:
    here = Deployment(sink.url("/hook"), allow=sink.at)
    here.clock = lambda: here.now + 0.5 * len(sink.heard)
    sink.replies["/hook"] = Reply(503)
    for number in (1, 2, 3):
        with pytest.raises(NotDelivered, match="503"):
            here.send(ended())
        with pytest.raises(NotDelivered, match="a moment ago"):
            here.send(ended())
        assert len(sink.heard) == number
        here.now += 4.5
    sink.replies["/hook"] = Reply(204)
    here.send(ended())
    here.send(ended())
    assert len(sink.heard) == 5


def test_a_look_up_that_does_not_end_uses_up_the_time_and_puts_the_server_to_rest() -> None:
    over = Event()

    def look_up(host: str, port: int) -> Sequence[str]:
        over.wait(30)
        return ()

    here = Deployment("https://hooks.example.com/x", hosts="hooks.example.com", names=look_up)
    for why in ("not found", "a moment ago"):
        with pytest.raises(NotDelivered, match=why):
            here.send(ended())
    over.set()


def test_a_session_s_webhook_does_not_put_the_tenant_s_at_the_same_server_to_rest(sink: Sink) -> None:
    here = Deployment(sink.url("/admins"), sink.url("/silent"), allow=sink.at)
    sink.held = "/silent"
    with pytest.raises(NotDelivered, match="no answer"):
        here.webhooks.send("session", ended(), PLACE)
    here.send(ended())
    assert [heard.path for heard in sink.heard] == ["/silent", "/admins"]


def test_a_server_that_is_silent_to_one_tenant_is_asked_for_another(sink: Sink) -> None:
    here = Deployment(sink.url("/silent"), allow=sink.at)
    sink.held = "/silent"
    with pytest.raises(NotDelivered, match="no answer"):
        here.send(ended(), "T#other")
    assert here.tenant is not None
    here.tenant = here.tenant.model_copy(update={"url": sink.url("/good")})
    here.send(ended())
    assert [heard.path for heard in sink.heard] == ["/silent", "/good"]


def test_no_error_shows_the_secret_the_url_or_the_address(sink: Sink) -> None:
    sink.replies["/hook"] = Reply(500, body=b"ANSWER")
    listed = {"hosts": "hooks.example.com", "names": Names(["10.0.0.7"])}
    for here in (
        Deployment(sink.url("/hook"), allow=sink.at),
        Deployment("https://hooks.example.com/hook", **listed),  # type: ignore[arg-type]
        Deployment("https://elsewhere.example/hook", **listed),  # type: ignore[arg-type]
    ):
        with pytest.raises((NotDelivered, NotificationRefused)) as failed:
            here.send(ended())
        words = (SECRET, sink.at, "ANSWER", "example", "hook", "10.0.0.7")
        assert not any(word in str(failed.value) for word in words)


def test_such_an_exception_is_for_a_local_stack_alone() -> None:
    with pytest.raises(SettingsError, match="NOTIFY_ALLOW"):
        Settings(env="prod", table="t", bucket="b", notify_allow="127.0.0.1:1")
