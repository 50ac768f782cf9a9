"""Where the arguments of an `http` tool go, and that no value leaves its place."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from acta.engine.errors import ToolInputInvalid
from acta.engine.settings import Settings
from acta.engine.tools.tenant.definition import Unusable, check_fixed, to_config
from acta.engine.tools.tenant.parameters import MAX_PATH_CHARS, ToolRequest, request_of
from acta.engine.tools.tool import HttpConfig

SETTINGS = Settings(env="prod", table="t", bucket="b", http_tool_hosts="api.example.com")
API = "https://api.example.com"
ORDER = f"{API}/orders/{{order_id}}"
TEXT = {"type": "string"}


def defined(
    url: str = ORDER,
    method: str = "GET",
    parameters: Any = None,
    headers: Any = None,
    properties: Mapping[str, Any] | None = None,
    required: tuple[str, ...] | None = None,
) -> HttpConfig:
    """As an admin defines it. Raises Unusable."""
    given = {"url": url, "method": method, "headers": headers or {}}
    config = to_config(
        "http", given | ({} if parameters is None else {"parameters": parameters}), SETTINGS, "acme"
    )
    assert isinstance(config, HttpConfig)
    named = {"order_id": TEXT} if properties is None else properties
    needed = tuple(named) if required is None else required
    check_fixed(config, {"type": "object", "properties": named, "required": list(needed)})
    return config


def sent(config: HttpConfig, **arguments: Any) -> ToolRequest:
    return request_of("orders", config, arguments)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("7", "/orders/7"),
        (7, "/orders/7"),
        (2.5, "/orders/2.5"),
        (5.0, "/orders/5"),
        (1e22, "/orders/10000000000000000000000"),
        (-0.0, "/orders/0"),
        (True, "/orders/true"),
        ("A-7_b~.x", "/orders/A-7_b~.x"),
        ("a b", "/orders/a%20b"),
        ("a?b=c#d&e", "/orders/a%3Fb%3Dc%23d%26e"),
        ("50%", "/orders/50%25"),
        ("Größe", "/orders/Gr%C3%B6%C3%9Fe"),
        ("می\u200cخ", "/orders/%D9%85%DB%8C%E2%80%8C%D8%AE"),
        ("{order_id}", "/orders/%7Border_id%7D"),
        ("..a", "/orders/..a"),
    ],
)
def test_a_value_in_the_path_is_one_part_of_it_with_all_else_escaped(value: Any, path: str) -> None:
    assert sent(defined(), order_id=value) == ToolRequest(f"{API}{path}", {}, None)


HOSTILE = (
    "", " ", ".", "..", "...", "/", "a/b", "../admin", "..\\admin",
    "%2e%2e", "%2E%2e%2Fadmin", "a%2fb", "a%5cb", "%252e%252e",
    "%25252f", "..;", "..;x", ";", "a\r\nX: y", "a\nb", "a\tb", "a\0b", "%00",
    "%0d%0a", "．．", "‥", "a／b", "a＼b", "⁄", "a∕b",
    "℀", "\u200b", "a\u202eb", "\ud800", "x" * (MAX_PATH_CHARS + 1), "%" + "25" * 40 + "2f", "％2f",
)  # fmt: skip


@pytest.mark.parametrize("value", [*HOSTILE, None, [], ["7"], {}, {"a": 1}], ids=ascii)
def test_a_value_that_could_change_the_path_is_refused_and_named_by_its_field_alone(value: Any) -> None:
    config = defined()
    with pytest.raises(ToolInputInvalid, match="order_id cannot be sent") as refused:
        sent(config, order_id=value)
    assert "admin" not in str(refused.value)


def test_a_path_argument_that_is_missing_is_refused() -> None:
    with pytest.raises(ToolInputInvalid, match="order_id"):
        request_of("orders", defined(), {})


def test_two_arguments_of_one_part_make_no_dots_together() -> None:
    config = defined(f"{API}/x/{{a}}{{b}}/y", properties={"a": TEXT, "b": TEXT})
    assert sent(config, a="1", b="2").url == f"{API}/x/12/y"
    for a, b in ((".", "."), ("%2", "e"), ("%", "2f"), (".", ";")):
        with pytest.raises(ToolInputInvalid):
            sent(config, a=a, b=b)


@pytest.mark.parametrize("value", HOSTILE, ids=ascii)
def test_whatever_is_sent_the_path_has_as_many_parts_and_the_host_is_the_same(value: str) -> None:
    config = defined(f"{API}/v1/{{a}}/items/x-{{b}}.json", properties={"a": TEXT, "b": TEXT})
    for a, b in ((value, "1"), ("1", value)):
        try:
            url = sent(config, a=a, b=b).url
        except ToolInputInvalid:
            continue
        assert url.isascii()
        parts = urlsplit(url)
        assert (parts.scheme, parts.netloc, parts.query) == ("https", "api.example.com", "")
        assert len(parts.path.split("/")) == len(["", "v1", "1", "items", "x-1.json"])
        assert all(part not in ("", ".", "..") for part in unquote(parts.path).split("/")[1:])


def test_arguments_go_to_the_query_under_the_name_of_the_api() -> None:
    config = defined(
        f"{API}/search?lang=en",
        parameters={"term": {"in": "query", "name": "q"}, "state": {"in": "query", "name": "filter[state]"}},
        properties={"term": TEXT, "state": {}, "page": {}},
    )
    assert sent(config, term="a&b=c", state="open", page=2).url == (
        f"{API}/search?lang=en&q=a%26b%3Dc&filter%5Bstate%5D=open&page=2"
    )


def test_lists_are_repeated_null_and_empty_ones_left_out_and_all_else_is_json() -> None:
    config = defined(
        f"{API}/search",
        parameters={name: {"in": "query"} for name in ("tags", "exact", "near")},
        properties={"tags": {}, "exact": {}, "near": {}, "old": {}},
    )
    assert sent(config, tags=["a b", 2.0, None], exact=False, near={"lat": 1}, old=["x"]).url == (
        f"{API}/search?tags=a+b&tags=2&exact=false&near=%7B%22lat%22%3A+1%7D&old=%5B%22x%22%5D"
    )
    assert sent(config, tags=[], exact=None).url == f"{API}/search"
    assert sent(config).url == f"{API}/search"


def test_arguments_go_to_headers_and_the_rest_stays_in_the_body() -> None:
    config = defined(
        f"{ORDER}/notes",
        "POST",
        parameters={
            "lang": {"in": "header", "name": "X-Lang"},
            "dry_run": {"in": "query"},
            "text": {"in": "body", "name": "note"},
        },
        headers={"X-Caller": "acta"},
        properties={"order_id": TEXT, "lang": {}, "dry_run": {}, "text": {}, "by": {}},
    )
    request = sent(config, order_id="7", lang=["de", 2.0], dry_run=True, text="Grüße", by=None)
    assert request.url == f"{API}/orders/7/notes?dry_run=true"
    assert request.headers == {"X-Lang": "de,2"}
    assert request.body == {"note": "Grüße", "by": None}


def test_without_an_argument_for_it_a_mapped_request_has_no_body() -> None:
    assert sent(defined(ORDER, "DELETE"), order_id="7").body is None
    assert request_of("x", HttpConfig(url=f"{API}/x", method="POST"), {}).body == {}


@pytest.mark.parametrize(
    "value",
    ["a\r\nX-Evil: 1", "a\nb", "a\0", "Grüße", " a", "a ", "", "x" * 1_025, ["a\r\n"], [["a"]], {"a": 1}, "\x7f"],
    ids=ascii,
)  # fmt: skip
def test_a_value_that_is_no_header_s_is_refused(value: Any) -> None:
    config = defined(
        f"{API}/x", parameters={"lang": {"in": "header", "name": "X-Lang"}}, properties={"lang": {}}
    )
    with pytest.raises(ToolInputInvalid, match="lang cannot be sent"):
        sent(config, lang=value)


@pytest.mark.parametrize("given", [None, [], [None]])
def test_a_header_without_a_value_is_left_out(given: Any) -> None:
    config = defined(
        f"{API}/x", parameters={"lang": {"in": "header", "name": "X-Lang"}}, properties={"lang": {}}
    )
    assert sent(config, lang=given).headers == {}


@pytest.mark.parametrize("name", ["q", "Q", "q[]", "q.x", "q%00", "ｑ"])
def test_an_argument_that_the_schema_does_not_name_takes_no_mapped_one_s_place(name: str) -> None:
    config = defined(f"{API}/x", parameters={"term": {"in": "query", "name": "q"}}, properties={"term": {}})
    with pytest.raises(ToolInputInvalid, match="has fixed some of these fields"):
        request_of("x", config, {"term": "a", name: "b"})


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("config.url", {"url": "https://{order_id}.example.com/x"}),
        ("config.url", {"url": "https://api.example.com:{order_id}/x"}),
        ("config.url", {"url": "https://{order_id}@api.example.com/x"}),
        ("config.url", {"url": "{order_id}://api.example.com/x"}),
        ("config.url", {"url": f"{API}/x?id={{order_id}}"}),
        ("config.url", {"url": f"{API}/x#{{order_id}}"}),
        ("config.url", {"url": f"{API}/{{order_id"}),
        ("config.url", {"url": f"{API}/{{order id}}"}),
        ("config.url", {"url": f"{API}/{{}}"}),
        ("config.url", {"url": f"{API}/{{{{order_id}}}}"}),
        ("config.url", {"url": f"{API}/{{other}}"}),
        ("config.url", {"required": ()}),
        ("config.url", {"properties": {"order_id": {"type": "array"}}}),
        ("config.url", {"properties": {"order_id": {"type": ["string", "null"]}}}),
        ("config.parameters.other", {"parameters": {"other": {"in": "query"}}}),
        ("config.parameters.order_id", {"parameters": {"order_id": {"in": "query"}}}),
        ("config.parameters.order_id", {"parameters": {"order_id": {"in": "path", "name": "id"}}}),
        ("config.parameters.order_id", {"parameters": {"order_id": {"in": "cookie"}}}),
        ("config.parameters.order_id", {"parameters": {"order_id": "path"}}),
        ("config.parameters.order_id", {"parameters": {"order_id": {"name": "x"}}}),
        ("config.parameters.order_id", {"parameters": {"order_id": {"in": "path", "style": "form"}}}),
        ("config.parameters.order_id.name", {"parameters": {"order_id": {"in": "query", "name": "a b"}}}),
        ("config.parameters.order_id.name", {"parameters": {"order_id": {"in": "query", "name": "a\n"}}}),
    ],
)
def test_what_cannot_be_sent_so_is_refused_when_the_tool_is_defined(
    field: str, wrong: Mapping[str, Any]
) -> None:
    with pytest.raises(Unusable) as refused:
        defined(**wrong)
    assert [*refused.value.problems] == [field]


def mapped(method: str = "GET", url: str = f"{API}/x", headers: Any = None, **places: Any) -> HttpConfig:
    return defined(url, method, places, headers, {name: {} for name in (*places, "page")}, ())


@pytest.mark.parametrize(
    "places",
    [
        {"a": {"in": "body"}},
        {"a": {"in": "query", "name": "page"}},
        {"a": {"in": "query", "name": "Page[x]"}},
        {"a": {"in": "query", "name": "q"}, "b": {"in": "query", "name": "Q"}},
        {"a": {"in": "header", "name": "X-A"}, "b": {"in": "header", "name": "x_a"}},
        {"a": {"in": "header", "name": "x[a]"}},
        {"a": {"in": "query", "name": "v"}, "url": f"{API}/x?v=2"},
        {"a": {"in": "header", "name": "X-Caller"}, "headers": {"x-caller": "acta"}},
        {"a": {"in": "header", "name": "X-Caller"}, "headers": {"X_Caller": {"secret": "key"}}},
    ],
)
def test_nothing_is_sent_twice_and_no_fixed_header_or_parameter_has_another_value(places: Any) -> None:
    with pytest.raises(Unusable):
        mapped(**places)


def test_what_the_admin_names_stands_beside_what_the_url_fixes_under_another_name() -> None:
    config = mapped(url=f"{API}/x?filter[limit]=5", a={"in": "query", "name": "filter[state]"})
    assert sent(config, a="open").url == f"{API}/x?filter[limit]=5&filter%5Bstate%5D=open"


@pytest.mark.parametrize(
    "name",
    ["Host", "Content-Length", "content_type", "Transfer-Encoding", "Connection", "Idempotency-Key", "Authorization",
     "Cookie", "X-Forwarded-For", "X_Forwarded_Host", "X-HTTP-Method-Override", "X-Original-URL", "Proxy-Authorization",
     "User-Agent", "Accept", "X-Amz-Security-Token", "X-Api-Key", "Range", "Forwarded", "Sec-Fetch-Site"],
)  # fmt: skip
def test_no_argument_says_who_calls_from_where_or_which_request_it_is(name: str) -> None:
    with pytest.raises(Unusable, match=r"config\.parameters"):
        mapped(a={"in": "header", "name": name})
