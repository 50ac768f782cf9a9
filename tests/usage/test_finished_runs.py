"""Each finished run is told once, with what it used, however the stream tells of its commits (ADR 77)."""

import io
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from aws_lambda_powertools import Logger

from acta.embedded.table import SqliteTable
from acta.engine.bound_tenant import tenant_hash
from acta.engine.clock import RUN, SESSION, made_at, make_id
from acta.engine.log.commit import Change
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.head import Head, Result, Usage
from acta.engine.log.store import Erasure, TransactionItems
from acta.engine.people.requester import Requester
from acta.engine.sessions.start import begin_run
from acta.engine.traces.spans import RunName
from acta.engine.turn.endings import cancelled, completed, failed
from acta.engine.usage.fold import Addition, fold
from acta.engine.usage.store import StreamCommit, UsagePartition
from acta.engine.usage.usage_count import Lines
from acta.testing.clock import FakeClock
from tests.doubles.audit import PlainPseudonyms
from tests.doubles.usage import MemoryUsage
from tests.stores.documents import NOW, make_head

TENANT = "acme"
ANN = Requester(TENANT, "ann")
DONE = Result(goal_met=True, answer="42", reason="goal_complete")


def id_at(prefix: str, at: datetime, which: int = 0) -> str:
    return make_id(prefix, round(at.timestamp() * 1_000), bytes([which] * 10))


class World:
    """One session whose commits are made one after the other, a minute apart, and counted when a test says so."""

    def __init__(self, version: int = 2) -> None:
        table = SqliteTable(None)
        self.log, self.usage = DynamoLog("t", FakeClock(), table), MemoryUsage(table)
        self.session_id = id_at(SESSION, NOW)
        self.head: Head = make_head(TENANT, self.session_id, created_by="ann")
        self.number, self.now, self.version = 0, NOW, version
        self.commits: list[StreamCommit] = []
        self.told: list[Addition] = []
        self.text = io.StringIO()
        self.logger = Logger(service=uuid4().hex, stream=self.text)

    def commit(self, act: Callable[[Change], object], **used: Any) -> None:
        self.number, self.now = self.number + 1, self.now + timedelta(minutes=1)
        change = Change(self.head.model_copy(update=used), self.number, self.now)
        act(change)
        made = change.as_commit(f"key-{self.number}").model_copy(update={"version": self.version})
        if self.version == 1:
            made = made.model_copy(update={"head": made.head.model_copy(update={"tally": None})})
        erasure = Erasure(TENANT, self.session_id, self.now) if made.head.deleted else None
        self.log.append(made, TransactionItems(erasure=erasure))
        self.head = made.head
        self.commits.append(StreamCommit(UsagePartition(TENANT, self.session_id), self.number, self.now))

    def run(self, which: int, end: Callable[[Change], object], tokens: int, turns: int = 3) -> None:
        run_id = id_at(RUN, self.now, which)
        self.commit(lambda change: begin_run(change, run_id, f"msg_{which}", "Count", 50, ANN))
        self.commit(lambda change: change.to_state("executing"))
        assert self.head.run is not None
        usage = self.head.usage
        used = Usage(
            input_tokens=usage.input_tokens + tokens, llm_calls=turns, cost_usd=(usage.cost_usd or 0) + 0.25
        )
        self.commit(end, usage=used, run=self.head.run.model_copy(update={"iteration": turns}))

    def count(self, *commits: StreamCommit) -> list[dict[str, Any]]:
        """The lines of one batch."""
        before = self.text.tell()
        lines = Lines(self.logger)
        lines.counted(fold(self.usage, PlainPseudonyms(), commits or self.commits, lines.added))
        return [json.loads(line) for line in self.text.getvalue()[before:].splitlines()]


def finished(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if line["message"] == "run finished"]


