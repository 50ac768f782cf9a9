"""What a wait for people outlasts and brings together: batches, crowds, deployments (docs/design/engine.md 9,
people.md)."""

import io
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.e2e.support.behind import Behind, as_text
from tests.e2e.support.person import Person
from tests.e2e.support.script import Call, do, end, plan, write
from tests.e2e.support.stage import Stage

CROWD = 20
PATHS = ("a.txt", "b.txt", "c.txt")


def deletion(path: str) -> Call:
    return Call("delete_file", {"path": path})


@pytest.fixture(scope="module")
def provider(behind: Behind, llmock_server: Any) -> Iterator[None]:
    base_url = llmock_server.base_url("anthropic")
    key = {"ACTA_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": base_url}
    with behind.configured("step", **key):
        yield


@pytest.fixture
def stage(provider: None, llmock: Any, ann: Person) -> Stage:
    for path in PATHS:
        ann.put_file(path, path)
    return Stage(ann, llmock.tool_mode("off"))


def test_of_a_batch_every_decision_is_in_before_any_call_runs_and_each_reaches_its_own(
    stage: Stage, ann: Person
) -> None:
    stage.prepare(
        do(plan("Tidy up")),
        do(*map(deletion, PATHS), write("made.txt")),
        end("Tidied up as far as allowed.", 1),
    )
    seen = ann.watch(ann.start("Tidy up"), lambda s: len(s["interventions"]) == len(PATHS))
    session_id = seen.session["session_id"]
    asked = {one["tool_call"]["input"]["path"]: one for one in seen.session["interventions"]}
    decisions: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("c.txt", "modify", {"input": {"input": {"path": "made-up.txt"}}}),
        ("a.txt", "approve", {}),
        ("b.txt", "reject", {"comment": "b is needed"}),
    )
    for path, option, more in decisions:
        assert ann.files() == set(PATHS), "not one call of the batch has run, the harmless one included"
        answer = ann.resolve(session_id, asked[path]["intervention_id"], option, **more)
        assert answer.status_code == 200, answer.text

    done = ann.finished(session_id)

    assert ann.files() == {"b.txt", "c.txt", "made.txt"}
    decided = {
        e["data"]["intervention_id"]: e["data"]["input_hash"] for e in done.of("intervention.resolved")
    }
    ran = {e["data"]["input_hash"] for e in done.of("tool.started") if e["data"]["name"] == "delete_file"}
    rejected = asked["b.txt"]["intervention_id"]
    assert ran == {hashed for asked_id, hashed in decided.items() if asked_id != rejected}
    assert min(e["seq"] for e in done.of("tool.started")) > max(
        e["seq"] for e in done.of("intervention.resolved")
    )
    (said,) = [text for text in stage.results(done) if "b is needed" in text]
    assert "rejected" in said
    calls = [c for m in stage.told(done, "messages")["items"] for c in m.get("tool_calls", ())]
    assert [c.get("amended_input") for c in calls if c["name"] == "delete_file"] == [
        None,
        None,
        {"path": "made-up.txt"},
    ]
    changed = ann.data(f"/v1/sessions/{session_id}/interventions/{asked['c.txt']['intervention_id']}")
    assert (changed["amended"], changed["input"]) == (True, {"input": {"path": "made-up.txt"}})


def test_a_plan_s_own_wish_for_permission_is_asked_for_and_cannot_be_taken_back(
    stage: Stage, ann: Person
) -> None:
    asks = {"description": "Write it", "tool": "create_file", "requires_permission": True}
    steps = [asks, {"description": "Tell"}]
    dropped = [{"description": "Write it", "tool": "create_file", "requires_permission": False}]
    stage.prepare(
        do(Call("update_plan", {"action": "create", "goal": "g", "steps": steps})),
        do(Call("update_plan", {"action": "create", "goal": "g", "steps": dropped}), write("made.txt")),
        end("Written.", 1),
    )
    seen = ann.asked(ann.start("Write made.txt"))
    session_id, (one,) = seen.session["session_id"], seen.session["interventions"]
    assert (one["context"]["reason"], one["tool_call"]["name"]) == ("plan_step", "create_file")
    assert "made.txt" not in ann.files()
    ann.resolve(session_id, one["intervention_id"], "approve")
    assert ann.finished(session_id).session["result"]["goal_met"] is True
    assert "made.txt" in ann.files()


