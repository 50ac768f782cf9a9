"""What waits for a person, and what has ended, is told to a webhook: signed, repeated until it is taken, and never in a
session's way.
"""

import base64
import json
from collections.abc import Iterator

import pytest

from acta.local_aws.testing import eventually
from tests.doubles.http_sink import Heard, Reply, Sink
from tests.e2e.support.behind import Behind
from tests.e2e.support.notified import NOTIFY, stream_is_read, verifies
from tests.e2e.support.person import Person, Seen
from tests.e2e.support.samples import DELETION, GOAL, OLD

SECRET = "whsec_" + base64.b64encode(b"a key of thirty-two bytes or so.").decode()
HOOK = "/hook"


class Receiver(Sink):
    """`broken` for notifications of these types."""

    broken: frozenset[str] = frozenset()

    def reply_to(self, heard: Heard) -> Reply:
        return Reply(503) if heard.body.get("type") in self.broken else Reply(204, body=b"")


@pytest.fixture(scope="module")
def sink() -> Iterator[Receiver]:
    with Receiver() as made:
        yield made


@pytest.fixture(scope="module", autouse=True)
def listening(behind: Behind, sink: Receiver) -> Iterator[None]:
    with (
        behind.configured("notify", ACTA_NOTIFY_WEBHOOK_URL=sink.url(HOOK), ACTA_NOTIFY_SECRET=SECRET),
        stream_is_read(behind),
    ):
        yield


@pytest.fixture(autouse=True)
def receiving(sink: Receiver) -> Iterator[None]:
    yield
    sink.broken = frozenset()


def ask(person: Person) -> Seen:
    """A session that waits for an approval."""
    person.put_file(OLD, "text")
    return person.asked(person.start(DELETION))


def ask_for_review(person: Person) -> Seen:
    return person.asked(person.start(GOAL, review_every=1))


def api_of(person: Person) -> str:
    return f"{str(person.http.base_url).rstrip('/')}/v1"


def page_of(person: Person) -> str:
    return f"{str(person.http.base_url).rstrip('/')}/console"


def wait_until_nothing_is_left(behind: Behind) -> None:
    """To be told again, now or later."""
    sqs, counts = (
        behind.client("sqs"),
        [f"ApproximateNumberOfMessages{each}" for each in ("", "NotVisible", "Delayed")],
    )
    url = sqs.get_queue_url(QueueName=f"{NOTIFY}-again")["QueueUrl"]

    def is_empty() -> bool:
        found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=counts)["Attributes"]
        return all(found[name] == "0" for name in counts)

    eventually(is_empty)


def told_of(sink: Receiver, seen: Seen, events: str = "intervention.") -> list[Heard]:
    return [
        heard
        for heard in sink.heard
        if heard.body["session_id"] == seen.session["session_id"] and heard.body["event"].startswith(events)
    ]


def wait_until_told(sink: Receiver, seen: Seen, times: int = 1) -> list[Heard]:
    return eventually(lambda: found if len(found := told_of(sink, seen)) >= times else None)


def test_a_session_that_asks_is_announced_once_signed_and_without_its_content(
    ann: Person, behind: Behind, sink: Receiver
) -> None:
    seen = ask(ann)
    (asked,) = seen.session["interventions"]

    (heard,) = wait_until_told(sink, seen)

    assert heard.body == {
        "notification_id": heard.headers["webhook-id"],
        "event": "intervention.opened",
        "tenant": ann.tenant,
        "session_id": seen.session["session_id"],
        "intervention_id": asked["intervention_id"],
        "type": "approval_required",
        "role": None,
        "also_roles": [],
        "asked_for": [],
        "created_at": asked["created_at"],
        "timeout_at": asked["timeout_at"],
        "links": {
            "api": f"{api_of(ann)}/sessions/{asked['session_id']}/interventions/{asked['intervention_id']}",
            "console": f"{page_of(ann)}/inbox/{asked['session_id']}/{asked['intervention_id']}",
        },
    }
    assert verifies(heard, SECRET)
    assert ann.resolve(heard.body["session_id"], asked["intervention_id"], "approve").status_code == 200
    ann.finished(seen.session["session_id"])
    # changes come in order: when the next session's is told, everything of this one has been
    wait_until_told(sink, ask(ann))
    assert len(told_of(sink, seen)) == 1
    lines = [line for line in behind.log_lines() if "acta-notify" in line]
    assert any(heard.headers["webhook-id"] in line for line in lines)
    assert not any(word in line for line in lines for word in (OLD, SECRET, sink.at))


