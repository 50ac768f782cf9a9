"""`GET /v1/sessions/{id}/receipt`, and the sums in the snapshot."""

import pytest

from acta.engine.usage.aws_estimate import COUNTED_ON, AwsRates
from acta.engine.usage.aws_prices import LISTS, AwsPrices, prices_in
from tests.api.gateway import Gateway, api_of, claims
from tests.in_process.house import TENANT, USER, House
from tests.in_process.scripted import ScriptedModel, call, plans, says

END = says("", call("update_plan", action="fail", reason="over"))


def gateway(house: House, prices: AwsPrices, user: str = USER) -> Gateway:
    status = house.app(rates=AwsRates(prices), audit=None, limiter=None)
    return Gateway(api_of("status", status).handler, claims(tenant=TENANT, user=user, roles="[member]"))


def finished() -> tuple[House, str]:
    house = House(ScriptedModel([plans("one"), END]))
    session_id = house.start("Go").session_id
    house.run()
    return house, session_id


def test_a_receipt_has_counts_and_dollars_and_the_snapshot_its_sums() -> None:
    house, session_id = finished()
    api = gateway(house, LISTS["us-east-1"])

    told = api.request("GET", f"/v1/sessions/{session_id}/receipt").data
    snapshot = api.request("GET", f"/v1/sessions/{session_id}").data

    usage = snapshot["session"]["usage"]
    assert told["counts"] == {
        "runs": 1, "model_calls": usage["llm_calls"], "tool_calls": 0, "questions": 0, "waits": 0, "executions": 1,
    }  # fmt: skip
    (model,) = told["models"]["items"]
    assert model["calls"] == usage["llm_calls"] == 2
    assert model["fresh_input_tokens"] + model["cached_input_tokens"] == usage["input_tokens"]
    assert told["models"]["usd"] is None, "nobody knows what the test's model costs"
    assert told["total_usd"] is None
    assert snapshot["cost"] == {
        "models_usd": None,
        "estimated_aws_usd": told["aws"]["usd"],
        "total_usd": None,
    }
    assert told["prices"]["aws"]["region"] == "us-east-1"
    assert told["not_counted"]


def test_the_part_of_aws_says_that_it_is_an_estimate_and_of_which_day() -> None:
    house, session_id = finished()

    aws = gateway(house, LISTS["us-east-1"]).request("GET", f"/v1/sessions/{session_id}/receipt").data["aws"]

    assert (aws["is_estimate"], aws["estimated_from"]) == (True, COUNTED_ON)
    assert aws["step_functions"]["transitions"] == 2 * 2 + 2, (
        "Route and a state for each turn, Route and Done"
    )
    assert aws["usd"] == pytest.approx(
        sum(aws[part]["usd"] for part in ("step_functions", "lambda", "dynamodb", "s3")), abs=1e-8
    )


def test_prices_of_a_region_without_a_list_are_unknown_and_not_nothing() -> None:
    house, session_id = finished()

    told = gateway(house, prices_in("moon-1")).request("GET", f"/v1/sessions/{session_id}/receipt").data

    assert (told["aws"]["usd"], told["total_usd"], told["aws"]["lambda"]["usd"]) == (None, None, None)
    assert told["prices"]["aws"] == {"region": "moon-1", "as_of": None, "source": None}


def test_the_receipt_of_a_session_that_is_not_there_is_not_found() -> None:
    house, _ = finished()

    answer = gateway(house, LISTS["us-east-1"]).request("GET", "/v1/sessions/ses_none/receipt")

    assert answer.status == 404


def test_the_receipt_of_somebody_s_private_session_is_not_found_either() -> None:
    house = House(ScriptedModel([plans("one"), END]))
    session_id = house.start("Go", visibility="private").session_id

    path = f"/v1/sessions/{session_id}/receipt"

    assert gateway(house, LISTS["us-east-1"], "eve").request("GET", path).status == 404
    assert gateway(house, LISTS["us-east-1"]).request("GET", path).status == 200
