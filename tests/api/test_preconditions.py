"""A precondition that is sent decides, or is refused: `If-Match`, `If-None-Match`, `If-Unmodified-Since`."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator

from acta.engine.api.arguments import Arguments
from acta.engine.api.etag import PRECONDITIONS
from acta.engine.api.incoming import Request
from acta.engine.api.operation import Operation
from acta.engine.api.operations import OPERATIONS
from acta.engine.errors import CallerError
from acta.engine.settings import Settings
from acta.infra.document.openapi import document
from tests.api.deployment import AdminApi
from tests.api.gateway import Answer

SETTINGS = Settings(env="local", is_local=True, table="t", bucket="b", http_tool_hosts="desk.example.com")
TOOL = {
    "description": "Pays an order back.",
    "input_schema": {"type": "object", "properties": {}},
    "kind": "http",
    "config": {"url": "https://desk.example.com/refunds", "method": "POST"},
    "effect": "once",
    "risk": "write",
    "high_stakes": True,
}


@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: row.name)
def test_a_row_that_does_not_take_a_precondition_refuses_it(row: Operation) -> None:
    for name in PRECONDITIONS:
        details = refused_of(row, {name.lower(): '"1"'})
        assert (name in details) is (name not in (*row.takes, *row.needs)), details


def refused_of(row: Operation, headers: dict[str, str]) -> Mapping[str, Any]:
    """The details of what a request with these headers is refused for; empty where it is not."""
    variables = dict.fromkeys(re.findall(r"{(\w+)", row.path), "x")
    request = Request(row, row.prefix + "x", variables, {}, headers, None, text="{}")
    try:
        Arguments(row, row.load(), SETTINGS).bind(request)
    except CallerError as refused:
        return refused.details or {}
    return {}


def test_the_document_says_what_each_precondition_leads_to() -> None:
    for row in OPERATIONS:
        told = document()["paths"][row.plain_path][row.method.lower()]
        headers = {each["name"]: each for each in told["parameters"] if each["in"] == "header"}
        taken = {name for name in PRECONDITIONS if name in headers}
        assert taken == {*row.takes, *row.needs} & set(PRECONDITIONS)
        if row.method == "GET":
            has_tag = any(
                "ETag" in (*each.headers, *each.sometimes) for each in row.answers if each.status == 200
            )
            assert taken == ({"If-None-Match"} if has_tag else set())
        assert ("304" in told["responses"]) is (row.method == "GET" and bool(taken))
        assert ("412" in told["responses"]) is (row.method != "GET" and bool(taken))
        for name in taken:
            assert ("304" if row.method == "GET" else "412") in headers[name]["description"]


@pytest.mark.parametrize(
    ("sent", "is_right"),
    [
        ("*", True), ('"1"', True), ('""', True), ('W/"1"', True), ('"1", W/"2"', True), (',"1" ,,\t"2",', True),
        ("", False), ("1", False), ('"1', False), ('"1" "2"', False), ('*, "1"', False), (",", False),
        ('"a b"', False), ('w/"1"', False),
    ],
)  # fmt: skip
def test_an_if_match_without_a_tag_is_refused_as_the_document_says(sent: str, is_right: bool) -> None:
    for row in OPERATIONS:
        if "If-Match" not in (*row.takes, *row.needs):
            continue
        told = document()["paths"][row.plain_path][row.method.lower()]["parameters"]
        (schema,) = (each["schema"] for each in told if each["name"] == "If-Match")
        assert Draft202012Validator(schema).is_valid(sent) is is_right
        assert ("If-Match" in refused_of(row, {"if-match": sent})) is not is_right


class Kept(NamedTuple):
    """A thing that can be replaced, read and, but for a prompt, deleted."""

    path: str
    body: Any
    create: tuple[str, str, Any]


KEPT = (
    Kept("/v1/agents/a", {"name": "A"}, ("POST", "/v1/agents", {"agent_id": "a", "name": "A"})),
    Kept("/v1/tools/refund", TOOL, ("POST", "/v1/tools", {**TOOL, "name": "refund"})),
    Kept("/v1/mcp-servers/desk", {"url": "https://desk.example.com/mcp"}, ("PUT", "", {"url": "https://desk.example.com/mcp"})),
    Kept("/v1/memories/{}", {"kind": "fact", "text": "x"}, ("POST", "/v1/memories", {"kind": "fact", "text": "y"})),
    Kept("/v1/admin/prompts/agent_planning_system", {"content": "New."}, ("", "", None)),
    Kept("/v1/files/a.md", b"new", ("PUT", "", b"old")),
)  # fmt: skip


class Desk:
    def __init__(self, kept: Kept) -> None:
        self.api, self.kept, self.path = AdminApi(SETTINGS), kept, kept.path
        method, path, body = kept.create
        if method:
            made = self.ask(method, body, path=path or self.path)
            assert made.status == 201, made.body
            self.path = kept.path.format(made.data.get("memory_id", ""))
        self.api.root.clock.sleep(1)

    def ask(self, method: str, body: Any = None, path: str = "", **sent: str) -> Answer:
        headers = {name.replace("_", "-"): value for name, value in sent.items()}
        content = {"body": body} if isinstance(body, bytes) else {"json_body": body}
        return self.api.admin.request(method, path or self.path, headers=headers, **content)

    @property
    def tag(self) -> str:
        if not isinstance(self.kept.body, bytes):
            return self.ask("GET").headers["ETag"]
        listed = self.api.admin.request("GET", self.path, query={"versions": "1"}).data["items"]
        return str(listed[0]["etag"])


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.path)
def test_a_write_and_a_deletion_honour_if_match_in_every_form(kept: Kept) -> None:
    desk = Desk(kept)
    methods = ["PUT"] if "prompts" in kept.path else ["PUT", "DELETE"]
    for method in methods:
        body = kept.body if method == "PUT" else None
        before = desk.tag
        for other in ('"x"', f"W/{before}", f'"x", W/{before}', '"*"'):
            refused = desk.ask(method, body, If_Match=other)
            assert (refused.status, refused.error["code"]) == (412, "PRECONDITION_FAILED"), other
            assert desk.tag == before
        refused = desk.ask(method, body, If_Match=before.strip('"'))
        assert (refused.status, list(refused.error["details"])) == (400, ["If-Match"])
        assert desk.tag == before
        for form in ("{}", '"x", {}', "*"):
            done = desk.ask(method, body, If_Match=form.format(desk.tag))
            assert done.status in (200, 204), done.body
            if method == "DELETE":
                break
            desk.api.root.clock.sleep(1)
    if "DELETE" in methods:
        assert desk.ask("DELETE", If_Match='"x"').status == 404


@pytest.mark.parametrize("path", ["/v1/files/new.md", "/v1/mcp-servers/other"])
def test_what_is_not_there_is_not_made_where_a_version_was_meant(path: str) -> None:
    desk = Desk(KEPT[2])
    body = b"x" if "files" in path else desk.kept.body
    for form in ('"x"', "*"):
        assert desk.ask("PUT", body, path, If_Match=form).status == 412
    assert desk.api.admin.request("GET", path).status == 404


@pytest.mark.parametrize("kept", KEPT[:-1], ids=lambda kept: kept.path)
def test_a_get_with_an_etag_is_answered_304_to_who_has_it(kept: Kept) -> None:
    desk = Desk(kept)
    for form in ("{}", "W/{}", '"x", {}', "*"):
        same = desk.ask("GET", If_None_Match=form.format(desk.tag))
        assert (same.status, same.body, same.headers["ETag"]) == (304, b"", desk.tag)
        assert "Content-Type" not in same.headers
    assert desk.ask("GET", If_None_Match='"x"').status == 200


@pytest.mark.parametrize("header", PRECONDITIONS)
def test_a_secret_is_not_deleted_under_a_condition_that_nobody_can_check(header: str) -> None:
    desk = Desk(KEPT[0])
    secret = "/v1/tool-secrets/desk_key"
    assert desk.ask("PUT", {"value": "0123456789abcdef", "hosts": ["desk.example.com"]}, secret).status == 201
    refused = desk.ask("DELETE", None, secret, **{header.replace("-", "_"): '"x"'})
    assert (refused.status, list(refused.error["details"])) == (400, [header])
    assert [each["name"] for each in desk.api.admin.request("GET", "/v1/tool-secrets").data["items"]] == [
        "desk_key"
    ]
