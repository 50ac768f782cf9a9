"""Sessions as tasks, in either version of the protocol (ADR 94)."""

from typing import Any

import pytest

from acta.engine.errors import ModelRefused
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, plans
from tests.mcp_server.client import WITH_FORMS, WITH_HANDSHAKE, WITH_TASKS, Client, told
from tests.people.policies import DELETE, ENDS, WAYS, house_with

GOAL = {"goal": "Look around"}


def ended() -> House:
    return house_with(plans("look"), *ENDS)


def test_a_client_with_tasks_gets_one_and_later_its_result() -> None:
    house = ended()
    client = Client(house, capabilities=WITH_TASKS)
    task = client.call("agent_default", GOAL)
    assert (task["resultType"], task["status"], task["ttlMs"]) == ("task", "working", None)
    assert task["pollIntervalMs"] == house.settings.poll_after_ms
    working = client.result("tasks/get", taskId=task["taskId"])
    assert (working["resultType"], working["status"], "result" in working) == ("complete", "working", False)
    house.run()
    done = client.result("tasks/get", taskId=task["taskId"])
    session = house.head(task["taskId"])
    assert done["status"] == "completed"
    assert session.result is not None
    assert told(done["result"])["result"]["answer"] == session.result.answer
    assert told(done["result"])["result"]["goal_met"] is True
    assert done["result"]["isError"] is False


def test_a_client_without_tasks_is_told_how_to_watch() -> None:
    found = Client(ended()).call("agent_default", GOAL)
    assert found["resultType"] == "complete"
    assert told(found)["session_id"].startswith("ses_")
    assert "watch_session" in found["content"][0]["text"]


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_who_does_not_declare_tasks_is_told_what_is_missing(method: str) -> None:
    answer = Client(ended(), capabilities=WITH_FORMS["elicitation"]).post(method, {"taskId": "ses_1"})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32021)
    assert answer.json["error"]["data"] == {"requiredCapabilities": WITH_TASKS}


def test_only_agents_are_tasks() -> None:
    client = Client(ended(), capabilities=WITH_TASKS)
    assert client.call("start_session", {"content": "Look"})["resultType"] == "complete"


def test_a_client_with_a_handshake_asks_for_a_task_and_fetches_its_result() -> None:
    house = ended()
    client = Client(house, version=WITH_HANDSHAKE)
    task = client.call("agent_default", GOAL, task={"ttl": 60_000})["task"]
    assert (task["status"], task["ttl"], task["pollInterval"] > 0) == ("working", None, True)
    assert "result" not in client.result("tasks/get", taskId=task["taskId"])
    assert client.error("tasks/result", taskId=task["taskId"])["code"] == -32602
    house.run()
    assert client.result("tasks/get", taskId=task["taskId"])["status"] == "completed"
    found = client.result("tasks/result", taskId=task["taskId"])
    assert found["isError"] is False
    assert found["_meta"]["io.modelcontextprotocol/related-task"] == {"taskId": task["taskId"]}
    assert client.error("tasks/cancel", taskId=task["taskId"])["code"] == -32602


@pytest.mark.parametrize("version", ["2026-07-28", WITH_HANDSHAKE])
def test_a_task_is_cancelled(version: str) -> None:
    house = ended()
    client = Client(house, version=version, capabilities=WITH_TASKS)
    task_id = Client(house).data("start_session", content="Look")["session_id"]
    answer = client.result("tasks/cancel", taskId=task_id)
    assert answer.get("status") == (None if version != WITH_HANDSHAKE else "cancelled")
    assert client.result("tasks/get", taskId=task_id)["status"] == "cancelled"
    if version != WITH_HANDSHAKE:
        assert client.result("tasks/cancel", taskId=task_id)["resultType"] == "complete"
    assert house.head(task_id).state == "cancelled"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/cancel", "tasks/update"])
def test_a_task_that_there_is_none_of_is_an_error(method: str) -> None:
    client = Client(ended(), capabilities=WITH_FORMS)
    assert client.error(method, taskId="ses_none", inputResponses={})["code"] == -32602
    assert client.error(method, inputResponses={})["code"] == -32602


def test_a_run_that_failed_is_a_result_that_says_so() -> None:
    house = House(ScriptedModel([ModelRefused("No.")]))
    client = Client(house, capabilities=WITH_TASKS)
    task_id = client.call("agent_default", GOAL)["taskId"]
    house.run()
    assert house.head(task_id).state == "failed"
    task = client.result("tasks/get", taskId=task_id)
    assert (task["status"], task["result"]["isError"]) == ("completed", True)
    assert told(task["result"])["error"]["code"] == "MODEL_REFUSED"


