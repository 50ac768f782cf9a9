"""`GET /v1/usage`: the sums of the sessions, for admins the tenant's, for everybody else their own."""

from datetime import timedelta
from typing import Any

import pytest

from acta.engine.api.answers import instant
from acta.engine.store.table_layout import item_commit
from acta.engine.usage.aws_estimate import AwsRates, receipt_of
from acta.engine.usage.aws_prices import LISTS, AwsPrices
from acta.engine.usage.fold import fold
from tests.api.gateway import Answer, Gateway, api_of, claims
from tests.doubles.audit import PlainPseudonyms, memory_audit
from tests.doubles.usage import MemoryUsage
from tests.in_process.house import TENANT, USER, House
from tests.in_process.scripted import ScriptedModel, call, plans, says
from tests.stores import in_memory

END = says("Done.", call("update_plan", action="complete", reason="all done"))
STEPS = says(
    "", call("update_plan", action="update_step", step_number=1, step_status="completed", step_result="x")
)
FILE = says("", call("create_file", path="a.md", content="x"))
PRICES = LISTS["us-east-1"]


class Office:
    """A house whose usage is counted whenever `count` says so."""

    def __init__(self, *replies: Any) -> None:
        self.house = House(ScriptedModel(list(replies)))
        self.usage = MemoryUsage(self.house.table)
        self.prices = PRICES
        self.audit = memory_audit(self.house.clock)

    def run(self, user: str = USER) -> str:
        self.house.user = user
        session_id = self.house.start("Go").session_id
        self.house.run()
        return session_id

    def count(self) -> None:
        fold(self.usage, PlainPseudonyms(), self.usage.committed())

    def ask(self, user: str = "root", roles: str = "[admin]", **query: str) -> Answer:
        house = self.house
        status = house.app(
            rates=AwsRates(self.prices),
            usage=self.usage,
            audit=self.audit,
            limiter=None,
        )
        gateway = Gateway(api_of("status", status).handler, claims(tenant=TENANT, user=user, roles=roles))
        return gateway.request("GET", "/v1/usage", query=query)


@pytest.fixture
def office() -> Office:
    one = [plans("one"), FILE, STEPS, END]
    made = Office(*one, *one)
    made.run()
    made.house.clock.advance(3_600)
    made.run("bob")
    made.count()
    return made


def test_usage_equals_the_sum_of_the_sessions(office: Office) -> None:
    told = office.ask().data
    sessions = [item_commit(each[-1]).head for each in in_memory.commits(office.house.table).values()]

    assert told["total"]["tokens"] == {
        "fresh_input": sum(each.usage.input_tokens - each.usage.cached_input_tokens for each in sessions),
        "cached_input": sum(each.usage.cached_input_tokens for each in sessions),
        "output": sum(each.usage.output_tokens for each in sessions),
        "total": sum(each.usage.total_tokens for each in sessions),
        "model_calls": sum(each.usage.llm_calls for each in sessions),
    }
    receipts = [receipt_of(each, AwsRates(PRICES)) for each in sessions]
    assert told["total"]["cost"]["estimated_aws_usd"] == pytest.approx(
        sum(each.aws.usd or 0 for each in receipts), abs=1e-8
    )
    work = told["total"]["work"]
    assert work["sessions"]["started"] == 2
    assert work["sessions"]["now"]["completed"] == 2
    ends = {"started": 2, "completed": 2, "failed": 0, "cancelled": 0}
    assert work["runs"] == ends | {"goal_met": 2, "unaided": 2, "goal_met_rate": 1, "unaided_rate": 1}
    assert work["ratings"] == {"up": 0, "down": 0, "up_rate": None}
    assert work["plans"] == {"created": 2, "completed": 2}
    assert work["tools"] == {"ok": 1, "failed": 1}, "the second would have replaced the first one's file"
    assert work["messages"]["from_people"] == 2
    assert work["messages"]["per_run"] > 1
    assert told["total"]["runs_ended"] == {"completed/plan_completed": 2}


@pytest.mark.parametrize("by", ["hour", "day", "agent", "model", "user"])
def test_the_items_are_the_total_whatever_they_are_by(office: Office, by: str) -> None:
    told = office.ask(by=by).data
    assert told["by"] == by
    for name, whole in told["total"]["tokens"].items():
        assert sum(item["tokens"][name] for item in told["items"]) == whole
    assert len(told["items"]) == (2 if by in ("hour", "user") else 1)
    assert all((item["work"] is None) == (by == "model") for item in told["items"])


