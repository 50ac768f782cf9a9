"""From a handler's signature to its arguments."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from acta.engine.api.app import Api
from acta.engine.api.arguments import Arguments
from acta.engine.api.envelope import Response, no_content
from acta.engine.api.incoming import Request
from acta.engine.api.operation import Operation
from acta.engine.errors import ValidationFailed
from acta.engine.sessions.bodies import PostMessage
from tests.api.gateway import Gateway
from tests.api.samples import SETTINGS, status_api

ROUTE = Operation("doThing", "POST", "/v1/things/{name}/versions/{version}", "admin", "things:handle")


def handle(
    api: Api,
    name: str,
    version: int,
    body: PostMessage,
    needed: str,
    kind: Literal["a", "b"] | None = None,
    limit: Annotated[int, Field(ge=1, le=9)] = 5,
) -> Response:
    return no_content()


def bind(variables: dict[str, str], text: str, **query: list[str]) -> dict[str, Any]:
    request = Request(ROUTE, "/v1/things/x/versions/2", variables, query, {}, None, text=text)
    return Arguments(ROUTE, handle, SETTINGS).bind(request)


def test_each_parameter_is_taken_from_path_query_or_body_and_typed() -> None:
    bound = bind({"name": "x", "version": "2"}, '{"content": "hi"}', needed=["n"], kind=["b"], limit=["7"])
    assert bound == {
        "name": "x",
        "version": 2,
        "body": PostMessage(content="hi"),
        "needed": "n",
        "kind": "b",
        "limit": 7,
    }


def test_what_was_not_sent_takes_its_default() -> None:
    bound = bind({"name": "x", "version": "2"}, '{"content": "hi"}', needed=[""])
    assert (bound["needed"], bound["kind"], bound["limit"]) == ("", None, 5)


def test_whatever_is_wrong_in_path_query_and_body_is_named_at_once() -> None:
    with pytest.raises(ValidationFailed) as refused:
        bind({"name": "x", "version": "two"}, '{"content": 1, "more": 2}', limit=["0"], kind=["c"])
    details = refused.value.details
    assert details is not None
    assert set(details) == {"version", "content", "more", "needed", "kind", "limit"}
    assert details["needed"] == ["This field is required."]


def test_a_query_parameter_that_is_sent_twice_is_refused() -> None:
    with pytest.raises(ValidationFailed) as refused:
        bind({"name": "x", "version": "2"}, '{"content": "hi"}', needed=["n", "n"], limit=["1", "1"])
    assert refused.value.details is not None
    assert refused.value.details == {key: ["It is given twice. Send it once."] for key in ("needed", "limit")}


def test_a_query_parameter_that_the_route_does_not_have_is_refused_and_those_that_it_has_are_named() -> None:
    with pytest.raises(ValidationFailed) as refused:
        bind({"name": "x", "version": "2"}, '{"content": "hi"}', needed=["n"], limits=["7"], name=["y"])
    sentence = "There is no such query parameter here. It takes needed, kind, limit."
    assert refused.value.details == {"limits": [sentence], "name": [sentence]}


def test_a_query_that_is_no_utf8_is_refused_and_not_repaired() -> None:
    answer = Gateway(status_api().handler).request("GET", "/v1/sessions/ses_01", query="after=%ff")
    assert (answer.status, "UTF-8" in answer.error["message"]) == (400, True)


def test_a_parameter_that_python_has_another_word_for_is_taken_by_its_own_name_alone() -> None:
    def since(api: Api, from_: str | None = None) -> Response:
        return no_content()

    def bound(**query: list[str]) -> dict[str, Any]:
        route = Operation("readThing", "GET", "/v1/things", "admin", "things:handle")
        request = Request(route, "/v1/things", {}, query, {}, None)
        return Arguments(route, since, SETTINGS).bind(request)

    assert bound(**{"from": ["2026"]}) == {"from_": "2026"}
    with pytest.raises(ValidationFailed):
        bound(from_=["2026"])


def test_a_route_without_query_parameters_takes_none() -> None:
    def read(api: Api, name: str) -> Response:
        return no_content()

    route = Operation("readThing", "GET", "/v1/things/{name}", "admin", "things:handle")
    request = Request(route, "/v1/things/x", {"name": "x"}, {"n" * 500: ["1"]}, {}, None)
    with pytest.raises(ValidationFailed) as refused:
        Arguments(route, read, SETTINGS).bind(request)
    assert refused.value.details == {"n" * 100: ["There is no such query parameter here. It takes none."]}


def test_the_parameters_of_a_route_can_be_listed_without_a_request() -> None:
    """What a description of the API is made from."""
    listed = {
        one.name: (one.where, one.adapter.json_schema())
        for one in Arguments(ROUTE, handle, SETTINGS).parameters
    }
    assert {name: where for name, (where, _) in listed.items()} == {
        "name": "path",
        "version": "path",
        "body": "body",
        "needed": "query",
        "kind": "query",
        "limit": "query",
    }
    assert listed["limit"][1] == {"maximum": 9, "minimum": 1, "type": "integer"}
    assert listed["body"][1]["required"] == ["content"]
