"""What a turn asks of the stores, counted: it does not grow with the session or with the results
(docs/design/log.md 20)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

from acta.engine.agents.dynamodb import DynamoDefinitions, DynamoSnapshot
from acta.engine.limits.shares import CHUNK_TOKENS, day_of
from acta.engine.log.beside import SEGMENT_COMMITS, AttemptStore, Marker
from acta.engine.log.commit import Commit, Decision
from acta.engine.log.dynamodb import DynamoAttempts, DynamoLog
from acta.engine.log.s3 import S3Blobs
from acta.engine.log.store import NO_ITEMS, LogPage, TransactionItems
from acta.engine.models.model import ModelReply
from acta.engine.turn.engine import position
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, plans, says

SMALL, LARGE = 2_048, 40_960
SEGMENT = Counter({"segment put": 1})
"""In one of 16 turns: the conversation so far, for a worker that starts cold."""
STEPS = ("list", "read", "collect", "compare", "write", "check", "tell")


class CountingLog(DynamoLog):
    """The given log, every request to it counted; transactions apart from plain puts."""

    def __init__(self, log: DynamoLog, asked: Counter[str]) -> None:
        vars(self).update(vars(log))
        self.asked = asked

    def read(self, tenant: str, session_id: str, since: int, limit: int | None = None) -> LogPage:
        self.asked["read"] += 1
        return super().read(tenant, session_id, since, limit)

    def latest(self, tenant: str, session_id: str) -> Commit | None:
        self.asked["latest"] += 1
        return super().latest(tenant, session_id)

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        self.asked["put" if extra_items == NO_ITEMS else "transaction"] += 1
        super().append(commit, extra_items)


class CountingBlobs(S3Blobs):
    def __init__(self, blobs: S3Blobs, asked: Counter[str]) -> None:
        vars(self).update(vars(blobs))
        self.asked = asked

    def put(self, tenant: str, session_id: str, text: str) -> str:
        self.asked["blob put"] += 1
        return super().put(tenant, session_id, text)

    def put_named(self, tenant: str, session_id: str, name: str, text: str) -> None:
        self.asked["segment put"] += 1
        super().put_named(tenant, session_id, name, text)

    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        wanted = tuple(names)
        self.asked["blob get"] += len(wanted)
        return super().get(tenant, session_id, wanted)


class CountingDefinitions(DynamoDefinitions):
    def __init__(self, definitions: DynamoDefinitions, asked: Counter[str]) -> None:
        vars(self).update(vars(definitions))
        self.asked = asked

    def snapshot(self, tenant: str) -> DynamoSnapshot:
        self.asked["definitions"] += 1
        return super().snapshot(tenant)


class CountingAttempts(DynamoAttempts):
    def __init__(self, attempts: AttemptStore, asked: Counter[str]) -> None:
        vars(self).update(vars(attempts))
        self.asked = asked

    def write(self, tenant: str, session_id: str, marker: Marker, *, after: str | None) -> None:
        self.asked["marker"] += 1
        super().write(tenant, session_id, marker, after=after)

    def read(self, tenant: str, session_id: str) -> Marker:
        self.asked["marker read"] += 1
        return super().read(tenant, session_id)


class CountedHouse(House):
    def __init__(self, model: ScriptedModel, tenant_tokens_per_hour: int, **settings: Any) -> None:
        super().__init__(model, tenant_tokens_per_hour=tenant_tokens_per_hour, **settings)
        self.asked: Counter[str] = Counter()
        self.log = CountingLog(self.log, self.asked)
        self.blobs = CountingBlobs(self.blobs, self.asked)
        self.definitions = CountingDefinitions(self.definitions, self.asked)
        self.attempts = CountingAttempts(self.attempts, self.asked)
        self.repository = self.fresh_repository()
        self.runtime = self.runtime._replace(repository=self.fresh_repository())


def turns(
    replies: Sequence[ModelReply],
    files: int,
    size: int,
    tokens_per_hour: int = 0,
    usd_per_day: dict[str, float] | None = None,
) -> tuple[list[Counter[str]], CountedHouse, str]:
    """What each turn asked, from one Think to the next; the house after it, and the session. `tokens_per_hour`: of its
    tenant; 0: no such limit. `usd_per_day`: of tenants.
    """
    script = [plans(*STEPS), *replies, says("", call("update_plan", action="fail", reason="over"))]
    house = CountedHouse(
        ScriptedModel(script), tenant_tokens_per_hour=tokens_per_hour, usd_per_day=usd_per_day or {}
    )
    for number in range(files):
        house.files.write(TENANT, f"{number}.txt", f"note {number} ".encode() * (size // 8))
    session = house.start(
        "Read everything", max_steps=len(replies) + 10, token_budget=1_000_000_000
    ).session_id
    marks: list[Counter[str]] = []

    def mark(decision: Decision) -> None:
        if decision.next == "think":
            marks.append(house.asked.copy())

    house.run(mark)
    assert len(marks) == len(replies) + 1
    return [after - before for before, after in pairwise(marks)], house, session


def reading(count: int) -> list[ModelReply]:
    return [says("Next.", call("read_file", path=f"{number}.txt")) for number in range(count)]


@pytest.mark.parametrize("count", [5, 40])
def test_every_turn_of_a_read_is_two_puts_a_marker_and_one_look_at_the_log_per_lambda(count: int) -> None:
    asked, house, session = turns(reading(count), count, SMALL)

    assert all(
        turn - SEGMENT == Counter({"put": 2, "read": 2, "definitions": 1, "marker": 1}) for turn in asked
    )
    written = sum((turn & SEGMENT for turn in asked), Counter[str]())
    assert written["segment put"] == house.repository.newest(TENANT, session).number // SEGMENT_COMMITS


def test_dollars_of_the_tenant_s_day_are_leased_with_its_tokens_and_add_hardly_a_request() -> None:
    """A chunk of dollars may be needed where one of tokens is not; then it is a transaction of its own."""
    hour, *_ = turns(reading(40), 40, SMALL, tokens_per_hour=5_000_000)
    both, house, _ = turns(reading(40), 40, SMALL, 5_000_000, {"*": 5_000.0})
    of_hour, of_both = sum(hour, Counter[str]()), sum(both, Counter[str]())
    day = day_of(house.clock.now())
    chunks = house.index.granted_tokens(TENANT, day, of_day=True) // CHUNK_TOKENS + 1
    assert 0 < of_both["transaction"] <= of_hour["transaction"] + chunks
    assert of_both - Counter(transaction=of_both["transaction"]) == of_hour - Counter(
        transaction=of_hour["transaction"]
    )


def test_a_limit_of_the_tenant_s_hour_adds_a_transaction_for_each_chunk_and_none_to_the_other_turns() -> None:
    asked, house, session = turns(reading(40), 40, SMALL, tokens_per_hour=5_000_000)

    ordinary = Counter({"put": 2, "read": 2, "definitions": 1, "marker": 1})
    leased = [turn - SEGMENT for turn in asked if turn - SEGMENT != ordinary]
    assert leased == [ordinary + Counter({"transaction": 1})] * len(leased)
    used = house.head(session).usage.total_tokens
    assert 0 < len(leased) <= used // CHUNK_TOKENS + 1 < len(asked) // 5


def test_a_large_result_is_stored_once_and_fetched_once_beside_the_log() -> None:
    asked, _, _ = turns(reading(10), 10, LARGE)

    small = Counter({"put": 2, "read": 2, "definitions": 1, "marker": 1})
    # the result that one turn stores is what the next one's Think fetches
    assert asked[0] == small + Counter({"blob put": 1})
    assert asked[1:] == [small + Counter({"blob put": 1, "blob get": 1})] * 9


def test_a_call_that_is_not_read_only_adds_one_put_for_its_start() -> None:
    writes = [says("Next.", call("create_file", path=f"{n}.md", content=f"text {n}")) for n in range(10)]

    asked, _, _ = turns(writes, 0, SMALL)

    assert asked == [Counter({"put": 3, "read": 2, "definitions": 1, "marker": 1})] * 10


def test_each_further_call_of_a_turn_adds_one_put_and_one_look_at_the_log() -> None:
    three = [says("Next.", *(call("read_file", path=f"{3 * n + i}.txt") for i in range(3))) for n in range(5)]

    asked, _, _ = turns(three, 15, SMALL)

    assert asked == [Counter({"put": 4, "read": 4, "definitions": 1, "marker": 1})] * 5


def test_a_worker_that_starts_in_mid_session_reads_the_log_once_however_many_turns_there_were() -> None:
    _, house, session = turns(reading(8), 8, SMALL)
    at = position(house.head(session))
    house.asked.clear()

    house.fresh_repository().conversation(at)

    assert house.asked == Counter({"read": 1})
