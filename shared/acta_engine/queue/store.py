"""Where workers share what a provider takes, and where sessions wait for it in a line (ADR 106). Both belong to the
deployment and to no tenant.
"""

from datetime import datetime
from typing import NamedTuple, Protocol

from acta_engine.queue.places import Bucket, InLine, Price, ProviderLimits

PLACES_COUNTED = 1_000
"""Sessions of one tenant before a new one that are counted at most."""


class Took(NamedTuple):
    """Whether the price was taken, and the bucket as it is now."""

    granted: bool
    bucket: Bucket


class Place(NamedTuple):
    """`position`: sessions of the tenant that are before it, up to `PLACES_COUNTED`. `begins_line`: nobody was known to
    wait, so nobody looks after the line.
    """

    position: int
    begins_line: bool


class AdmissionStore(Protocol):
    """All raise StoreThrottled, StoreUnavailable and AwsDenied. Reads are strongly consistent."""

    def take(self, provider: str, price: Price, now: datetime) -> Took:
        """Takes the price, unless there is a line or too little. A repeated call may take it twice."""

    def take_for(self, tenant: str, provider: str, price: Price, now: datetime) -> Took:
        """The same for a session of the line, which does not mind the line. The tenant becomes the last one."""

    def share_out(
        self, last: str, provider: str, price: Price, now: datetime, until: datetime, mine: int = 0
    ) -> Took:
        """The same for several sessions of the line, of which `last` is the last one's tenant. They are admitted by
        others, until then. Not granted where another dispatcher shares the line out. `mine`: what `shared` of the
        bucket was when this one did so before.
        """

    def give_back(self, provider: str, tokens: int, now: datetime) -> None:
        """Gives back unused tokens, by their price (`Bucket.given_back`). Done once or never: it repeats nothing whose
        answer was lost, and the caller must not call it again for the same tokens.
        """

    def learn(self, provider: str, limits: ProviderLimits, now: datetime) -> None:
        """Writes down what the provider's answers say that it takes."""

    def bucket(self, provider: str) -> Bucket: ...

    def join(self, one: InLine, now: datetime, line_until: datetime) -> Place:
        """Puts the session in the line. Where there is none yet, it is then taken to exist until `line_until`; one that
        is there is not renewed, because only dispatchers say that somebody looks after it. May be repeated.
        """

    def first_after(self, provider: str, tenant: str) -> InLine | None:
        """The session that has waited longest, of the tenant that comes after this one in the order of their names.
        None: no tenant comes after it. `tenant` empty: of the first tenant.
        """

    def next_of(self, one: InLine) -> InLine | None:
        """The one behind it, of the same tenant."""

    def page_after(self, provider: str, tenant: str, most: int) -> list[InLine]:
        """As `first_after`, with those that follow it: of each tenant by the time they wait, tenant after tenant."""

    def page_behind(self, one: InLine, most: int) -> list[InLine]:
        """As `next_of`, with those that follow it."""

    def pass_over(self, one: InLine, now: datetime) -> datetime:
        """Notes that the place could not be served. Returns when that was first so since the session joined."""

    def leave(self, one: InLine) -> None:
        """May be repeated."""

    def keep_line(self, provider: str, seen: Bucket, until: datetime | None) -> bool:
        """The line is taken to exist until then; None: no more. False: another dispatcher has said so since the bucket
        was read, or a line has begun, and nothing was changed.
        """
