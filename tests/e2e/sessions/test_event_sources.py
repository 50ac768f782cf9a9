"""Events of the operator's sources start sessions: of written files, of EventBridge, of queues."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from acta.local_aws.testing import eventually
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Json, Person, refused


@pytest.fixture
def boss(admit: Admit) -> Person:
    """An admin of a tenant that is this test's alone."""
    return admit(role="admin", user="boss")


def define(boss: Person, name: str, **trigger: Any) -> None:
    answer = boss.http.put(f"/v1/triggers/{name}", json=trigger)
    assert answer.status_code == 201, answer.text


def told_events(boss: Person, name: str, count: int) -> list[Json]:
    """The trigger's events, once so many have started their sessions."""

    def settled() -> list[Json] | None:
        found = boss.items(f"/v1/triggers/{name}/events")
        return found if [each["outcome"] for each in found].count("started") >= count else None

    return eventually(settled)


def goals(boss: Person, found: list[Json]) -> list[str]:
    """The first line of what each of the events' sessions was told."""
    told = [boss.data(f"/v1/sessions/{each['session_id']}/messages")["items"][0] for each in found]
    return sorted(each["content"].splitlines()[0] for each in told)


def test_a_file_that_is_written_over_the_api_starts_one_session_with_its_path(
    boss: Person, admit: Admit
) -> None:
    define(boss, "invoices", source="inbox", goal="Look at {{event.path}}, {{event.bytes}} bytes.")
    outside = admit(role="admin", user="outside")
    define(outside, "invoices", source="inbox", goal="Look at {{event.path}}.")

    boss.put_file("inbox/May 1+ü.pdf", "hello")
    boss.put_file("elsewhere/a.pdf", "hello")
    boss.put_file("~/inbox/a.pdf", "hello")
    boss.put_file("inbox/last.pdf", "hello!")

    found = told_events(boss, "invoices", 2)
    assert goals(boss, found) == [
        'Look at "inbox/May 1+ü.pdf", 5 bytes.',
        'Look at "inbox/last.pdf", 6 bytes.',
    ]
    assert len(boss.items("/v1/sessions")) == 2
    assert outside.items("/v1/sessions") == []
    for each in found:
        boss.finished(each["session_id"])


def test_a_file_that_an_agent_writes_starts_nothing_unless_the_trigger_asks_for_it(boss: Person) -> None:
    define(boss, "from-people", source="inbox", goal="From people: {{event.path}}")
    define(
        boss,
        "from-agents",
        source="inbox",
        pattern={"written_by": ["agent"]},
        goal="From {{event.written_by}}: {{event.path}}",
    )
    mine = boss.start("Create the file inbox/made.md with the content hello")
    boss.finished(mine)
    boss.put_file("inbox/mine.md", "hello")

    assert goals(boss, told_events(boss, "from-agents", 1)) == ['From "agent": "inbox/made.md"']
    assert goals(boss, told_events(boss, "from-people", 1)) == ['From people: "inbox/mine.md"']
    eventually(lambda: True if _counts(boss, "from-people")["ignored"] == 1 else None)
    eventually(lambda: True if _counts(boss, "from-agents")["ignored"] == 1 else None)
    assert len(boss.items("/v1/sessions")) == 3


def _counts(boss: Person, name: str) -> Json:
    return dict(boss.data(f"/v1/triggers/{name}")["events"])


def test_a_trigger_names_a_source_that_the_operator_has_set_up(boss: Person) -> None:
    error = refused(
        boss.http.put("/v1/triggers/t", json={"source": "inbocks", "goal": "Look."}), 400, "VALIDATION_ERROR"
    )
    assert error["details"] == {
        "source": ["There is no event source of that name for you. Did you mean inbox?"]
    }


def put_events(behind: Behind, *details: Json) -> None:
    entries = [
        {"Source": "acta.local", "DetailType": "order.paid", "Detail": json.dumps(each)} for each in details
    ]
    assert behind.client("events").put_events(Entries=entries)["FailedEntryCount"] == 0


