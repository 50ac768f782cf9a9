"""Long runs in a small window: compacted, going on, and the same whoever works on them and whatever dies."""

from itertools import pairwise

import pytest

from acta.engine.log.beside import SEGMENT_COMMITS, covered_before
from acta.engine.log.commit import Decision
from acta.engine.log.conversation import AssistantEntry, ToolEntry, UserEntry
from acta.engine.log.repository import SessionRepository
from acta.engine.log.store import LogPage
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.turn.compaction import request_limits
from acta.engine.turn.model_call import request_bytes
from tests.in_process.house import TENANT, House
from tests.in_process.lossy import LossyLog
from tests.in_process.scripted import says
from tests.sessions.reader import FILES, WINDOW, Reading, breaks, compactions, house_of, script, text_of


class Crash(BaseException):
    """The Lambda dies: nothing may catch it."""


def done(house: House, session: str) -> bool:
    head = house.head(session)
    return head.state == "completed" and head.result is not None and head.result.goal_met


def told(model: Reading) -> list[list[tuple[str, str]]]:
    """What each request held, without what differs between a worker's own entries and stored ones."""
    return [[(entry.kind, entry.content.loaded) for entry in request.entries] for request in model.requests]


def test_a_long_run_is_compacted_several_times_and_completes() -> None:
    model = Reading(script())
    house = house_of(model)
    session = house.start("Read every file").session_id

    house.run()

    assert done(house, session)
    assert house.head(session).usage.tool_calls == FILES
    events = compactions(house, session)
    assert len(events) > 3
    assert all(one.data["tokens_after"] < one.data["tokens_before"] for one in events)
    most = request_limits(WINDOW, house.settings.max_output_tokens).max_tokens
    assert all(request_bytes(request) <= most * 3 for request in model.requests)


def test_between_compactions_each_request_begins_with_the_one_before() -> None:
    model = Reading(script())
    house = house_of(model)
    session = house.start("Read every file").session_id

    house.run()

    assert breaks(model) == len(compactions(house, session))


def test_without_pressure_nothing_is_compacted_and_no_request_breaks_the_prefix() -> None:
    model = Reading(script())
    house = house_of(model, window=1_000_000)
    session = house.start("Read every file").session_id

    house.run()

    assert done(house, session)
    assert compactions(house, session) == []
    assert breaks(model) == 0


def test_after_a_compaction_come_the_goal_the_summary_and_recent_turns() -> None:
    model = Reading(script())
    house = house_of(model)
    house.start("Read every file")

    house.run()

    first, second, *rest = model.requests[-1].entries
    assert isinstance(first, UserEntry)
    assert first.content.loaded == "Read every file"
    assert isinstance(second, UserEntry)
    assert second.origin == "summary"
    assert "f0.txt to f3.txt hold only lines." in second.content.loaded
    assert any(isinstance(entry, AssistantEntry) for entry in rest)


def test_every_request_holds_each_call_with_its_one_result() -> None:
    model = Reading(script())
    house = house_of(model)
    house.start("Read every file")

    house.run()

    for request in model.requests:
        asked = [c.call_id for e in request.entries if isinstance(e, AssistantEntry) for c in e.calls]
        assert asked == [e.call_id for e in request.entries if isinstance(e, ToolEntry)]


def test_a_summary_is_a_step_of_the_log_and_paid_for_like_any_other_call() -> None:
    model = Reading(script())
    house = house_of(model)
    session = house.start("Read every file").session_id

    house.run()

    usage, steps = house.head(session).usage, house.history(session).steps()
    assert usage.llm_calls == len(model.requests) + len(model.summaries)
    assert usage.input_tokens == sum(one.input_tokens for one in steps)
    assert usage.llm_calls + usage.tool_calls == len(steps)


@pytest.mark.parametrize("line", ["This is an ordinary line of some sixty characters, or a few.\n", "a\n"])
def test_each_summary_is_made_of_the_one_before_however_long_the_results_are(line: str) -> None:
    def summariser(request: ModelRequest) -> ModelReply:
        return says(f"SUMMARY-{len(model.summaries)}- of what happened. {'Fact. ' * 40}")

    model = Reading(script(), summariser)
    house = house_of(model)
    for number in range(FILES):
        house.files.write(TENANT, f"f{number}.txt", (line * 4_000)[:8_000].encode())
    session = house.start("Read every file").session_id

    house.run()

    assert done(house, session)
    assert len(model.summaries) > 3
    for number, request in enumerate(model.summaries[1:], start=1):
        assert f"SUMMARY-{number}-" in request.entries[0].content.loaded


