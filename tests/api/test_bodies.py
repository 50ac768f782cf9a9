"""What a POST may carry."""

import gzip
import json
from typing import Any

import pytest

from tests.api.gateway import Answer, Gateway, digest
from tests.api.samples import intervene_api, start_api

RESOLVE = "/v1/sessions/ses_01/interventions/int_01/resolve"


def start(body: Any = None, **request: Any) -> Answer:
    return Gateway(start_api().handler).request("POST", "/v1/sessions", json_body=body, **request)


def send(body: str | bytes, **headers: str) -> Answer:
    return Gateway(start_api().handler).request("POST", "/v1/sessions", body=body, headers=headers)


def details(answer: Answer) -> dict[str, list[str]]:
    assert (answer.status, answer.error["code"]) == (400, "VALIDATION_ERROR"), answer.body
    found: dict[str, list[str]] = answer.error["details"]
    return found


def test_a_whole_request_arrives_as_it_was_sent() -> None:
    body = {
        "content": "Grüße 🎉\nline two",
        "agent_id": "default",
        "max_steps": 1_000,
        "token_budget": 100_000_000,
        "cost_budget_usd": 2,
        "review_every": 0,
        "metadata": {"k" * 64: "v" * 256},
    }
    assert start(body).data["body"] == body


def test_no_body_and_an_empty_object_are_the_same() -> None:
    assert start(None).data["body"] == start({}).data["body"] == {}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_steps", 0), ("max_steps", -1), ("max_steps", 1_001), ("max_steps", "5"), ("max_steps", 5.0),
        ("max_steps", 1.5), ("max_steps", True),
        ("token_budget", 0), ("token_budget", "many"),
        ("cost_budget_usd", 0), ("cost_budget_usd", -1), ("cost_budget_usd", "1"), ("cost_budget_usd", True),
        ("review_every", -1), ("review_every", 1_001), ("unknown", 1), ("Message", "hi"),
        ("agent_id", ""), ("agent_id", "a/b"), ("agent_id", "a\n"), ("agent_id", 3),
        ("message", ""), ("message", " \n\t"), ("message", "a\0b"), ("message", "a\ud800"),
        ("message", "\u200b"), ("message", "\u202e \u2800"), ("message", "\u0007\n"), ("message", "\ufe0f"),
        ("message", ["a"]), ("message", {"text": "a"}), ("message", 1), ("message", True),
        ("message", "x" * 500_001),
        ("content", ""), ("content", " \n\t"), ("content", "a\0b"), ("content", 1), ("content", "x" * 500_001),
        ("metadata", {f"k{n}": "v" for n in range(17)}), ("metadata", ["a"]),
    ],
)  # fmt: skip
def test_a_value_out_of_bounds_is_refused_by_its_fields_name(field: str, value: Any) -> None:
    assert list(details(start({field: value}))) == [field]


@pytest.mark.parametrize("value", [{"k": 3}, {"k": "v" * 257}, {"k": "\0"}, {"k": None}])
def test_a_wrong_metadata_value_is_named_by_its_key(value: dict[str, Any]) -> None:
    assert list(details(start({"metadata": value}))) == ["metadata.k"]


@pytest.mark.parametrize("key", ["", "k" * 65])
def test_a_metadata_key_has_bounds_too(key: str) -> None:
    assert next(iter(details(start({"metadata": {key: "v"}})))).startswith("metadata.")


def test_every_wrong_field_is_named_at_once_and_values_are_not_quoted() -> None:
    answer = start({"content": " ", "max_steps": "secret", "tenant": "secret"})
    assert set(details(answer)) == {"content", "max_steps", "tenant"}
    assert b"secret" not in answer.body


def test_a_thousand_unknown_fields_do_not_make_a_long_answer() -> None:
    assert len(details(start({f"field{n}" * 50: 1 for n in range(1_000)}))) == 20


