"""`GET /v1/sessions/{id}/receipt`, and the sums in the snapshot."""

from functions.status.dependencies import Dependencies
from functions.status.routes import build
from shared.agent.queries.long_polls import LongPollLimit
from shared.agent.session.repository import SessionRepository
from shared.domain.spending.aws_prices import LISTS, AwsPrices, prices_in
from shared.domain.spending.used import Used
from tests.doubles.long_polls import MemoryLongPolls
from tests.in_process.house import TENANT, USER, House
from tests.in_process.scripted import ScriptedModel, call, plans, says
from tests.unit.api.gateway import Gateway, claims

END = says("", call("update_plan", action="fail", reason="over"))


class OneSecondEach:
    """Each commit is the first of an invocation that took a second."""

    def take(self, transitions: int = 0) -> Used:
        return Used("step", 512, 1, 1_000, 2 + transitions, reads=1, half_rru=2)

    def give_back(self, used: Used) -> None:
        raise AssertionError("every commit is stored")


def gateway(house: House, prices: AwsPrices, user: str = USER) -> Gateway:
    long_polls = LongPollLimit(MemoryLongPolls(), house.clock)
    stores = house.settings, house.log, house.blobs, house.index, house.partials
    status = Dependencies(*stores, long_polls, house.clock, None, prices, "arm64")
    return Gateway(build(status).handler, claims(tenant=TENANT, user=user, roles="[member]"))


def finished(meter: OneSecondEach | None, **settings: object) -> tuple[House, str]:
    house = House(ScriptedModel([plans("one"), END]), **settings)
    house.repository = SessionRepository(
        house.log, house.blobs, house.clock, write_version=house.settings.write_version, meter=meter
    )
    session_id = house.start("Go").session_id
    house.run()
    return house, session_id


def test_a_receipt_has_counts_and_dollars_and_the_snapshot_its_sums() -> None:
    house, session_id = finished(OneSecondEach())
    api = gateway(house, LISTS["us-east-1"])

    told = api.request("GET", f"/v1/sessions/{session_id}/receipt").data
    snapshot = api.request("GET", f"/v1/sessions/{session_id}").data

    assert told["is_whole"] is True
    (function,) = told["aws"]["lambda"]["functions"]
    commits = function["requests"]
    assert function["ms"] == commits * 1_000
    assert function["gb_seconds"] == commits * 0.5
    assert told["aws"]["dynamodb"]["read_units"] == commits
    assert told["aws"]["step_functions"]["transitions"] == 2 * commits + 2  # Route and Done at the end
    assert told["aws"]["usd"] > 0
    (model,) = told["models"]["items"]
    usage = snapshot["session"]["usage"]
    assert model["calls"] == usage["llm_calls"] == 2
    assert model["fresh_input_tokens"] + model["cached_input_tokens"] == usage["input_tokens"]
    assert (told["models"]["usd"], told["total_usd"]) == (
        None,
        None,
    )  # nobody knows what the test's model costs
    assert snapshot["cost"] == {
        "models_usd": None,
        "aws_usd": told["aws"]["usd"],
        "total_usd": None,
        "is_whole": True,
    }
    assert told["prices"]["aws"]["region"] == "us-east-1"
    assert told["not_counted"]


def test_prices_of_a_region_without_a_list_are_unknown_and_not_nothing() -> None:
    house, session_id = finished(OneSecondEach())

    told = gateway(house, prices_in("moon-1")).request("GET", f"/v1/sessions/{session_id}/receipt").data

    assert (told["aws"]["usd"], told["total_usd"], told["aws"]["lambda"]["usd"]) == (None, None, None)
    assert told["prices"]["aws"] == {"region": "moon-1", "as_of": None, "source": None}


def test_a_session_of_the_version_before_says_that_nothing_was_counted() -> None:
    house, session_id = finished(OneSecondEach(), write_version=1)

    told = gateway(house, LISTS["us-east-1"]).request("GET", f"/v1/sessions/{session_id}/receipt").data

    assert (told["counted_since"], told["is_whole"], told["total_usd"]) == (None, False, None)


def test_the_receipt_of_a_session_that_is_not_there_is_not_found() -> None:
    house, _ = finished(None)

    answer = gateway(house, LISTS["us-east-1"]).request("GET", "/v1/sessions/ses_none/receipt")

    assert answer.status == 404


def test_the_receipt_of_somebody_s_private_session_is_not_found_either() -> None:
    house = House(ScriptedModel([plans("one"), END]))
    session_id = house.start("Go", visibility="private").session_id

    path = f"/v1/sessions/{session_id}/receipt"

    assert gateway(house, LISTS["us-east-1"], "eve").request("GET", path).status == 404
    assert gateway(house, LISTS["us-east-1"]).request("GET", path).status == 200
