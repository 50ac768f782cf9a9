"""What the providers' SDKs log, and how long they may wait (`acta/engine/models/calls.py`)."""

import logging
from typing import Any

import anthropic
import openai
import pytest

from acta.engine.models.calls import time_limits
from acta.engine.models.model import Model
from tests.models.wires.conversations import KEY, SECRET_TEXT, TIMEOUT, request

SDKS = {"anthropic": "anthropic", "bedrock": "anthropic", "openai": "openai", "openai-responses": "openai"}
"""By wire."""

pytestmark = pytest.mark.contract


def test_no_sdk_logs_a_prompt_or_a_key_where_everything_is_logged(
    wire: str, model: Model, llmock: Any, caplog: pytest.LogCaptureFixture
) -> None:
    loggers = (SDKS[wire], "httpx2", "httpcore2")
    caplog.set_level(logging.DEBUG)
    for name in loggers:
        caplog.set_level(logging.DEBUG, logger=name)
    llmock.reply("Done.")

    model.complete(request(), timeout=TIMEOUT)

    logged = [one.getMessage() for one in caplog.records if one.name.partition(".")[0] in loggers]
    assert [line for line in logged if SECRET_TEXT in line or KEY in line] == []
    assert {logging.getLogger(name).level for name in loggers} == {logging.WARNING}


@pytest.mark.parametrize("sdk", [anthropic, openai])
@pytest.mark.parametrize(
    ("timeout", "connect", "read"), [(300.0, 10.0, 60.0), (30.0, 10.0, 30.0), (5.0, 5.0, 5.0)]
)
def test_no_wait_of_a_request_is_longer_than_the_request_may_take(
    sdk: Any, timeout: float, connect: float, read: float
) -> None:
    limits = time_limits(sdk, timeout, 60.0)

    assert limits.as_dict() == {"connect": connect, "read": read, "write": timeout, "pool": timeout}
