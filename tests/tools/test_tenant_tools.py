"""A whole run with a tool that a tenant's admin added, against a server that counts what is done to it."""

from collections.abc import Sequence

import pytest

from acta.engine.errors import AwsDenied, StoreThrottled, StoreUnavailable, TransientError
from acta.engine.log.conversation import ToolEntry
from acta.engine.models.model import ModelReply
from acta.engine.tools.tool import Effect, HttpConfig, ToolDefinition
from acta.engine.untrusted.quoting import quoted
from tests.doubles.http_sink import Reply, Sink
from tests.doubles.tool_secrets import known_for
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

SCRIPT = [
    plans("pay"),
    says("", call("refund", order=7)),
    says("", step(1, "completed", "ok")),
    completes("Paid."),
]


def house_with_refund(
    sink: Sink,
    effect: Effect = "once",
    *,
    script: Sequence[ModelReply] = SCRIPT,
    high_stakes: bool = False,
    allow: str = "",
    secret_headers: dict[str, str] | None = None,
) -> House:
    house = House(ScriptedModel(script), env="local", is_local=True, http_tool_allow=allow or sink.at)
    house.definitions.tools.create(
        TENANT,
        ToolDefinition(
            name="refund",
            description="Pays an order back",
            input_schema={
                "type": "object",
                "properties": {"order": {"type": "integer"}},
                "additionalProperties": False,
            },
            kind="http",
            config=HttpConfig(url=sink.url("/refunds"), method="POST", secret_headers=secret_headers or {}),
            effect=effect,
            risk="write",
            high_stakes=high_stakes,
            version=1,
            created_at=house.clock.now(),
            updated_at=house.clock.now(),
        ),
    )
    return house


def entries(house: House, session_id: str) -> list[ToolEntry]:
    placed, _ = house.history(session_id).messages(0, 50)
    return [m.entry for m in placed if isinstance(m.entry, ToolEntry) and m.entry.name == "refund"]


def results(house: House, session_id: str) -> list[str | None]:
    return [entry.content.text for entry in entries(house, session_id)]


def test_an_added_tool_runs_once_under_its_effect_s_key_and_its_answer_is_quoted_as_data() -> None:
    with Sink({"/refunds": Reply(body=b'{"refunded": 7}')}) as sink:
        house = house_with_refund(sink)
        session = house.start("Pay back order 7").session_id
        house.run()
    assert house.head(session).state == "completed"
    (heard,) = sink.heard
    assert heard.body == {"order": 7}
    assert heard.headers["idempotency-key"].startswith("eff_")
    (entry,) = entries(house, session)
    assert entry.content.text == quoted(
        "answer", "", '{"refunded": 7}', key=house.head(session).quotation_key
    )
    assert isinstance(house.model, ScriptedModel)
    offered = [tool.name for tool in house.model.requests[1].tools]
    assert offered[-1] == "refund"


def test_a_call_that_runs_once_and_got_no_answer_is_asked_about() -> None:
    with Sink({"/refunds": Reply(body=b"half", length=8)}) as sink:
        house = house_with_refund(sink)
        session = house.start("Pay back order 7").session_id
        house.run()
        (doubt,) = house.head(session).interventions
        assert (doubt.type, len(sink.heard)) == ("error_recovery", 1)
        house.resolve(session, doubt, "record", result="Refunded.")
        house.run()
    assert (house.head(session).state, len(sink.heard)) == ("completed", 1)


def test_an_approval_is_for_the_tool_as_it_was_when_the_call_was_asked_for() -> None:
    """An admin leads the tool elsewhere while a person looks at the call."""
    again = [*SCRIPT[:2], says("Once more.", call("refund", order=7)), *SCRIPT[2:]]
    with Sink() as sink, Sink() as elsewhere:
        house = house_with_refund(sink, script=again, high_stakes=True, allow=f"{sink.at},{elsewhere.at}")
        session = house.start("Pay back order 7").session_id
        house.run()
        (asked,) = house.head(session).interventions
        house.clock.advance(60)
        (old,) = house.definitions.tools.all(TENANT)
        moved = HttpConfig(url=elsewhere.url("/refunds"), method="POST")
        changed = {"config": moved, "version": 2, "updated_at": house.clock.now()}
        house.definitions.tools.replace(TENANT, old, old.model_copy(update=changed))
        house.resolve(session, asked, "approve")
        house.run()
        (anew,) = house.head(session).interventions
        assert (anew.type, sink.heard, elsewhere.heard) == ("approval_required", [], [])
        assert (results(house, session)[0] or "").startswith("Error: the tool refund was changed")
        house.resolve(session, anew, "approve")
        house.run()
    assert (house.head(session).state, len(elsewhere.heard)) == ("completed", 1)


def test_a_tool_that_was_changed_before_the_call_was_asked_for_runs_once_approved() -> None:
    with Sink() as sink:
        house = house_with_refund(sink, high_stakes=True)
        session = house.start("Pay back order 7").session_id
        house.run()
        house.clock.advance(60)
        house.resolve(session, house.head(session).interventions[0], "approve")
        house.run()
    assert (house.head(session).state, len(sink.heard)) == ("completed", 1)


def test_another_tenant_s_tool_is_no_tool() -> None:
    with Sink() as sink:
        house = house_with_refund(sink)
        assert "refund" in house.registry.specs(TENANT, "default")
        assert "refund" not in house.registry.specs("other", "default")


@pytest.mark.parametrize("effect", ["once", "idempotent", "read"])
@pytest.mark.parametrize("away", [StoreUnavailable("x"), StoreThrottled("x"), AwsDenied("x")])
def test_where_the_store_of_secrets_is_away_the_call_is_made_later_and_once(
    effect: Effect, away: TransientError
) -> None:
    with Sink() as sink:
        house = house_with_refund(sink, effect, secret_headers={"Authorization": "desk"})
        for secret in known_for([sink.at], "desk")(TENANT):
            house.app().secret_names.put(TENANT, secret)
        house.secret_values.put(TENANT, "desk", "Bearer sk-1234567890")
        house.secret_values.away = [away] * 8
        session = house.start("Pay back order 7").session_id
        house.run()
    assert (house.head(session).state, house.head(session).interventions) == ("completed", ())
    assert [heard.headers["authorization"] for heard in sink.heard] == ["Bearer sk-1234567890"]
    assert len(house.secret_values.away) == 0
    assert house.head(session).usage.tool_calls == 1


def test_a_model_is_told_which_secret_is_missing_and_the_run_goes_on() -> None:
    with Sink() as sink:
        house = house_with_refund(sink, secret_headers={"Authorization": "desk"})
        house.secret_values.put("other", "desk", "Bearer sk-1234567890")
        session = house.start("Pay back order 7").session_id
        house.run()
    assert (house.head(session).state, sink.heard) == ("completed", [])
    (told,) = results(house, session)
    assert (told or "").startswith("Error: refund did not run: its secret desk is not set.")
