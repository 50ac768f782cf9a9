"""What AWS's lists charge, in dollars: US East (N. Virginia), on demand, without free tiers, read in November 2026."""

from typing import NamedTuple

READ_ON = "2026-11-18"
REGION = "us-east-1"

WRITE_UNIT = 0.625e-6
READ_UNIT = 0.125e-6
S3_PUT = 5e-6
"""PUT, COPY, POST and LIST."""
S3_GET = 0.4e-6
"""GET and all others; DELETE is free."""
TRANSITION = 25e-6
"""Step Functions Standard."""
INVOCATION = 0.2e-6
GATEWAY_REQUEST = 1e-6
"""An HTTP API."""
LAMBDA_GB_SECOND = 0.0000133334
"""arm64."""

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
WAITING_GB = 1.0
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
