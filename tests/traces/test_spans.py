"""The spans of a session, from its commits alone."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from acta.engine.errors import ProviderUnavailable
from acta.engine.log.commit import Commit
from acta.engine.traces.spans import RunName, Span, spans_of
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.traces.scripts import finishes

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def commits(house: House, session_id: str) -> tuple[Commit, ...]:
    return house.repository.commits(TENANT, session_id, 1)


def spans(house: House, session_id: str) -> list[Span]:
    return [span for commit in commits(house, session_id) for span in spans_of(commit)]


def a_note() -> House:
    """A session that plans, writes a file and ends."""
    return House(
        ScriptedModel(
            [
                plans("write it"),
                says(
                    "I write.", call("create_file", path="sea.txt", content="waves"), step(1, "in_progress")
                ),
                says("", step(1, "completed")),
                completes("It is written."),
            ]
        )
    )


@pytest.fixture
def written() -> tuple[House, str]:
    house = a_note()
    session_id = house.start("Write a note").session_id
    house.run()
    assert house.head(session_id).state == "completed"
    return house, session_id


def test_a_run_is_one_tree_under_its_invoke_agent(written: tuple[House, str]) -> None:
    found = spans(*written)
    (root,) = (span for span in found if not span.parent_id)
    ids = {span.span_id for span in found}
    assert len(ids) == len(found), "no id stands twice"
    assert {span.trace_id for span in found} == {root.trace_id}
    assert all(span.parent_id in ids for span in found if span is not root), "each parent is there"
    named = Counter(span.name for span in found)
    assert named == {
        "invoke_agent default": 1,
        "plan default": 1,
        "chat test-model": 4,
        "execute_tool create_file": 1,
    }


def test_the_call_that_made_the_plan_is_below_the_plan_and_all_else_below_the_run(
    written: tuple[House, str],
) -> None:
    found = spans(*written)
    parents = {span.span_id: span.name for span in found}
    below = Counter((span.name, parents.get(span.parent_id)) for span in found)
    assert below == {
        ("invoke_agent default", None): 1,
        ("plan default", "invoke_agent default"): 1,
        ("chat test-model", "plan default"): 1,
        ("chat test-model", "invoke_agent default"): 3,
        ("execute_tool create_file", "invoke_agent default"): 1,
    }


def test_each_row_of_the_step_log_has_its_span_with_its_times_and_counts(written: tuple[House, str]) -> None:
    house, session_id = written
    rows = [commit.step for commit in commits(house, session_id) if commit.step is not None]
    of_rows = {
        span.attributes["acta.step"]: span for span in spans(*written) if "acta.step" in span.attributes
    }
    assert sorted(of_rows) == [row.step_number for row in rows]
    for row in rows:
        span = of_rows[row.step_number]
        assert (span.start, span.end) == (row.started_at, row.completed_at)
        if row.kind in ("plan", "llm"):
            assert span.kind == "client"
            assert span.attributes["gen_ai.usage.input_tokens"] == row.input_tokens
            assert span.attributes["gen_ai.usage.output_tokens"] == row.output_tokens


def test_spans_name_what_the_conventions_ask_for(written: tuple[House, str]) -> None:
    by_name = {span.name: span for span in spans(*written)}
    house, session_id = written
    for span in by_name.values():
        assert span.attributes["gen_ai.conversation.id"] == session_id
    tool = by_name["execute_tool create_file"].attributes
    (requested,) = [
        event.data
        for commit in commits(house, session_id)
        for event in commit.events
        if event.type == "tool.requested"
    ]
    assert tool["gen_ai.operation.name"] == "execute_tool"
    assert tool["gen_ai.tool.name"] == "create_file"
    assert tool["gen_ai.tool.call.id"] == requested["call_id"]
    chat = by_name["chat test-model"].attributes
    assert (chat["gen_ai.operation.name"], chat["gen_ai.request.model"]) == ("chat", "test-model")
    assert chat["gen_ai.provider.name"] == "scripted"
    root = by_name["invoke_agent default"]
    assert (root.attributes["gen_ai.agent.id"], root.kind) == ("default", "internal")
    assert (root.attributes["acta.run.state"], root.attributes["acta.run.goal_met"]) == ("completed", True)
    assert root.error == ""


def test_no_span_has_a_word_of_what_people_models_or_tools_said(written: tuple[House, str]) -> None:
    said = str(spans(*written))
    for words in ("Write a note", "write it", "I write", "waves", "sea.txt", "It is written"):
        assert words not in said


def test_the_same_commits_make_the_same_spans_for_ever(written: tuple[House, str]) -> None:
    assert spans(*written) == spans(*written)
    run = RunName("acme", "ses_1", "run_1")
    assert run.trace_id.hex() == "4f3439fc6a9f27b4b082f9e7bcfcd5d3"
    assert run.root_id.hex() == "7af5e6a9141b8090"
    assert run.span_id(7, "run_1/1/2/think", "chat").hex() == "70ba042decb18191"


def test_a_message_after_the_end_begins_a_trace_of_its_own(written: tuple[House, str]) -> None:
    house, session_id = written
    first = spans(house, session_id)
    house.model = ScriptedModel([plans("again"), finishes("Again.")])
    house.say(session_id, "Once more")
    house.run()
    later = spans(house, session_id)[len(first) :]
    assert {span.trace_id for span in later}.isdisjoint({span.trace_id for span in first})
    assert len({span.trace_id for span in later}) == 1
    assert len([span for span in later if not span.parent_id]) == 1


def test_attempts_that_failed_stand_beside_the_one_that_was_answered() -> None:
    house = House(ScriptedModel([ProviderUnavailable("away"), plans("one"), finishes()]))
    session_id = house.start("Try").session_id
    house.run()
    failed = [span for span in spans(house, session_id) if span.error]
    assert failed, "the attempt has a span"
    for span in failed:
        assert span.name.startswith("chat")
        assert span.attributes["error.type"] == span.error
        assert "gen_ai.usage.input_tokens" not in span.attributes, "nobody said what it used"
    ids = [span.span_id for span in spans(house, session_id)]
    assert len(set(ids)) == len(ids)


def test_a_failed_run_s_root_says_so() -> None:
    house = House(
        ScriptedModel([plans("one"), *[says("", call("update_plan", action="fail", reason="no"))] * 2])
    )
    session_id = house.start("Try").session_id
    house.run()
    (root,) = (span for span in spans(house, session_id) if not span.parent_id)
    head = house.head(session_id)
    assert head.error is not None
    assert (root.error, root.attributes["acta.run.state"]) == (head.error.code, "failed")


def test_a_decision_of_a_person_has_the_time_that_it_took() -> None:
    house = House(
        ScriptedModel([plans("remove it"), says("", call("delete_file", path="a.txt")), finishes()])
    )
    session_id = house.start("Remove a.txt").session_id
    house.run()
    (asked,) = house.head(session_id).interventions
    house.clock.advance(90)
    house.resolve(session_id, asked, "reject")
    house.run()
    (span,) = (each for each in spans(house, session_id) if each.name.startswith("intervention"))
    assert span.name == "intervention approval_required"
    assert span.end - span.start == timedelta(seconds=90)
    assert span.attributes["acta.intervention.option"] == "reject"


def test_a_run_s_span_begins_with_the_run(written: tuple[House, str]) -> None:
    found = spans(*written)
    (root,) = (span for span in found if not span.parent_id)
    assert root.start <= min(span.start for span in found)
    assert root.end >= max(span.end for span in found)


def test_a_number_that_is_given_again_after_a_restore_makes_other_spans(written: tuple[House, str]) -> None:
    """The keys of what follows name a generation of their own; the rest of the commit may be the same."""
    house, session_id = written
    for commit in house.repository.commits(TENANT, session_id, 1):
        again = commit.model_copy(update={"key": commit.key.replace("/1/", "/1000002/")})
        if again.key == commit.key:
            continue
        first = {span.span_id for span in spans_of(commit) if span.parent_id}
        assert first.isdisjoint({span.span_id for span in spans_of(again)})