def test_people_still_see_the_whole_conversation() -> None:
    house = house_of(Reading(script()))
    session = house.start("Read every file").session_id

    house.run()

    messages, _ = house.history(session).messages(0, 1_000)
    told = [one.entry for one in messages]
    assert [e.content.text for e in told if isinstance(e, UserEntry)] == ["Read every file"]
    read = [e.content.loaded for e in told if isinstance(e, ToolEntry) and e.name == "read_file"]
    assert len(read) == FILES
    assert all(text_of(number) in text for number, text in enumerate(read))


def test_what_people_say_on_the_way_stays_in_their_words() -> None:
    model = Reading(script())
    house = house_of(model)
    session = house.start("Read every file").session_id
    first = True

    def speak_up(decision: Decision) -> None:
        nonlocal first
        if decision.at.turn == 3 and first:
            first = False
            house.say(session, "Mind the dates.")

    house.run(speak_up)

    said = [e for e in model.requests[-1].entries if isinstance(e, UserEntry) and e.origin == "user"]
    assert [e.content.loaded for e in said][:2] == ["Read every file", "Mind the dates."]


def test_a_worker_that_is_cold_at_every_step_asks_the_same() -> None:
    warm, cold = Reading(script()), Reading(script())
    house = house_of(warm)
    house.start("Read every file")
    house.run()
    other = house_of(cold)
    other.start("Read every file")

    def chill(_: object) -> None:
        other.repository = other.fresh_repository()

    other.run(chill)

    assert cold.requests == warm.requests
    assert cold.summaries == warm.summaries


def test_what_was_worked_out_of_entries_is_kept_from_turn_to_turn_until_a_compaction() -> None:
    model = Reading(script())
    house = house_of(model)
    session = house.start("Read every file").session_id

    house.run()

    kept = [request.ended_turns for request in model.requests]
    anew = sum(after is not before for before, after in pairwise(kept))
    assert None not in kept
    assert anew == len(compactions(house, session))
    assert all(request.ended_turns is None for request in model.summaries)


def test_a_cold_worker_reads_from_the_last_compaction_on() -> None:
    model = Reading(script(60))
    house = house_of(model, files=60)
    session = house.start("Read every file", max_steps=100).session_id
    house.run()
    numbers: list[int] = []

    class Counting:
        def __getattr__(self, name: str) -> object:
            return getattr(house.log, name)

        def read(self, tenant: str, session_id: str, since: int, limit: int | None = None) -> LogPage:
            found = house.log.read(tenant, session_id, since, limit)
            numbers.extend(commit.number for commit in found.commits)
            return found

    repository = SessionRepository(Counting(), house.blobs, house.clock)  # type: ignore[arg-type]
    head = house.head(session)
    last = house.decisions[-2]
    stored = repository.conversation(last.at)

    assert last.at.first > 100
    assert head.compacted_at > covered_before(last.at.first, SEGMENT_COMMITS)
    assert numbers == list(range(covered_before(last.at.first, SEGMENT_COMMITS) + 1, stored.number + 1))
    assert isinstance(stored.entries[1], UserEntry)
    assert stored.entries[1].origin == "summary"


class Dying(Reading):
    """Dies once, at the first turn after a summary."""

    died = False

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        if request.tools and self.summaries and not self.died:
            self.died = True
            raise Crash
        return super().complete(request, timeout=timeout)


def test_a_crash_between_compaction_and_turn_changes_nothing_and_pays_for_no_second_summary() -> None:
    clean, model = Reading(script()), Dying(script())
    wanted = house_of(clean)
    known = wanted.start("Read every file").session_id
    wanted.run()
    house = house_of(model)
    session = house.start("Read every file").session_id
    with pytest.raises(Crash):
        house.run()
    assert house.head(session).compacted_at == house.fresh_repository().newest(TENANT, session).number
    house.repository = house.fresh_repository()

    house.go_on(house.decisions[-1])

    assert done(house, session)
    assert len(model.summaries) == len(clean.summaries)
    assert told(model) == told(clean)
    assert house.head(session).usage == wanted.head(known).usage


@pytest.mark.parametrize("nth", range(6, 20))
def test_a_lost_answer_to_any_commit_changes_nothing(nth: int) -> None:
    clean, model = Reading(script(8)), Reading(script(8))
    wanted = house_of(clean, files=8)
    known = wanted.start("Read every file").session_id
    wanted.run()
    house = house_of(model, files=8)
    session = house.start("Read every file").session_id
    house.log = LossyLog(house, nth)  # type: ignore[assignment]
    house.repository = house.fresh_repository()
    house.runtime = house.runtime._replace(repository=house.fresh_repository())

    house.run()

    assert compactions(wanted, known)
    assert [e.data for e in compactions(house, session)] == [e.data for e in compactions(wanted, known)]
    assert house.head(session).usage == wanted.head(known).usage
    assert told(model) == told(clean)
