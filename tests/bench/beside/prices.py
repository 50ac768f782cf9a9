"""What a session is billed for, and the dollars of it, by the list of Acta's own receipts: US East (N. Virginia)."""

from typing import NamedTuple

from acta.engine.usage.aws_prices import LISTS, UNITS_PER_USD, Units
from acta.infra.sizing import SIZES

REGION = "us-east-1"
_OURS = LISTS[REGION]
READ_ON = _OURS.as_of


def _usd(price: Units) -> float:
    assert price is not None
    return price / UNITS_PER_USD


WRITE_UNIT, READ_UNIT = _usd(_OURS.write_unit), _usd(_OURS.read_unit)
S3_PUT, S3_GET = _usd(_OURS.put), _usd(_OURS.get)
"""A put is also a LIST, a get also a HEAD; DELETE is free."""
TRANSITION, INVOCATION = _usd(_OURS.transition), _usd(_OURS.invocation)
LAMBDA_GB_SECOND = _usd(_OURS.gb_second_arm64)
GATEWAY_REQUEST = 1e-6
"""An HTTP API; not in the list."""

LIST = {
    "write_unit": WRITE_UNIT,
    "read_unit": READ_UNIT,
    "s3_put": S3_PUT,
    "s3_get": S3_GET,
    "transition": TRANSITION,
    "invocation": INVOCATION,
    "gateway_request": GATEWAY_REQUEST,
    "lambda_gb_second": LAMBDA_GB_SECOND,
}

MODEL_SECONDS = 5.0
"""That a model takes to answer; assumed."""
WAITING_GB = SIZES["step"].memory / 1_024
"""Of the function that waits for it; the same for all."""
WAIT_OF_A_TURN = MODEL_SECONDS * WAITING_GB * LAMBDA_GB_SECOND
LAMBDA_SECONDS = 900.0
"""Lambda's longest invocation: what works in one process is invoked again after it, where it can go on."""


class Bill(NamedTuple):
    """What a whole session was billed for. `requests`: all to AWS that its code made, however they are billed."""

    requests: int = 0
    dynamodb_writes: int = 0
    wcu: float = 0
    rru: float = 0
    s3_puts: int = 0
    s3_gets: int = 0
    transitions: int = 0
    lambda_invocations: int = 0
    gateway_requests: int = 0
    bytes_out: int = 0
    bytes_in: int = 0

    @property
    def dollars(self) -> float:
        return (
            self.wcu * WRITE_UNIT
            + self.rru * READ_UNIT
            + self.s3_puts * S3_PUT
            + self.s3_gets * S3_GET
            + self.transitions * TRANSITION
            + self.lambda_invocations * INVOCATION
            + self.gateway_requests * GATEWAY_REQUEST
        )

    @property
    def write_units_by_price(self) -> float:
        """Write units, and each S3 put as the eight that it costs."""
        return self.wcu + self.s3_puts * S3_PUT / WRITE_UNIT