@pytest.mark.parametrize(
    "body",
    [
        " ", "\n", "{", "null", "[]", '[{"content": "hi"}]', '"text"', "3", '{"cost_budget_usd": NaN}',
        '{"a": 1, "a": 2}',
        '{"max_steps": ' + "9" * 5_000 + "}", "[" * 100_000, '{"content": "' + "\n" + '"}', "message=hi",
        "\ufeff{}", "{'content': 'hi'}", '{"content": "hi"',
        '{"metadata": ' * 250 + "1" + "}" * 250,
    ],
)  # fmt: skip
def test_what_is_no_json_object_is_refused_in_clear_words(body: str) -> None:
    answer = send(body)
    assert list(details(answer)) == ["body"]
    assert len(answer.body) < 1_000


def test_an_infinite_number_is_refused() -> None:
    (said,) = details(send('{"cost_budget_usd": 1e999}'))["body"]
    assert "the number 1e999 is too large" in said


@pytest.mark.parametrize(("levels", "status"), [(98, 200), (99, 400), (900, 400)])
def test_a_body_is_nested_no_deeper_than_the_store_reads(levels: int, status: int) -> None:
    """Beside the two objects around it."""
    inner = "[" * levels + "]" * levels
    body = f'{{"option": "modify", "input": {{"note": {inner}}}}}'
    answer = Gateway(intervene_api().handler).request("POST", RESOLVE, body=body)
    assert answer.status == status
    if status == 400:
        assert list(details(answer)) == ["body"]
        assert "nested" in details(answer)["body"][0]


def test_many_brackets_beside_one_another_are_not_deep() -> None:
    body = {"option": "modify", "input": {"rows": [[[]]] * 500, "more": {str(n): {} for n in range(500)}}}
    assert Gateway(intervene_api().handler).request("POST", RESOLVE, json_body=body).status == 200


@pytest.mark.parametrize("number", ["1e999", "-1e999", '{"deep": [1, {"er": 1e400}]}'])
def test_an_infinite_number_is_refused_wherever_it_is(number: str) -> None:
    body = f'{{"option": "modify", "input": {{"amount": {number}}}}}'
    answer = Gateway(intervene_api().handler).request("POST", RESOLVE, body=body)
    assert "is too large" in details(answer)["body"][0]


CUT = '{"content": "😀"}'.encode().replace(b"\x80", b"")
"""A character without its last byte: as long as the U+FFFD that the gateway puts in its place."""


@pytest.mark.parametrize(
    "kind", ["application/json", "application/json; charset=utf-8", "", "Application/JSON"]
)
@pytest.mark.parametrize(
    "body",
    [
        b'{"content": "\xff"}',
        '{"content": "Grüße"}'.encode("latin-1"),
        CUT,
        '{"content": "x"}'.encode("utf-16"),
    ],
)
def test_bytes_that_are_no_text_are_refused_however_they_arrive(kind: str, body: bytes) -> None:
    answer = send(body, **({"Content-Type": kind} if kind else {}))
    assert list(details(answer)) == ["body"]
    assert "UTF-8" in answer.error["message"]


def test_a_character_that_may_stand_for_lost_bytes_is_taken_escaped_or_with_a_digest() -> None:
    body = '{"content": "a\ufffdb"}'
    assert "\\ufffd" in send(body, **{"Content-Type": "application/json"}).error["message"]
    proven = {"Content-Type": "application/json", **digest("sha-256", body.encode())}
    for answer in (start({"content": "a\ufffdb"}), send(body, **proven)):
        assert answer.data["body"] == {"content": "a\ufffdb"}


