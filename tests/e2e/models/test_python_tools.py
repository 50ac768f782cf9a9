"""Python functions as tools, on the deployed loop: the example folder, called by a model."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from llmock.scenarios import Reply as ModelReply
from llmock.scenarios import ToolCall

from tests.conftest import Deployed
from tests.e2e.conftest import Admit
from tests.e2e.models.test_tools_of_tenants import run
from tests.e2e.support.behind import Behind
from tests.e2e.support.command import acta
from tests.e2e.support.own_tools import TENANT
from tests.e2e.support.person import Person


@pytest.fixture(scope="module")
def configured(behind: Behind, llmock_server: Any) -> Iterator[None]:
    model = {
        "ACTA_PROVIDER": "anthropic",
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": llmock_server.base_url("anthropic"),
    }
    with behind.configured("step", **model):
        yield


@pytest.fixture
def shop(configured: None, admit: Admit) -> Person:
    return admit(tenant=TENANT, role="admin")


def test_a_model_calls_a_python_function_and_is_told_what_it_says(shop: Person, llmock: Any) -> None:
    found, missing = run(
        shop,
        llmock,
        ToolCall("lookup_order", {"order_id": "1008"}),
        ToolCall("lookup_order", {"order_id": "7"}),
    )

    assert '"article": "notebook", "count": 12' in found
    assert "there is no order 7. Ask for the number on the receipt." in missing


def test_only_tenants_that_the_folder_names_have_its_tools(shop: Person, admit: Admit) -> None:
    listed = shop.data("/v1/tools")["items"]
    mine = next(tool for tool in listed if tool["name"] == "lookup_order")

    assert (mine["kind"], mine["effect"], mine["timeout_seconds"]) == ("python", "read", 20)
    assert json.loads(json.dumps(mine["input_schema"]))["required"] == ["order_id"]
    assert admit().get("/v1/tools/lookup_order").status_code == 404


def test_a_python_function_writes_a_file_of_the_tenant_and_reaches_no_private_one(
    shop: Person, llmock: Any
) -> None:
    (said,) = run(shop, llmock, ToolCall("write_receipt", {"order_id": "1008"}))

    assert "Wrote receipts/1008.md." in said
    assert "Total: 25.20" in shop.get("/v1/files/receipts/1008.md").text


def test_a_tool_reaches_nothing_but_its_tenants_files_with_the_credentials_of_its_call(
    shop: Person, admit: Admit, llmock: Any, behind: Behind
) -> None:
    other = admit()
    other.put_file("diary.md", "of another tenant")
    shop.put_file("open.md", "of the shop")
    shop.put_file("~/hidden.md", "of one person")
    files, texts = behind.buckets
    (theirs,) = set(behind.objects_of(f"{other.tenant}/diary.md", files))
    (hidden,) = {key for key in behind.objects_of("hidden.md", files) if f"/{TENANT}/" in key}
    mine = theirs.replace(f"/{other.tenant}/", f"/{TENANT}/").replace("diary.md", "open.md")
    root, table = theirs.removesuffix("diary.md"), behind.settings["ACTA_TABLE"]

    def pried(bucket: str, keys: list[str], prefixes: list[str]) -> dict[str, str]:
        given = {"bucket": bucket, "keys": keys, "prefixes": prefixes, "table": table}
        answer = shop.post("/v1/tools/pry/call", {"input": given})
        assert answer.status_code == 200, answer.text
        found: dict[str, str] = json.loads(answer.json()["data"]["result"])
        return found

    found = pried(files, [mine, theirs, hidden], [root, "", mine.removesuffix("open.md")])
    assert found.pop(f"read {mine}") == "of the shop"
    assert found.pop(f"write {mine}") == "done"
    assert len(found) == 12
    assert set(found.values()) == {"AccessDenied", "AccessDeniedException"}

    operator, text = behind.client("s3"), f"{other.tenant}/ses_1/text"
    operator.put_object(Bucket=texts, Key=text, Body=b"of a session")
    try:
        refused = pried(texts, [text], ["", other.tenant])
    finally:
        operator.delete_object(Bucket=texts, Key=text)
    assert len(refused) == 7
    assert set(refused.values()) == {"AccessDenied", "AccessDeniedException"}

    assert other.get("/v1/files/diary.md").text == "of another tenant"
    assert shop.get("/v1/files/~/hidden.md").text == "of one person"


def test_what_a_tool_prints_and_raises_is_told_to_the_developer_alone(
    shop: Person, deployed: Deployed, llmock: Any
) -> None:
    (told,) = run(shop, llmock, ToolCall("divide", {"order": "7"}))
    assert "ZeroDivisionError" in told
    assert "nobody's business" not in told

    newest = shop.get("/v1/sessions").json()["data"]["items"][0]["session_id"]
    logged = acta("logs", newest, "--state", str(deployed.state)).out
    assert "tool-dying  divide printed: dividing 7" in logged
    assert "tool-dying  ERROR divide raised: ZeroDivisionError" in logged
    assert "ZeroDivisionError: what is nobody's business: 7" in logged
    assert 'tools.py", line' in logged


@pytest.mark.thorough
def test_the_command_tries_a_tool_and_its_log_is_found_by_the_effect_id(
    shop: Person, deployed: Deployed
) -> None:
    environ = {"ACTA_API_URL": deployed.url, "ACTA_TOKEN": shop.token}

    found = acta("tools", "call", "lookup_order", '{"order_id": "1008"}', environ=environ)
    assert found.code == 0, found.err
    assert '"notebook"' in found.out
    assert "acta: it ran: " in found.err

    failed = acta("tools", "call", "divide", '{"order": "7"}', "--json", environ=environ)
    trial = json.loads(failed.out)
    assert (failed.code, trial["outcome"]) == (1, "failed")
    logged = acta("logs", trial["effect_id"], "--state", str(deployed.state)).out
    assert "ERROR divide raised: ZeroDivisionError" in logged

    missing = acta("tools", "call", "lookup_ordr", environ=environ)
    assert missing.code != 0
    assert "Did you mean 'lookup_order'" in missing.err


def test_a_folders_secret_is_read_with_its_own_role_and_a_missing_one_fails_the_call(
    shop: Person, llmock: Any, behind: Behind
) -> None:
    secrets = behind.client("secretsmanager")
    (before,) = run(shop, llmock, ToolCall("ends_of_the_key", {}))
    secrets.create_secret(Name="acta/local/tool-dying/key", SecretString="sk-0123456789")
    try:
        (after,) = run(shop, llmock, ToolCall("ends_of_the_key", {}))
    finally:
        secrets.delete_secret(SecretId="acta/local/tool-dying/key", ForceDeleteWithoutRecovery=True)

    assert (
        "the secret acta/local/tool-dying/key has no value. An operator sets one in AWS Secrets Manager"
        in before
    )
    assert "sk…89" in after


def test_a_tool_that_is_killed_in_the_middle_of_a_call_is_repeated_where_it_may_be(
    shop: Person, llmock: Any
) -> None:
    booked, seen, divided = run(
        shop,
        llmock,
        ToolCall("book", {"order": "7"}),
        ToolCall("look", {"order": "7"}),
        ToolCall("divide", {"order": "7"}),
    )

    assert "Booked 7 under" in booked
    assert "look failed." in seen
    assert "ZeroDivisionError" in divided
    assert "nobody's business" not in divided


def test_an_answer_that_cannot_be_passed_on_is_told_and_the_call_is_made_once(
    shop: Person, deployed: Deployed, llmock: Any
) -> None:
    hows = ("listing", "error", "exception", "exit", "numbers", "large", "deep", "endless")

    told = run(shop, llmock, *(ToolCall("answer_oddly", {"how": how}) for how in hows))

    (listing,) = [each for each in told if "a\u2028b\x85c" in each]
    assert json.loads(listing.split("\n", 1)[1].rsplit("\n", 1)[0]) == {
        "caf\\udce9.txt": ["ok \\ud83d", "😀", "a\u2028b\x85c\r\n\r\n\r\n\r\nd"]
    }
    for said in (
        "there is no caf\\udce9.txt",
        "ValueError",
        "SystemExit",
        "has run, but its answer cannot be passed on",
        '["NaN", "-Infinity", -0.0, 18446744073709551617, "12345678901234567890.1234567890"]',
        "returned a list, of which no JSON can be made",
        "returned a int, of which no JSON can be made",
    ):
        assert [said in each for each in told].count(True) == 1, said
    newest = shop.get("/v1/sessions").json()["data"]["items"][0]["session_id"]
    logged = acta("logs", newest, "--state", str(deployed.state)).out
    assert logged.count("answer_oddly printed: answering caf") == len(hows)


@pytest.mark.thorough
def test_a_call_that_may_happen_once_is_asked_about_where_its_tool_was_killed(
    shop: Person, llmock: Any
) -> None:
    model = llmock.tool_mode("off")
    update = {"action": "create", "goal": "It", "steps": [{"description": "Do it"}]}
    model.add(ModelReply(text=None, tool_calls=(ToolCall("update_plan", update),)))
    model.add(ModelReply(text="I pay.", tool_calls=(ToolCall("pay_once", {"order": "7"}),)))
    session_id = shop.start("Pay it")

    waiting = shop.asked(session_id).session["interventions"]

    assert [each["type"] for each in waiting] == ["error_recovery"]
    assert waiting[0]["tool_call"]["name"] == "pay_once"
    assert shop.post(f"/v1/sessions/{session_id}/cancel").status_code == 202
