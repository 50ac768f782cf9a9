"""The deployed functions keep to what a provider takes: sessions queue, tenants in turn, and all end (ADR 106).

`step` is told a limit first, and `recover` none: all join the line, and nobody is admitted until the test says so. So
who is admitted when does not hang on who was started when. That limit is of tokens, and one call uses up hours of it:
the line forms however long the runs take. The limits under which sessions are admitted are of requests, of which
nothing is used up by then.
"""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from acta.engine.clock import SystemClock
from acta.engine.log.commit import Commit
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.queue.dynamodb import ADMISSION, BUCKET, DynamoAdmission
from acta.engine.queue.places import ProviderLimits
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import OVER, Person, Seen
from tests.e2e.support.thinking import calls, end, plan

PROVIDER = "offline"
CARRIED = 75
"""Calls of a burst at 300 a minute."""
AT_ONCE = 6
FLOOD, FEW = 95, 8
"""With the one that begins the line more than the 100 of a long one."""
GOAL = "List all files"
"""Two calls of the stand-in: one makes the plan and lists the files, one answers."""

SEVERAL_TURNS = {"ACTA_TURNS_PER_STEP": "8"}
"""In an invocation: cheaper."""

Whose = tuple[Person, str]


@pytest.fixture(autouse=True)
def nothing_is_scheduled(behind: Behind) -> Iterator[None]:
    with behind.unscheduled():
        yield


@contextmanager
def nobody_admitted(behind: Behind) -> Iterator[None]:
    with behind.configured("step", **limits(tokens_per_minute=1)):
        yield


def limits(**per_minute: int) -> dict[str, str]:
    return {"ACTA_PROVIDER_LIMITS": json.dumps({PROVIDER: per_minute})}


class Line:
    """What an operator sees of the line, and the sessions that are to wait in it."""

    def __init__(self, behind: Behind, provider: str = PROVIDER) -> None:
        self._behind = behind
        self._provider = provider
        table, dynamodb = behind.settings["ACTA_TABLE"], behind.client("dynamodb")
        self._store = DynamoAdmission(table, dynamodb)
        self._log = DynamoLog(table, SystemClock(), dynamodb)

    def begun_by(self, person: Person) -> Whose:
        """The provider, of which nothing is used up yet, takes the first call of the person's session. With its second
        call the session begins the line.
        """
        bucket = {"pk": {"S": f"D#{self._provider}#{ADMISSION}"}, "sk": {"S": BUCKET}}
        table = self._behind.settings["ACTA_TABLE"]
        self._behind.client("dynamodb").delete_item(TableName=table, Key=bucket)  # what earlier tests used up
        first = person, person.start(GOAL)
        assert seen_queued(first)["usage"]["llm_calls"] == 1
        return first

    def joined_by(self, *people: Person) -> list[Whose]:
        """Once each of the new sessions waits."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            started = list(pool.map(lambda person: (person, person.start(GOAL)), people))
            list(pool.map(seen_queued, started))
        return started

    def admitted(self) -> dict[str, int]:
        """One call of the schedule's."""
        answer = self._behind.client("lambda").invoke(
            FunctionName="acta-local-recover", Payload=json.dumps({"admit": True})
        )
        assert "FunctionError" not in answer, answer["Payload"].read()
        tally: dict[str, int] = json.loads(answer["Payload"].read())
        return tally

    def admitted_until_it_is_over(self) -> list[dict[str, int]]:
        tallies = [self.admitted()]
        while not self.is_over():
            tallies.append(self.admitted())
        return tallies

    def admissions(self, sessions: Sequence[Whose]) -> list[str]:
        """In their order, the tenant of each."""
        found = [
            (commit.at, person.tenant)
            for person, session_id in sessions
            for commit in self._admissions_of(person.tenant, session_id)
        ]
        return [tenant for _, tenant in sorted(found)]

    def _admissions_of(self, tenant: str, session_id: str) -> list[Commit]:
        commits = self._log.read(tenant, session_id, 1).commits
        return [commit for commit in commits if "admit" in commit.key]

    def learnt(self) -> ProviderLimits:
        return self._store.bucket(self._provider).limits

    def is_over(self) -> bool:
        return (
            not self._store.page_after(self._provider, "", 1) and not self._store.bucket(self._provider).line
        )


@pytest.fixture
def line(behind: Behind) -> Line:
    return Line(behind)