@pytest.mark.parametrize("charset", ["iso-8859-1", "utf-16", '"windows-1252"'])
def test_json_in_another_charset_is_refused(charset: str) -> None:
    answer = send('{"content": "Ã¶"}'.encode(), **{"Content-Type": f"application/json; charset={charset}"})
    assert (answer.status, answer.error["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert "UTF-8" in answer.error["message"]


@pytest.mark.parametrize("encoding", ["gzip", "br", "GZIP", "identity, gzip"])
def test_a_packed_body_is_refused_as_such(encoding: str) -> None:
    sent = {"Content-Type": "application/json", "Content-Encoding": encoding}
    answer = send(gzip.compress(b'{"content": "hi"}'), **sent)
    assert (answer.status, answer.error["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert "Content-Encoding" in answer.error["message"]
    assert send('{"content": "hi"}', **{"Content-Encoding": "identity"}).status == 202


def test_a_body_in_base64_is_the_same_body() -> None:
    assert send('{"content":"ü"}'.encode()).data["body"] == {"content": "ü"}


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_json_is_recognised_however_its_type_is_written(kind: str) -> None:
    assert send('{"content":"hi"}', **{"Content-Type": kind}).status == 202


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "json",
    ],
)
def test_another_content_type_is_refused_as_such(kind: str) -> None:
    answer = send('{"content":"hi"}', **{"Content-Type": kind})
    assert (answer.status, answer.error["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_a_post_without_a_body_may_say_any_content_type() -> None:
    answer = Gateway(intervene_api().handler).request(
        "POST", "/v1/sessions/ses_01/cancel", headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert answer.status == 202


def test_the_message_field_of_a_conversation_is_required() -> None:
    answer = Gateway(start_api().handler).request("POST", "/v1/sessions/ses_01/messages", json_body={})
    assert details(answer) == {"content": ["This field is required."]}


def test_the_configured_length_is_counted_in_characters() -> None:
    assert start({"content": "ü" * 10_000}).status == 202
    said = details(start({"content": "u" * 10_001}))
    assert said == {"content": ["The text has 10,001 characters; at most 10,000 are allowed."]}


def test_a_decision_carries_any_json_object_as_input() -> None:
    body = {
        "option": "modify",
        "input": {"input": {"path": "a.md", "n": [1, None, {"x": "ü"}]}},
        "comment": "ok",
    }
    answer = Gateway(intervene_api().handler).request("POST", RESOLVE, json_body=body)
    assert answer.data == ["ses_01", "int_01", "modify", body["input"], "ok"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "option"),
        ({"option": ""}, "option"),
        ({"option": "approve", "comment": "c" * 2_001}, "comment"),
        ({"option": "approve", "input": ["a"]}, "input"),
        ({"option": "approve", "input": {"a": [{"b": "\0"}]}}, "input"),
        ({"option": "approve", "input": {"\ud800": 1}}, "input"),
        ({"option": "approve", "resolved_by": "someone"}, "resolved_by"),
    ],
)
def test_a_wrong_decision_names_its_field(body: dict[str, Any], field: str) -> None:
    assert list(details(Gateway(intervene_api().handler).request("POST", RESOLVE, json_body=body))) == [field]


def test_an_idempotency_key_names_route_and_body() -> None:
    def key(path: str, body: str, key: str = "k, 1") -> list[str]:
        request = Gateway(start_api().handler).request(
            "POST", path, body=body, headers={"Idempotency-Key": key}
        )
        found: list[str] = request.data["key"]
        return found

    first = key("/v1/sessions", '{"content":"a"}')
    assert first[:2] == ["POST /v1/sessions", "user-1\nk, 1"]
    assert first == key("/v1/sessions", '{"content":"a"}')
    assert first != key("/v1/sessions", '{"content":"b"}')
    assert len(first[2]) == 64


@pytest.mark.parametrize("key", ["", "k" * 256, "kü", "k\x7f", "k\tk"])
def test_an_unusable_idempotency_key_is_refused(key: str) -> None:
    answer = start({"content": "a"}, headers={"Idempotency-Key": key})
    assert list(details(answer)) == ["Idempotency-Key"]


def test_without_a_key_nothing_is_remembered() -> None:
    assert start({"content": "a"}).data["key"] is None


def test_surrogate_escapes_that_pair_up_are_one_character() -> None:
    assert send(json.dumps({"content": "🎉"})).data["body"] == {"content": "🎉"}