def nothing_waits(behind: Behind, queue: str) -> None:
    """Once all messages of the queue are done with, or moved away."""
    sqs = behind.client("sqs")
    url = sqs.get_queue_url(QueueName=queue)["QueueUrl"]
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]

    def left() -> int:
        found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        return sum(int(each) for each in found.values())

    eventually(lambda: True if left() == 0 else None)


def test_an_event_that_is_put_on_the_bus_twice_starts_one_session(boss: Person, behind: Behind) -> None:
    define(
        boss,
        "orders",
        source="events",
        pattern={"detail": {"total": [{"numeric": [">", 100]}]}},
        goal="Check order {{event.detail.id}} of {{event.detail.total}}.",
    )
    order = {"tenant": boss.tenant, "id": "4711", "total": 700}
    put_events(behind, order, {**order, "id": "4712", "total": 7}, order, {**order, "tenant": "nobody"})
    put_events(behind, order)
    nothing_waits(behind, "acta-local-events")

    (started,) = told_events(boss, "orders", 1)
    assert goals(boss, [started]) == ['Check order "4711" of 700.']
    assert len(boss.items("/v1/sessions")) == 1
    assert _counts(boss, "orders")["ignored"] == 1


@pytest.fixture
def jobs(boss: Person, behind: Behind) -> Iterator[str]:
    """The URL of a queue of the operator's that is an event source, as an environment with
    `QueueMessages("jobs", tenants=(…,))` has it. Two attempts, and a message is in the dead-letter queue.
    """
    sqs, iam = behind.client("sqs"), behind.client("iam")
    arns = {}
    for name, attributes in (("jobs-failed", {}), ("jobs", {"VisibilityTimeout": "10"})):
        url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        arns[name] = found["Attributes"]["QueueArn"]
    redrive = json.dumps({"deadLetterTargetArn": arns["jobs-failed"], "maxReceiveCount": 2})
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"RedrivePolicy": redrive})
    sources = json.dumps({"jobs": {"kind": "queue", "queue": "jobs", "tenants": [boss.tenant], "id": "job"}})
    functions = behind.client("lambda")
    role = functions.get_function_configuration(FunctionName="acta-local-wake")["Role"].rpartition("/")[2]
    takes = ["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"]
    statement = {"Effect": "Allow", "Action": takes, "Resource": arns["jobs"]}
    iam.put_role_policy(
        RoleName=role, PolicyName="jobs", PolicyDocument=json.dumps({"Statement": [statement]})
    )
    with behind.configured("wake", "admin", ACTA_EVENT_SOURCES=sources):
        mapping = functions.create_event_source_mapping(
            FunctionName="acta-local-wake",
            EventSourceArn=arns["jobs"],
            FunctionResponseTypes=["ReportBatchItemFailures"],
        )
        yield url
        functions.delete_event_source_mapping(UUID=mapping["UUID"])
    iam.delete_role_policy(RoleName=role, PolicyName="jobs")
    for name in arns:
        sqs.delete_queue(QueueUrl=sqs.get_queue_url(QueueName=name)["QueueUrl"])


def test_a_message_of_a_queue_starts_one_session_and_a_poisoned_one_holds_up_no_other(
    boss: Person, behind: Behind, jobs: str
) -> None:
    define(boss, "jobs", source="jobs", goal="Do job {{event.job}}.")
    sqs = behind.client("sqs")
    bodies = (
        json.dumps({"job": 1}),
        "no JSON",
        json.dumps({"no": "job"}),
        json.dumps({"job": 2}),
        json.dumps({"job": 1}),
    )
    for body in bodies:
        sqs.send_message(QueueUrl=jobs, MessageBody=body)

    assert goals(boss, told_events(boss, "jobs", 2)) == ["Do job 1.", "Do job 2."]
    nothing_waits(behind, "jobs")
    dead = sqs.get_queue_url(QueueName="jobs-failed")["QueueUrl"]
    poisoned = sqs.receive_message(QueueUrl=dead, MaxNumberOfMessages=10)["Messages"]
    assert sorted(each["Body"] for each in poisoned) == ["no JSON", '{"no": "job"}']
    assert len(boss.items("/v1/sessions")) == 2
