"""The agent asks before it deletes; a person decides, once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind, entered
from tests.e2e.support.person import Json, Person, Seen, refused
from tests.e2e.support.samples import DELETION, OLD

OTHER = "other.txt"


@pytest.fixture
def waiting(ann: Person) -> Seen:
    for path in (OLD, OTHER):
        ann.put_file(path, path)
    return ann.asked(ann.start(DELETION))


def the_question(seen: Seen) -> tuple[str, Json]:
    (asked,) = seen.session["interventions"]
    return str(seen.session["session_id"]), asked


def test_a_deletion_is_asked_for_with_everything_a_person_needs_to_decide(ann: Person, waiting: Seen) -> None:
    session_id, asked = the_question(waiting)
    assert waiting.session["state"] == "waiting_for_user"
    assert asked["type"] == "approval_required"
    assert asked["session_id"] == session_id
    assert (asked["tool_call"]["name"], asked["tool_call"]["input"]) == ("delete_file", {"path": OLD})
    assert asked["options"] == ["approve", "reject", "modify"]
    assert asked["default_action"] == "reject"
    assert asked["timeout_at"] > asked["created_at"]
    (requested,) = waiting.of("tool.requested")
    assert requested["data"]["input_hash"] == asked["tool_call"]["input_hash"]
    assert waiting.of("tool.started") == []
    assert ann.file(OLD) == OLD


def test_an_open_question_is_in_every_listing_and_a_decided_one_only_under_its_id(
    ann: Person, waiting: Seen
) -> None:
    session_id, asked = the_question(waiting)
    of_session = f"/v1/sessions/{session_id}/interventions"
    assert ann.items("/v1/interventions") == ann.items("/v1/interventions", state="pending") == [asked]
    assert ann.items(of_session) == [asked]
    assert [one["session_id"] for one in ann.items("/v1/sessions", state="waiting_for_user")] == [session_id]
    decided = ann.resolve(session_id, asked["intervention_id"], "approve", comment="fine").json()["data"]
    assert ann.items("/v1/interventions", state="pending") == ann.items(of_session) == []
    assert ann.data(f"{of_session}/{asked['intervention_id']}") == decided


def test_an_approved_deletion_is_done_and_recorded_with_who_decided(
    ann: Person, admit: Admit, waiting: Seen
) -> None:
    session_id, asked = the_question(waiting)
    ben = admit(ann.tenant, "ben")

    answer = ben.resolve(session_id, asked["intervention_id"], "approve", comment="go ahead")

    decided = answer.json()["data"]
    assert (decided["state"], decided["resolution"], decided["resolved_by"]) == ("resolved", "approve", "ben")
    assert decided["comment"] == "go ahead"
    assert decided["resolved_at"] >= asked["created_at"]
    seen = ann.finished(session_id)
    assert (seen.session["state"], seen.session["result"]["goal_met"]) == ("completed", True)
    assert ann.files() == {OTHER}
    (event,) = seen.of("intervention.resolved")
    assert event["data"] == {
        "intervention_id": asked["intervention_id"],
        "type": "approval_required",
        "tool": "delete_file",
        "option": "approve",
        "via": "api",
        "input_hash": asked["tool_call"]["input_hash"],
        "resolved_by": "ben",
        "comment": "go ahead",
    }
    assert event["at"] == decided["resolved_at"]
    (started,) = seen.of("tool.started")
    assert event["seq"] < started["seq"]


def test_a_rejected_deletion_is_not_done_and_the_agent_reads_why(ann: Person, waiting: Seen) -> None:
    session_id, asked = the_question(waiting)
    ann.resolve(session_id, asked["intervention_id"], "reject", comment="keep it")
    seen = ann.finished(session_id)
    assert ann.files() == {OLD, OTHER}
    assert seen.of("tool.started") == []
    results = [m["content"] for m in ann.items(f"/v1/sessions/{session_id}/messages") if m["role"] == "tool"]
    assert any("rejected" in content and "keep it" in content for content in results)


def test_a_modified_deletion_is_done_with_the_person_s_input(ann: Person, waiting: Seen) -> None:
    session_id, asked = the_question(waiting)
    answer = ann.resolve(session_id, asked["intervention_id"], "modify", input={"input": {"path": OTHER}})
    assert answer.status_code == 200, answer.text
    seen = ann.finished(session_id)
    assert ann.files() == {OLD}
    (event,) = seen.of("intervention.resolved")
    assert event["data"]["option"] == "modify"
    assert event["data"]["input_hash"] != asked["tool_call"]["input_hash"]
    (started,) = seen.of("tool.started")
    assert started["data"]["input_hash"] == event["data"]["input_hash"], "the decision is bound to what ran"


def test_a_second_decision_gets_409_with_the_recorded_one(ann: Person, waiting: Seen) -> None:
    session_id, asked = the_question(waiting)
    assert ann.resolve(session_id, asked["intervention_id"], "reject").status_code == 200
    for option in ("approve", "reject"):
        error = refused(ann.resolve(session_id, asked["intervention_id"], option), 409, "CONFLICT")
        assert error["details"]["resolution"] == ["reject"]
    ann.finished(session_id)
    refused(ann.resolve(session_id, asked["intervention_id"], "approve"), 409, "CONFLICT")
    assert OLD in ann.files()


def test_of_decisions_made_at_once_exactly_one_counts(ann: Person, waiting: Seen) -> None:
    session_id, asked = the_question(waiting)

    def decide(option: str) -> tuple[int, Json]:
        answer = ann.resolve(session_id, asked["intervention_id"], option)
        return answer.status_code, answer.json()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(decide, ["approve", "reject"] * 4))

    assert sorted(status for status, _ in answers) == [200, *[409] * 7]
    (taken,) = [body["data"]["resolution"] for status, body in answers if status == 200]
    assert {body["error"]["details"]["resolution"][0] for status, body in answers if status == 409} == {taken}
    seen = ann.finished(session_id)
    assert len(seen.of("intervention.resolved")) == 1
    assert (OLD in ann.files()) == (taken == "reject")


def test_a_session_cancelled_while_it_waits_deletes_nothing_and_takes_no_decision_any_more(
    ann: Person, waiting: Seen, behind: Behind
) -> None:
    session_id, asked = the_question(waiting)

    answers = [ann.post(f"/v1/sessions/{session_id}/cancel") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json()["data"]["state"] == "cancelled"
    error = refused(ann.resolve(session_id, asked["intervention_id"], "approve"), 409, "CONFLICT")
    assert error["details"]["state"] == ["withdrawn"]
    assert ann.files() == {OLD, OTHER}
    (execution,) = behind.executions(session_id)
    assert execution["status"] in ("ABORTED", "SUCCEEDED")
    assert ann.items("/v1/interventions", state="pending") == []


def test_an_approval_nobody_gives_expires_is_recorded_as_that_and_deletes_nothing(
    ann: Person, behind: Behind
) -> None:
    ann.put_file(OLD, "old")
    brief = {"ACTA_APPROVAL_TIMEOUT_SECONDS": "4", "ACTA_INTERVENTION_WARN_SECONDS": "3"}
    with behind.configured("step", "intervene", **brief):
        session_id = ann.start(DELETION)
        seen = ann.finished(session_id)
    assert [event["type"] for event in seen.of("intervention.warned", "intervention.expired")] == [
        "intervention.warned",
        "intervention.expired",
    ]
    assert seen.of("intervention.resolved") == []
    asked = ann.data(
        f"/v1/sessions/{session_id}/interventions/{seen.of('intervention.opened')[0]['data']['intervention_id']}"
    )
    assert (asked["state"], asked["resolution"], asked["resolved_by"]) == ("expired", "reject", None)
    assert ann.file(OLD) == "old"
    (execution,) = behind.executions(session_id)
    assert entered(behind.history(execution["executionArn"])).count("Ask") == 3


def test_a_question_is_answered_by_a_message_or_by_a_resolution(ann: Person) -> None:
    for number, how in enumerate(("message", "resolution")):
        path = f"made-{number}.txt"
        seen = ann.asked(ann.start(f"Create the file {path}"))
        session_id, asked = the_question(seen)
        assert asked["type"] == "clarification_needed"
        assert path in asked["context"]["question"]
        assert asked["timeout_at"] is None
        text = f"text number {number}"
        if how == "message":
            answer = ann.post(f"/v1/sessions/{session_id}/messages", {"content": text})
            assert answer.status_code == 202
        else:
            answer = ann.resolve(session_id, asked["intervention_id"], "answer", input={"text": text})
            assert answer.status_code == 200
        done = ann.finished(session_id)
        assert done.session["result"]["goal_met"] is True
        assert ann.file(path) == text
        assert len(done.of("message.user")) == 2


def test_a_used_up_budget_asks_instead_of_ending_and_goes_on_when_it_is_raised(ann: Person) -> None:
    ann.put_file("a.txt", "text")
    seen = ann.asked(ann.start("List my files", token_budget=1))
    session_id, asked = the_question(seen)
    assert asked["type"] == "budget_exceeded"
    assert seen.session["usage"]["llm_calls"] <= 1, "it is asked before it is spent"
    too_little = ann.resolve(session_id, asked["intervention_id"], "raise", input={"token_budget": 0})
    refused(too_little, 400, "VALIDATION_ERROR")
    ann.resolve(session_id, asked["intervention_id"], "raise", input={"token_budget": 100_000})
    done = ann.finished(session_id)
    assert done.session["result"]["goal_met"] is True
    assert done.session["budget"]["token_budget"] == 100_000