def test_a_finished_run_is_one_line_with_what_it_used() -> None:
    world = World()
    world.run(1, lambda change: completed(change, DONE), tokens=700)

    (line,) = finished(world.count())

    assert line["session_id"] == world.session_id
    assert line["run_id"] == id_at(RUN, NOW, 1)
    assert (line["state"], line["reason"], line["goal_met"]) == ("completed", "goal_complete", True)
    assert (line["turns"], line["tokens"], line["cost_usd"], line["seconds"]) == (3, 700, 0.25, 180)
    assert line["tenant_hash"] == tenant_hash(TENANT)
    assert line["trace_id"] == RunName(TENANT, world.session_id, line["run_id"]).trace_id.hex()
    assert TENANT not in json.dumps({key: value for key, value in line.items() if key != "service"})


def test_commits_that_come_again_or_late_tell_of_no_run_twice() -> None:
    world = World()
    world.run(1, lambda change: completed(change, DONE), tokens=700)
    assert len(finished(world.count())) == 1
    assert finished(world.count()) == []
    assert finished(world.count(world.commits[-1])) == []


def test_a_batch_that_fails_before_it_is_stored_tells_nothing_and_the_next_try_once() -> None:
    world = World()
    world.run(1, lambda change: completed(change, DONE), tokens=700)
    world.usage.lost = 3
    assert len(finished(world.count())) == 1, "others were faster three times"


def test_runs_that_ended_within_one_batch_are_all_told_each_with_its_own() -> None:
    world = World()
    world.run(1, lambda change: failed(change, "MODEL_REFUSED", "no"), tokens=100)
    world.run(2, lambda change: cancelled(change, "ann"), tokens=20)
    world.run(3, lambda change: completed(change, DONE), tokens=3)

    lines = finished(world.count())

    assert [line["end"] for line in lines] == [
        "failed/model_refused",
        "cancelled",
        "completed/goal_complete",
    ]
    assert [line["tokens"] for line in lines] == [100, 20, 3]
    assert [line["cost_usd"] for line in lines] == [0.25] * 3
    assert lines[0]["code"] == "MODEL_REFUSED"
    assert all(line["whole"] for line in lines)
    assert "ann" not in json.dumps([{**line, "service": ""} for line in lines])


def test_of_a_deleted_session_it_is_told_that_a_run_ended() -> None:
    world = World()
    world.run(1, lambda change: completed(change, DONE), tokens=700)
    world.commit(lambda change: change.set(deleted=True))
    world.log.delete(TENANT, world.session_id)
    (line,) = finished(world.count())
    assert (line["session_id"], line["state"], line["runs"]) == (world.session_id, "unread", 1)
    assert line["tenant_hash"] == tenant_hash(TENANT)


def test_the_metrics_in_the_lines_name_members_of_them_and_no_tenant_or_session() -> None:
    world = World()
    world.run(1, lambda change: completed(change, DONE), tokens=700)
    lines = world.count()
    assert {line["message"] for line in lines} == {"run finished", "counted"}
    for line in lines:
        for directive in line["_aws"]["CloudWatchMetrics"]:
            assert all(isinstance(line[metric["Name"]], int | float) for metric in directive["Metrics"])
            assert {name for names in directive["Dimensions"] for name in names} <= {"end"}
    (counted,) = (line for line in lines if line["message"] == "counted")
    assert (counted["RunsStarted"], counted["Tokens"]) == (1, 700)


def test_an_id_says_when_it_was_made() -> None:
    assert made_at(id_at(SESSION, NOW)) == round(NOW.timestamp() * 1_000)
    assert made_at("ses_1") is None
    assert made_at("ses_" + "U" * 26) is None
    assert made_at("ses_" + "Z" * 26) is None, "it is after the year 9999"


def test_a_tenants_hash_is_the_deployments_own() -> None:
    assert tenant_hash("acme", "table-1") == tenant_hash("acme", "table-1")
    assert (
        len({tenant_hash("acme", "table-1"), tenant_hash("acme", "table-2"), tenant_hash("b", "table-1")})
        == 3
    )
