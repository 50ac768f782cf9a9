"""The threads of one process. An error of theirs, as of a full disk, ends none of them for ever."""

import errno
import hashlib
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from acta.embedded import process as module
from acta.embedded.process import DAY, EVENTS, Process
from acta.embedded.python_tools import ToolFolders
from acta.engine.aws.errors import AwsRefused
from acta.engine.clock import SystemClock
from acta.engine.errors import StoreUnavailable
from acta.engine.schedules.schedule import Schedule
from acta.engine.settings import Settings
from acta.engine.store.table_layout import item_key
from acta.engine.usage.usage_count import UsageCount
from acta.infra.engine.workflow import definition
from acta.infra.environments import LOCAL
from acta.infra.local.state_directory import LOG
from acta.local_aws.testing import eventually

SETTINGS = Settings(
    env="test",
    table="t",
    bucket="b",
    session_bucket="s",
    audit_table="a",
    event_sources={"inbox": {"kind": "files", "prefix": "inbox/"}},
)


class MovedClock(SystemClock):
    ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    monkeypatch.setattr(module, "AGAIN_SECONDS", 0.01)
    made = Process(
        tmp_path,
        SETTINGS,
        ToolFolders(tmp_path / "tools", {}, {}, 600, print, lambda name, line: None),
        lambda function: tmp_path,
        definition(LOCAL),
        park_after_seconds=600,
        pause_seconds=float,
        clock=MovedClock(),
    )
    yield made
    made.stop()


def test_a_change_that_always_fails_holds_up_the_others_for_a_day(
    process: Process, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counted: list[str] = []
    failed: list[int] = []

    def count(of: UsageCount, event: dict[str, Any]) -> None:
        names = [each["dynamodb"]["Keys"]["pk"]["S"] for each in event["Records"]]
        if "bad" in names:
            failed.append(len(names))
            raise LookupError
        counted.extend(names)

    monkeypatch.setattr(UsageCount, "handle", count)
    for name in ("before", "bad", "after"):
        process.table.put_item(TableName="t", Item=item_key(name, "1"))
    process.start()
    eventually(lambda: True if failed.count(1) > 2 else None)
    assert (failed[0] > 1, counted[:1], "after" in counted) == (True, ["before"], False)
    process.clock.ahead = timedelta(seconds=DAY)  # type: ignore[attr-defined]
    eventually(lambda: True if "after" in counted else None)
    assert (tmp_path / LOG).read_text().count("change given up") == 1


def test_a_schedule_starts_its_sessions_in_the_process_s_own_minutes(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MINUTE", 0.05)
    now = process.clock.now()
    schedule = Schedule(
        schedule_id="daily", agent_id="default", goal="Look", every="1 day", created_by="ann", created_at=now,
        updated_at=now, next_at=now + timedelta(days=1),
    )  # fmt: skip
    with process.worker() as worker:
        store = worker.app("recover").schedules
        store.create("acme", schedule)

        def settled() -> list[str]:
            there = store.get("acme", "daily")
            return [] if there is None else [outcome for outcome, n in there.counts.items() for _ in range(n)]

        process.start()
        process.clock.ahead = timedelta(days=1)  # type: ignore[attr-defined]
        assert eventually(lambda: settled() or None) == ["started"]
        process.clock.ahead = timedelta(days=2)  # type: ignore[attr-defined]
        eventually(lambda: True if len(settled()) == 2 else None)


def test_threads_outlive_a_full_disk(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    left = {"look": 1, "abandon": 1}
    done: list[str] = []

    class Full:
        def write(self, text: str) -> None:
            raise OSError(errno.ENOSPC, "no space left on device")

    def once_full(name: str) -> None:
        left[name] -= 1
        if left[name] >= 0:
            raise StoreUnavailable("sqlite: database or disk is full")
        done.append(name)

    def drive(name: str) -> None:
        raise StoreUnavailable("sqlite: database or disk is full")

    process._log = Full()  # type: ignore[assignment]
    monkeypatch.setattr(process.engine, "look", lambda: once_full("look"))
    monkeypatch.setattr(process.engine, "drive", drive)
    monkeypatch.setattr(process.engine, "abandon", lambda name: once_full("abandon"))
    process.start()
    process._begin("ses_1-run_1-1")
    eventually(lambda: True if {*done} == {"look", "abandon"} else None)


def test_a_file_and_its_event_are_written_in_one_transaction(process: Process) -> None:
    """So a process that dies after the answer to a `PUT` has not lost the event."""
    objects = process.objects
    for bucket, key in (
        ("b", "files/acme/inbox/a.pdf"),
        ("b", "files/acme/elsewhere/a.pdf"),
        ("s", "files/acme/inbox/a.pdf"),
    ):
        objects.put_object(Bucket=bucket, Key=key, Body=b"hello")
    objects.delete_object(Bucket="b", Key="files/acme/inbox/a.pdf")
    (message,) = process.queues.receive(10)
    assert message.queue == EVENTS
    told = json.loads(message.record["body"])
    etag = hashlib.md5(b"hello", usedforsecurity=False).hexdigest()
    assert told["source"] == "inbox"
    assert told["event"]["detail"]["object"] == {"key": "files/acme/inbox/a.pdf", "size": 5, "etag": etag}

    with pytest.raises(AwsRefused):
        objects.put_object(Bucket="b", Key="files/acme/inbox/b.pdf", Body=b"x", IfMatch='"another"')
    process.queues.take_away(message)
    assert process.queues.receive(10) == []
