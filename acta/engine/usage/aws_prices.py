"""What AWS asks for what a session uses: dated lists, by region. No free tier, no discount, the first tier of each.

All prices are whole billionths of a thousandth of a US dollar (1e-12), so that sums are exact. A region without a
list has unknown prices: those of another region are never taken. An environment may name its own (`aws_prices` in
`acta/infra/environments.py`), such as those of a contract.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

UNITS_PER_USD = 1_000_000_000_000

Units = int | None
"""Of 1e-12 US dollars; None: unknown."""


@dataclass(frozen=True)
class AwsPrices:
    """`as_of`: the day of the list, such as 2026-11-20. `transition`: of a Standard workflow. `gb_second_arm64`,
    `gb_second_x86_64`: of a function's time. `write_unit`, `read_unit`: of a table on demand. `get`, `put`: one
    request.
    """

    region: str
    as_of: str
    source: str
    transition: Units = None
    invocation: Units = None
    gb_second_arm64: Units = None
    gb_second_x86_64: Units = None
    write_unit: Units = None
    read_unit: Units = None
    get: Units = None
    put: Units = None

    def __post_init__(self) -> None:
        if any(isinstance(price, int) and price < 0 for price in vars(self).values()):
            raise ValueError("a price is 0 or more, or None where it is unknown")

    def gb_second(self, architecture: str) -> int | None:
        """`architecture`: as the system names it (`aarch64`, `arm64`, `x86_64`)."""
        return self.gb_second_arm64 if architecture in ("arm64", "aarch64") else self.gb_second_x86_64


LISTS: Mapping[str, AwsPrices] = MappingProxyType(
    {
        "us-east-1": AwsPrices(
            region="us-east-1",
            as_of="2026-11-20",
            source="aws.amazon.com, pricing of Step Functions, Lambda, DynamoDB and S3",
            transition=25_000_000,  # 0.025 USD per 1,000
            invocation=200_000,  # 0.20 per million
            gb_second_arm64=13_333_400,
            gb_second_x86_64=16_666_700,
            write_unit=625_000,  # 0.625 per million
            read_unit=125_000,  # 0.125 per million
            get=400_000,  # 0.0004 per 1,000
            put=5_000_000,  # 0.005 per 1,000
        )
    }
)


def prices_in(region: str) -> AwsPrices:
    """The list of the region; where there is none, one whose prices are unknown."""
    return LISTS.get(region) or AwsPrices(region=region, as_of="", source="")
