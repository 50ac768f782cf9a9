"""Query strings, cursors and entity tags."""

import pytest

from acta.engine.api.etag import etag, matches
from acta.engine.errors import ValidationFailed
from acta.engine.sessions.history import HistoryCursor
from acta.engine.sessions.poll import Cursor
from tests.api.gateway import Gateway
from tests.api.samples import status_api

POLL = "/v1/sessions/ses_01"


def test_query_values_reach_the_handler_typed() -> None:
    answer = Gateway(status_api().handler).request("GET", POLL, query="after=3.7&wait=20")
    assert answer.data == {"session_id": "ses_01", "after": "3.7", "wait": 20}


def test_a_query_parameter_that_there_is_not_is_named_with_those_that_there_are() -> None:
    answer = Gateway(status_api().handler).request("GET", POLL, query="after=3.7&waits=20")
    assert (answer.status, answer.error["code"]) == (400, "VALIDATION_ERROR")
    sentence = "There is no such query parameter here. It takes after, wait."
    assert answer.error["details"] == {"waits": [sentence]}


def test_a_comma_in_a_query_value_is_part_of_it() -> None:
    assert Gateway(status_api().handler).request("GET", POLL, query="after=a%2Cb").data["after"] == "a,b"


@pytest.mark.parametrize("wait", ["21", "-1", "x", "1.5", "", "1&wait=2"])
def test_a_query_value_out_of_bounds_is_named(wait: str) -> None:
    answer = Gateway(status_api().handler).request("GET", POLL, query=f"wait={wait}")
    assert answer.status == 400
    assert list(answer.error["details"]) == ["wait"]


@pytest.mark.parametrize("cursor", [Cursor(), Cursor(1, 0), Cursor(12, 34), Cursor(999_999, 10**11)])
def test_a_cursor_survives_the_way_out_and_back(cursor: Cursor) -> None:
    assert Cursor.parse(str(cursor)) == cursor


@pytest.mark.parametrize(
    "text",
    ["", "00", "0.0", "0.1", "1", "1.", ".1", "-1.2", "1.2.3", "01.2", "1.02", "1.2 ", "1.2\n", "1,2", "a",
    "١.٢",
     "9" * 13 + ".1", "1e3.4"],
)  # fmt: skip
def test_a_malformed_cursor_is_refused_by_the_name_of_its_field(text: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        Cursor.parse(text)
    assert refused.value.details is not None
    assert list(refused.value.details) == ["after"]


@pytest.mark.parametrize("cursor", [HistoryCursor(), HistoryCursor(12, 14, 0, 3), HistoryCursor(1, 10**9, 5)])
def test_a_cursor_of_a_history_survives_the_way_out_and_back(cursor: HistoryCursor) -> None:
    assert HistoryCursor.parse(str(cursor)) == cursor


@pytest.mark.parametrize(
    "text", ["", "00", "1", "1.1", "1.1.0", "0.1.0.0", "1.0.0.0", "1.1.0.0.0", "1.1.0.00000", "1.1.0.-1", "a"]
)
def test_a_malformed_cursor_of_a_history_is_refused_by_the_name_of_its_field(text: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        HistoryCursor.parse(text)
    assert refused.value.details is not None
    assert list(refused.value.details) == ["cursor"]


def test_the_start_of_a_history_has_a_short_name() -> None:
    assert HistoryCursor.parse("0") == HistoryCursor()


@pytest.mark.parametrize(
    ("header", "fits"),
    [
        ('"12-3"', True), ('W/"12-3"', True), ('"1", "12-3"', True), ('"1",W/"12-3"', True), ("*", True),
        (" * ", True),
        ('"12-4"', False), ("12-3", False), ('"12-3', False), ("", False), (None, False),
    ],
)  # fmt: skip
def test_if_none_match_is_compared_as_http_wants(header: str | None, fits: bool) -> None:
    assert matches(header, etag(12, 3)) is fits