def asking(*turns: Any, capabilities: Any = WITH_FORMS) -> tuple[House, Client, str, dict[str, Any]]:
    """A session that waits for a person, and its task."""
    house = house_with(*turns)
    client = Client(house, capabilities=capabilities)
    task_id = client.call("agent_default", GOAL)["taskId"]
    house.run()
    return house, client, task_id, client.result("tasks/get", taskId=task_id)


def answer(client: Client, task_id: str, key: str, action: str, **content: Any) -> dict[str, Any]:
    given = {"action": action, **({"content": content} if content else {})}
    return client.post("tasks/update", {"taskId": task_id, "inputResponses": {key: given}}).json  # type: ignore[no-any-return]


def test_what_waits_for_a_person_is_asked_of_the_clients_person() -> None:
    house, client, task_id, task = asking(plans("delete"), DELETE, *ENDS)
    assert task["status"] == "input_required"
    ((key, asked),) = task["inputRequests"].items()
    assert asked["method"] == "elicitation/create"
    assert "delete_file" in asked["params"]["message"]
    form = asked["params"]["requestedSchema"]["properties"]
    assert form["option"]["enum"] == ["approve", "reject"]
    assert all(field["type"] in ("string", "integer", "number") for field in form.values())
    assert answer(client, task_id, key, "accept", option="approve")["result"]["resultType"] == "complete"
    house.run()
    assert client.result("tasks/get", taskId=task_id)["status"] == "completed"
    late = answer(client, task_id, key, "accept", option="reject")
    assert "error" not in late  # nobody waits for it any more


def test_a_refused_form_rejects_a_call_and_a_dismissed_one_decides_nothing() -> None:
    house, client, task_id, task = asking(plans("delete"), DELETE, *ENDS)
    (key,) = task["inputRequests"]
    answer(client, task_id, key, "cancel")
    assert client.result("tasks/get", taskId=task_id)["status"] == "input_required"
    answer(client, task_id, key, "decline")
    (decided,) = house.index.interventions(TENANT, state=None, limit=9, cursor=None).items
    assert decided.resolution == "reject"


@pytest.mark.parametrize("type", [type for type in WAYS if type != "approval_required"])
def test_every_question_is_a_form_of_plain_fields(type: Any) -> None:
    turns, limits = WAYS[type]
    house = house_with(*turns)
    client = Client(house, capabilities=WITH_FORMS)
    started = client.data("start_session", content="Go", **limits)
    house.run()
    task = client.result("tasks/get", taskId=started["session_id"])
    (asked,) = task["inputRequests"].values()
    form = asked["params"]["requestedSchema"]
    assert form["required"] == ["option"]
    assert asked["params"]["message"].startswith(f"Acta asks you to decide ({type}).")


def test_a_clarification_is_answered_in_a_form() -> None:
    turns, _ = WAYS["clarification_needed"]
    house, client, task_id, task = asking(*turns)
    ((key, asked),) = task["inputRequests"].items()
    assert "--- question: agent (" in asked["params"]["message"]
    answer(client, task_id, key, "accept", option="answer", text="a.txt")
    assert house.head(task_id).state != "waiting_for_user" or not house.head(task_id).interventions


@pytest.mark.parametrize("capabilities", [WITH_TASKS, {**WITH_TASKS, "elicitation": {"url": {}}}])
def test_a_client_that_cannot_ask_its_person_is_told_in_words(capabilities: Any) -> None:
    _, _, _, task = asking(plans("delete"), DELETE, *ENDS, capabilities=capabilities)
    assert task["status"] == "working"
    assert "inputRequests" not in task
    assert "They decide " in task["statusMessage"]


@pytest.mark.parametrize("content", [{}, {"option": 5}, {"option": "burn"}])
def test_an_answer_that_is_none_is_refused_and_settles_nothing(content: dict[str, Any]) -> None:
    house, client, task_id, task = asking(plans("delete"), DELETE, *ENDS)
    (key,) = task["inputRequests"]
    given = {"taskId": task_id, "inputResponses": {key: {"action": "accept", "content": content}}}
    assert client.post("tasks/update", given).json["error"]["code"] == -32602
    assert house.head(task_id).state == "waiting_for_user"
    assert client.error("tasks/update", taskId=task_id, inputResponses=[])["code"] == -32602
