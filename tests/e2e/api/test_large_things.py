"""Large texts and long sessions, through the deployed API: every answer small, nothing missing (docs/design/api.md 8,
tools.md 17)."""

import hashlib
from collections.abc import Iterator
from typing import Any

import pytest

from acta.engine.clock import SystemClock
from acta.engine.log.commit import Commit
from acta.engine.log.s3 import S3Blobs
from acta.engine.settings import Settings
from acta.engine.store import table_layout as items
from tests.bench.stand.script import Call, Reply
from tests.doubles.http_sink import Reply as Answer
from tests.doubles.http_sink import Sink
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind, payloads
from tests.e2e.support.conversing import ConversingProvider, anthropic_at, http_tool, planned
from tests.e2e.support.person import Json, Person
from tests.in_process import longlog

MB = 1_000_000
MOST_CHARS = 500_000
MOST_TOKENS = 10_000_000
TURNS = 200
BODY = "".join(f"{n:07d}\n" for n in range(262_144))
HANDLE = hashlib.sha256(BODY.encode()).hexdigest()
REPLIES = planned(
    Reply("", (Call("fetch", {"n": 1}),)),
    Reply("", (Call("read_result", {"handle": HANDLE, "offset": 65_536}),)),
    Reply("", (Call("read_result", {"handle": HANDLE, "offset": len(BODY) - 80}),)),
)


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    with Sink({"/fetch": Answer(body=BODY.encode())}) as made:
        yield made


@pytest.fixture(scope="module")
def roomy(behind: Behind, sink: Sink) -> Iterator[None]:
    """Messages as long as they may be, a model that answers, a server that has much to say."""
    model = ConversingProvider()
    model.play(REPLIES)
    with (
        behind.configured("step", **anthropic_at(model.url)),
        behind.configured(
            "start", ACTA_MAX_MESSAGE_CHARS=str(MOST_CHARS), ACTA_CAP_TOKEN_BUDGET=str(MOST_TOKENS)
        ),
        behind.configured("tool", "admin", ACTA_HTTP_TOOL_ALLOW=sink.at),
    ):
        yield
    model.stop()


@pytest.mark.thorough
def test_the_longest_message_and_the_largest_result_leave_every_answer_and_payload_small(
    roomy: None, admit: Admit, behind: Behind, sink: Sink
) -> None:
    boss, goal = admit(role="admin"), "é" * MOST_CHARS
    assert (
        boss.post("/v1/tools", http_tool("fetch", sink.url("/fetch"), effect="read", risk="read")).status_code
        == 201
    )
    session_id = boss.start(goal, token_budget=MOST_TOKENS)
    session = boss.finished(session_id).session
    assert (session["state"], session["result"]["goal_met"]) == ("completed", True)

    told = read_through(boss, f"/v1/sessions/{session_id}/messages", 100)
    (message,) = [one for one in told if one["role"] == "user"]
    assert goal.startswith(message["content"])
    results = [one["content"] for one in told if one["role"] == "tool"][1:4]
    assert results[0].startswith("--- answer (2097152 bytes) #")
    assert results[0].splitlines()[1] == "0000000"
    assert len(results[0]) < 66_000
    assert "\n0008192\n" in results[1]
    assert "\n0262143\n" in results[2]
    assert len(boss.get(f"/v1/sessions/{session_id}").content) < 65_536
    assert len(read_through(boss, f"/v1/sessions/{session_id}/trace", 100)) == 6
    (execution,) = behind.executions(session_id)
    assert max(len(text) for text in payloads(behind.history(execution["executionArn"]))) <= 1_024
    stored = [item for item in behind.items_of(session_id) if "z" in item]
    assert max(len(item["z"]["B"]) for item in stored) < 16_384


@pytest.mark.thorough
def test_a_long_session_comes_whole_in_small_pages(ann: Person, behind: Behind) -> None:
    told = write(behind, ann.tenant)
    path = f"/v1/sessions/{told.session_id}"

    seqs: list[int] = []
    cursor, more = "0", True
    while more:
        answer = ann.get(path, after=cursor)
        assert len(answer.content) < MB
        page = answer.json()["data"]
        seqs += [event["seq"] for event in page["events"]]
        cursor, more = page["cursor"], page["has_more"]
    assert seqs == list(range(1, told.events + 1))

    messages = read_through(ann, f"{path}/messages", 200)
    assert len({one["message_id"] for one in messages}) == len(messages) == told.messages
    assert [one["step_number"] for one in read_through(ann, f"{path}/steps", 200)] == list(
        range(1, told.steps + 1)
    )
    assert len(read_through(ann, f"{path}/trace", 200)) == told.turns * longlog.CALLS


def read_through(person: Person, path: str, limit: int) -> list[Json]:
    found: list[Json] = []
    cursor: str | None = "0"
    while cursor is not None:
        answer = person.get(path, limit=limit, cursor=cursor)
        assert answer.status_code == 200, answer.text
        assert len(answer.content) < MB
        page = answer.json()["data"]
        assert len(page["items"]) <= limit
        found += page["items"]
        cursor = page["next_cursor"]
    return found


def write(behind: Behind, tenant: str) -> longlog.LongLog:
    """As the functions' own adapters store it, many commits at a time."""
    dynamodb, table = behind.client("dynamodb"), behind.settings["ACTA_TABLE"]
    blobs = S3Blobs(Settings.from_environ(behind.settings).session_bucket, behind.client("s3"))
    puts: list[dict[str, Any]] = []

    def append(commit: Commit) -> None:
        puts.append({"PutRequest": {"Item": items.commit_item(commit, [])}})

    told = longlog.write(
        append, blobs, SystemClock(), tenant, TURNS,
        result=lambda turn: f"{turn} " * (5_000 if turn % 50 == 0 else 200),
    )  # fmt: skip
    for start in range(0, len(puts), 25):
        dynamodb.batch_write_item(RequestItems={table: puts[start : start + 25]})
    return told
