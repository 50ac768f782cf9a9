"""A session's own webhook: within the operator's list of hosts, signed with the tenant's secret, and erased with it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from acta.engine.notifications.receiver import TenantReceiver
from acta.engine.store.table_layout import RECEIVER, session_pk
from tests.api.gateway import Answer
from tests.api.session_functions import functions_of
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, plans, says
from tests.stores import in_memory

URL = "https://hooks.example.com/mine?token=abc"
END = says("", call("update_plan", action="fail", reason="over"))
AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def house() -> House:
    made = House(ScriptedModel([plans("one"), END]), notify_hosts="hooks.example.com")
    made.app().receivers.put(
        TenantReceiver(tenant=TENANT, url=None, created_at=AT, updated_at=AT, updated_by="ann")
    )
    return made


def receivers(house: House) -> dict[str, str]:
    """The webhooks of sessions, by their partitions."""
    found = in_memory.items(house.table, RECEIVER)
    return {item["pk"]["S"]: item["n"]["S"] for item in found if "n" in item}


def start(house: House, **body: Any) -> Answer:
    return functions_of(house).start.request("POST", "/v1/sessions", json_body={"content": "Go", **body})


def test_it_is_stored_with_the_session_and_shown_to_nobody(house: House) -> None:
    answer = start(house, notify_url=URL)
    assert answer.status == 202
    session_id = answer.data["session_id"]
    assert receivers(house) == {session_pk(TENANT, session_id): URL}
    assert "hooks.example.com" not in str(answer.json)
    polled = functions_of(house).status.request("GET", f"/v1/sessions/{session_id}")
    assert "hooks.example.com" not in str(polled.json)
    house.log.delete(TENANT, session_id)
    assert receivers(house) == {}


def test_a_session_without_one_stores_nothing_more(house: House) -> None:
    assert start(house).status == 202
    assert receivers(house) == {}


@pytest.mark.parametrize(
    "url",
    [
        "https://elsewhere.example/x",
        "http://hooks.example.com/x",
        "https://169.254.169.254/",
        "",
        "x" * 1_001,
    ],
)
def test_another_host_is_refused_before_anything_begins(house: House, url: str) -> None:
    answer = start(house, notify_url=url)
    assert (answer.status, list(answer.error["details"])) == (400, ["notify_url"])
    assert in_memory.commits(house.table) == {}


def test_without_a_secret_of_the_tenant_nothing_could_sign_it(house: House) -> None:
    house.app().receivers.delete(TENANT)
    answer = start(house, notify_url=URL)
    assert (answer.status, answer.error["code"]) == (409, "CONFLICT")
    assert "PUT /v1/notifications" in answer.error["message"]
    assert in_memory.commits(house.table) == {}


def test_a_fork_has_its_own_or_none_and_never_its_parent_s(house: House) -> None:
    parent = start(house, notify_url=URL).data["session_id"]
    house.run()

    def fork(**body: Any) -> Answer:
        path = f"/v1/sessions/{parent}/fork"
        return functions_of(house).start.request("POST", path, json_body={"content": "Go on", **body})

    without, own = fork(), fork(notify_url=f"{URL}2")
    assert (without.status, own.status) == (202, 202), (without.body, own.body)
    assert receivers(house) == {
        session_pk(TENANT, parent): URL,
        session_pk(TENANT, own.data["session_id"]): f"{URL}2",
    }
    assert fork(notify_url="https://elsewhere.example/x").status == 400