def test_a_session_that_ends_is_announced_once_signed_and_without_its_content(
    ann: Person, behind: Behind, sink: Receiver
) -> None:
    seen = ann.finished(ann.start(GOAL))
    session = seen.session

    (heard,) = eventually(lambda: told_of(sink, seen, "session.") or None)

    assert heard.body == {
        "notification_id": heard.headers["webhook-id"],
        "event": "session.ended",
        "tenant": ann.tenant,
        "session_id": session["session_id"],
        "run_id": session["run"]["run_id"],
        "state": "completed",
        "reason": session["result"]["reason"],
        "goal_met": session["result"]["goal_met"],
        "updated_at": session["updated_at"],
        "links": {
            "api": f"{api_of(ann)}/sessions/{session['session_id']}",
            "console": f"{page_of(ann)}/sessions/{session['session_id']}",
        },
    }
    assert verifies(heard, SECRET)
    wait_until_told(sink, ask(ann))
    assert len(told_of(sink, seen, "session.")) == 1


@pytest.mark.thorough
def test_one_that_nobody_takes_holds_no_other_up_and_comes_again_under_its_id(
    ann: Person, behind: Behind, sink: Receiver
) -> None:
    sink.broken = frozenset({"approval_required"})
    untold = ask(ann)
    wait_until_told(sink, untold)

    for _ in range(3):
        wait_until_told(sink, ask_for_review(ann))

    wait_until_told(sink, untold, times=2)
    sink.broken = frozenset()
    refused = len(told_of(sink, untold))
    heard = wait_until_told(sink, untold, times=refused + 1)
    wait_until_nothing_is_left(behind)
    assert len({each.headers["webhook-id"] for each in heard}) == 1
    assert len({json.dumps(each.body) for each in heard}) == 1
    assert all(verifies(each, SECRET) for each in heard)


def test_a_webhook_that_fails_slows_no_session_and_what_is_decided_is_not_announced_late(
    ann: Person, behind: Behind, sink: Receiver
) -> None:
    sink.broken = frozenset({"approval_required"})
    seen = ask(ann)
    wait_until_told(sink, seen)
    (asked,) = seen.session["interventions"]
    assert ann.resolve(asked["session_id"], asked["intervention_id"], "approve").status_code == 200
    assert ann.finished(asked["session_id"]).session["state"] == "completed"
    sink.broken = frozenset()
    decided = len(told_of(sink, seen))
    # the change that decided it comes by the stream, in order; the one to be told again by the queue
    wait_until_told(sink, ask(ann))
    wait_until_nothing_is_left(behind)
    assert len(told_of(sink, seen)) - decided <= 1, "at most the attempt that was on its way"


def test_the_warning_before_an_expiry_is_announced_too(ann: Person, behind: Behind, sink: Receiver) -> None:
    timeouts = {"ACTA_APPROVAL_TIMEOUT_SECONDS": "3600", "ACTA_INTERVENTION_WARN_SECONDS": "3599"}
    with behind.configured("step", "intervene", **timeouts):
        seen = ask(ann)
        opened, warned = (heard.body for heard in wait_until_told(sink, seen, times=2))
    assert [opened["event"], warned["event"]] == ["intervention.opened", "intervention.warned"]
    assert opened["intervention_id"] == warned["intervention_id"]
    assert opened["notification_id"] != warned["notification_id"]