def seen_queued(who: Whose) -> dict[str, Any]:
    person, session_id = who
    return person.watch(session_id, lambda session: session["state_reason"] == "queued").session


def finished(who: Whose) -> Seen:
    person, session_id = who
    return person.finished(session_id)


def waits(seen: Seen) -> int:
    codes = [event["data"].get("code") for event in seen.of("state.changed")]
    assert set(codes) <= {None, "QUEUED"}
    return codes.count("QUEUED")


def invocations(behind: Behind) -> list[dict[str, Any]]:
    """Of `recover`, those that have admitted sessions or handed some over."""
    lines = [json.loads(line) for line in behind.log_lines() if '"message":"admitted"' in line]
    return [line for line in lines if line["admitted"] or line["shared"]]


@pytest.mark.thorough
def test_one_tenants_flood_queues_and_does_not_starve_another_tenant(
    admit: Admit, behind: Behind, line: Line
) -> None:
    whale, minnow = admit(), admit()
    with nobody_admitted(behind):
        many = [line.begun_by(whale), *line.joined_by(*[whale] * 4)]
        (few,) = line.joined_by(minnow)
    waiting = seen_queued(many[-1])

    with behind.configured("step", "recover", **limits(requests_per_minute=60)):
        while any(person.snapshot(session_id)["state"] not in OVER for person, session_id in (*many, few)):
            line.admitted()

    seen = [finished(one) for one in (*many, few)]
    assert {each.session["state"] for each in seen} == {"completed"}
    assert waiting["cause"]["code"] == "QUEUED"
    assert waiting["queue"]["position"] <= 4
    assert waiting["queue"]["since"] < waiting["retry_at"]
    order = line.admissions([*many, few])
    assert len(order) == sum(map(waits, seen))
    assert order.index(minnow.tenant) <= 1


@pytest.mark.thorough
def test_a_long_line_is_admitted_by_parts_each_session_once_and_tenants_in_turn(
    admit: Admit, behind: Behind, line: Line
) -> None:
    whale, minnow = admit(), admit()
    with nobody_admitted(behind):
        sessions = [line.begun_by(whale), *line.joined_by(*[whale] * FLOOD, *[minnow] * FEW)]
    before = len(invocations(behind))

    # what comes out does not queue again
    carrying = limits(requests_per_minute=CARRIED * 4)
    with behind.configured("recover", **carrying), behind.configured("step", **SEVERAL_TURNS):
        tallies = line.admitted_until_it_is_over()
        assert not any(line.admitted().values())

    with ThreadPoolExecutor(AT_ONCE) as pool:
        seen = list(pool.map(finished, sessions))
    assert {each.session["state"] for each in seen} == {"completed"}
    assert {waits(each) for each in seen} == {1}
    order = line.admissions(sessions)
    assert len(order) == len(sessions)
    assert minnow.tenant not in order[CARRIED:]
    assert sum(tally["shared"] for tally in tallies) >= CARRIED
    told = invocations(behind)[before:]
    assert [each for each in told if each["admitted"] and not each["shared"]]
    assert sum(each["admitted"] for each in told) == len(sessions)


@pytest.mark.thorough
def test_sessions_queue_by_what_the_provider_s_answers_say_that_it_takes(
    ann: Person, behind: Behind, llmock: Any, llmock_server: Any
) -> None:
    """The first call is made unasked, and its answer says: two a minute. The second one has the burst, the third one
    has to wait for half a minute."""
    line = Line(behind, "anthropic")
    llmock.tool_mode("off").limits(rpm=2)
    llmock.add(plan(), calls(("list_files", {})), end())
    at = llmock_server.base_url("anthropic")
    key = {"ACTA_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": at}
    learn = {"ACTA_PROVIDER_LIMITS": json.dumps({"anthropic": "learn"})}

    with behind.configured("step", **learn, **key, **SEVERAL_TURNS), behind.configured("recover", **learn):
        session_id = ann.start("A goal")
        waiting = seen_queued((ann, session_id))
        while not line.is_over():
            line.admitted()
        seen = ann.finished(session_id)

    assert (waiting["cause"]["code"], waiting["usage"]["llm_calls"]) == ("QUEUED", 2)
    assert line.learnt() == ProviderLimits(requests_per_minute=2)
    assert (seen.session["state"], waits(seen)) == ("completed", 1)