def test_of_twenty_approvals_at_once_one_counts_and_the_others_get_its_outcome(
    stage: Stage, ann: Person
) -> None:
    stage.prepare(do(plan("Delete it")), do(deletion("a.txt")), end("Deleted.", 1))
    seen = ann.asked(ann.start("Delete a.txt"))
    session_id, (one,) = seen.session["session_id"], seen.session["interventions"]

    def approve(number: int) -> httpx.Response:
        return ann.resolve(session_id, one["intervention_id"], "approve", comment=f"number {number}")

    with ThreadPoolExecutor(CROWD) as pool:
        answers = list(pool.map(approve, range(CROWD)))

    assert sorted(answer.status_code for answer in answers) == [200, *[409] * (CROWD - 1)]
    details = [answer.json()["error"]["details"] for answer in answers if answer.status_code == 409]
    told = {"state": ["resolved"], "resolution": ["approve"], "resolved_by": ["ann"]}
    assert details == [told] * (CROWD - 1)
    done = ann.finished(session_id)
    (taken,) = [answer.json()["data"] for answer in answers if answer.status_code == 200]
    (event,) = done.of("intervention.resolved")
    assert event["data"]["comment"] == taken["comment"]
    assert len([e for e in done.of("tool.started") if e["data"]["name"] == "delete_file"]) == 1
    assert ann.files() == {"b.txt", "c.txt"}


@pytest.mark.thorough
def test_a_wait_outlasts_a_deployment_of_code_and_configuration(
    stage: Stage, ann: Person, behind: Behind
) -> None:
    stage.prepare(do(plan("Delete it")), do(deletion("a.txt")), end("Deleted.", 1))
    seen = ann.asked(ann.start("Delete a.txt"))
    session_id, (one,) = seen.session["session_id"], seen.session["interventions"]
    functions = ("step", "tool", "intervene")
    before = [deploy(behind, function) for function in functions]
    with behind.configured(*functions, ACTA_POLL_AFTER_MS="1001"):
        assert ann.snapshot(session_id)["interventions"] == [one]
        assert ann.resolve(session_id, one["intervention_id"], "approve").status_code == 200
        done = ann.finished(session_id)
    assert (done.session["state"], done.session["result"]["goal_met"]) == ("completed", True)
    assert ann.files() == {"b.txt", "c.txt"}
    (execution,) = behind.executions(session_id)
    assert execution["status"] == "SUCCEEDED"
    assert all(before)


def deploy(behind: Behind, function: str) -> bool:
    """The function's code with one file more, as a release would replace it; whether it is other code now."""
    lambdas, name = behind.client("lambda"), f"acta-local-{function}"
    before = lambdas.get_function_configuration(FunctionName=name)
    data = io.BytesIO(behind.code_of(function))
    with zipfile.ZipFile(data, "a") as archive:
        archive.writestr("release.txt", "the next one")
    lambdas.update_function_code(FunctionName=name, ZipFile=data.getvalue())
    now = lambdas.get_function_configuration(FunctionName=name)
    return bool(now["CodeSha256"] != before["CodeSha256"])


def test_the_engine_s_token_is_in_no_answer_no_event_no_log_and_no_stored_thing_in_the_clear(
    stage: Stage, ann: Person, behind: Behind
) -> None:
    stage.prepare(do(plan("Delete it")), do(deletion("a.txt")), end("Kept.", 1))
    seen = ann.asked(ann.start("Delete a.txt"))
    session_id, (one,) = seen.session["session_id"], seen.session["interventions"]
    of_it = f"/v1/sessions/{session_id}"
    paths = ("", "/events", "/messages", "/plan", "/steps", "/trace", "/interventions")
    one_of_it = f"{of_it}/interventions/{one['intervention_id']}"
    reads = [
        *(of_it + path for path in paths),
        one_of_it,
        f"{one_of_it}/input",
        "/v1/interventions",
        "/v1/sessions",
    ]
    answers = [ann.get(path).text for path in reads]
    answers += [ann.post(f"{of_it}/{verb}").text for verb in ("pause", "resume")]
    answers += [
        ann.resolve(session_id, one["intervention_id"], option).text
        for option in ("shrug", "reject", "approve")
    ]
    ann.finished(session_id)
    answers += [ann.get(path).text for path in reads]
    (execution,) = behind.executions(session_id)
    tokens = tokens_of(behind.history(execution["executionArn"]))
    assert tokens, "the engine gave one out"
    hay = "\n".join([*answers, *behind.log_lines(), *map(str, behind.items_of(session_id))])
    assert session_id in hay
    assert [token for token in tokens if token in hay] == []
    assert [token for token in tokens if token in str(stage.requests)] == []


def tokens_of(history: list[dict[str, Any]]) -> set[str]:
    """What the engine passed to Ask as its token, wherever the history has it."""
    import re

    return set(re.findall(r'task_token\\*"\s*:\s*\\*"([^"\\]+)', as_text(history)))
