"""The bill of a session, from what passed on the wire and what the engine did."""

from collections.abc import Mapping, Sequence
from math import ceil

from tests.bench.beside.prices import LAMBDA_SECONDS, MODEL_SECONDS, WAIT_OF_A_TURN, Bill
from tests.bench.growth import Figures
from tests.bench.stand.exchange import Exchange

_PUTS = ("PutObject", "POST", "ListObjects")
_FREE = ("DeleteObject",)


def of_requests(passed: Sequence[Exchange]) -> Bill:
    dynamodb = [each for each in passed if each.service == "dynamodb"]
    s3 = [each for each in passed if each.service == "s3" and each.operation not in _FREE]
    return Bill(
        requests=len(passed),
        dynamodb_writes=sum(each.is_write for each in dynamodb),
        wcu=sum(each.capacity.wcu for each in dynamodb),
        rru=sum(each.capacity.rru for each in dynamodb),
        s3_puts=sum(each.operation in _PUTS for each in s3),
        s3_gets=sum(each.operation not in _PUTS for each in s3),
        bytes_out=sum(each.sent for each in passed),
        bytes_in=sum(each.received for each in passed),
    )


def in_one_process(passed: Sequence[Exchange], turns: int) -> Bill:
    """Of a loop that runs in one Lambda for as long as an invocation may take, and then in the next."""
    lambdas = ceil(turns * MODEL_SECONDS / LAMBDA_SECONDS)
    return of_requests(passed)._replace(lambda_invocations=lambdas)


def per_turn(bill: Bill, turns: int) -> Figures:
    """Means over a session's turns; dollars without the model and without the wait for it, which stands apart."""
    counted: Mapping[str, float] = bill._asdict()
    return {
        **{name: value / turns for name, value in counted.items()},
        "write_units_by_price": bill.write_units_by_price / turns,
        "usd": bill.dollars / turns,
        "usd_waiting_for_the_model": WAIT_OF_A_TURN,
    }
