"""How a turn of the deployed loop deals with its models: one that is away, one that never recovers, no key, an answer
that is cut off, an answer as it comes.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from llmock.scenarios import Fail, Match, Reply

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind, as_text, entered
from tests.e2e.support.person import OVER, Json, Person, Seen
from tests.e2e.support.thinking import calls, end, plan, step_done

KEYS = {"anthropic": "sk-ant-never-to-be-seen", "openai": "sk-oai-never-to-be-seen"}
FIRST, SECOND = "claude-opus-5", "gpt-4.1"
"""Both have prices."""


@pytest.fixture(scope="module")
def providers(behind: Behind, llmock_server: Any) -> Iterator[None]:
    """Both, the first one chosen by agents that choose none; running text is told."""
    variables = {"ACTA_PROVIDER": "anthropic", "ACTA_MODEL": FIRST, "ACTA_PARTIAL_TEXT_MS": "50"}
    for name, key in KEYS.items():
        variables |= {
            f"{name.upper()}_API_KEY": key,
            f"{name.upper()}_BASE_URL": llmock_server.base_url(name),
        }
    with behind.configured("step", "status", **variables):
        yield


@pytest.fixture
def model(providers: None, llmock: Any) -> Any:
    return llmock.tool_mode("off")


@pytest.fixture
def boss(admit: Admit) -> Person:
    return admit(role="admin")


def hire(boss: Person) -> str:
    """An agent with a fallback at the other provider."""
    fallbacks = [{"provider": "openai", "model": SECOND}]
    answer = boss.post("/v1/agents", {"name": "Careful", "fallbacks": fallbacks})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["data"]["agent_id"])


def asked(model: Any) -> list[str]:
    return [record.body["model"] for record in model.requests]


def model_calls(person: Person, seen: Seen) -> list[Json]:
    steps = person.items(f"/v1/sessions/{seen.session['session_id']}/steps")
    return [step for step in steps if step["kind"] in ("plan", "llm")]


def test_a_fallback_of_another_provider_answers_in_the_turn_in_which_the_model_is_overloaded(
    boss: Person, model: Any, behind: Behind
) -> None:
    model.add(Fail(529, times=None, match=Match(model=FIRST)), plan(), end("Done all the same."))

    seen = boss.finished(boss.start("A goal", agent_id=hire(boss)))

    assert seen.session["result"]["answer"] == "Done all the same."
    assert asked(model) == [FIRST, SECOND, FIRST, SECOND]
    rows = model_calls(boss, seen)
    assert [(row["name"], row["attempt"]) for row in rows] == [(SECOND, 0), (SECOND, 0)]
    usage = seen.session["usage"]
    assert usage["llm_calls"] == 2
    assert usage["cost_usd"] == pytest.approx(sum(row["cost_usd"] for row in rows), abs=1e-9)
    assert usage["cost_usd"] > 0
    told = [(one["data"]["model"], one["data"]["answered_by"]) for one in seen.of("llm.retried")]
    assert told == [(FIRST, SECOND)] * 2
    (execution,) = behind.executions(seen.session["session_id"])
    assert "Wait" not in entered(behind.history(execution["executionArn"]))


@contextmanager
def short_pauses(behind: Behind) -> Iterator[None]:
    """The state machine as it is deployed, but for the longest pause before a retry."""
    states, arn = behind.client("stepfunctions"), behind.settings["ACTA_STATE_MACHINE_ARN"]
    deployed = states.describe_state_machine(stateMachineArn=arn)["definition"]
    changed = json.loads(deployed)
    for retrier in changed["States"]["Plan"]["Retry"]:
        if "MaxDelaySeconds" in retrier:
            retrier["MaxDelaySeconds"] = 1
    states.update_state_machine(stateMachineArn=arn, definition=json.dumps(changed))
    try:
        yield
    finally:
        states.update_state_machine(stateMachineArn=arn, definition=deployed)


def test_a_judge_at_another_provider_looks_at_the_answer_before_the_goal_counts_as_met(
    boss: Person, model: Any
) -> None:
    judge = {"provider": "openai", "model": SECOND}
    hired = boss.post("/v1/agents", {"name": "Judged", "judge": judge})
    assert hired.status_code == 201, hired.text
    for met, reason in ((False, "The sum is missing."), (True, "All there.")):
        model.add(
            replace(calls(("verdict", {"met": met, "reason": reason})), match=Match(model=SECOND)),
        )
    for reply in (plan(), end("Two files."), Reply(text="GOAL_COMPLETE\nTwo files, sum 5.")):
        model.add(replace(reply, match=Match(model=FIRST)))

    seen = boss.finished(boss.start("How many files?", agent_id=hired.json()["data"]["agent_id"]))

    assert asked(model) == [FIRST, FIRST, SECOND, FIRST, SECOND]
    result = seen.session["result"]
    assert (result["answer"], result["goal_met"]) == ("Two files, sum 5.", True)
    assert result["verdict"] == {"met": True, "reason": "All there.", "model": SECOND}
    assert [one["data"]["met"] for one in seen.of("answer.judged")] == [False, True]
    rows = boss.items(f"/v1/sessions/{seen.session['session_id']}/steps")
    assert [(row["kind"], row["name"]) for row in rows if row["kind"] == "judge"] == [("judge", SECOND)] * 2


def test_a_model_for_final_answers_that_its_provider_does_not_know_leaves_the_answer_to_the_agent_s_own(
    boss: Person, model: Any
) -> None:
    hired = boss.post("/v1/agents", {"name": "Writes", "models": {"final": "claude-gone"}})
    assert hired.status_code == 201, hired.text
    model.add(Fail(404, times=None, match=Match(model="claude-gone")), plan(), end("Two files."))

    seen = boss.finished(boss.start("How many files?", agent_id=hired.json()["data"]["agent_id"]))

    result = seen.session["result"]
    assert (result["answer"], result["goal_met"], result["reason"]) == (
        "Two files.",
        True,
        "final_model_failed",
    )
    assert asked(model) == [FIRST, FIRST, "claude-gone"]


def test_a_provider_that_is_away_for_longer_than_all_retries_is_waited_for_and_a_person_may_have_it_tried_now(
    boss: Person, model: Any, behind: Behind
) -> None:
    model.add(Fail(500, times=18), plan(), end("Done all the same."))
    agent = hire(boss)
    with short_pauses(behind):
        session_id = boss.start("A goal", agent_id=agent)
        seen = boss.watch(session_id, lambda session: session["retry_at"] is not None)
    assert (seen.session["state"], seen.session["state_reason"]) == ("planning", "waiting_for_provider")
    assert (seen.session["error"], seen.session["cause"]["code"]) == (None, "PROVIDER_UNAVAILABLE")
    assert asked(model) == [FIRST, SECOND] * 9, "eight retries after the first attempt"

    answer = boss.post(f"/v1/sessions/{session_id}/resume")
    assert answer.status_code == 202, answer.text
    ended = boss.finished(session_id, seen.cursor)
    assert (ended.session["state"], ended.session["cause"]) == ("completed", None)
    assert len(behind.executions(session_id)) == 2


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_without_a_key_a_session_fails_at_once_and_says_where_the_local_stack_takes_one_from(
    ann: Person, model: Any, behind: Behind, provider: str
) -> None:
    variable = f"{provider.upper()}_API_KEY"
    with behind.configured("step", ACTA_PROVIDER=provider, **{variable: ""}):
        seen = ann.finished(ann.start("A goal"))
    error = seen.session["error"]
    assert (seen.session["state"], error["code"]) == ("failed", "PROVIDER_KEY_REFUSED")
    assert "Store a valid key" in error["message"]
    assert variable in error["message"]
    assert model.requests == []
    (execution,) = behind.executions(seen.session["session_id"])
    for text in (str(seen), as_text(behind.history(execution["executionArn"])), *behind.log_lines()):
        assert not any(key in text for key in KEYS.values())


def test_a_prompt_over_the_window_fails_the_session_at_once_and_says_what_to_do(
    ann: Person, model: Any
) -> None:
    model.context_overflow(times=None)
    seen = ann.finished(ann.start("A goal"))
    assert seen.session["error"]["code"] == "CONTEXT_TOO_LONG"
    assert "larger window" in seen.session["error"]["message"]
    assert len(model.requests) == 1


def test_a_marker_in_bold_after_thoughts_in_tags_ends_the_run_and_nobody_sees_either(
    ann: Person, model: Any
) -> None:
    block = '```json\n{"n": 9007199254740993}\n```'
    answer = f"\ufeff<think>Nine and four zeros.</think>\n**GOAL_COMPLETE**\n\nHere:\n{block}"
    model.add(plan(), calls(step_done()), Reply(text=answer))
    schema = {"type": "object", "properties": {"n": {"multipleOf": 3}}, "required": ["n"]}
    seen = ann.finished(ann.start("A question", output_schema=schema))
    assert (seen.session["state"], seen.session["result"]["data"]) == ("completed", {"n": 9007199254740993})
    told = [seen.session, ann.items(f"/v1/sessions/{seen.session['session_id']}/messages")]
    assert [word for word in ("GOAL_COMPLETE", "Nine") if word in json.dumps(told)] == []


def test_an_answer_that_was_cut_off_is_gone_on_with_and_shown_whole(ann: Person, model: Any) -> None:
    model.add(
        plan(),
        Reply(text="GOAL_COMPLETE\nThe answer is fo", finish_reason="length"),
        Reply(text="rty.", tool_calls=end("").tool_calls),
    )
    seen = ann.finished(ann.start("A question"))
    assert seen.session["result"]["answer"] == "The answer is forty."
    said = ann.items(f"/v1/sessions/{seen.session['session_id']}/messages")
    first, rest = [one for one in said if one["role"] == "assistant" and one["content"]]
    assert (first["content"], rest["content"]) == ("The answer is fo", "rty.")
    assert rest["continues"] == first["message_id"]


def test_the_text_of_a_running_turn_is_in_the_snapshot_until_the_turn_is_committed(
    ann: Person, model: Any, behind: Behind
) -> None:
    said = " ".join(f"word{number}" for number in range(60))
    model.add(plan(), Reply(text=said, tool_calls=(end("Said.").tool_calls)))
    model.pace(40)
    session_id = ann.start("Say much")
    parts: list[Json] = []
    state = ""
    while state not in OVER:
        page = ann.data(f"/v1/sessions/{session_id}", wait=0)
        state = page["session"]["state"]
        parts += [page["partial"]] if "partial" in page else []
    model.pace(0)
    thinking = [part for part in parts if part["kind"] == "think"]
    assert thinking
    assert all(said.startswith(part["text"]) and part["iteration"] == 0 for part in thinking)
    assert "partial" not in ann.data(f"/v1/sessions/{session_id}")
    assert behind.items_of("word5 word6") == []
    assert ann.delete(f"/v1/sessions/{session_id}").status_code == 204
