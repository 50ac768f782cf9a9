"""Large texts and long sessions: commits, payloads, answers and what is read for them stay small
(docs/design/api.md 8, log.md 18)."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import pytest

from acta.engine.api.envelope import json_bytes
from acta.engine.log.conversation import ToolEntry
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.store import LogPage
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.plans.answers import plan_view
from acta.engine.sessions.answers import event_view, session_view, step_view
from acta.engine.sessions.history import History, HistoryCursor, Row
from acta.engine.sessions.pages import Page, bounded, page_of_rows
from acta.engine.sessions.poll import PAGE_COMMITS, Cursor
from acta.engine.sessions.routes import message_view
from acta.engine.store.table_layout import from_commit
from acta.engine.tools.tool import HttpConfig, ToolDefinition
from tests.doubles.http_sink import Reply, Sink
from tests.in_process import longlog
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

MB = 1_000_000
HANDLE = re.compile(r"read_result with handle ([0-9a-f]{64})")
TURNS = 1_112
"""Of nine events each."""
LONG = {"a": "x", "é": "é", "𝕏": "𝕏", "newline": "\n", "control": "\x01"}

Item = TypeVar("Item")


class CountingLog(DynamoLog):
    """The given log, counting what is asked of it."""

    def __init__(self, log: DynamoLog) -> None:
        vars(self).update(vars(log))
        self.reads: list[tuple[int | None, int]] = []
        """The limit asked for, and how many commits came."""

    def read(self, tenant: str, session_id: str, since: int, limit: int | None = None) -> LogPage:
        found = super().read(tenant, session_id, since, limit)
        self.reads.append((limit, len(found.commits)))
        return found


@pytest.fixture(scope="module")
def long() -> tuple[House, longlog.LongLog]:
    """Ten thousand events; a tenth of the results are too large to be in the log."""
    house = House(ScriptedModel([]))
    told = longlog.write(
        house.log.append, house.blobs, house.clock, TENANT, TURNS,
        result=lambda turn: f"{turn} " * (10_000 if turn % 10 == 0 else 200),
    )  # fmt: skip
    assert told.events >= 10_000
    return house, told


def all_of(
    house: House,
    session_id: str,
    read: Callable[[History, HistoryCursor], Iterable[Row[Item]]],
    view: Callable[[Item], Mapping[str, Any]],
    limit: int = 200,
) -> list[dict[str, Any]]:
    """Every item of every page, each page within its bounds."""
    log = CountingLog(house.log)
    found: list[dict[str, Any]] = []
    cursor: str | None = "0"
    while cursor is not None:
        log.reads.clear()
        one: Page = page_of_rows(
            read(History(log, house.blobs, TENANT, session_id), HistoryCursor.parse(cursor)), view, limit
        )
        assert len(one.items) <= limit
        assert json_bytes(one._asdict()) < MB
        assert all(asked is not None and asked <= PAGE_COMMITS for asked, _ in log.reads)
        assert sum(came for _, came in log.reads) <= 1_200
        found += map(dict, one.items)
        cursor = one.next_cursor
    return found


def test_ten_thousand_events_are_polled_through_in_bounded_pages(long: tuple[House, longlog.LongLog]) -> None:
    house, told = long
    log, seqs, cursor, more = CountingLog(house.log), [], Cursor(), True
    house.log = log
    while more:
        log.reads.clear()
        seen = bounded(house.poll(told.session_id, cursor))
        assert [limit for limit, _ in log.reads] == [PAGE_COMMITS]
        assert json_bytes([event_view(one.event) for one in seen.events]) < MB
        seqs += [one.event.seq for one in seen.events]
        cursor, more = seen.cursor, seen.has_more
    assert seqs == list(range(1, told.events + 1))


def test_the_messages_of_a_long_session_are_read_through_in_order(
    long: tuple[House, longlog.LongLog],
) -> None:
    house, told = long
    found = all_of(house, told.session_id, History.messages, message_view)
    assert len(found) == told.messages
    turn = ["msg_{0}", "call_{0}_0", "call_{0}_1"]
    expected = [name.format(n) for n in range(1, told.turns + 1) for name in turn]
    assert [one["message_id"] for one in found] == ["msg_0", *expected]
    assert found[29]["content"] == "10 " * 10_000


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_pages_of_any_size_hold_the_same_conversation(
    long: tuple[House, longlog.LongLog], limit: int
) -> None:
    house, _ = long
    short = longlog.write(house.log.append, house.blobs, house.clock, TENANT, 8)
    whole = all_of(house, short.session_id, History.messages, message_view)
    assert all_of(house, short.session_id, History.messages, message_view, limit) == whole
    rows = all_of(house, short.session_id, History.trace, dict)
    assert all_of(house, short.session_id, History.trace, dict, limit) == rows
    assert len(rows) == short.turns * longlog.CALLS


@pytest.mark.thorough
def test_steps_trace_and_plans_of_a_long_session_are_read_through(
    long: tuple[House, longlog.LongLog],
) -> None:
    house, told = long
    steps = all_of(house, told.session_id, History.steps, step_view)
    assert [one["step_number"] for one in steps] == list(range(1, told.steps + 1))
    rows = all_of(house, told.session_id, History.trace, dict)
    assert [row["action_input"]["path"] for row in rows] == ["0", "1"] * told.turns
    assert all(row["observation"] for row in rows)
    versions = all_of(house, told.session_id, History.plan_versions, plan_view)
    assert len(versions) == told.versions


@pytest.mark.parametrize("chars", LONG)
def test_a_message_of_the_greatest_length_comes_in_pages_under_a_megabyte(chars: str) -> None:
    text = LONG[chars] * 500_000
    house = House(ScriptedModel([plans("read"), says("", step(1, "completed", "ok")), completes("Read.")]))
    session_id = house.start(text).session_id
    house.run()
    house.say(session_id, text)
    found = all_of(house, session_id, History.messages, message_view)
    first = found[0]
    assert text.startswith(first["content"])
    assert first.get("truncated", False) == (first["content"] != text)
    assert first["content"] == text or json_bytes(first) > 200_000
    commits = house.log.read(TENANT, session_id, 1).commits
    assert max(len(from_commit(commit)) for commit in commits) < 4_096
    assert json_bytes(session_view(house.head(session_id))) < 16_384
    assert json_bytes([event_view(one.event) for one in house.poll(session_id).events]) < 65_536
    assert isinstance(house.model, ScriptedModel)
    assert house.model.requests[0].entries[0].content.loaded == text


def test_the_largest_results_of_a_tool_leave_snapshot_payloads_and_pages_small() -> None:
    body = b"0123456789abcde\n" * 131_072  # two megabytes, all that a tool may bring
    calls = [call("fetch", page=n) for n in range(8)]
    with Sink({"/pages": Reply(body=body)}) as sink:
        house = House(
            ScriptedModel([plans("fetch"), says("", *calls), says("", step(1, "completed", "ok")), completes("Ok.")]),
            env="local", is_local=True, http_tool_allow=sink.at, tenant_tokens_per_hour=0,
        )  # fmt: skip
        house.definitions.tools.create(TENANT, fetches(house, sink, len(body)))
        session_id = house.start("Fetch", token_budget=100_000_000).session_id
        house.run()
    assert house.head(session_id).state == "completed"
    assert json_bytes(session_view(house.head(session_id))) < 16_384
    assert max(len(json.dumps(each.to_engine())) for each in house.decisions) < 1_024
    rows = all_of(house, session_id, History.trace, dict)
    assert [row["action_input"]["page"] for row in rows if row.get("action") == "fetch"] == list(range(8))
    told = all_of(house, session_id, History.messages, message_view)
    results = [one for one in told if one["role"] == "tool" and one.get("truncated")]
    assert len(results) == 8


def test_a_result_of_two_megabytes_is_shown_in_part_and_paged_through_to_its_end() -> None:
    body = "".join(f"{n:07d}\n" for n in range(262_144)).encode()

    def reads_on(offset: int) -> Callable[[ModelRequest], ModelReply]:
        def reply(request: ModelRequest) -> ModelReply:
            found = next(filter(None, (HANDLE.search(entry.content.loaded) for entry in request.entries)))
            return says("", call("read_result", handle=found[1], offset=offset))

        return reply

    pages = [reads_on(offset) for offset in (65_536, len(body) - 20_000, len(body) - 3_616)]
    ends = [says("", step(1, "completed", "ok")), completes("Read.")]
    model = ScriptedModel([plans("fetch"), says("", call("fetch")), *pages, *ends])
    with Sink({"/pages": Reply(body=body)}) as sink:
        house = House(model, env="local", is_local=True, http_tool_allow=sink.at)
        house.definitions.tools.create(TENANT, fetches(house, sink, 65_536))
        session_id = house.start("Fetch").session_id
        house.run()
    assert house.head(session_id).state == "completed"
    results = [entry.content.loaded for entry in model.requests[-1].entries if isinstance(entry, ToolEntry)]
    _, first, second, near, last, *_ = results
    assert first.startswith("--- answer (2097152 bytes) #")
    assert first.splitlines()[1] == "0000000"
    assert len(first) < 66_000
    assert "\n0008192\n" in second
    assert "for more call read_result" in near
    assert "\n0262143\n" in last
    assert "[this is the end of the result]" in last


def fetches(house: House, sink: Sink, limit: int) -> ToolDefinition:
    now = house.clock.now()
    return ToolDefinition(
        name="fetch", description="Fetches a page", kind="http",
        input_schema={"type": "object", "properties": {"page": {"type": "integer"}}},
        config=HttpConfig(url=sink.url("/pages"), method="GET"), effect="read", risk="network",
        result_limit_bytes=limit, repeatable=True, version=1, created_at=now, updated_at=now,
    )  # fmt: skip
