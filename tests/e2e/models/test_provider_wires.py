"""A few turns of the deployed loop over each wire but Anthropic's own, which `test_providers.py` has whole."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from llmock.scenarios import Reply

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person
from tests.e2e.support.thinking import calls, end, plan, step_done
from tests.models.wires.anthropic.bedrock_front import BedrockFront

MODEL = "eu.anthropic.claude-of-the-test"


def rarer(name: str) -> Any:
    return pytest.param(name, marks=pytest.mark.thorough)


@pytest.fixture(scope="module", params=[rarer("openai-chat"), "openai-responses", rarer("bedrock")])
def wire(request: pytest.FixtureRequest, behind: Behind, llmock_server: Any) -> Iterator[str]:
    """The step function configured for it. Bedrock's requests are signed with what the function's role gives it."""
    with BedrockFront(llmock_server.base_url("anthropic")) as front:
        openai = {
            "ACTA_PROVIDER": "openai",
            "OPENAI_API_KEY": "sk-test",
            "OPENAI_BASE_URL": llmock_server.base_url("openai"),
        }
        variables = {
            "openai-chat": {**openai, "ACTA_OPENAI_API": "chat"},
            "openai-responses": {**openai, "ACTA_OPENAI_API": "responses"},
            "bedrock": {"ACTA_PROVIDER": "bedrock", "ANTHROPIC_BEDROCK_BASE_URL": front.url},
        }
        name = str(request.param)
        priced = {variables[name]["ACTA_PROVIDER"]: {MODEL: {"input": 1, "output": 10, "window": 64_000}}}
        with behind.configured("step", ACTA_MODEL=MODEL, ACTA_MODELS=json.dumps(priced), **variables[name]):
            yield name


@pytest.fixture
def model(wire: str, llmock: Any) -> Any:
    """Says what a test scripts, and nothing by itself."""
    return llmock.tool_mode("off")


def test_a_plan_parallel_calls_and_an_end_make_a_completed_session(ann: Person, model: Any) -> None:
    for name in "ab":
        ann.put_file(f"{name}.txt", f"text {name}")
    reads = [("read_file", {"path": f"{name}.txt"}) for name in "ab"]
    model.add(
        plan("Read", "Write"),
        calls(*reads, text="Reading both."),
        calls(step_done(1), ("create_file", {"path": "out.md", "content": "a and b"})),
        end("It is in out.md.", 2),
    )

    seen = ann.finished(ann.start("Read two and write one"))

    assert (seen.session["state"], seen.session["result"]["goal_met"]) == ("completed", True)
    assert ann.file("out.md") == "a and b"
    assert seen.session["usage"]["llm_calls"] == len(model.requests) == 4
    steps = ann.items(f"/v1/sessions/{seen.session['session_id']}/steps")
    assert {step["name"] for step in steps if step["kind"] in ("plan", "llm")} == {MODEL}
    assert seen.session["usage"]["cost_usd"] > 0, "the environment has given the price"


def test_the_effort_of_an_agent_reaches_the_model(admit: Admit, model: Any, wire: str) -> None:
    boss = admit(role="admin")
    made = boss.post("/v1/agents", {"name": "Thinker", "effort": "high", "temperature": 0.5})
    model.add(plan(), end())

    seen = boss.finished(boss.start("A goal", agent_id=made.json()["data"]["agent_id"], cost_budget_usd=1))

    assert seen.session["state"] == "completed"
    sent: dict[str, dict[str, Any]] = {
        "openai-chat": {"reasoning_effort": "high"},
        "openai-responses": {"reasoning": {"effort": "high"}},
        "bedrock": {"output_config": {"effort": "high"}},
    }
    for asked in model.requests:
        assert asked.body.items() >= sent[wire].items()
        assert "temperature" not in asked.body, "no Claude takes one"


def test_a_rate_limit_with_retry_after_is_waited_for_in_the_engine(ann: Person, model: Any) -> None:
    model.add(plan(), end())
    model.rate_limit(retry_after=1.0)

    seen = ann.finished(ann.start("A goal"))

    assert seen.session["state"] == "completed"
    assert len(seen.of("llm.retried")) == 1
    assert len(model.requests) == 3, "the SDK itself does not retry"


def test_an_access_that_is_denied_fails_the_session_with_a_code(ann: Person, model: Any) -> None:
    model.fail(403, times=None)

    seen = ann.finished(ann.start("A goal"))

    assert (seen.session["state"], seen.session["error"]["code"]) == ("failed", "PROVIDER_KEY_REFUSED")


def test_an_answer_that_does_not_fit_its_schema_is_explained_and_sent_again_in_the_provider_s_form(
    ann: Person, model: Any, wire: str
) -> None:
    schema = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
    model.add(plan(), end("Three."), Reply(text='{"total": 3}'))

    seen = ann.finished(ann.start("Add them up", output_schema=schema))

    assert (seen.session["state"], seen.session["result"]["data"]) == ("completed", {"total": 3})
    assert "ANSWER_INVALID" in [event["data"]["code"] for event in seen.of("plan.rejected")]
    strict = {"schema": {**schema, "additionalProperties": False}}
    named = {**strict, "name": "answer", "strict": True}
    sent = {
        "openai-chat": ("response_format", {"type": "json_schema", "json_schema": named}),
        "openai-responses": ("text", {"format": {"type": "json_schema", **named}}),
        "bedrock": ("output_config", {"format": {"type": "json_schema", **strict}}),
    }
    field, form = sent[wire]
    assert [asked.body.get(field) for asked in model.requests] == [None, None, form]


@pytest.mark.thorough
def test_a_fork_gives_the_conversation_to_the_model_and_outlives_the_session(ann: Person, model: Any) -> None:
    ann.put_file("a.txt", "text a")
    model.add(plan(), calls(("read_file", {"path": "a.txt"})), end("One."), end("Two."))
    seen = ann.finished(ann.start("Read it"))
    parent, at = seen.session["session_id"], seen.of("tool.finished")[0]["seq"]

    told = ann.post(f"/v1/sessions/{parent}/fork", {"at": at}).json()["data"]
    ann.delete(f"/v1/sessions/{parent}")
    forked = ann.finished(told["session_id"])

    assert (told["files"], told["forked_from"]["session_id"]) == ("as_they_are_now", parent)
    assert (forked.session["state"], forked.session["result"]["answer"]) == ("completed", "Two.")
    assert forked.session["usage"]["llm_calls"] == 1
    messages = ann.items(f"/v1/sessions/{told['session_id']}/messages")
    assert [one["role"] for one in messages if one.get("inherited")][:2] == ["user", "assistant"]