def test_sums_by_agent_say_what_each_is_called(office: Office) -> None:
    assert [item["agent_name"] for item in office.ask(by="agent").data["items"]] == ["Default"]
    assert [item["agent_name"] for item in office.ask(by="model").data["items"]] == [None]


def test_pages_have_every_item_once(office: Office) -> None:
    first = office.ask(by="user", limit="1").data
    second = office.ask(by="user", limit="1", cursor=first["next_cursor"]).data
    assert second["next_cursor"] is None
    names = [each["key"] for each in (*first["items"], *second["items"])]
    assert names == [f"p_{TENANT}_ann", f"p_{TENANT}_bob"]
    assert first["total"] == second["total"], "of the whole time"


def test_members_see_their_own_alone(office: Office) -> None:
    (own,) = office.ask("bob", "[member]", by="user").data["items"]
    assert own["key"] == f"p_{TENANT}_bob"
    assert own["work"]["sessions"]["started"] == 1
    (day,) = office.ask("bob", "[member]").data["items"]
    assert day["tokens"] == own["tokens"]
    for by in ("hour", "agent", "model"):
        assert office.ask("bob", "[member]", by=by).status == 403
    assert office.ask("carl", "[member]").data["items"] == []


def test_a_time_is_rounded_and_bounded(office: Office) -> None:
    now = office.house.clock.now()
    hour = office.ask(by="hour", **{"from": instant(now), "to": instant(now + timedelta(minutes=1))}).data
    assert len(hour["items"]) == 1
    assert hour["total"]["work"]["sessions"]["started"] == 1
    assert hour["from"].endswith(":00:00.000Z")
    empty = office.ask(to=instant(now - timedelta(days=300))).data
    assert empty["items"] == []
    assert office.ask(**{"from": instant(now - timedelta(days=93))}).status == 400
    assert office.ask(**{"from": instant(now), "to": instant(now)}).status == 400
    assert office.ask(to="0001-01-02T00:00:00Z").status == 400
    for edge in ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999-23:59", "0001-01-01T00:00:00+23:59"):
        assert office.ask(to=edge).status == office.ask(**{"from": edge}).status == 400
    assert office.ask(by="tool").status == 400
    assert office.ask(to=instant(now + timedelta(hours=23))).status == 200
    assert office.ask(to=instant(now + timedelta(hours=25))).status == 400


@pytest.mark.parametrize(
    ("since", "until"),
    [
        ("9999-12-31T00:00:00Z", "9999-12-31T23:59:59.999999Z"),
        ("9999-12-31T00:00:00Z", "9999-12-31T23:59:59-23:00"),
        ("0001-01-01T00:00:00+23:00", "0001-01-01T12:00:00Z"),
        ("1970-01-01T00:00:00+14:00", "1970-01-02T00:00:00Z"),
    ],
)
@pytest.mark.parametrize("by", ["hour", "day"])
def test_no_instant_is_too_far_away_to_be_refused(office: Office, since: str, until: str, by: str) -> None:
    assert office.ask(by=by, **{"from": since, "to": until}).status == 400


def test_it_says_up_to_when_it_is_complete(office: Office) -> None:
    newest = office.house.clock.now()
    assert office.ask().data["complete_until"] == instant(newest - timedelta(minutes=2))
    assert Office().ask().data["complete_until"] is None


def test_a_price_that_is_not_known_makes_the_sum_unknown(office: Office) -> None:
    office.prices = AwsPrices(region="mars", as_of="", source="")
    cost = office.ask().data["total"]["cost"]
    assert cost["estimated_aws_usd"] is None
    assert cost["total_usd"] is None


def test_a_deleted_session_stays_in_the_sums(office: Office) -> None:
    before = office.ask().data["total"]
    office.house.user = USER
    first, *_ = in_memory.commits(office.house.table).values()
    office.house.delete(item_commit(first[-1]).head.session_id)
    office.count()
    after = office.ask().data["total"]
    assert after["tokens"] == before["tokens"]
    assert after["work"]["sessions"]["now"]["deleted"] == 1
    assert after["work"]["sessions"]["started"] == 2
